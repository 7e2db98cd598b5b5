"""Cuts: choose the bins of a numeric column, or a Gaussian where that predicts the classes better.

A row of weight w counts as w rows, so weighted rows give the same cuts as repeated ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.schema import Array, Cuts

BINS = 10

# The pseudo-count with which bins and a Gaussian are compared: it is added to each count, and as the number of
# pseudo-rows with the moments of all rows to each class.
PSEUDO_COUNT = 0.5

# Whole numbers whose range is smaller than this are counted in a table.
TABLE = 1 << 17

# A Gaussian is assessed on at most about this many distinct values.
MOST_VALUES = 4000


@dataclass(frozen=True)
class Ordered:
    """The sorted distinct values of a column, and the total weight of each class below each of them.

    >>> column = Ordered.of(np.array([3.0, 1.0, 3.0]), np.array([0, 0, 1]), np.ones(3), 2)
    >>> column.values.tolist(), column.below.tolist()
    ([1.0, 3.0], [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    """

    values: Array
    below: Array

    @classmethod
    def of(cls, values: Array, codes: Array, weights: Array, classes: int) -> Ordered:
        """Return the sorted column."""
        low, high = values.min(), values.max()
        if high / 2 - low / 2 < TABLE / 2 and bool(np.all(values == np.floor(values))):
            # counting in a table is faster than sorting
            width = int(high - low) + 1
            places = codes * width + (values - low).astype(np.intp)
            counts = np.bincount(places, weights, minlength=classes * width).reshape(classes, width).T
            used = np.flatnonzero(counts.any(axis=1))
            below = np.zeros((len(used) + 1, classes))
            np.cumsum(counts[used], axis=0, out=below[1:])
            return cls(low + used, below)
        order = np.argsort(values)
        values = values[order]
        last = np.flatnonzero(np.append(values[1:] != values[:-1], True))
        below = np.zeros((len(last) + 1, classes))
        for k in range(classes):
            below[1:, k] = np.cumsum(np.where(codes[order] == k, weights[order], 0.0))[last]
        return cls(values[last], below)

    def between(self, place: int) -> float:
        """Return a cut between the value at this position and the next."""
        low, high = float(self.values[place]), float(self.values[place + 1])
        middle = low + (high - low) / 2
        return middle if low < middle < high else high

    def counts(self, cuts: Cuts) -> Array:
        """Return the weight of each class in each bin, [bin, class]."""
        places = np.searchsorted(self.values, cuts.edges)
        return np.diff(self.below[[0, *places.tolist(), -1]], axis=0)


def quantiles(column: Ordered, bins: int = BINS) -> Cuts:
    """Return cuts into bins of equal weight, as far as ties allow.

    A value that fills a bin by itself leaves the other bins to the other values, so a column that is mostly zero still
    has several bins for the rest.

    >>> quantiles(Ordered.of(np.arange(100.0), np.zeros(100, int), np.ones(100), 1), bins=4).edges
    (24.5, 49.5, 74.5)
    """
    below = column.below[1:].sum(axis=1)
    edges, taken, left = [], 0.0, bins
    while left > 1:
        place = int(np.searchsorted(below, taken + (below[-1] - taken) / left * (1 - 1e-12)))
        if place >= len(below) - 1:
            break
        edges.append(column.between(place))
        taken, left = below[place], left - 1
    return Cuts(tuple(edges), "quantiles")


def mdl(column: Ordered) -> Cuts:
    """Return cuts by the minimum description length principle (Fayyad and Irani 1993).

    An interval is cut where the entropy H of the classes decreases most, if the decrease is larger than
    (log₂(N − 1) + log₂(3ᵏ − 2) − k·H + k₁·H₁ + k₂·H₂) / N; then both parts are cut in the same way.

    >>> column = Ordered.of(np.arange(100.0), (np.arange(100) >= 30).astype(int), np.ones(100), 2)
    >>> mdl(column).edges
    (29.5,)
    """
    todo, cuts = [(0, len(column.values))], list[int]()
    while todo:
        first, last = todo.pop()
        place = _best_cut(column.below, first, last)
        if place is not None:
            cuts.append(place)
            todo += [(first, place), (place, last)]
    return Cuts(tuple(column.between(place - 1) for place in sorted(cuts)), "mdl")


CUTTERS: dict[str, Callable[[Ordered], Cuts]] = {"quantiles": quantiles, "mdl": mdl}


def choose_cuts(column: Ordered) -> Cuts | None:
    """Return the cuts that predict the classes best; None if a Gaussian predicts them better.

    The criterion is the leave-one-out log-likelihood of the classes given the column, Σ log P(class | x, other rows).
    It is computed from the counts and moments of all rows: leaving a row out subtracts 1 from a count, or a value from
    a mean and a variance.
    """
    best, cuts = _score_gaussian(column), None
    for cutter in CUTTERS.values():
        candidate = cutter(column)
        likelihood = _score_bins(column.counts(candidate))
        if likelihood > best:
            best, cuts = likelihood, candidate
    return cuts


def _score_bins(counts: Array) -> float:
    n, size = counts.sum(axis=0), PSEUDO_COUNT * len(counts)
    with_all = _log(n) + np.log(counts + PSEUDO_COUNT) - np.log(n + size)
    without = np.log(np.maximum(counts - 1, 0) + PSEUDO_COUNT) - np.log(np.maximum(n - 1, 0) + size)
    return _log_likelihood(with_all, _log(n) + without, counts)


def _score_gaussian(column: Ordered) -> float:
    counts, n = np.diff(column.below, axis=0), column.below[-1]
    centred = column.values - column.values[len(column.values) // 2]
    x = (centred / max(np.abs(centred).max(), 1e-300))[:, None]
    held = np.maximum(n, 1e-300)
    mean = (counts * x).sum(axis=0) / held
    squares = (counts * (x - mean) ** 2).sum(axis=0)
    every = counts.sum(axis=1, keepdims=True)
    pooled_mean = (every * x).sum() / n.sum()
    pooled = max((every * (x - pooled_mean) ** 2).sum() / n.sum(), 1e-12)
    step = max(len(x) // MOST_VALUES, 1)
    x, counts = x[step // 2 :: step], counts[step // 2 :: step]
    with_all = _log(n) + _log_normal(x, mean, (squares + PSEUDO_COUNT * pooled) / (n + PSEUDO_COUNT))
    rest = np.maximum(n - 1, 0)
    distance = x - mean
    without_mean = np.where(rest > 0, mean - distance / np.maximum(rest, 1e-300), pooled_mean)
    without_squares = np.maximum(squares - distance**2 * n / np.maximum(rest, 1e-300), 0.0)
    without = _log_normal(x, without_mean, (without_squares + PSEUDO_COUNT * pooled) / (rest + PSEUDO_COUNT))
    return _log_likelihood(with_all, _log(n) + without, counts) * float(n.sum() / max(counts.sum(), 1e-300))


def _log_normal(x: Array, mean: Array, variance: Array) -> Array:
    return np.asarray(-0.5 * np.log(variance) - (x - mean) ** 2 / (2 * variance))


def _log_likelihood(with_all: Array, without: Array, counts: Array) -> float:
    """Return Σ counts·log P(class | x), where the class of each row is scored without that row."""
    highest = np.maximum(with_all.max(axis=1, keepdims=True), without.max(axis=1, keepdims=True))
    shares, own = np.exp(with_all - highest), np.exp(without - highest)
    others = np.maximum(shares.sum(axis=1, keepdims=True) - shares, 0.0)
    share = own / np.maximum(own + others, 1e-300)
    return float((counts * np.log(np.maximum(share, 1e-300))).sum())


def _log(n: Array) -> Array:
    return np.log(np.maximum(n, 1e-300))


def _best_cut(below: Array, first: int, last: int) -> int | None:
    """Return the position before which the values from first to last are cut; None if no cut is worth its cost."""
    if last - first < 2:
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
