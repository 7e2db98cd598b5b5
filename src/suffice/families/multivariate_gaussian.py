"""Gaussian columns that vary together: scoring by products with a triangular factor of Σ⁻¹."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import blas, cholesky, solve_triangular
from scipy.special import gammaln

from suffice.blocks import Block, Dense
from suffice.families.family import Parameters, plain_rows
from suffice.schema import Array, Columns

# Rows are centred and multiplied this many cells at a time.
MULTIPLIED = 1 << 20

# Up to this many columns all classes are multiplied at once, so many cells of the product at a time.
FEW_COLUMNS, STACKED = 128, 1 << 17


# What is left of a column's variance when the others are known; less than this is rounding.
SINGULAR = 1e-13


class SingularError(ValueError):
    """A covariance that has no inverse; ``place`` is its class."""

    def __init__(self, place: int) -> None:
        self.place = place
        super().__init__(f"the covariance of class {place} is singular")


@dataclass(frozen=True)
class GaussianTogether(Parameters):
    """log p(x given class) = −½·(d·log 2π + log det Σ + (x − μ)ᵀ Σ⁻¹ (x − μ)).

    ``covariance`` is [class, column, column], or one for all classes. An empty cell is left out of μ and
    Σ, which is the exact marginal.
    """

    mean: Array
    covariance: Array

    spreads_itself = True

    @property
    def n_parameters(self) -> int:
        return int(self.mean.size + len(self.covariance) * self.mean.shape[1] * (self.mean.shape[1] + 1) // 2)

    def as_linear(self) -> tuple[str, Array, Array]:
        factors, logs = self.factors
        precision = factors @ factors.transpose(0, 2, 1)
        slopes = np.einsum("kij,kj->ki", np.broadcast_to(precision, (len(self.mean), *precision.shape[1:])), self.mean)
        biases = -0.5 * ((self.mean * slopes).sum(axis=1) + logs)
        if len(precision) == 1:
            return "linear", slopes, biases
        first, second = np.triu_indices(self.mean.shape[1])
        squares = -np.where(first == second, 0.5, 1.0) * precision[:, first, second]
        return "quadratic", np.hstack([squares, slopes]), biases

    def evidence(self, columns: Columns, block: Block) -> Array:
        """Return log p(column given those before it), the mean of both directions.

        With Σ = LLᵀ and Lz = x − μ it is −½ z² − log L[j, j] − ½ log 2π, of all columns at once. Rows with empty cells
        are taken apart column by column.
        """
        x, there = plain_rows(block)
        whole = np.broadcast_to(there, x.shape)[:, 0].all(axis=1)
        if type(self) is not GaussianTogether or not whole.any():
            return super().evidence(columns, block)
        found = np.empty((len(x), len(self.mean), x.shape[-1]))
        if not whole.all():
            found[~whole] = super().evidence(columns, block.take(np.flatnonzero(~whole)))
        rows, forward = x[whole, 0], np.arange(x.shape[-1])
        total = np.zeros((len(rows), *found.shape[1:]))
        for order in (forward, forward[::-1]):
            for k, mean in enumerate(self.mean):
                sigma = self.covariance[k if len(self.covariance) > 1 else 0]
                lower = _lower(sigma[np.ix_(order, order)], k)
                z = solve_triangular(lower, (rows - mean)[:, order].T, lower=True).T
                part = -0.5 * z * z - np.log(np.diagonal(lower)) - 0.5 * np.log(2 * np.pi)
                total[:, k, order] += part / 2
        found[whole] = total
        return found

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        lower = _lower(self.covariance[k if len(self.covariance) > 1 else 0], k)
        return np.asarray(self.mean[k] + rng.standard_normal((count, len(lower))) @ lower.T)

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """Upper triangles U with UUᵀ = Σ⁻¹ in Fortran's order, and log det Σ."""
        found, logs = [], np.empty(len(self.covariance))
        for k, sigma in enumerate(self.covariance):
            lower = _lower(sigma, k)
            logs[k] = 2 * np.log(np.diagonal(lower)).sum()
            found.append(solve_triangular(lower, np.eye(len(sigma)), lower=True).T)
        return np.stack(found), logs

    def add(self, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        step = max(MULTIPLIED // block.shape[1], 1)
        for first in range(rows.start, rows.stop, step):
            last = min(first + step, rows.stop)
            part = scores[first - rows.start : last - rows.start]
            pieces = [piece for _, piece in block.pieces(first, last)]
            x = (pieces[0] if len(pieces) == 1 else np.concatenate(pieces)).astype(np.float64, copy=False)
            before = part.copy()
            self.add_whole(x, part)
            if np.isfinite(part).all():
                continue
            block.reject_if_not_finite(rows)
            there = np.asarray(np.isfinite(x).all(axis=1))
            if there.all():
                continue
            part[:] = before
            if there.any():
                whole = part[there]
                self.add_whole(x[there], whole)
                part[there] = whole
            self._add_gappy(x, ~there, part)

    @cached_property
    def stacked(self) -> tuple[Array, Array, Array]:
        """A point in the middle, all factors side by side, and where the means come to lie: for few columns."""
        middle = self.mean.mean(axis=0)
        factors = np.broadcast_to(self.factors[0], (len(self.mean), *self.factors[0].shape[1:]))
        places = np.einsum("kd,kde->ke", self.mean - middle, factors)
        return middle, np.concatenate(list(factors), axis=1), places

    def _add_stacked(self, x: Array, scores: Array) -> None:
        """Add what `_add_whole` does by one product for all classes, a few rows at a time, in cache."""
        middle, factors, places = self.stacked
        logs = np.broadcast_to(self.factors[1], len(places))
        step = max(STACKED // factors.shape[1], 16)
        for first in range(0, len(x), step):
            away = ((x[first : first + step] - middle) @ factors).reshape(-1, *places.shape)
            away -= places
            squares = np.einsum("rkd,rkd->rk", away, away)
            scores[first : first + step] += self._log_density(squares, logs, x.shape[1], slice(None))

    def add_whole(self, x: Array, scores: Array) -> None:
        """Add the log density of rows without an empty cell."""
        if x.shape[1] <= FEW_COLUMNS:
            self._add_stacked(x, scores)
        else:
            self._add_whole(x, scores)

    def _add_whole(self, x: Array, scores: Array) -> None:
        factors, logs = self.factors
        shared = len(factors) == 1
        turned = _turned(x - self.mean.mean(axis=0), factors[0]) if shared else None
        for k in range(len(self.mean)):
            if turned is None:
                away = _turned(x - self.mean[k], factors[k])
            else:
                away = turned - (self.mean[k] - self.mean.mean(axis=0)) @ factors[0]
            squares = np.einsum("ij,ij->i", away, away)
            scores[:, k] += self._log_density(squares, logs[0 if shared else k], x.shape[1], k)

    def _add_gappy(self, x: Array, which: Array, scores: Array) -> None:
        """Add the log density of rows with empty cells, all rows with the same cells empty at once."""
        patterns, codes = np.unique(np.isnan(x[which]), axis=0, return_inverse=True)
        places = np.flatnonzero(which)
        for code, empty in enumerate(patterns):
            here, there = places[codes.ravel() == code], np.flatnonzero(~empty)
            if not len(there):
                continue
            for k in range(len(self.mean)):
                sigma = self.covariance[k if len(self.covariance) > 1 else 0]
                lower = _lower(sigma[np.ix_(there, there)], k)
                away = solve_triangular(lower, (x[np.ix_(here, there)] - self.mean[k, there]).T, lower=True)
                log_det = 2 * np.log(np.diagonal(lower)).sum()
                scores[here, k] += self._log_density((away**2).sum(axis=0), log_det, len(there), k)

    def _log_density(self, squares: Array, log_det: Any, size: int, k: Any) -> Array:
        return np.asarray(-0.5 * (squares + log_det + size * np.log(2 * np.pi)))


@dataclass(frozen=True)
class StudentTogether(GaussianTogether):
    """The multivariate t of a mean and a covariance that are not known exactly; ``covariance`` is its shape."""

    dof: Array

    def as_linear(self) -> tuple[str, Array, Array]:
        raise ValueError(
            "the log density of Student's t is not linear in any lift; use another estimate than predictive"
        )

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        away = super().sample(k, count, rng) - self.mean[k]
        return np.asarray(self.mean[k] + away / np.sqrt(rng.chisquare(self.dof[k], (count, 1)) / self.dof[k]))

    def _log_density(self, squares: Array, log_det: Any, size: int, k: Any) -> Array:
        dof = self.dof[k]
        # of fewer columns the degrees of freedom stay the same
        peak = gammaln((dof + size) / 2) - gammaln(dof / 2) - 0.5 * (size * np.log(dof * np.pi) + log_det)
        return np.asarray(peak - (dof + size) / 2 * np.log1p(squares / dof))


def _lower(sigma: Array, k: int) -> Array:
    try:
        lower = cholesky(sigma, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise SingularError(k) from None
    if bool(np.any(np.diagonal(lower) ** 2 < SINGULAR * np.diagonal(sigma))):
        raise SingularError(k)
    return lower


def _turned(centred: Array, upper: Array) -> Array:
    """Return centred @ upper, by a product that knows of the triangle."""
    turned = blas.dtrmm(1.0, upper, centred.T, side=0, lower=0, trans_a=1, overwrite_b=1)
    return turned.T
