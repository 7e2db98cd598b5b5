"""Cuts: bins of a numeric column, as unions of the cells in which it was counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from suffice.schema import TIE, Array, Cuts, starts_of

BINS = 10


@dataclass(frozen=True)
class CellCounts:
    """The cells of a column: the edges between them, and the weight of each class below the end of each cell.

    >>> column = CellCounts.of((2.0,), np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> column.below.tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
    """

    edges: tuple[float, ...]
    below: Array

    @classmethod
    def of(cls, edges: tuple[float, ...], counts: Array) -> CellCounts:
        """Return the cells with these counts, [cell, class]."""
        below = np.zeros((len(counts) + 1, counts.shape[1]))
        np.cumsum(counts, axis=0, out=below[1:])
        return cls(edges, below)

    @property
    def counts(self) -> Array:
        """The weight of each class in each cell, [cell, class]."""
        return np.diff(self.below, axis=0)

    def bins(self, cuts: Cuts) -> Array:
        """Return the weight of each class in each bin, [bin, class]."""
        places = np.searchsorted(self.edges, cuts.edges) + 1
        return np.diff(self.below[[0, *places.tolist(), -1]], axis=0)


def quantiles(columns: Sequence[CellCounts], bins: int = BINS) -> list[Cuts]:
    """Return cuts of each column into bins of equal weight, as far as the cells allow.

    A cell that fills a bin by itself leaves the other bins to the other cells, so a column that is mostly zero still
    has several bins for the rest.

    >>> column = CellCounts.of((10.0, 20.0, 30.0), np.array([[2.0], [2.0], [3.0], [1.0]]))
    >>> [cuts.edges for cuts in quantiles([column], bins=2)]
    [(20.0,)]
    """
    return [_equal_weight(column, bins) for column in columns]


def _equal_weight(column: CellCounts, bins: int) -> Cuts:
    below = column.below[1:].sum(axis=1)
    edges, taken, left = [], 0.0, bins
    while left > 1:
        place = int(np.searchsorted(below, taken + (below[-1] - taken) / left * (1 - 1e-12)))
        if below[place] >= below[-1]:
            break
        edges.append(column.edges[place])
        taken, left = below[place], left - 1
    return Cuts(tuple(edges), "quantiles")


def mdl(columns: Sequence[CellCounts]) -> list[Cuts]:
    """Return cuts of each column by the minimum description length principle (Fayyad and Irani 1993).

    An interval is cut where the entropy H of the classes decreases most, if the decrease is larger than
    (log₂(N − 1) + log₂(3ᵏ − 2) − k·H + k₁·H₁ + k₂·H₂) / N; then both parts are cut in the same way.

    >>> column = CellCounts.of((10.0, 20.0), np.array([[50.0, 0.0], [50.0, 0.0], [0.0, 100.0]]))
    >>> [cuts.edges for cuts in mdl([column])]
    [(20.0,)]
    """
    if not columns:
        return []
    # the cells of all columns one after the other, so that the intervals of all columns are cut at once
    below = np.concatenate([column.below for column in columns])
    sizes = np.array([len(column.below) for column in columns])
    starts = starts_of(sizes)
    first, last, found = starts, starts + sizes - 1, [np.zeros(0, np.intp)]
    while len(first):
        place = _best_cuts(below, first, last)
        is_cut = place >= 0
        first, place, last = first[is_cut], place[is_cut], last[is_cut]
        found.append(place)
        first, last = np.concatenate([first, place]), np.concatenate([place, last])
    places = np.sort(np.concatenate(found))
    ends = np.searchsorted(places, starts)
    return [
        Cuts(tuple(column.edges[place - start - 1] for place in own), "mdl")
        for column, start, own in zip(columns, starts.tolist(), np.split(places, ends[1:]), strict=True)
    ]


CUTTERS: dict[str, Callable[[Sequence[CellCounts]], list[Cuts]]] = {"quantiles": quantiles, "mdl": mdl}


def _best_cuts(below: Array, first: Array, last: Array) -> Array:
    """Return the position before which the values from first to last are cut; −1 if no cut is worth its cost.

    Parameters
    ----------
    below : array [cell, class]
        The weight of each class below the end of each cell.
    first, last : arrays [interval]
        The first cell of each interval, and the one after its last.
    """
    places = np.full(len(first), -1)
    own = np.flatnonzero((last - first >= 2) & (below[last] > below[first]).any(axis=1))
    if not len(own):
        return places
    first, last = first[own], last[own]
    counts = last - first - 1  # of possible cuts
    starts, interval = starts_of(counts), np.repeat(np.arange(len(own)), counts)
    cut = np.arange(counts.sum()) + (first + 1 - starts)[interval]
    whole = below[last] - below[first]
    left = below[cut] - below[first][interval]
    right = whole[interval] - left
    n, n1, n2 = whole.sum(axis=1), left.sum(axis=1), right.sum(axis=1)
    h, h1, h2 = _entropy(whole, n), _entropy(left, n1), _entropy(right, n2)
    after = (n1 * h1 + n2 * h2) / n[interval]
    is_least = after <= (np.minimum.reduceat(after, starts) + TIE * h)[interval]
    best = np.minimum.reduceat(np.where(is_least, np.arange(len(cut)), len(cut)), starts)
    k, k1, k2 = ((part > 0).sum(axis=1) for part in (whole, left[best], right[best]))
    # log₂(3ᵏ − 2), in a form that does not overflow for many classes
    cost = np.log2(np.maximum(n - 1, 1)) + k * np.log2(3) + np.log1p(-2 * 3.0**-k) / np.log(2)
    cost -= k * h - k1 * h1[best] - k2 * h2[best]
    is_worth = h - after[best] > cost / n
    places[own[is_worth]] = cut[best[is_worth]]
    return places


def _entropy(counts: Array, total: Array) -> Array:
    share = counts / np.where(total > 0, total, 1.0)[:, None]
    return np.asarray(-(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1))
