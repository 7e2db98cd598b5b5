"""Covariances: how the columns of a Gaussian vary together, from all of it to none of it.

| kind | Σ | parameters a class, of d columns |
|---|---|---|
| ``spherical`` | σ²·I, the same for all classes | d, and 1 for all |
| ``tied-diagonal`` | σ²·I | d + 1 |
| ``diagonal`` | a variance for each column | 2d |
| ``chain`` | each column by the one before it: the inverse has three diagonals | 3d − 1 |
| ``tridiagonal`` | Σ itself has three diagonals | 3d − 1 |
| ``tied-tridiagonal`` | the same with one variance for all columns | 2d |
| ``full`` | all of it | d + d(d + 1)/2 |
| ``shared`` | all of it, the same for all classes | d, and d(d + 1)/2 for all |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from suffice.estimation import believed
from suffice.families.gaussian import LEAST_VARIANCE, nothing_left
from suffice.families.multivariate_gaussian import GaussianTogether, StudentTogether
from suffice.priors import Flat, NormalInverseWishart, Prior, per_column, positive, refused
from suffice.schema import Array
from suffice.statistics import CoMoments, Statistic
from suffice.structures.structure import Rule, Subject

KINDS = (
    "spherical",
    "tied-diagonal",
    "diagonal",
    "chain",
    "tridiagonal",
    "tied-tridiagonal",
    "full",
    "shared",
)
PAIRED = ("chain", "tridiagonal", "tied-tridiagonal", "full", "shared")

# An off-diagonal is drawn in until the least eigenvalue, of correlations, is this.
LEAST_EIGENVALUE = 1e-6


@dataclass(frozen=True)
class Estimate:
    """Means [class, column], covariances [class, column, column], and what they were estimated from.

    ``rows`` is how many rows each covariance stands on, ``dof`` the degrees of freedom of a predictive
    distribution, None where parameters are taken as they are.
    """

    mean: Array
    covariance: Array
    rows: Array
    dof: Array | None = None


def estimated(rule: Rule, moments: CoMoments, prior: Any, ddof: float = 0.0, shared: bool = False) -> Estimate:
    """Return means and covariances by a rule; beliefs are Normal-inverse-Wishart.

    A number c stands for c rows like those of all classes together, columns uncorrelated: the mean of Σ is
    (c·diag(pooled variances) + scatter + pull) / (n + c).
    """
    pooled = moments.pooled()
    middle = (pooled.mean + pooled.tail)[0]
    n, mean, scatter = _filled_in(moments)
    mean = np.where(n[:, None] > 0, mean, middle)
    if rule == "mle":
        held = np.array([n.sum() - ddof * (n > 0).sum()]) if shared else n - ddof
        scatter = scatter.sum(axis=0, keepdims=True) if shared else scatter
        if bool(np.any((held <= 0) & ((n.sum() > 0) if shared else (n > 0)))):
            raise nothing_left(ddof)
        return Estimate(mean, scatter / np.where(held > 0, held, 1.0)[:, None, None], held)
    size = mean.shape[1]
    means = len(n) if shared else 1
    variances = pooled.m2[0] / np.maximum(pooled.n[0], 1.0)
    centre, kappa, degrees, scale = _believed(prior, middle, variances, means)
    pull = kappa * n / np.maximum(kappa + n, 1e-300)
    distance = mean - centre
    apart = distance[:, :, None] * distance[:, None, :] * pull[:, None, None]
    posterior = centre + distance * (n / np.maximum(kappa + n, 1e-300))[:, None]
    rows = n
    if shared:
        n = np.array([n.sum()])
        scatter, apart = scatter.sum(axis=0, keepdims=True), apart.sum(axis=0, keepdims=True)
    whole, dof = scale + scatter + apart, degrees + n
    divisor = dof + size + 1 + means if rule == "map" else dof - size - 1
    if rule == "predictive":
        # how far a class's mean may be off depends on the rows of that class, whoever shares Σ
        left = np.broadcast_to(dof - size + 1, len(rows))
        spread = (kappa + rows + 1) / np.maximum((kappa + rows) * left, 1e-300)
        return Estimate(posterior, whole * spread[:, None, None], np.broadcast_to(n, len(rows)), left)
    if not isinstance(rule, str):
        return _drawn(rule, posterior, kappa + rows, dof, whole)
    if (divisor <= 0).any():
        raise ValueError(f"the mean of Σ needs more than {size + 1} degrees of freedom; use a larger prior")
    return Estimate(posterior, whole / divisor[:, None, None], n)


def _drawn(rng: np.random.Generator, mean: Array, kappa: Array, dof: Array, scale: Array) -> Estimate:
    """Return means and covariances drawn from a Normal-inverse-Wishart."""
    size = mean.shape[1]
    if (dof <= size - 1).any():
        raise ValueError("under this prior a class has too few rows to draw a covariance from; use a number as prior")
    covariance = np.empty_like(scale)
    for k, (degrees, whole) in enumerate(zip(dof, scale, strict=True)):
        # Bartlett: a triangle of chi's and normals makes a Wishart, whose inverse is wanted
        triangle = np.tril(rng.standard_normal((size, size)), -1)
        triangle[np.diag_indices(size)] = np.sqrt(rng.chisquare(degrees - np.arange(size)))
        root = np.linalg.solve(triangle, np.linalg.cholesky(whole).T)
        covariance[k] = root.T @ root
    roots = np.broadcast_to(np.linalg.cholesky(covariance), (len(mean), size, size))
    away = np.einsum("kij,kj->ki", roots, rng.standard_normal(mean.shape)) / np.sqrt(np.maximum(kappa, 1e-300))[:, None]
    return Estimate(mean + away, covariance, dof)


def check_prior(prior: Any, moments: CoMoments) -> None:
    """Raise if a prior is none of a mean and a covariance."""
    pooled = moments.pooled()
    _believed(prior, pooled.mean[0], pooled.m2[0] / np.maximum(pooled.n[0], 1.0), 1)


def check_together(subject: Subject, prior: Any) -> None:
    """Raise if a prior is none of what is to be estimated of a block, whose numbers may vary together."""
    if subject[1].family == "gaussian" and isinstance(subject[2], CoMoments):
        check_prior(prior, subject[2])
    else:
        believed(*subject, prior)


def with_scatter(statistic: Statistic) -> CoMoments:
    """Return the co-moments that a structure needs, or say that there are none."""
    if not isinstance(statistic, CoMoments):
        raise ValueError("this structure needs pairs of columns, and the model was learned without them: fit it again")
    return statistic


def _filled_in(moments: CoMoments) -> tuple[Array, Array, Array]:
    """Return rows, means and scatter, with what cells know that stand in rows with empty ones.

    Means and variances are those of all cells; correlations those of the rows that have all columns.
    """
    n, alone = moments.n[:, 0], moments.spreads
    if np.array_equal(np.broadcast_to(moments.n, alone.n.shape), alone.n):
        return n, moments.mean + moments.tail, moments.scatter
    own = np.diagonal(moments.scatter, axis1=1, axis2=2)
    rows = np.where(n > 0, n, alone.n.min(axis=1))
    deviation = np.sqrt(np.where(own > 0, own, 1.0))
    correlation = moments.scatter / (deviation[:, :, None] * deviation[:, None, :])
    diagonal = np.arange(own.shape[1])
    correlation[:, diagonal, diagonal] = 1.0
    spread = np.sqrt(alone.m2 / np.where(alone.n > 0, alone.n, 1.0))
    scatter = correlation * spread[:, :, None] * spread[:, None, :] * rows[:, None, None]
    pooled = alone.pooled()
    return rows, np.where(alone.n > 0, alone.mean + alone.tail, pooled.mean + pooled.tail), scatter


def _believed(prior: Any, middle: Array, variances: Array, means: int) -> tuple[Array, float, float, Array]:
    """Return mean, kappa, degrees of freedom and scale of the Normal-inverse-Wishart that a prior stands for.

    ``means`` is how many means share the covariance.
    """
    size = len(middle)
    variances = np.where(variances > (1e-15 * np.abs(middle)) ** 2, variances, 0.0)  # less is rounding
    if isinstance(prior, Flat):
        return np.zeros(size), 0.0, -size - 1.0 - means, np.zeros((size, size))
    if isinstance(prior, NormalInverseWishart):
        scale = np.atleast_2d(np.asarray(prior.scale, np.float64))
        if scale.shape != (size, size):
            raise ValueError(f"NormalInverseWishart(scale=…) is for {len(scale)} columns, and there are {size}")
        return per_column(prior.mean, size, "NormalInverseWishart(mean=…)"), float(prior.kappa), float(prior.dof), scale
    if isinstance(prior, Prior) or (isinstance(prior, (list, tuple)) and any(isinstance(its, Prior) for its in prior)):
        raise refused(prior, "dependent gaussian", "a number, NormalInverseWishart or Flat")
    rows = per_column(positive(prior, "prior"), size, "prior")
    c = float(rows.max())
    like = np.where(variances > 0, variances, max(float(variances.max()), LEAST_VARIANCE))
    return middle, c, c + size + 1.0, np.diag(rows * like)


def shrunk(covariance: Array, rows: Array, shrinkage: float | str | None) -> Array:
    """Return (1 − s)·Σ + s·v·I, with s as given or by the formula of Chen et al. (OAS).

    v is the mean variance of all columns over all classes: drawn towards multiples of their own, classes
    would keep telling each other apart by what they were drawn to (MNIST: 0.930 against 0.957).
    """
    if shrinkage is None:
        return covariance
    size = covariance.shape[1]
    level = np.trace(covariance, axis1=1, axis2=2) / size
    if isinstance(shrinkage, str):
        # of Σ in units of its level, whose square is a number at any scale
        held = np.where(level > 0, level, 1.0)
        squared = ((covariance / held[:, None, None]) ** 2).mean(axis=(1, 2))
        top, bottom = squared + 1, (np.maximum(rows, 0) + 1) * (squared - 1 / size)
        share = np.where(bottom > 0, np.minimum(top / np.where(bottom > 0, bottom, 1.0), 1.0), 1.0)
    else:
        share = np.full(len(covariance), float(shrinkage))
    common = float(np.maximum(rows, 0) @ level / max(np.maximum(rows, 0).sum(), 1e-300))
    return np.asarray((1 - share)[:, None, None] * covariance + (share * common)[:, None, None] * np.eye(size))


def of_kind(kind: str, covariance: Array, shares: Array) -> Array:
    """Return covariances as a kind has them: what it leaves out is 0, what it ties is averaged."""
    size = covariance.shape[1]
    variances = np.diagonal(covariance, axis1=1, axis2=2)
    if kind == "spherical":
        return np.asarray(np.eye(size)[None] * (shares @ variances.mean(axis=1)))
    if kind == "tied-diagonal":
        return np.asarray(np.eye(size) * variances.mean(axis=1)[:, None, None])
    if kind == "diagonal":
        return np.asarray(np.eye(size) * variances[:, None, :])
    if kind in ("tridiagonal", "tied-tridiagonal"):
        return np.array([_banded(each, kind == "tied-tridiagonal") for each in covariance])
    if kind == "chain":
        line = np.tile(np.arange(size) - 1, (len(covariance), 1))
        return along_edges(covariance, line)
    return covariance


def _banded(covariance: Array, tied: bool) -> Array:
    """Return the three diagonals of Σ, the outer ones drawn in where it would not be positive definite."""
    size = len(covariance)
    variances = np.diagonal(covariance)
    if tied:
        variances = np.full(size, variances.mean())
    scale = np.sqrt(np.maximum(variances, LEAST_VARIANCE))
    beside = np.diagonal(covariance, 1) / (scale[1:] * scale[:-1])
    least = eigvalsh_tridiagonal(np.zeros(size), beside, select="i", select_range=(0, 0))[0] if size > 1 else 0.0
    drawn_in = min(1.0, (1 - LEAST_EIGENVALUE) / max(-least, 1e-300))
    off = np.diagonal(covariance, 1) * drawn_in
    return np.diag(variances) + np.diag(off, 1) + np.diag(off, -1)


def along_edges(covariance: Array, parents: Array) -> Array:
    """Return the covariances of columns that depend on their parents alone: x = μ + β·(parent − μ) + noise.

    The entries of Σ along the edges of the tree stay what they are; all others follow from them.
    """
    size = covariance.shape[1]
    found = np.empty_like(covariance)
    for k, (sigma, line) in enumerate(zip(covariance, parents, strict=True)):
        has = np.flatnonzero(line >= 0)
        above = line[has]
        slope = np.zeros((size, size))
        slope[has, above] = sigma[has, above] / np.maximum(sigma[above, above], LEAST_VARIANCE)
        noise = np.diagonal(sigma).copy()
        noise[has] -= slope[has, above] * sigma[has, above]
        noise = np.maximum(noise, 1e-12 * np.diagonal(sigma) + LEAST_VARIANCE)
        spread = np.linalg.inv(np.eye(size) - slope)
        found[k] = (spread * noise) @ spread.T
    return found


def parameters(estimate: Estimate, covariance: Array) -> GaussianTogether:
    """Return what scores rows."""
    if estimate.dof is None:
        return GaussianTogether(estimate.mean, covariance)
    return StudentTogether(estimate.mean, covariance, np.broadcast_to(estimate.dof, len(estimate.mean)))


def from_parents(
    rule: Rule, subject: Subject, prior: Any, parents: Callable[[Array, Array], Array]
) -> GaussianTogether:
    """Return Gaussian columns in trees that are chosen by their correlations within the classes."""
    moments = with_scatter(subject[2])
    estimate = estimated(rule, moments, prior)
    deviation = np.sqrt(np.maximum(np.diagonal(estimate.covariance, axis1=1, axis2=2), LEAST_VARIANCE))
    correlations = estimate.covariance / (deviation[:, :, None] * deviation[:, None, :])
    shares = moments.n[:, 0] / max(moments.n.sum(), 1e-300)
    return parameters(estimate, along_edges(estimate.covariance, parents(correlations, shares)))


def n_parameters(kind: str, classes: int, size: int) -> int:
    """Return how many numbers p(x given class) of all classes has.

    >>> n_parameters("full", 1, 100), n_parameters("diagonal", 1, 100)
    (5150, 200)
    """
    triangle = size * (size + 1) // 2
    each = {
        "spherical": 0,
        "tied-diagonal": 1,
        "diagonal": size,
        "chain": 2 * size - 1,
        "tridiagonal": 2 * size - 1,
        "tied-tridiagonal": size,
        "full": triangle,
        "shared": 0,
    }[kind]
    return classes * (size + each) + {"spherical": 1, "shared": triangle}.get(kind, 0)
