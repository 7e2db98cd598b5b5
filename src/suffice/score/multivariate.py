"""Multivariate densities: `TriangularSolve` and `LowRank`."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import blas, cholesky, solve_triangular

from suffice.blocks import Block, Dense
from suffice.schema import Array
from suffice.score.centred_linear import CentredLinear
from suffice.score.columnwise import log_rising
from suffice.score.term import SingularError, Term, as_doubles

# Rows are centred and multiplied this many cells at a time.
MULTIPLIED = 1 << 20

# Up to this many columns all classes are multiplied at once, this many cells of the product at a time.
FEW_COLUMNS, STACKED = 128, 1 << 17

# A product of at most so many multiplications runs on one thread: two would wait for each other longer than they
# multiply. With at least so many rows it is as fast as a large product.
SMALL_PRODUCT, ENOUGH_ROWS = 1 << 18, 32

# Up to this squared distance of the means of classes with one covariance, in its standard deviations, the squares of
# all classes are computed by one product; the rounding errors of greater ones would show.
NEAR = 1e4

# The least variance of a column given the others, as a share of its variance; less is rounding error.
SINGULAR = 1e-13


@dataclass(frozen=True)
class TriangularSolve(Term):
    """A function of d² = (x − mean)ᵀ·covariance⁻¹·(x − mean) = |L⁻¹·(x − mean)|², with covariance = L·Lᵀ.

    Without ``dof`` it is −½·(size·log 2π + log det covariance + d²), a Gaussian. With ``dof`` ν it is
    log Γ((ν + size)/2) − log Γ(ν/2) − ½·(size·log νπ + log det covariance) − (ν + size)/2·log(1 + d²/ν), Student's t.
    A row with missing cells has the value of the term for the other columns, with their mean and covariance.

    Parameters
    ----------
    mean : array [class, column]
    covariance : array [class, column, column] or [1, column, column]
        One for each class, or one that all classes share.
    dof : array [class], optional
        Degrees of freedom of Student's t.
    """

    mean: Array
    covariance: Array
    dof: Array | None = None

    def covariance_of(self, k: int) -> Array:
        """Return the covariance of class k, [column, column]."""
        return np.asarray(self.covariance[k if len(self.covariance) > 1 else 0])

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """Upper triangles U with U·Uᵀ = covariance⁻¹ in Fortran's order, [class or 1, column, column], and log det."""
        found, logs = [], np.empty(len(self.covariance))
        for k, sigma in enumerate(self.covariance):
            lower = lower_triangle(sigma, k)
            logs[k] = 2 * np.log(np.diagonal(lower)).sum()
            found.append(solve_triangular(lower, np.eye(len(sigma)), lower=True).T)
        return np.stack(found), logs

    @cached_property
    def stacked(self) -> tuple[Array, Array, Array]:
        """A point between the means, all factors side by side (one if it is shared), and the means times factors."""
        middle, factors = self.mean.mean(axis=0), self.factors[0]
        by_class = np.broadcast_to(factors, (len(self.mean), *factors.shape[1:]))
        places = np.einsum("kd,kde->ke", self.mean - middle, by_class)
        return middle, np.concatenate(list(factors), axis=1), places

    @cached_property
    def relative(self) -> Term:
        """If the classes share the covariance, −½·|z − place|² without −½·|z|², which is linear in the row."""
        middle, factor, places = self.stacked
        norms = np.einsum("kd,kd->k", places, places)
        if self.dof is not None or len(self.covariance) > 1 or norms.max() > NEAR:
            return self
        return CentredLinear(places @ factor.T, -0.5 * norms, middle, self)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        for here, piece in block.pieces(rows.start, rows.stop, MULTIPLIED):
            part, x = scores[here.start - rows.start : here.stop - rows.start], piece.astype(np.float64, copy=False)
            before = part.copy()
            self._add_complete(x, part)
            if np.isfinite(part).all():
                continue
            block.reject_if_not_finite(rows)
            is_incomplete = np.asarray(np.isnan(x).any(axis=1))
            part[is_incomplete] = before[is_incomplete]
            self._add_incomplete(x, is_incomplete, part)

    def _add_complete(self, x: Array, scores: Array) -> None:
        """Add the log density of rows without a missing cell."""
        if x.shape[1] <= FEW_COLUMNS:
            self._add_stacked(x, scores)
        else:
            self._add_by_class(x, scores)

    def _add_stacked(self, x: Array, scores: Array) -> None:
        """Use one product for all classes, a few rows at a time, so that it stays in the cache."""
        middle, factors, places = self.stacked
        logs = np.broadcast_to(self.factors[1], len(places))
        step = SMALL_PRODUCT // (places.size * x.shape[1])
        if step < ENOUGH_ROWS:
            step = max(STACKED // places.size, 16)
        for first in range(0, len(x), step):
            turned = (x[first : first + step] - middle) @ factors
            squares = _squared_distances(turned.reshape(-1, len(self.factors[0]), x.shape[1]), places)
            scores[first : first + step] += self.log_density(squares, logs, x.shape[1], slice(None))

    def _add_by_class(self, x: Array, scores: Array) -> None:
        (factors, logs), middle = self.factors, self.mean.mean(axis=0)
        turned = _product(x - middle, factors[0]) if len(factors) == 1 else None
        logs = np.broadcast_to(logs, len(self.mean))
        for k, mean in enumerate(self.mean):
            away = _product(x - mean, factors[k]) if turned is None else turned - (mean - middle) @ factors[0]
            squares = np.einsum("ij,ij->i", away, away)
            scores[:, k] += self.log_density(squares, logs[k], x.shape[1], k)

    def _add_incomplete(self, x: Array, which: Array, scores: Array) -> None:
        """Add the log density of rows with missing cells, all rows with the same cells missing at once."""
        patterns, codes = np.unique(np.isnan(x[which]), axis=0, return_inverse=True)
        places = np.flatnonzero(which)
        for code, missing in enumerate(patterns):
            here, there = places[codes.ravel() == code], np.flatnonzero(~missing)
            if not len(there):
                continue
            for k in range(len(self.mean)):
                lower = lower_triangle(self.covariance_of(k)[np.ix_(there, there)], k)
                away = solve_triangular(lower, (x[np.ix_(here, there)] - self.mean[k, there]).T, lower=True)
                log_det = 2 * np.log(np.diagonal(lower)).sum()
                scores[here, k] += self.log_density((away**2).sum(axis=0), log_det, len(there), k)

    def log_density(self, squares: Array, log_det: Any, size: int, k: Any) -> Array:
        """Return the value of the term for class k from d², of so many columns."""
        if self.dof is None:
            return np.asarray(-0.5 * (squares + log_det + size * np.log(2 * np.pi)))
        dof = self.dof[k]
        # the degrees of freedom of a marginal distribution are those of the joint one
        peak = log_rising(dof / 2, size / 2) - 0.5 * (size * np.log(dof * np.pi) + log_det)
        return np.asarray(peak - (dof + size) / 2 * np.log1p(squares / dof))

    def contributions(self, block: Block) -> Array:
        """Return log p(column | the columns before it), the mean of both directions.

        For a Gaussian it is −½·z² − log L[j, j] − ½·log 2π with L·z = x − mean, for all columns at once. Student's t,
        and rows with missing cells, are taken apart column by column.
        """
        x, present = as_doubles(block)
        is_complete = np.broadcast_to(present, x.shape)[:, 0].all(axis=1)
        if self.dof is not None or not is_complete.any():
            return super().contributions(block)
        found = np.empty((len(x), len(self.mean), x.shape[-1]))
        if not is_complete.all():
            found[~is_complete] = super().contributions(block.take(np.flatnonzero(~is_complete)))
        rows, forward = x[is_complete, 0], np.arange(x.shape[-1])
        total = np.zeros((len(rows), *found.shape[1:]))
        for order in (forward, forward[::-1]):
            for k, mean in enumerate(self.mean):
                lower = lower_triangle(self.covariance_of(k)[np.ix_(order, order)], k)
                z = solve_triangular(lower, (rows - mean)[:, order].T, lower=True).T
                part = -0.5 * z * z - np.log(np.diagonal(lower)) - 0.5 * np.log(2 * np.pi)
                total[:, k, order] += part / 2
        found[is_complete] = total
        return found


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


def lower_triangle(sigma: Array, k: int) -> Array:
    """Return L with L·Lᵀ = sigma, the covariance of class k."""
    try:
        lower = cholesky(sigma, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise SingularError(k) from None
    if not np.isfinite(lower).all() or bool(np.any(np.diagonal(lower) ** 2 < SINGULAR * np.diagonal(sigma))):
        raise SingularError(k)
    return lower


def _squared_distances(turned: Array, places: Array) -> Array:
    """Return the squared distances of rows [row, class or 1, column] to a place of each class, [row, class]."""
    norms = np.einsum("kd,kd->k", places, places)
    if turned.shape[1] == len(places) or norms.max() > NEAR:
        away = turned - places
        return np.asarray(np.einsum("rkd,rkd->rk", away, away))
    rows = turned[:, 0]
    found = np.einsum("rd,rd->r", rows, rows)[:, None] - 2 * (rows @ places.T) + norms
    return np.asarray(np.maximum(found, 0.0))


def _product(centred: Array, upper: Array) -> Array:
    """Return centred @ upper, by a product that skips the zeros of the triangle."""
    turned = blas.dtrmm(1.0, upper, centred.T, side=0, lower=0, trans_a=1, overwrite_b=1)
    return turned.T
