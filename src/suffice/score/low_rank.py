"""LowRank: a Gaussian whose covariance is shared by all classes and never formed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.blocks import Block, Dense
from suffice.schema import Array
from suffice.score.term import Term, as_doubles


@dataclass(frozen=True)
class LowRank(Term):
    """log N(x; mean, Σ) for Σ = D·(V·diag(spread)·Vᵀ + floor·(I − V·Vᵀ))·D, with D the diagonal matrix of ``scale``.

    If ``floor`` is 0, the density is that within the span of V. Missing cells are not supported.

    Parameters
    ----------
    mean : array [class, column]
    scale : array [column]
    axes : array [column, axis]
        V, with orthonormal columns.
    spread : array [axis]
        Variance of the scaled columns along each axis.
    floor : float
        Variance of the scaled columns in all other directions.
    """

    mean: Array
    scale: Array
    axes: Array
    spread: Array
    floor: float

    is_multithreaded = True

    @cached_property
    def whitening(self) -> Array:
        """The matrix that makes the part of a row within the span of V uncorrelated of variance 1, [column, axis]."""
        return np.asarray(self.axes / (self.scale[:, None] * np.sqrt(self.spread)))

    @cached_property
    def log_normaliser(self) -> float:
        """Log of (2π)ᵈ·det Σ, over the d dimensions that have a variance."""
        found, size = np.log(self.spread).sum() + 2 * np.log(self.scale).sum(), len(self.spread)
        if self.floor > 0:
            found += (len(self.scale) - size) * np.log(self.floor)
            size = len(self.scale)
        return float(found + size * np.log(2 * np.pi))

    def slopes(self, away: Array) -> Array:
        """Return Σ⁻¹·away for vectors in the last axis."""
        found = (away @ self.whitening) @ self.whitening.T
        if self.floor > 0:
            scaled = away / self.scale
            found += (scaled - (scaled @ self.axes) @ self.axes.T) / (self.scale * self.floor)
        return np.asarray(found)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        middle = self.mean.mean(axis=0)
        places = (self.mean - middle) @ self.whitening
        for x, part in block.scored(rows, scores):
            if not np.isfinite(x).all():
                block.reject_if_not_finite(rows)
            away = np.asarray(x, np.float64) - middle
            along = away @ self.whitening
            for k in range(len(places)):
                squares = ((along - places[k]) ** 2).sum(axis=1)
                if self.floor > 0:
                    whole = (((away - (self.mean[k] - middle)) / self.scale) ** 2).sum(axis=1)
                    within = (((along - places[k]) ** 2) * self.spread).sum(axis=1)
                    squares += np.maximum(whole - within, 0.0) / self.floor
                part[:, k] -= 0.5 * (squares + self.log_normaliser)

    def contributions(self, block: Block) -> Array:
        """Return each column's part of (x − mean)ᵀ·Σ⁻¹·(x − mean), and an equal share of the normaliser."""
        away = as_doubles(block)[0] - self.mean
        return np.asarray(-0.5 * (away * self.slopes(away) + self.log_normaliser / away.shape[-1]))
