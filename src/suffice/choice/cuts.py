"""Cuts: bins of numeric columns, as unions of the cells in which they were counted. All columns are cut at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

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

    @cached_property
    def below(self) -> Array:
        """The weight of each class below the start and below the end of each cell, [class, column, cell + 1].

        Each column is added up by itself, so that its sums do not depend on the other columns. Columns with fewer cells
        than others have empty ones at their end.
        """
        most = int(self.sizes.max(initial=0))
        below = np.zeros((self.counts.shape[1], len(self.sizes), most + 1))
        below[:, :, 1:][:, np.arange(most) < self.sizes[:, None]] = self.by_class
        return np.cumsum(below, axis=2, out=below)

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
    below = cells.below[:, :, 1:].sum(axis=0)
    is_end = np.zeros(len(cells.counts), bool)
    left, taken, whole = np.arange(len(below)), np.zeros(len(below)), below[:, -1]
    for count in range(bins, 1, -1):
        share = taken + (whole[left] - taken) / count * (1 - 1e-12)
        place = (below[left] < share[:, None]).sum(axis=1)
        taken = below[left, place]
        more = taken < whole[left]
        left, taken, place = left[more], taken[more], place[more]
        is_end[cells.starts[left] + place] = True
    return is_end


def mdl(cells: CellCounts) -> Array:
    """Return cuts of each column by the minimum description length principle (Fayyad and Irani 1993).

    An interval is cut where the entropy H of the classes decreases most, if the decrease is larger than
    (log₂(N − 1) + log₂(3ᵏ − 2) − k·H + k₁·H₁ + k₂·H₂) / N; then both parts are cut in the same way.

    >>> mdl(CellCounts(np.array([[50.0, 0.0], [50.0, 0.0], [0.0, 100.0]]), np.array([3]))).tolist()
    [False, True, False]
    """
    is_end = np.zeros(len(cells.counts), bool)
    # the cells of all columns one after the other, so that the intervals of all columns are cut at once
    sizes = cells.sizes + 1
    below = cells.below[:, np.arange(sizes.max()) < sizes[:, None]]
    first, last = starts_of(sizes), starts_of(sizes) + cells.sizes
    column = np.repeat(np.arange(len(sizes)), sizes)
    while len(first):
        place = _best_cuts(below, first, last)
        is_cut = place >= 0
        first, place, last = first[is_cut], place[is_cut], last[is_cut]
        is_end[place - column[place] - 1] = True
        first, last = np.concatenate([first, place]), np.concatenate([place, last])
    return is_end


CUTTERS: dict[str, Callable[[CellCounts], Array]] = {"quantiles": quantiles, "mdl": mdl}


def _best_cuts(below: Array, first: Array, last: Array) -> Array:
    """Return the position before which the values from first to last are cut; −1 if no cut is worth its cost.

    Parameters
    ----------
    below : array [class, cell]
        The weight of each class below the end of each cell.
    first, last : arrays [interval]
        The first cell of each interval, and the one after its last.
    """
    places = np.full(len(first), -1)
    own = np.flatnonzero((last - first >= 2) & (below[:, last] > below[:, first]).any(axis=0))
    if not len(own):
        return places
    first, last = first[own], last[own]
    counts = last - first - 1  # of possible cuts
    starts, interval = starts_of(counts), np.repeat(np.arange(len(own)), counts)
    cut = np.arange(counts.sum()) + (first + 1 - starts)[interval]
    whole = below[:, last] - below[:, first]
    left = below[:, cut] - below[:, first[interval]]
    right = whole[:, interval] - left
    n, n1, n2 = whole.sum(axis=0), left.sum(axis=0), right.sum(axis=0)
    h, h1, h2 = _entropy(whole, n), _entropy(left, n1), _entropy(right, n2)
    after = (n1 * h1 + n2 * h2) / n[interval]
    is_least = after <= (np.minimum.reduceat(after, starts) + TIE * h)[interval]
    best = np.minimum.reduceat(np.where(is_least, np.arange(len(cut)), len(cut)), starts)
    k, k1, k2 = ((part > 0).sum(axis=0) for part in (whole, left[:, best], right[:, best]))
    # log₂(3ᵏ − 2), in a form that does not overflow for many classes
    cost = np.log2(np.maximum(n - 1, 1)) + k * np.log2(3) + np.log1p(-2 * 3.0**-k) / np.log(2)
    cost -= k * h - k1 * h1[best] - k2 * h2[best]
    is_worth = h - after[best] > cost / n
    places[own[is_worth]] = cut[best[is_worth]]
    return places


def _entropy(counts: Array, total: Array) -> Array:
    share = counts / np.where(total > 0, total, 1.0)
    return np.asarray(-(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=0))
