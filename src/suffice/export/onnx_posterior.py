"""Posterior probabilities as ONNX, and the maps of `suffice.decision.calibration`."""

from __future__ import annotations

import numpy as np

from suffice.decision.calibration import Calibration, Isotonic, Temperature
from suffice.export.onnx_graph import Tensor
from suffice.export.onnx_search import count_edges
from suffice.schema import Array

# log(1 − P) for P = 1, as in `suffice.decision.calibration`.
LOG_ZERO = -745.0


def normalise(scores: Tensor) -> Tensor:
    """Write score − log Σ exp(score), [row, class]; the highest score is subtracted first."""
    away = scores - scores.max(1, keep=True)
    return away - away.exp().sum(1, keep=True).log()


def log_posterior(scores: Tensor, class_log_prior: Array, can_be_certain: bool) -> Tensor:
    """Write log P(class | x) from log p(x, class).

    A row that is impossible in every class gets the prior; classes with an infinite score share a row.
    """
    graph, highest = scores.graph, scores.max(1, keep=True)
    scores = graph.where(highest.equals(-np.inf), class_log_prior[None], scores)
    if can_be_certain:
        shared = graph.where(scores.equals(np.inf), 0.0, -np.inf)
        scores = graph.where(highest.equals(np.inf), shared, scores)
    return normalise(scores)


def log_sum_exp(logs: Tensor, axis: int) -> Tensor:
    """Write log Σ exp over an axis, which is kept; −∞ where all are −∞."""
    highest = logs.max(axis, keep=True)
    highest = logs.graph.where(highest.equals(-np.inf), 0.0, highest)
    return (logs - highest).exp().sum(axis, keep=True).log() + highest


def calibrate(log_proba: Tensor, calibration: Calibration) -> Tensor:
    """Write the calibrated P(class | x)."""
    raised, scaling = log_proba.at_least(calibration.floor), calibration.map
    if isinstance(scaling, Isotonic):
        return _apply_isotonic(raised, scaling)
    if isinstance(scaling, Temperature):
        return normalise(raised / scaling.temperature).exp()
    return normalise(raised * scaling.factors + scaling.shifts).exp()


def _apply_isotonic(log_proba: Tensor, isotonic: Isotonic) -> Tensor:
    """Write P as functions of the log-odds that are linear between knots, normalised to a sum of 1."""
    graph, log_odds = log_proba.graph, _log_odds(log_proba)
    shares = [
        _interpolate(log_odds.part(k, k + 1, 1), x, y)
        for k, (x, y) in enumerate(zip(isotonic.log_odds, isotonic.shares, strict=True))
    ]
    if len(shares) == 2:  # with two classes, one function determines both
        shares[0] = 1.0 - shares[1]
    p = graph.concat(shares)
    return p / p.sum(1, keep=True)


def _interpolate(s: Tensor, x: Array, y: Array) -> Tensor:
    """Write the value at s of the function that is linear between the points (x, y), and constant beside them."""
    place = count_edges(s, x)
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
    starts, values = np.concatenate([x[:1], x]), np.concatenate([y[:1], y])
    take = [s.graph.add("Gather", table, place) for table in (slopes, starts, values)]
    return take[0] * (s - take[1]) + take[2]


def _log_odds(log_p: Tensor) -> Tensor:
    """Write log P − log(1 − P), from log P."""
    graph, p = log_p.graph, log_p.exp()
    # 1 − P = −log P·(P − 1) / log(P as it was rounded) has all digits where P is nearly 1
    other = graph.where(p.equals(1.0), -log_p, (1.0 - p) * (log_p / p.log()))
    return log_p - graph.where(log_p > -0.5, other, 1.0 - p).log().at_least(LOG_ZERO)
