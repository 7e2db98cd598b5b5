"""Scores of forms: leave-one-out log-likelihoods of the classes, Σ log P(class | x, other rows), over all rows.

They are computed from the sums of all rows: leaving a row out subtracts 1 from a count, or a value from a mean and a
variance. The functions take the cells of several columns, one column after the other, and return one score per column.
"""

import numpy as np

from suffice.choice.cuts import CellCounts
from suffice.kernels import form_scores as kernels
from suffice.schema import Array

# The pseudo-count with which forms are compared: it is added to each count, and as the number of pseudo-rows with the
# moments of all rows to each class.
PSEUDO_COUNT = 0.5

# Edges further from the mean are taken to be this many standard deviations away, so that their squares are finite.
MOST_DEVIATIONS = 1e6

# The row that is left out of an open cell is at most about this many standard deviations away.
MOST_LEFT_OUT = 10.0


def score_levels(cells: CellCounts, is_end: Array, shares: Array, missing: Array | None = None) -> Array:
    """Return the scores of columns with levels, which are bins of cells.

    Parameters
    ----------
    cells : CellCounts
        The cells of the columns.
    is_end : array [cell]
        Whether a bin ends with the cell; one does with the last cell of a column in any case.
    shares : array [column, class]
        The weight of each class in all rows.
    missing : array [column, class] or None
        The weight of the missing cells, if they are one more level.
    """
    scores, sums = np.empty(len(cells.sizes)), np.empty((4, cells.counts.shape[1]))
    own = np.zeros((1, 1)) if missing is None else np.ascontiguousarray(missing)
    kernels.score_bins(
        cells.counts, cells.starts, cells.sizes, is_end, own, missing is not None, np.ascontiguousarray(shares),
        PSEUDO_COUNT, sums, scores, work=2 * cells.counts.size,
    )  # fmt: skip
    return scores


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


def _positive(numbers: Array) -> Array:
    return np.maximum(numbers, 1e-300)
