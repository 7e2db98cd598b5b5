"""Co-moments: the mean of the columns, and how they vary together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.tallies.moments import Moments, rounded
from suffice.tallies.statistic import Statistic, weight_of


@dataclass(frozen=True, eq=False)
class CoMoments(Statistic):
    """Weight, mean and scatter by class: n = Σw, mean = Σw·x / n, scatter = Σw·(x − mean)(x − mean)ᵀ.

    They merge as `Moments` do, with δδᵀ for δ². The scatter is [class, column, column].

    >>> both = CoMoments.of([[0.0, 0.0], [2.0, 2.0]]) + CoMoments.of([[1.0, 4.0]])
    >>> both.mean.tolist(), both.scatter.tolist()
    ([[1.0, 2.0]], [[[2.0, 2.0], [2.0, 8.0]]])
    """

    mean: Array
    tail: Array
    scatter: Array

    @classmethod
    def zero(cls, classes: int, width: int) -> Self:
        return cls(
            np.zeros((classes, 1)),
            np.zeros((classes, width)),
            np.zeros((classes, width)),
            np.zeros((classes, width, width)),
        )

    @classmethod
    def of(cls, rows: Array | list[list[float]], weights: Array | None = None) -> Self:
        """Return the co-moments of one class's rows."""
        rows = np.asarray(rows, np.float64)
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
        shift, n = rows[:1], weights.sum()
        deviations = rows - shift
        drift = (weights[:, None] * deviations).sum(axis=0, keepdims=True) / n
        mean, tail = rounded(shift, drift)
        centred = deviations - drift
        scatter = (weights[:, None] * centred).T @ centred
        return cls(np.array([[n]]), mean, tail, scatter[None])

    @property
    def m2(self) -> Array:
        """The spread of each column by itself."""
        return np.diagonal(self.scatter, axis1=1, axis2=2)

    @property
    def spreads(self) -> Moments:
        """The moments of each column by itself."""
        return Moments(self.n, self.mean, self.tail, self.m2)

    def pooled(self) -> Moments:
        """Return the moments of each column in all classes together."""
        return self.spreads.pooled()

    def __add__(self, other: Self) -> Self:
        n = self.n + other.n
        share = other.n / np.where(n > 0, n, 1.0)
        delta = self._distance(other)
        mean, tail = rounded(self.mean, self.tail + delta * share)
        empty = self.n == 0
        mean, tail = np.where(empty, other.mean, mean), np.where(empty, other.tail, tail)
        return type(self)(n, mean, tail, self.scatter + other.scatter + _outer(delta) * (self.n * share)[..., None])

    def __sub__(self, other: Self) -> Self:
        spreads = self.spreads - other.spreads  # raises if more is asked for than is there
        left = np.where(spreads.n > 0, spreads.n, 1.0)
        given = _outer(self._distance(other)) * (self.n / left * other.n)[..., None]
        scatter = np.where((spreads.n > 0)[..., None], self.scatter - other.scatter - given, 0.0)
        diagonal = np.arange(self.mean.shape[1])
        scatter[:, diagonal, diagonal] = spreads.m2
        return type(self)(spreads.n, spreads.mean, spreads.tail, scatter)

    def __mul__(self, weight: float) -> Self:
        weight = weight_of(weight)
        if weight == 0:
            return type(self).zero(*self.mean.shape)
        return type(self)(self.n * weight, self.mean, self.tail, self.scatter * weight)

    def _distance(self, other: Self) -> Array:
        delta = (other.mean - self.mean) + (other.tail - self.tail)
        return np.where((self.n > 0) & (other.n > 0), delta, 0.0)


def _outer(delta: Array) -> Array:
    return np.asarray(delta[:, :, None] * delta[:, None, :])
