"""Scores of forms: leave-one-out log-likelihoods of the classes, Σ log P(class | x, other rows), over all rows.

They are computed from the sums of all rows: leaving a row out subtracts 1 from a count, or a value from a mean and a
variance. The functions take the cells of several columns, one column after the other, and return one score per column.
"""

import numpy as np
from scipy.special import ndtr

from suffice.choice.cuts import CellCounts
from suffice.schema import Array, by_group

# The pseudo-count with which forms are compared: it is added to each count, and as the number of pseudo-rows with the
# moments of all rows to each class.
PSEUDO_COUNT = 0.5

# Edges further from the mean are taken to be this many standard deviations away, so that their squares are finite.
MOST_DEVIATIONS = 1e6

# The row that is left out of an open cell is at most about this many standard deviations away.
MOST_LEFT_OUT = 10.0

# The least probability of a cell.
LEAST_PROBABILITY = float(np.exp(-700.0))


def score_levels(cells: CellCounts, shares: Array) -> Array:
    """Return the scores of columns with levels, given the weight of each class in all rows, [column, class]."""
    n, size = by_group(np.add, cells.counts.T, cells.starts).T, PSEUDO_COUNT * cells.sizes[:, None]
    of_all, of_rest = (_positive(shares) / _positive(weight + size) for weight in (n, np.maximum(n - 1, 0)))
    with_all = (cells.counts + PSEUDO_COUNT) * of_all[cells.column]
    without = (np.maximum(cells.counts - 1, 0) + PSEUDO_COUNT) * of_rest[cells.column]
    return _sum_log_likelihood(with_all, without, cells)


def score_missing(missing: Array, shares: Array) -> Array:
    """Return the scores of missing cells that are skipped: their rows are predicted by the shares of the classes."""
    of_all = np.log(_positive(shares)) - np.log(_positive(shares.sum(axis=1)))[:, None]
    return np.asarray((missing * of_all).sum(axis=1))


def score_gaussian(cells: CellCounts, edges: Array, moments: tuple[Array, Array, Array], shares: Array) -> Array:
    """Return the scores of Gaussians, whose probabilities of cells are differences of their distribution function.

    Parameters
    ----------
    cells : CellCounts
        The cells of the columns.
    edges : array
        The edges of all columns, one column after the other.
    moments : tuple of arrays [column, class]
        The weight, the mean and the squared deviations.
    shares : array [column, class]
        The weight of each class in all rows.
    """
    n, mean, squares = moments
    total = _positive(n.sum(axis=1, keepdims=True))
    centre = (n * mean).sum(axis=1, keepdims=True) / total
    pooled = _positive((squares + n * (mean - centre) ** 2).sum(axis=1, keepdims=True) / total)
    # standardised, so that the numbers below are of order 1
    mean, squares = np.where(n > 0, (mean - centre) / np.sqrt(pooled), 0.0), squares / pooled
    own = np.repeat(np.arange(len(cells.sizes)), cells.sizes - 1)
    edges = np.clip((edges - centre[own, 0]) / np.sqrt(pooled[own, 0]), -MOST_DEVIATIONS, MOST_DEVIATIONS)
    low, high = np.full((len(cells.counts), 1), -np.inf), np.full((len(cells.counts), 1), np.inf)
    has_end = np.ones(len(high), bool)
    has_end[cells.starts + cells.sizes - 1] = False
    high[has_end, 0] = edges
    low[1:][has_end[:-1], 0] = edges
    column = cells.column
    variance = (squares + PSEUDO_COUNT) / (n + PSEUDO_COUNT)
    with_all = _cell_probabilities(low, high, mean[column], variance[column])
    # the row that is left out is taken to lie in the middle of its cell
    x = (np.maximum(low, -MOST_LEFT_OUT) + np.minimum(high, MOST_LEFT_OUT)) / 2
    rest, distance = np.maximum(n - 1, 0), x - mean[column]
    left, has_rest = np.where(rest > 0, rest, 1.0), (rest > 0)[column]
    without_mean = np.where(has_rest, mean[column] - distance / left[column], 0.0)
    without_squares = np.maximum(squares[column] - distance**2 * (n / left)[column], 0.0)
    variance = (np.where(has_rest, without_squares, 0.0) + PSEUDO_COUNT) / (rest + PSEUDO_COUNT)[column]
    without = _cell_probabilities(low, high, without_mean, variance)
    prior = _positive(shares)[column]
    return _sum_log_likelihood(prior * with_all, prior * without, cells)


def _cell_probabilities(low: Array, high: Array, mean: Array, variance: Array) -> Array:
    """Return the probability of each cell under Gaussians, [cell, class]."""
    deviation = np.sqrt(variance)
    low, high = (low - mean) / deviation, (high - mean) / deviation
    # the upper tail is mirrored, which keeps its digits
    is_upper = low > 0
    low, high = np.where(is_upper, -high, low), np.where(is_upper, -low, high)
    return np.asarray(np.maximum(ndtr(high) - ndtr(low), LEAST_PROBABILITY))


def _sum_log_likelihood(with_all: Array, without: Array, cells: CellCounts) -> Array:
    """Return Σ counts·log P(class | x) of each column, where the class of each row is scored without that row."""
    highest = np.maximum(with_all.max(axis=1, keepdims=True), without.max(axis=1, keepdims=True))
    shares, own = with_all / highest, without / highest
    others = np.maximum(shares.sum(axis=1, keepdims=True) - shares, 0.0)
    share = own / _positive(own + others)
    # a column without levels, whose cells are all missing, has the score 0
    return by_group(np.add, (cells.counts * np.log(_positive(share))).sum(axis=1), cells.starts)


def _positive(numbers: Array) -> Array:
    return np.maximum(numbers, 1e-300)
