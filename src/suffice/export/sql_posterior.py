"""Posterior probabilities as SQL: the softmax of the scores, and the maps of `suffice.decision.calibration`."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import log_softmax
from sqlglot import exp

from suffice.decision.calibration import Calibration, Isotonic, Map, Temperature, Vector
from suffice.export import sql_expressions as sql
from suffice.export.sql_expressions import Expression, Operand
from suffice.export.sql_stages import StagedQuery
from suffice.schema import Array

# Stands for the score of an impossible class where the greatest score is computed.
LOWEST_SCORE = -float(np.finfo(np.float64).max)

# For log P above this, 1 − exp(log P) loses its digits, and −log P·(1 + ½ log P) is exact to nine of them.
NEARLY_CERTAIN = -1e-5

# log(1 − P) for P = 1, as in `suffice.decision.calibration`.
LOG_ZERO = -745.0


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


def softmax(
    query: StagedQuery,
    scores: list[Expression],
    class_log_prior: Array | None,
    suffix: str = "",
    stage: int | None = None,
) -> Posterior:
    """Return P = exp(score − top) / Σ exp(score − top), which does not overflow.

    The score of an impossible class is NULL, and its weight 0. If all classes are impossible, the weights are the
    class prior. By default the stages follow all others.
    """
    stage = len(query.stages) if stage is None else stage
    most = sql.greatest([score.if_null(LOWEST_SCORE) for score in scores], query.dialect)
    top = query.add(stage, f"top{suffix}", most.null_if(LOWEST_SCORE))
    weights = []
    for k, score in enumerate(scores):
        weight = sql.exponential(score - top)
        if class_log_prior is not None:
            weight = sql.case_when([(top.is_null(), np.exp(class_log_prior[k]))], weight)
        weights.append(query.add(stage + 1, f"w{suffix}{k}", weight))
    weight_sum = query.add(stage + 2, f"sum{suffix}", sql.add(weights))
    return Posterior(scores, top, weights, weight_sum, [score.equals(top) for score in scores])


def calibrate(query: StagedQuery, calibration: Calibration, posterior: Posterior, class_log_prior: Array) -> Posterior:
    """Return calibrated probabilities: the map of log P, where log P is at least the calibration's floor."""
    stage, floor = len(query.stages), float(calibration.floor)
    prior, top = np.maximum(log_softmax(class_log_prior), floor), posterior.top
    log_proba = []
    for k, score in enumerate(posterior.scores):
        log_p = sql.greatest([score - top - sql.ln(posterior.sum), sql.number(floor)], query.dialect)
        clipped = sql.case_when([(top.is_null(), sql.double(prior[k])), (score.is_null(), floor)], log_p)
        log_proba.append(query.add(stage, f"l{k}", clipped))
    if isinstance(calibration.map, Isotonic):
        shares = apply_isotonic(query, stage + 1, calibration.map, log_proba)
        weights = [query.add(stage + 3, f"c{k}", share) for k, share in enumerate(shares)]
        top = query.add(stage + 4, "topc", sql.greatest(weights, query.dialect))
        weight_sum = query.add(stage + 4, "sumc", sql.add(weights))
        is_best = _compare_logs(query, stage + 5, list(map(sql.ln, weights)), sql.ln(top), weight_sum)
        return Posterior(weights, top, weights, weight_sum, is_best)
    scaled = apply_scaling(calibration.map, log_proba)
    scores = [query.add(stage + 1, f"c{k}", score) for k, score in enumerate(scaled)]
    calibrated = softmax(query, scores, None, "c")
    logs = [score - calibrated.top for score in scores]
    return replace(calibrated, is_best=_compare_logs(query, len(query.stages), logs, sql.number(0.0), calibrated.sum))


def _compare_logs(
    query: StagedQuery, stage: int, logs: list[Expression], top: Expression, weight_sum: Expression
) -> list[Expression]:
    """Return whether log − log sum is equal to top − log sum, for each class.

    `predict` compares normalised logarithms: after rounding, two of them may be equal, and then the first class wins.
    """
    log_sum = query.add(stage, "lsumc", sql.ln(weight_sum))
    best = query.add(stage + 1, "ltopc", top - log_sum)
    return [(log - log_sum).equals(best) for log in logs]


def apply_scaling(scaling: Map, log_proba: list[Expression]) -> list[Expression]:
    """Return factor·log P + shift of each class, whose softmax is calibrated."""
    if isinstance(scaling, Temperature):
        return [log_p * (1 / scaling.temperature) for log_p in log_proba]
    assert isinstance(scaling, Vector)
    classes = zip(log_proba, scaling.factors.tolist(), scaling.shifts.tolist(), strict=True)
    return [log_p * factor + shift for log_p, factor, shift in classes]


def apply_isotonic(query: StagedQuery, stage: int, isotonic: Isotonic, log_proba: list[Expression]) -> list[Expression]:
    """Return the calibrated P of each class before they are normalised.

    P is piecewise linear in the log odds: y + slope·(log odds − x) between the knots (x, y). The log odds are added
    to ``stage``; with two classes, P of the second is added to the next stage, and P of the first is 1 minus it.
    """
    log_odds = [query.add(stage, f"o{k}", _log_odds(query, log_p)) for k, log_p in enumerate(log_proba)]
    shares: list[Expression] = []
    for odds, x, y in zip(log_odds, isotonic.log_odds, isotonic.shares, strict=True):
        knots = list(zip(x.tolist(), y.tolist(), strict=True))
        branches: list[tuple[Expression, Operand]] = [(odds <= knots[0][0], knots[0][1])]
        for (low, start), (high, end) in pairwise(knots):
            line = start + (odds - low) * ((end - start) / (high - low)) if end != start else sql.number(start)
            branches.append((odds < high, line))
        shares.append(sql.case_when(branches, sql.double(knots[-1][1])))
    if len(shares) == 2:
        second = query.add(stage + 1, "r1", shares[1])
        return [1.0 - second, second]
    return shares


def _log_odds(query: StagedQuery, log_p: Expression) -> Expression:
    """Return log P − log(1 − P), from log P."""
    power = Expression(exp.Exp(this=sql.greatest([log_p, sql.number(sql.MIN_EXPONENT)], query.dialect).node))
    log_other = sql.case_when(
        [(log_p >= 0.0, LOG_ZERO), (log_p > NEARLY_CERTAIN, sql.ln(-log_p * (1.0 + 0.5 * log_p)))], sql.ln(1.0 - power)
    )
    return log_p - log_other
