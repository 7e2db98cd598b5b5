"""Family scores: the probability of each cell of a number under families of positive numbers, with and without a row.

They are computed from the sums of x and of log x. A row that is left out is taken to lie in the middle of its cell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammainc, gammaincc

from suffice.families.gamma import LEAST_DIFFERENCE, solve_shape
from suffice.schema import Array

# Weight, mean of x and mean of log x, by class.
Means = tuple[Array, Array, Array]

# The log probabilities of cells [cell, class] for the means of each class, and the edges [edge, 1].
CellScore = Callable[[Array, Array, Array], Array]


def log_cells_of_exponential(bounds: Array, mean: Array, mean_log: Array) -> Array:
    """Return log(e^(−low/mean) − e^(−high/mean)) of each cell."""
    low, high = bounds[:-1] / mean, bounds[1:] / mean
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-low + np.log(-np.expm1(low - high)))


def log_cells_of_gamma(bounds: Array, mean: Array, mean_log: Array) -> Array:
    """Return the log probability of each cell under the gamma distribution with these means of x and of log x."""
    shape = solve_shape(np.maximum(np.log(mean) - mean_log, LEAST_DIFFERENCE))
    low, high = bounds[:-1] * (shape / mean), bounds[1:] * (shape / mean)
    # the difference of the smaller tails keeps its digits
    below = gammainc(shape, low)
    inside = np.where(below < 0.5, gammainc(shape, high) - below, gammaincc(shape, low) - gammaincc(shape, high))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(np.maximum(inside, 0.0)))


CELL_SCORES: dict[str, CellScore] = {"exponential": log_cells_of_exponential, "gamma": log_cells_of_gamma}


def score_cells(family: str, bounds: Array, means: Means, pseudo_count: float) -> tuple[Array, Array]:
    """Return the log probability of each cell, [cell, class]: with all rows, and without a row of that cell.

    Parameters
    ----------
    family : {"exponential", "gamma"}
        The family.
    bounds : array [cell + 1, 1]
        The edges of the cells, from 0 to ∞.
    means : tuple of arrays [class]
        Weight, mean of x and mean of log x.
    pseudo_count : float
        The number of rows with the means of all classes that is added to each class.
    """
    n, mean, mean_log = means
    total = max(float(n.sum()), 1e-300)
    pooled, pooled_log = float(n @ mean) / total, float(n @ mean_log) / total
    score = CELL_SCORES[family]

    def evaluate(rows: Array, sums: Array, logs: Array) -> Array:
        weight = rows + pseudo_count
        return score(bounds, (sums + pseudo_count * pooled) / weight, (logs + pseudo_count * pooled_log) / weight)

    with_all = evaluate(n, n * mean, n * mean_log)
    last = np.where(np.isinf(bounds[1:]), np.maximum(2 * bounds[:-1], pooled), bounds[1:])
    x = (bounds[:-1] + last) / 2
    rest = np.maximum(n - 1, 0)
    sums = np.where(rest > 0, np.maximum(n * mean - x, 1e-9 * pooled), 0.0)
    log_x = np.log(np.maximum(x, 1e-300))
    logs = np.where(rest > 0, n * mean_log - log_x, 0.0)
    # a row in the middle of a wide cell may be further from the mean of log x than any row was
    left = np.where(rest > 0, rest, 1.0)
    logs = np.where(rest > 0, np.minimum(logs, left * np.log(np.maximum(sums, 1e-300) / left)), 0.0)
    return with_all, evaluate(np.broadcast_to(rest, sums.shape), sums, logs)
