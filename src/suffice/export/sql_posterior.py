"""Posterior probabilities as SQL: the softmax of the scores, and its calibration."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_softmax
from sqlglot import exp

from suffice.decision.calibration import Calibration, Isotonic
from suffice.export.sql_calibration import apply_isotonic, apply_scaling
from suffice.export.sql_expressions import (
    Expression,
    add,
    column,
    divide,
    double,
    exponential,
    greatest,
    is_null,
    ln,
    number,
    searched_case,
    subtract,
)
from suffice.export.sql_stages import StagedQuery
from suffice.schema import Array

# Stands for the score of an impossible class where the greatest score is computed.
LOWEST_SCORE = -float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Posterior:
    """Names of the columns from which probabilities are computed.

    Attributes
    ----------
    scores : list of str
        The score of each class, up to a constant; NULL if the class is impossible.
    top : str
        The greatest score; NULL if all classes are impossible.
    weights : list of str
        A number proportional to the probability of each class.
    sum : str
        The sum of the weights.
    is_best : list of Expression
        The condition that no class is more probable, by the numbers that `predict` compares.
    """

    scores: list[str]
    top: str
    weights: list[str]
    sum: str
    is_best: list[Expression]

    def probabilities(self) -> list[Expression]:
        """Return the probability of each class."""
        return [divide(column(weight), column(self.sum)) for weight in self.weights]


def softmax(query: StagedQuery, scores: list[str], class_log_prior: Array | None, suffix: str = "") -> Posterior:
    """Return P = exp(score − top) / Σ exp(score − top), which does not overflow.

    The score of an impossible class is NULL, and its weight 0. If all classes are impossible, the weights are the
    class prior.
    """
    stage = len(query.stages)
    finite = [exp.Coalesce(this=column(name), expressions=[number(LOWEST_SCORE)]) for name in scores]
    most = exp.Nullif(this=greatest(finite, query.dialect), expression=number(LOWEST_SCORE))
    top = query.add(stage, f"top{suffix}", most)
    weights = []
    for k, name in enumerate(scores):
        weight = exponential(subtract(column(name), column(top)))
        if class_log_prior is not None:
            weight = searched_case([(is_null(column(top)), number(np.exp(class_log_prior[k])))], weight)
        weights.append(query.add(stage + 1, f"w{suffix}{k}", weight))
    weight_sum = query.add(stage + 2, f"sum{suffix}", add(map(column, weights)))
    is_best: list[Expression] = [exp.EQ(this=column(name), expression=column(top)) for name in scores]
    return Posterior(scores, top, weights, weight_sum, is_best)


def calibrate(query: StagedQuery, calibration: Calibration, posterior: Posterior, class_log_prior: Array) -> Posterior:
    """Return calibrated probabilities: the map of log P, where log P is at least the calibration's floor."""
    stage, floor = len(query.stages), float(calibration.floor)
    prior = np.maximum(log_softmax(class_log_prior), floor)
    log_proba = []
    for k, name in enumerate(posterior.scores):
        log_p = subtract(subtract(column(name), column(posterior.top)), ln(column(posterior.sum)))
        impossible = [(is_null(column(posterior.top)), double(prior[k])), (is_null(column(name)), number(floor))]
        clipped = searched_case(impossible, greatest([log_p, number(floor)], query.dialect))
        log_proba.append(query.add(stage, f"l{k}", clipped))
    if isinstance(calibration.map, Isotonic):
        shares = apply_isotonic(query, stage + 1, calibration.map, log_proba)
        weights = [query.add(stage + 3, f"c{k}", share) for k, share in enumerate(shares)]
        top = query.add(stage + 4, "topc", greatest(map(column, weights), query.dialect))
        weight_sum = query.add(stage + 4, "sumc", add(map(column, weights)))
        logs = [ln(column(name)) for name in weights]
        is_best = _compare_logs(query, stage + 5, logs, ln(column(top)), weight_sum)
        return Posterior(weights, top, weights, weight_sum, is_best)
    scaled = apply_scaling(calibration.map, [column(name) for name in log_proba])
    names = [query.add(stage + 1, f"c{k}", expression) for k, expression in enumerate(scaled)]
    calibrated = softmax(query, names, None, "c")
    logs = [subtract(column(name), column(calibrated.top)) for name in names]
    return replace(calibrated, is_best=_compare_logs(query, len(query.stages), logs, number(0.0), calibrated.sum))


def _compare_logs(
    query: StagedQuery, stage: int, logs: list[Expression], top: Expression, weight_sum: str
) -> list[Expression]:
    """Return whether log − log sum is equal to top − log sum, for each class.

    `predict` compares normalised logarithms: after rounding, two of them may be equal, and then the first class wins.
    """
    log_sum = query.add(stage, "lsumc", ln(column(weight_sum)))
    best = query.add(stage + 1, "ltopc", subtract(top, column(log_sum)))
    return [exp.EQ(this=subtract(log, column(log_sum)), expression=column(best)) for log in logs]
