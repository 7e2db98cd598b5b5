"""Moments: the mean of each column in each class, and the sum of squared deviations from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.statistic import ROUNDING, OverdrawnError, Statistic, check_weight, subtract_sums

# How far earlier subtractions may have moved a mean and a variance: relative to the column in all classes, and as
# numbers where these do not tell the size of what was subtracted (no other class has rows, or all are nearly 0).
MEAN_ERROR, VARIANCE_ERROR = 1e-6, 1e-6
LEAST_MEAN_ERROR, LEAST_VARIANCE_ERROR, NEARLY_ZERO = 1e-9, 1e-6, 1e-3

# The relative rounding error of a sum of squares: this for each row up to the most, and for the other operations.
ROUNDED, MOST_ROUNDED_ROWS, OTHER_OPERATIONS = 2.0**-53, 1e4, 16.0

# The least variance of a column of which all digits are known, and whose inverse does not overflow.
LEAST_SQUARE = 1e-304

# The family of the moments of log x, which are counted beside those of x to choose a family of positive numbers.
LOGARITHMS = "log-normal"

# If at least this share of a sum of squares is left after a subtraction, ten of its digits are right.
LEAST_LEFT = 1e-6


@dataclass(frozen=True, eq=False)
class Moments(Statistic):
    """Weight, mean and sum of squared deviations by class: n = Σw, mean = Σw·x / n, m2 = Σw·(x − mean)².

    Two of them merge by Chan's formula. With δ the difference of the means,

        mean = mean₁ + δ·n₂/n,    m2 = m2₁ + m2₂ + δ²·n₁·n₂/n.

    Near 1e9 a double has only seven digits after the point, and δ needs more. ``tail`` therefore holds the part of the
    mean that was lost in rounding.

    Parameters
    ----------
    n : array of shape (classes, 1) or (classes, columns)
        The total weight of the rows; by column if some cells are missing.
    mean, tail : array of shape (classes, columns)
        The mean, and the rounding error of the mean.
    m2 : array of shape (classes, columns)
        The sum of squared deviations from the mean.
    error : array of shape (classes, columns), optional
        The most by which m2 may be off because rows were subtracted: the rounding errors of the larger sums remain.
        By default 0. In 40,000 subtractions of random numbers, compared with exact fractions, no error of more than
        1e-12 of m2 exceeded it; in 99 % of them, the bound was at least 3.8 times the error. It is no sum: ``==`` and
        digests leave it out.

    Methods
    -------
    of(rows, weights=None)
        The moments of the rows of one class.
    +, -, *
        Merge, subtract and weight the moments. ``-`` raises `OverdrawnError` if the other's rows are not contained.
    pooled()
        The moments over all classes.
    isclose(other, rtol=1e-9)
        Compare up to rounding.
    arrays()
        The arrays by name.

    Examples
    --------
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
    error: Array = field(default=None, kw_only=True)  # type: ignore[arg-type]

    centres = ("mean", "tail")
    bounds = ("error",)

    def __post_init__(self) -> None:
        if self.error is None:
            object.__setattr__(self, "error", np.zeros(np.shape(self.m2)))
        super().__post_init__()

    @classmethod
    def of(cls, rows: Array | list[list[float]], weights: Array | None = None) -> Self:
        """Return the moments of the rows of one class.

        Parameters
        ----------
        rows : array of shape (rows, columns)
            The numbers, one row per observation.
        weights : array of shape (rows,), optional
            The weight of each row, 1 by default.
        """
        rows = np.asarray(rows, np.float64)
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
        deviations, w = rows - rows[0], weights[:, None]
        sums, squares = (w * deviations).sum(0)[None], (w * deviations**2).sum(0)[None]
        return cls.about(np.array([[weights.sum()]]), rows[:1], sums, squares)

    @classmethod
    def about(cls, n: Array, shift: Array, sums: Array, squares: Array) -> Self:
        """Return the moments from Σw(x − shift) and Σw(x − shift)²."""
        drift = sums / np.where(n > 0, n, 1.0)
        mean, tail = two_sum(shift, drift)
        return cls(n, mean, tail, np.maximum(squares - sums * drift, 0.0))

    def __add__(self, other: Self) -> Self:
        n, has_rows = self.n + other.n, bool(self.n.all())
        share = other.n / (n if has_rows else np.where(n > 0, n, 1.0))
        delta = mean_difference(self, other)
        mean, tail = two_sum(self.mean, self.tail + delta * share)
        if not has_rows:  # one side has no rows, so its mean is a placeholder
            mean, tail = _choose(self.n == 0, (other.mean, other.tail), (mean, tail))
        m2 = self.m2 + other.m2 + delta * delta * (self.n * share)
        return type(self)(n, mean, tail, m2, error=self.error + other.error)

    def __sub__(self, other: Self) -> Self:
        n = subtract_sums(self.n, other.n)
        left = np.where(n > 0, n, 1.0)
        delta = mean_difference(self, other)
        mean, tail = two_sum(self.mean, self.tail - delta * (other.n / left))
        mean, tail = _choose(other.n == 0, (self.mean, self.tail), (mean, tail))
        removed = other.m2 + delta * delta * (self.n / left) * other.n
        m2 = self.m2 - removed
        # where rows are left, m2 may be negative by rounding only
        rounding = 1e6 * ROUNDING * (self.m2 + removed) + (1e4 * ROUNDING * np.abs(self.mean)) ** 2 * self.n
        if bool(np.any((m2 < -rounding) & (n > 0))):
            rounding = rounding + self.errors()[1]
            if bool(np.any((m2 < -rounding) & (n > 0))):
                place = np.unravel_index(int(np.argmin(np.where(n > 0, m2 + rounding, 0.0))), m2.shape)
                raise OverdrawnError((int(place[0]), int(place[1])), float(self.m2[place]), float(removed[place]))
        empty = np.broadcast_to(n == 0, m2.shape)
        self._check_last_rows(other, empty & (other.n > 0), delta)
        error = self._error_without(other, removed)
        # what is less than the error is most likely 0: one row, or equal ones, are left
        kept = (mean, tail, np.where(m2 <= error, 0.0, m2), error)
        mean, tail, m2, error = (np.where(empty, 0.0, each) for each in kept)
        return type(self)(n, mean, tail, m2, error=error)._with_equal_means()

    def _with_equal_means(self) -> Self:
        """Return the moments with one mean for all classes in columns whose deviations and means are within errors.

        Such a column is most likely constant. Classes that differ by rounding errors would give it a variance.
        """
        is_flat = self.error.any(axis=0) & ~self.m2.any(axis=0)
        if not is_flat.any():
            return self
        pooled, reach = self.pooled(), (4 * self.n * mean_errors(self) ** 2).sum(axis=0)
        is_flat = is_flat & (pooled.m2[0] <= reach) & (self.n > 0)
        mean, tail = _choose(is_flat, (pooled.mean, pooled.tail), (self.mean, self.tail))
        return type(self)(self.n, mean, tail, self.m2, error=self.error)

    def _error_without(self, other: Self, removed: Array) -> Array:
        """Return the bound of the error of m2 after ``removed`` was subtracted."""
        rounded = ROUNDED * (OTHER_OPERATIONS + np.minimum(self.n, MOST_ROUNDED_ROWS))
        sizes = np.where((other.n > 0) & (removed > 0), self.m2 + removed, 0.0)
        return np.asarray(self.error + other.error + rounded * sizes)

    def _check_last_rows(self, other: Self, gone: Array, delta: Array) -> None:
        """Raise `OverdrawnError` if all rows are subtracted, but mean or m2 differ from those of the known rows."""
        if not gone.any():
            return
        mean_error, m2_error = self.errors()
        rounding = 1e6 * ROUNDING * (self.m2 + other.m2) + m2_error + mean_error**2 * self.n
        m2_differs = np.abs(self.m2 - other.m2) > rounding
        differs = gone & ((np.abs(delta) > mean_error) | m2_differs)
        if differs.any():
            place = np.unravel_index(int(np.argmax(differs)), differs.shape)
            raise OverdrawnError((int(place[0]), int(place[1])), float(self.mean[place]), float(other.mean[place]))

    def errors(self) -> tuple[Array, Array]:
        """Return how far mean and m2 may be off because rows were subtracted before.

        These rows leave errors in the size of their own numbers. The sums of the class no longer show this size, but
        those of other classes do.
        """
        whole = self.pooled()
        own, variance = (each.m2 / np.where(each.n > 0, each.n, 1.0) for each in (self, whole))
        scale = np.sqrt(variance) + np.abs(whole.mean)
        is_unknown = (whole.n <= self.n) | (scale < NEARLY_ZERO)
        scale = scale + np.sqrt(own) + np.abs(self.mean)
        mean = MEAN_ERROR * scale + np.where(is_unknown, LEAST_MEAN_ERROR, 0.0)
        # the means in a difference of means are known with their tails, so their size matters much less
        squared = (1e4 * ROUNDING * scale) ** 2 + VARIANCE_ERROR * variance
        squared = squared + np.where(is_unknown, LEAST_VARIANCE_ERROR, 0.0)
        own_error = self.error / np.where(self.n > 0, self.n, 1.0)
        return mean + mean_errors(self), (squared + own_error) * self.n

    def __mul__(self, weight: float) -> Self:
        weight = check_weight(weight)
        if weight == 0:
            return type(self).zero(*self.m2.shape)
        return type(self)(self.n * weight, self.mean, self.tail, self.m2 * weight, error=self.error * weight)

    def own_without_rows(self, rows: Self, codes: Array, *, has_levels: bool) -> tuple[Moments, Array]:
        return self.kept(codes, None)._less(rows)

    def without_rows(self, rows: Self, codes: Array, *, has_levels: bool) -> tuple[PooledMoments, Array]:
        own, exact = self.own_without_rows(rows, codes, has_levels=has_levels)
        # the row is subtracted from the pooled moments, too: pooling the classes again for each row would cost far more
        pooled, pooled_exact = self.pooled()._less(rows)
        by_row = {f"pooled_{name}": array[:, None] for name, array in pooled.arrays().items()}
        return PooledMoments(**self._repeat(own, codes).arrays(), **by_row), exact & pooled_exact

    def _less(self, rows: Moments) -> tuple[Moments, Array]:
        """Return the moments without each row, [row, column], and whether enough digits are left.

        Without a row of weight w, Σw(x − mean)² is smaller by w·(x − mean)²·n / (n − w).
        """
        n = np.maximum(self.n - rows.n, 0.0)
        ratio = rows.n / np.where(n > 0, n, 1.0)
        difference = (rows.mean - self.mean) - self.tail
        m2 = self.m2 - difference * difference * (ratio * self.n)
        lost = (rows.n > 0) & ((n <= 0) | (m2 < LEAST_LEFT * self.m2))
        return Moments(n, *two_sum(self.mean, self.tail - difference * ratio), np.maximum(m2, 0.0)), ~lost.any(axis=1)

    @property
    def spreads(self) -> Self:
        """The moments of each column by itself; for `Moments`, the object itself."""
        return self

    def pooled(self) -> Moments:
        """Return the moments over all classes, with a class axis of length 1."""
        return self._pooled

    @cached_property
    def _pooled(self) -> Moments:
        n = self.n
        first = np.argmax(n > 0, axis=-2)[..., None, :]  # for each column, the first class that has rows
        one_class = (*self.m2.shape[:-2], 1, self.m2.shape[-1])
        shift = np.take_along_axis(self.mean, np.broadcast_to(first, one_class), axis=-2)
        drift = np.where(n > 0, (self.mean - shift) + self.tail, 0.0)
        return Moments.about(
            n.sum(axis=-2, keepdims=True),
            shift,
            (n * drift).sum(axis=-2, keepdims=True),
            (self.m2 + n * drift * drift).sum(axis=-2, keepdims=True),
        )


@dataclass(frozen=True, eq=False)
class PooledMoments(Moments):
    """Moments whose pooled moments are known already."""

    pooled_n: Array
    pooled_mean: Array
    pooled_tail: Array
    pooled_m2: Array
    pooled_error: Array

    def pooled(self) -> Moments:
        return Moments(self.pooled_n, self.pooled_mean, self.pooled_tail, self.pooled_m2, error=self.pooled_error)


def mean_difference(one: Any, other: Any) -> Array:
    """Return the difference of the means of two moments or co-moments; 0 where one of them has no rows."""
    # the means are close to each other relative to their size, so their difference is exact and the tails matter
    delta: Array = (other.mean - one.mean) + (other.tail - one.tail)
    both = (one.n > 0) & (other.n > 0)
    return delta if both.all() else np.where(both, delta, 0.0)


def mean_errors(moments: Moments) -> Array:
    """Return the most by which means may be off because rows were subtracted, by the bounds of the sums of squares."""
    own_error = moments.error / np.where(moments.n > 0, moments.n, 1.0)
    return np.asarray(np.sqrt(2 * OTHER_OPERATIONS * ROUNDED * own_error))


def two_sum(large: Array, small: Array) -> tuple[Array, Array]:
    """Return large + small as a double, and the rounding error of that sum (Knuth's two-sum)."""
    total = large + small
    part = total - large
    return total, (large - (total - part)) + (small - part)


def _choose(where: Array, first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    return np.where(where, first[0], second[0]), np.where(where, first[1], second[1])
