"""Posterior probabilities as SQL: the softmax of the scores, and its calibration."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_softmax

from suffice.decision.calibration import Calibration, Isotonic
from suffice.export.sql_calibration import apply_isotonic, apply_scaling
from suffice.export.sql_expressions import Expression, add, double, exponential, greatest, ln, number, searched_case
from suffice.export.sql_stages import StagedQuery
from suffice.schema import Array

# Stands for the score of an impossible class where the greatest score is computed.
LOWEST_SCORE = -float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Posterior:
    """References to the columns from which probabilities are computed.

    Attributes
    ----------
    scores : list of Expression
        The score of each class, up to a constant; NULL if the class is impossible.
    top : Expression
        The greatest score; NULL if all classes are impossible.
    weights : list of Expression
        A number proportional to the probability of each class.
    sum : Expression
        The sum of the weights.
    is_best : list of Expression
        The condition that no class is more probable, by the numbers that `predict` compares.
    """

    scores: list[Expression]
    top: Expression
    weights: list[Expression]
    sum: Expression
    is_best: list[Expression]

    def probabilities(self) -> list[Expression]:
        """Return the probability of each class."""
        return [weight / self.sum for weight in self.weights]


def softmax(query: StagedQuery, scores: list[Expression], class_log_prior: Array | None, suffix: str = "") -> Posterior:
    """Return P = exp(score − top) / Σ exp(score − top), which does not overflow.

    The score of an impossible class is NULL, and its weight 0. If all classes are impossible, the weights are the
    class prior.
    """
    stage = len(query.stages)
    most = greatest([score.if_null(LOWEST_SCORE) for score in scores], query.dialect)
    top = query.add(stage, f"top{suffix}", most.null_if(LOWEST_SCORE))
    weights = []
    for k, score in enumerate(scores):
        weight = exponential(score - top)
        if class_log_prior is not None:
            weight = searched_case([(top.is_null(), np.exp(class_log_prior[k]))], weight)
        weights.append(query.add(stage + 1, f"w{suffix}{k}", weight))
    weight_sum = query.add(stage + 2, f"sum{suffix}", add(weights))
    return Posterior(scores, top, weights, weight_sum, [score.equals(top) for score in scores])


def calibrate(query: StagedQuery, calibration: Calibration, posterior: Posterior, class_log_prior: Array) -> Posterior:
    """Return calibrated probabilities: the map of log P, where log P is at least the calibration's floor."""
    stage, floor = len(query.stages), float(calibration.floor)
    prior, top = np.maximum(log_softmax(class_log_prior), floor), posterior.top
    log_proba = []
    for k, score in enumerate(posterior.scores):
        log_p = greatest([score - top - ln(posterior.sum), number(floor)], query.dialect)
        clipped = searched_case([(top.is_null(), double(prior[k])), (score.is_null(), floor)], log_p)
        log_proba.append(query.add(stage, f"l{k}", clipped))
    if isinstance(calibration.map, Isotonic):
        shares = apply_isotonic(query, stage + 1, calibration.map, log_proba)
        weights = [query.add(stage + 3, f"c{k}", share) for k, share in enumerate(shares)]
        top = query.add(stage + 4, "topc", greatest(weights, query.dialect))
        weight_sum = query.add(stage + 4, "sumc", add(weights))
        is_best = _compare_logs(query, stage + 5, list(map(ln, weights)), ln(top), weight_sum)
        return Posterior(weights, top, weights, weight_sum, is_best)
    scaled = apply_scaling(calibration.map, log_proba)
    scores = [query.add(stage + 1, f"c{k}", score) for k, score in enumerate(scaled)]
    calibrated = softmax(query, scores, None, "c")
    logs = [score - calibrated.top for score in scores]
    return replace(calibrated, is_best=_compare_logs(query, len(query.stages), logs, number(0.0), calibrated.sum))


def _compare_logs(
    query: StagedQuery, stage: int, logs: list[Expression], top: Expression, weight_sum: Expression
) -> list[Expression]:
    """Return whether log − log sum is equal to top − log sum, for each class.

    `predict` compares normalised logarithms: after rounding, two of them may be equal, and then the first class wins.
    """
    log_sum = query.add(stage, "lsumc", ln(weight_sum))
    best = query.add(stage + 1, "ltopc", top - log_sum)
    return [(log - log_sum).equals(best) for log in logs]
