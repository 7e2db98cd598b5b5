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
    counts, size, priors = cells.by_class, PSEUDO_COUNT * cells.sizes, _positive(shares.T)
    n = by_group(np.add, counts, cells.starts)
    of_all, of_rest = (priors / _positive(weight + size) for weight in (n, np.maximum(n - 1, 0)))
    with_all = (counts + PSEUDO_COUNT) * of_all[:, cells.column]
    without = (np.maximum(counts - 1, 0) + PSEUDO_COUNT) * of_rest[:, cells.column]
    return _sum_log_likelihood(with_all, without, cells)


def score_missing(missing: Array, shares: Array) -> Array:
    """Return the scores of missing cells that are skipped: their rows are predicted by the shares of the classes."""
    of_all = np.log(_positive(shares)) - np.log(_positive(shares.sum(axis=1)))[:, None]
    return np.asarray((missing * of_all).sum(axis=1))


def score_gaussian(cells: CellCounts, upper: Array, moments: tuple[Array, Array, Array], shares: Array) -> Array:
    """Return the scores of Gaussians, whose probabilities of cells are differences of their distribution function.

    Parameters
    ----------
    cells : CellCounts
        The cells of the columns.
    upper : array [cell]
        The upper edge of each cell.
    moments : tuple of arrays [column, class]
        The weight, the mean and the squared deviations.
    shares : array [column, class]
        The weight of each class in all rows.
    """
    n, mean, squares = (np.ascontiguousarray(moment.T) for moment in moments)
    total = _positive(n.sum(axis=0))
    centre = (n * mean).sum(axis=0) / total
    pooled = _positive((squares + n * (mean - centre) ** 2).sum(axis=0) / total)
    deviation, column = np.sqrt(pooled), cells.column
    # standardised, so that the numbers below are of order 1
    mean, squares = np.where(n > 0, (mean - centre) / deviation, 0.0), squares / pooled
    high = np.clip((upper - centre[column]) / deviation[column], -MOST_DEVIATIONS, MOST_DEVIATIONS)
    high[cells.last] = np.inf
    low = np.append(-np.inf, high[:-1])
    low[cells.starts[cells.sizes > 0]] = -np.inf
    its_mean = mean[:, column]
    with_all = _cell_probabilities(
        low, high, its_mean, np.sqrt((squares + PSEUDO_COUNT) / (n + PSEUDO_COUNT))[:, column]
    )
    # the row that is left out is taken to lie in the middle of its cell
    distance = (np.maximum(low, -MOST_LEFT_OUT) + np.minimum(high, MOST_LEFT_OUT)) / 2 - its_mean
    rest = np.maximum(n - 1, 0)
    left = np.where(rest > 0, rest, 1.0)
    without_mean = its_mean - distance / left[:, column]
    without_squares = np.maximum(squares[:, column] - distance**2 * (n / left)[:, column], 0.0)
    if not (rest > 0).all():
        has_rest = (rest > 0)[:, column]
        without_mean, without_squares = np.where(has_rest, without_mean, 0.0), np.where(has_rest, without_squares, 0.0)
    variance = (without_squares + PSEUDO_COUNT) / (rest + PSEUDO_COUNT)[:, column]
    without = _cell_probabilities(low, high, without_mean, np.sqrt(variance))
    prior = _positive(shares.T)[:, column]
    return _sum_log_likelihood(prior * with_all, prior * without, cells)


def _cell_probabilities(low: Array, high: Array, mean: Array, deviation: Array) -> Array:
    """Return the probability of each cell under Gaussians, [class, cell]."""
    low, high = (low - mean) / deviation, (high - mean) / deviation
    # the upper tail is mirrored, which keeps its digits
    is_upper = low > 0
    low, high = np.where(is_upper, -high, low), np.where(is_upper, -low, high)
    return np.asarray(np.maximum(ndtr(high) - ndtr(low), LEAST_PROBABILITY))


def _sum_log_likelihood(with_all: Array, without: Array, cells: CellCounts) -> Array:
    """Return Σ counts·log P(class | x) of each column, where the class of each row is scored without that row."""
    highest = np.maximum(with_all.max(axis=0), without.max(axis=0))
    shares, own = with_all / highest, without / highest
    others = np.maximum(shares.sum(axis=0) - shares, 0.0)
    share = own / _positive(own + others)
    # a column without levels, whose cells are all missing, has the score 0
    return by_group(np.add, (cells.by_class * np.log(_positive(share))).sum(axis=0), cells.starts)


def _positive(numbers: Array) -> Array:
    return np.maximum(numbers, 1e-300)
