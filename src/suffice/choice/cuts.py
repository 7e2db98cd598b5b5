"""Cuts: bins of a numeric column, as unions of the cells in which it was counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.schema import Array, Cuts

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


def quantiles(column: CellCounts, bins: int = BINS) -> Cuts:
    """Return cuts into bins of equal weight, as far as the cells allow.

    A cell that fills a bin by itself leaves the other bins to the other cells, so a column that is mostly zero still
    has several bins for the rest.

    >>> column = CellCounts.of((10.0, 20.0, 30.0), np.array([[2.0], [2.0], [3.0], [1.0]]))
    >>> quantiles(column, bins=2).edges
    (20.0,)
    """
    below = column.below[1:].sum(axis=1)
    edges, taken, left = [], 0.0, bins
    while left > 1:
        place = int(np.searchsorted(below, taken + (below[-1] - taken) / left * (1 - 1e-12)))
        if below[place] >= below[-1]:
            break
        edges.append(column.edges[place])
        taken, left = below[place], left - 1
    return Cuts(tuple(edges), "quantiles")


def mdl(column: CellCounts) -> Cuts:
    """Return cuts by the minimum description length principle (Fayyad and Irani 1993).

    An interval is cut where the entropy H of the classes decreases most, if the decrease is larger than
    (log₂(N − 1) + log₂(3ᵏ − 2) − k·H + k₁·H₁ + k₂·H₂) / N; then both parts are cut in the same way.

    >>> mdl(CellCounts.of((10.0, 20.0), np.array([[50.0, 0.0], [50.0, 0.0], [0.0, 100.0]]))).edges
    (20.0,)
    """
    todo, cuts = [(0, len(column.edges) + 1)], list[int]()
    while todo:
        first, last = todo.pop()
        place = _best_cut(column.below, first, last)
        if place is not None:
            cuts.append(place)
            todo += [(first, place), (place, last)]
    return Cuts(tuple(column.edges[place - 1] for place in sorted(cuts)), "mdl")


CUTTERS: dict[str, Callable[[CellCounts], Cuts]] = {"quantiles": quantiles, "mdl": mdl}


def _best_cut(below: Array, first: int, last: int) -> int | None:
    """Return the position before which the values from first to last are cut; None if no cut is worth its cost."""
    if last - first < 2 or not (below[last] > below[first]).any():
        return None
    left = below[first + 1 : last] - below[first]
    whole = below[last] - below[first]
    right = whole - left
    n, n1, n2 = whole.sum(), left.sum(axis=1), right.sum(axis=1)
    h, h1, h2 = _entropy(whole[None], np.array([n]))[0], _entropy(left, n1), _entropy(right, n2)
    after = (n1 * h1 + n2 * h2) / n
    best = int(np.argmin(after))
    k, k1, k2 = (int((part > 0).sum()) for part in (whole, left[best], right[best]))
    # log₂(3ᵏ − 2), in a form that does not overflow for many classes
    cost = np.log2(max(n - 1, 1)) + k * np.log2(3) + np.log1p(-2 * 3.0**-k) / np.log(2)
    cost -= k * h - k1 * h1[best] - k2 * h2[best]
    return first + 1 + best if h - after[best] > cost / n else None


def _entropy(counts: Array, total: Array) -> Array:
    share = counts / np.where(total > 0, total, 1.0)[:, None]
    return np.asarray(-(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1))
