"""Co-moments: the mean of the columns in each class, and the scatter matrix about it."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.moments import Moments, mean_difference, two_sum
from suffice.statistics.statistic import ROUNDING, OverdrawnError, Statistic, check_weight


@dataclass(frozen=True, eq=False)
class CoMoments(Statistic):
    """Weight, mean and scatter by class: n = Σw, mean = Σw·x / n, scatter = Σw·(x − mean)(x − mean)ᵀ.

    They merge as `Moments` do, with δδᵀ in place of δ². The scatter is taken over the rows in which no cell is missing;
    the ``alone`` arrays hold the moments of each column over all cells that are present.

    Parameters
    ----------
    n : array of shape (classes, 1)
        The total weight of the complete rows.
    mean, tail : array of shape (classes, columns)
        The mean of the complete rows, and its rounding error.
    scatter : array of shape (classes, columns, columns)
        The scatter matrix of the complete rows.
    alone_n, alone_mean, alone_tail, alone_m2 : array of shape (classes, columns), optional
        The moments of each column over all present cells. By default no cell is missing.
    error : array of shape (classes, columns), optional
        The most by which the diagonal of the scatter and alone_m2 may be off, as in `Moments`.

    Attributes
    ----------
    spreads : Moments
        The ``alone`` arrays as moments.

    Methods
    -------
    of(rows, weights=None)
        The co-moments of the rows of one class.
    +, -, *
        Merge, subtract and weight the co-moments. ``-`` raises `OverdrawnError` if the other's rows are not contained.
    pooled()
        The moments of each column over all classes.
    isclose(other, rtol=1e-9)
        Compare up to rounding.
    arrays()
        The arrays by name.

    Examples
    --------
    >>> both = CoMoments.of([[0.0, 0.0], [2.0, 2.0]]) + CoMoments.of([[1.0, 4.0]])
    >>> both.mean.tolist(), both.scatter.tolist()
    ([[1.0, 2.0]], [[[2.0, 2.0], [2.0, 8.0]]])
    """

    mean: Array
    tail: Array
    scatter: Array
    alone_n: Array = None  # type: ignore[assignment]
    alone_mean: Array = None  # type: ignore[assignment]
    alone_tail: Array = None  # type: ignore[assignment]
    alone_m2: Array = None  # type: ignore[assignment]
    error: Array = field(default=None, kw_only=True)  # type: ignore[arg-type]

    centres = ("mean", "tail", "alone_mean", "alone_tail")
    bounds = ("error",)

    def __post_init__(self) -> None:
        if self.alone_n is None:  # no cell is missing
            own = (np.broadcast_to(self.n, np.shape(self.mean)), self.mean, self.tail)
            own = (*own, np.diagonal(np.asarray(self.scatter), axis1=1, axis2=2))
            for name, array in zip(("alone_n", "alone_mean", "alone_tail", "alone_m2"), own, strict=True):
                object.__setattr__(self, name, array)
        if self.error is None:
            object.__setattr__(self, "error", np.zeros(np.shape(self.mean)))
        super().__post_init__()

    @classmethod
    def zero(cls, classes: int, width: int) -> Self:
        zeros = np.zeros((classes, width))
        return cls(np.zeros((classes, 1)), zeros, zeros, np.zeros((classes, width, width)))

    @classmethod
    def of(cls, rows: Array | list[list[float]], weights: Array | None = None) -> Self:
        """Return the co-moments of the rows of one class.

        Parameters
        ----------
        rows : array of shape (rows, columns)
            The numbers, one row per observation.
        weights : array of shape (rows,), optional
            The weight of each row, 1 by default.
        """
        rows = np.asarray(rows, np.float64)
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
        shift, n = rows[:1], weights.sum()
        deviations = rows - shift
        drift = (weights[:, None] * deviations).sum(axis=0, keepdims=True) / n
        mean, tail = two_sum(shift, drift)
        centred = deviations - drift
        scatter = (weights[:, None] * centred).T @ centred
        return cls(np.array([[n]]), mean, tail, scatter[None])

    def with_spreads(self, spreads: Moments) -> Self:
        """Return the same co-moments, with other ``alone`` arrays."""
        n, error = np.broadcast_to(spreads.n, spreads.m2.shape), np.maximum(self.error, spreads.error)
        alone = (n, spreads.mean, spreads.tail, spreads.m2)
        return type(self)(self.n, self.mean, self.tail, self.scatter, *alone, error=error)

    @property
    def spreads(self) -> Moments:
        """The moments of each column by itself, over all its present cells."""
        return Moments(self.alone_n, self.alone_mean, self.alone_tail, self.alone_m2, error=self.error)

    def pooled(self) -> Moments:
        """Return the moments of each column over all classes."""
        return self.spreads.pooled()

    def __add__(self, other: Self) -> Self:
        n = self.n + other.n
        share = other.n / np.where(n > 0, n, 1.0)
        delta = mean_difference(self, other)
        mean, tail = two_sum(self.mean, self.tail + delta * share)
        empty = self.n == 0
        mean, tail = np.where(empty, other.mean, mean), np.where(empty, other.tail, tail)
        scatter = self.scatter + other.scatter + _outer(delta) * (self.n * share)[..., None]
        return type(self)(n, mean, tail, scatter).with_spreads(self.spreads + other.spreads)

    def __sub__(self, other: Self) -> Self:
        spreads = self.spreads - other.spreads  # raises if the other's rows are not contained
        rows = self._complete_rows - other._complete_rows
        left = np.where(rows.n > 0, rows.n, 1.0)
        removed = _outer(mean_difference(self, other)) * (self.n / left * other.n)[..., None]
        scatter = np.where((rows.n > 0)[..., None], self.scatter - other.scatter - removed, 0.0)
        diagonal = np.arange(self.mean.shape[1])
        scatter[:, diagonal, diagonal] = rows.m2
        # Cauchy-Schwarz: rounding must not leave a correlation above 1
        spread = np.sqrt(rows.m2)  # its squares would underflow
        limit = spread[:, :, None] * spread[:, None, :]
        reach = np.sqrt(rows.m2 + self.variance_errors)
        beyond = np.abs(scatter) > reach[:, :, None] * reach[:, None, :]
        if beyond.any():
            place = tuple(np.argwhere(beyond)[0].tolist())
            raise OverdrawnError(place, float(self.scatter[place]), float(self.scatter[place] - scatter[place]))
        scatter = np.clip(scatter, -limit, limit)
        return type(self)(rows.n, rows.mean, rows.tail, scatter, error=rows.error).with_spreads(spreads)

    def __mul__(self, weight: float) -> Self:
        weight = check_weight(weight)
        if weight == 0:
            return type(self).zero(*self.mean.shape)
        scaled = type(self)(self.n * weight, self.mean, self.tail, self.scatter * weight)
        return scaled.with_spreads(self.spreads * weight)

    @property
    def variance_errors(self) -> Array:
        """How far the diagonal of the scatter may be off after subtractions, this one and earlier ones."""
        rows = self._complete_rows
        return np.asarray(1e6 * ROUNDING * rows.m2 + rows.errors()[1])

    @property
    def _complete_rows(self) -> Moments:
        """The moments of each column over the rows in which no cell is missing."""
        return Moments(self.n, self.mean, self.tail, np.diagonal(self.scatter, axis1=1, axis2=2), error=self.error)


def _outer(delta: Array) -> Array:
    return np.asarray(delta[:, :, None] * delta[:, None, :])
