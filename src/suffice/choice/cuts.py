"""Cuts: bins of numeric columns, as unions of the cells in which they were counted. All columns are cut at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.kernels import bin_cells as kernels
from suffice.schema import TIE, Array, starts_of

BINS = 10


@dataclass(frozen=True)
class CellCounts:
    """The cells of several columns, one column after the other.

    A cutter returns, for each cell, whether a bin ends with it; the last cell of a column, which ends a bin anyway, is
    not marked.

    Attributes
    ----------
    counts : array [cell, class]
        The weight of each class in each cell.
    sizes : array [column]
        The number of cells of each column.

    >>> column = CellCounts(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([3]))
    >>> bins, sizes = column.bins(np.array([True, False, False]))
    >>> bins.tolist(), sizes.tolist()
    ([[1.0, 0.0], [1.0, 3.0]], [2])
    """

    counts: Array
    sizes: Array

    @cached_property
    def starts(self) -> Array:
        """The first cell of each column."""
        return starts_of(self.sizes)

    @cached_property
    def by_class(self) -> Array:
        """The weight of each cell, [class, cell]: sums over few classes are fast along the first axis."""
        return np.ascontiguousarray(self.counts.T)

    @cached_property
    def last(self) -> Array:
        """The last cell of each column that has one."""
        return np.asarray((self.starts + self.sizes - 1)[self.sizes > 0])

    @cached_property
    def column(self) -> Array:
        """The column of each cell."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def select(self, columns: Array) -> CellCounts:
        """Return the cells of some columns."""
        return (
            self
            if len(columns) == len(self.sizes)
            else CellCounts(self.counts[self.cells(columns)], self.sizes[columns])
        )

    def cells(self, columns: Array) -> Array:
        """Return the places of the cells of some columns."""
        sizes = self.sizes[columns]
        return np.asarray(np.arange(sizes.sum()) + np.repeat(self.starts[columns] - starts_of(sizes), sizes))

    def bins(self, is_end: Array) -> tuple[Array, Array]:
        """Return the weight of each class in each bin, [bin, class], and the number of bins of each column."""
        ends = is_end.copy()
        ends[self.last] = True
        places = np.flatnonzero(ends)
        sizes = np.bincount(self.column[places], minlength=len(self.sizes))
        if len(places) == len(ends):
            return self.counts, sizes
        return np.asarray(np.add.reduceat(self.counts, np.append(0, places[:-1] + 1), axis=0)), sizes


def quantiles(cells: CellCounts, bins: int = BINS) -> Array:
    """Return cuts of each column into bins of equal weight, as far as the cells allow.

    A cell that fills a bin by itself leaves the other bins to the other cells, so a column that is mostly zero still
    has several bins for the rest.

    >>> quantiles(CellCounts(np.array([[2.0], [2.0], [3.0], [1.0]]), np.array([4])), bins=2).tolist()
    [False, True, False, False]
    """
    is_end, below = np.zeros(len(cells.counts), bool), np.empty(int(cells.sizes.max(initial=1)))
    sums = np.empty((1, cells.counts.shape[1]))
    kernels.cut_evenly(cells.counts, cells.starts, cells.sizes, bins, sums, below, is_end, work=cells.counts.size)
    return is_end


def mdl(cells: CellCounts) -> Array:
    """Return cuts of each column by the minimum description length principle (Fayyad and Irani 1993).

    An interval is cut where the entropy H of the classes decreases most, if the decrease is larger than
    (log₂(N − 1) + log₂(3ᵏ − 2) − k·H + k₁·H₁ + k₂·H₂) / N; then both parts are cut in the same way.

    >>> mdl(CellCounts(np.array([[50.0, 0.0], [50.0, 0.0], [0.0, 100.0]]), np.array([3]))).tolist()
    [False, True, False]
    """
    (count, classes), most = cells.counts.shape, int(cells.sizes.max(initial=1))
    is_end, intervals = np.zeros(count, bool), np.empty((most, 2), np.intp)
    kernels.cut_by_classes(
        cells.counts, cells.starts, cells.sizes, TIE, intervals, np.empty((3, classes)), np.empty((4, most)), is_end,
        work=4 * cells.counts.size,
    )  # fmt: skip
    return is_end


CUTTERS: dict[str, Callable[[CellCounts], Array]] = {"quantiles": quantiles, "mdl": mdl}
