"""Moments: the mean of each column in each class, and the spread about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.statistic import ROUNDING, OverdrawnError, Statistic, difference, weight_of

# Rounding leaves less than this of moments from which all rows are taken away again.
LAST = 1e-6


@dataclass(frozen=True, eq=False)
class Moments(Statistic):
    """Weight, mean and spread by class: n = Σw, mean = Σw·x / n, m2 = Σw·(x − mean)².

    Two of them merge by Chan's formula, with δ the difference of their means:
    mean = mean₁ + δ·n₂/n and m2 = m2₁ + m2₂ + δ²·n₁·n₂/n. Near 1e9 a double keeps seven digits
    behind the point, and δ needs more, so ``tail`` carries what rounding cut off the mean.

    >>> left, right = Moments.of([[1.0], [2.0]]), Moments.of([[6.0]])
    >>> both = left + right
    >>> both.mean, both.m2
    (array([[3.]]), array([[14.]]))
    >>> (both - right).isclose(left)
    True
    """

    mean: Array
    tail: Array
    m2: Array

    @classmethod
    def zero(cls, classes: int, width: int) -> Self:
        nothing = np.zeros((classes, width))
        return cls(np.zeros((classes, 1)), nothing, nothing, nothing)

    @classmethod
    def of(cls, rows: Array | list[list[float]], weights: Array | None = None) -> Self:
        """Return the moments of the columns of one class's rows."""
        rows = np.asarray(rows, np.float64)
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
        deviations, each = rows - rows[0], weights[:, None]
        sums, squares = (each * deviations).sum(0)[None], (each * deviations**2).sum(0)[None]
        return cls.about(np.array([[weights.sum()]]), rows[:1], sums, squares)

    @classmethod
    def about(cls, n: Array, shift: Array, sums: Array, squares: Array) -> Self:
        """Return the moments from Σw(x − shift) and Σw(x − shift)²."""
        held = np.where(n > 0, n, 1.0)
        drift = sums / held
        mean, tail = rounded(shift, drift)
        return cls(n, mean, tail, np.maximum(squares - sums * drift, 0.0))

    def __add__(self, other: Self) -> Self:
        n, both = self.n + other.n, bool(self.n.all())
        share = other.n / (n if both else np.where(n > 0, n, 1.0))
        delta = self._distance(other)
        mean, tail = rounded(self.mean, self.tail + delta * share)
        if not both:  # where one side is empty its mean is a placeholder: the other's stands
            mean, tail = _choose(self.n == 0, (other.mean, other.tail), (mean, tail))
        return type(self)(n, mean, tail, self.m2 + other.m2 + delta * delta * (self.n * share))

    def __sub__(self, other: Self) -> Self:
        n = difference(self.n, other.n)
        left = np.where(n > 0, n, 1.0)
        delta = self._distance(other)
        mean, tail = rounded(self.mean, self.tail - delta * (other.n / left))
        mean, tail = _choose(other.n == 0, (self.mean, self.tail), (mean, tail))
        given = other.m2 + delta * delta * (self.n / left) * other.n
        m2 = self.m2 - given
        # of a class that is gone nothing is left; of the rest, no spread may be left in the red
        rounding = 1e6 * ROUNDING * (self.m2 + given) + (1e4 * ROUNDING * np.abs(self.mean)) ** 2 * self.n
        if bool(np.any((m2 < -rounding) & (n > 0))):
            place = np.unravel_index(int(np.argmin(np.where(n > 0, m2 + rounding, 0.0))), m2.shape)
            raise OverdrawnError((int(place[0]), int(place[1])), float(self.m2[place]), float(given[place]))
        gone = np.broadcast_to(n == 0, m2.shape)
        self._check_the_last(other, gone & (other.n > 0), delta)
        return type(self)(
            n, np.where(gone, 0.0, mean), np.where(gone, 0.0, tail), np.where(gone, 0.0, np.maximum(m2, 0.0))
        )

    def _check_the_last(self, other: Self, gone: Array, delta: Array) -> None:
        """Raise if the last rows that go are not those that were learned: nothing may be left of either moment."""
        if not gone.any():
            return
        scale = np.sqrt(self.m2 / np.where(self.n > 0, self.n, 1.0)) + np.abs(self.mean)
        rest = np.abs(self.m2 - other.m2) > LAST * (self.m2 + other.m2) + (LAST * scale) ** 2 * self.n
        strange = gone & ((np.abs(delta) > LAST * scale) | rest)
        if strange.any():
            place = np.unravel_index(int(np.argmax(strange)), strange.shape)
            raise OverdrawnError((int(place[0]), int(place[1])), float(self.mean[place]), float(other.mean[place]))

    def __mul__(self, weight: float) -> Self:
        weight = weight_of(weight)
        if weight == 0:
            return type(self).zero(*self.m2.shape)
        return type(self)(self.n * weight, self.mean, self.tail, self.m2 * weight)

    @property
    def spreads(self) -> Self:
        """The moments of each column by itself: these."""
        return self

    def pooled(self) -> Moments:
        """Return the moments of all classes together."""
        return self._pooled

    @cached_property
    def _pooled(self) -> Moments:
        n = self.n
        first = np.argmax(n > 0, axis=-2)[..., None, :]  # of each column, the first class that has any of it
        one = (*self.m2.shape[:-2], 1, self.m2.shape[-1])
        shift = np.take_along_axis(self.mean, np.broadcast_to(first, one), axis=-2)
        drift = np.where(n > 0, (self.mean - shift) + self.tail, 0.0)
        return Moments.about(
            n.sum(axis=-2, keepdims=True),
            shift,
            (n * drift).sum(axis=-2, keepdims=True),
            (self.m2 + n * drift * drift).sum(axis=-2, keepdims=True),
        )

    def _distance(self, other: Self) -> Array:
        # the means are close beside their size, so their difference is exact and the tails count
        delta = (other.mean - self.mean) + (other.tail - self.tail)
        met = (self.n > 0) & (other.n > 0)
        return delta if met.all() else np.where(met, delta, 0.0)


@dataclass(frozen=True, eq=False)
class PooledMoments(Moments):
    """Moments for which those of all classes together are known already."""

    pooled_n: Array
    pooled_mean: Array
    pooled_tail: Array
    pooled_m2: Array

    def pooled(self) -> Moments:
        return Moments(self.pooled_n, self.pooled_mean, self.pooled_tail, self.pooled_m2)


def rounded(large: Array, small: Array) -> tuple[Array, Array]:
    """Return large + small as a double and what rounding cut off it (Knuth's exact sum)."""
    total = large + small
    part = total - large
    return total, (large - (total - part)) + (small - part)


def _choose(where: Array, first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    return np.where(where, first[0], second[0]), np.where(where, first[1], second[1])
