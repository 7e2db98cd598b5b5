"""Scores of forms: leave-one-out log-likelihoods of the classes, Σ log P(class | x, other rows), over all rows.

They are computed from the sums of all rows: leaving a row out subtracts 1 from a count, or a value from a mean and a
variance. The functions take the cells of several columns, one column after the other, and return one score per column.
"""

import numpy as np

from suffice.choice.cuts import CellCounts
from suffice.kernels import column_forms as kernels
from suffice.schema import Array, by_group

# The pseudo-count with which forms are compared: it is added to each count, and as the number of pseudo-rows with the
# moments of all rows to each class.
PSEUDO_COUNT = 0.5

# Edges further from the mean are taken to be this many standard deviations away, so that their squares are finite.
MOST_DEVIATIONS = 1e6

# The row that is left out of an open cell is at most about this many standard deviations away.
MOST_LEFT_OUT = 10.0


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
    classes, scores = cells.counts.shape[1], np.empty(len(cells.sizes))
    kernels.score_gaussians(
        cells.counts, cells.starts, cells.sizes, upper, *map(np.ascontiguousarray, (*moments, shares)), PSEUDO_COUNT,
        MOST_DEVIATIONS, MOST_LEFT_OUT, np.empty((4, classes)), np.empty((2, classes)), scores,
        work=4 * cells.counts.size,
    )  # fmt: skip
    return scores


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
