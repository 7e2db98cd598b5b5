"""A covariance shared by all classes that is never formed: rows fewer than columns lie in a subspace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.blocks import Block, Dense
from suffice.families.family import Parameters, plain_rows
from suffice.schema import Array, Columns

# Directions in which the (scaled) rows vary less than this are rounding.
LEAST_SPREAD = 1e-8


@dataclass(frozen=True)
class Subspace(Parameters):
    """log p(x given class) for Σ = D·(V·diag(spread)·Vᵀ + floor·(I − VVᵀ))·D, with D the columns' scales.

    V has the directions in which rows vary about their class means. Where ``floor`` is 0 nothing is known of
    other directions, and they are left out.
    """

    mean: Array
    scale: Array
    axes: Array
    spread: Array
    floor: float

    spreads_itself = True

    @classmethod
    def of(cls, centred: Array, mean: Array, scale: Array, *, rows: float, pseudo: float) -> Subspace:
        """Return the parameters from rows centred by their class, which may be far fewer than columns.

        Σ of scaled columns is (rowsᵀ·rows + pseudo·I) / (n + pseudo).
        """
        _, singular, axes = np.linalg.svd(centred / scale, full_matrices=False)
        spread = singular**2 / rows
        kept = spread > LEAST_SPREAD
        spread = (spread[kept] * rows + pseudo) / (rows + pseudo)
        return cls(mean, scale, np.ascontiguousarray(axes[kept].T), spread, pseudo / (rows + pseudo))

    @property
    def variance(self) -> Array:
        """The variance of each column within the classes, [1, column]."""
        along = self.axes**2
        return np.asarray(self.scale**2 * (along @ self.spread + self.floor * (1 - along.sum(axis=1))))[None]

    @cached_property
    def whitening(self) -> Array:
        """What turns a row into one whose columns within a class vary by 1 and not together, [column, axis]."""
        return np.asarray(self.axes / (self.scale[:, None] * np.sqrt(self.spread)))

    @cached_property
    def log_det(self) -> tuple[float, int]:
        """Log det Σ, and of how many dimensions."""
        found, size = np.log(self.spread).sum() + 2 * np.log(self.scale).sum(), len(self.spread)
        if self.floor > 0:
            found += (len(self.scale) - size) * np.log(self.floor)
            size = len(self.scale)
        return float(found), size

    @property
    def n_parameters(self) -> int:
        return int(self.mean.size + self.mean.shape[1] * (self.mean.shape[1] + 1) // 2)

    def as_linear(self) -> tuple[str, Array, Array]:
        slopes = (self.mean @ self.whitening) @ self.whitening.T
        if self.floor > 0:
            scaled = self.mean / self.scale
            slopes += (scaled - (scaled @ self.axes) @ self.axes.T) / (self.scale * self.floor)
        return "linear", slopes, np.asarray(-0.5 * (self.mean * slopes).sum(axis=1))

    def evidence(self, columns: Columns, block: Block) -> Array:
        """Return what each column adds: its part of (x − μ)ᵀ Σ⁻¹ (x − μ), and an equal share of what all have."""
        x, _ = plain_rows(block)
        away = x - self.mean
        pulled = (away @ self.whitening) @ self.whitening.T
        if self.floor > 0:
            scaled = away / self.scale
            pulled += (scaled - (scaled @ self.axes) @ self.axes.T) / (self.scale * self.floor)
        log_det, size = self.log_det
        return np.asarray(-0.5 * (away * pulled + (log_det + size * np.log(2 * np.pi)) / away.shape[-1]))

    def add(self, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        middle = self.mean.mean(axis=0)
        places = (self.mean - middle) @ self.whitening
        log_det, size = self.log_det
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
                part[:, k] -= 0.5 * (squares + log_det + size * np.log(2 * np.pi))
