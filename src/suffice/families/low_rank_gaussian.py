"""Low-rank Gaussian: a covariance shared by all classes, estimated from fewer rows than columns and never formed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.families.family import Parameters
from suffice.schema import Array
from suffice.score import LowRank, Score

# Directions in which the scaled rows have a variance of less than this are rounding error.
LEAST_SPREAD = 1e-8


@dataclass(frozen=True)
class LowRankGaussian(Parameters):
    """log N(x; mean, Σ) for Σ = D·(V·diag(spread)·Vᵀ + floor·(I − V·Vᵀ))·D, with D the columns' scales.

    V has the directions in which rows vary about their class means. If ``floor`` is 0, the density is that within the
    span of V.
    """

    mean: Array
    scale: Array
    axes: Array
    spread: Array
    floor: float

    @classmethod
    def of(cls, centred: Array, mean: Array, scale: Array, *, rows: float, pseudo: float) -> LowRankGaussian:
        """Return the parameters from rows from which the means of their classes are subtracted.

        The covariance of the scaled columns is (rowsᵀ·rows + pseudo·I) / (n + pseudo).
        """
        _, singular, axes = np.linalg.svd(centred / scale, full_matrices=False)
        spread = singular**2 / rows
        kept = spread > LEAST_SPREAD
        spread = (spread[kept] * rows + pseudo) / (rows + pseudo)
        return cls(mean, scale, np.ascontiguousarray(axes[kept].T), spread, pseudo / (rows + pseudo))

    @cached_property
    def low_rank(self) -> LowRank:
        """The term that scores rows."""
        return LowRank(self.mean, self.scale, self.axes, self.spread, self.floor)

    def score(self) -> Score:
        return Score((self.low_rank,))

    @property
    def variance(self) -> Array:
        """The variance of each column within the classes, [1, column]."""
        along = self.axes**2
        return np.asarray(self.scale**2 * (along @ self.spread + self.floor * (1 - along.sum(axis=1))))[None]

    @property
    def whitening(self) -> Array:
        """The matrix that makes columns within a class uncorrelated with variance 1, [column, axis]."""
        return self.low_rank.whitening

    @property
    def n_parameters(self) -> int:
        return int(self.mean.size + self.mean.shape[1] * (self.mean.shape[1] + 1) // 2)

    def as_linear(self) -> tuple[str, Array, Array]:
        slopes = self.low_rank.slopes(self.mean)
        return "linear", slopes, np.asarray(-0.5 * (self.mean * slopes).sum(axis=1))
