"""Normal-inverse-Wishart: the conjugate prior of the mean and the covariance of a multivariate Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import multigammaln

from suffice.families.family import Hyperparameters
from suffice.families.gaussian import LEAST_VARIANCE
from suffice.priors import Flat, NormalInverseWishart, Prior, broadcast_to_columns, check_positive, unsupported_prior
from suffice.schema import Array
from suffice.statistics import CoMoments


@dataclass(frozen=True)
class WishartHyperparameters:
    """Σ ~ inverse-Wishart(dof, scale) and μ ~ N(mean, Σ / kappa), for several classes.

    The classes have a covariance each, or share one: ``dof`` and ``scale`` then have a single entry, and the number
    of means per covariance enters the mode.

    Parameters
    ----------
    mean : array [class, column]
    kappa : array [class]
    dof : array [class] or [1]
    scale : array [class, column, column] or [1, column, column]
    """

    mean: Array
    kappa: Array
    dof: Array
    scale: Array

    @classmethod
    def of_prior(cls, prior: Any, centre: Array, variances: Array, means: int = 1) -> WishartHyperparameters:
        """Return the hyperparameters of a prior of one class.

        A number c stands for c rows with mean ``centre`` and uncorrelated columns of these variances: the degrees of
        freedom are c + columns + 1, so that the expected covariance is diag(variances). A flat prior is
        |Σ|^−(columns + 1 + means)/2, with the number of means that share the covariance.
        """
        size = len(centre)
        if isinstance(prior, Flat):
            return cls.of_one(np.zeros(size), 0.0, -size - 1.0 - means, np.zeros((size, size)))
        if isinstance(prior, NormalInverseWishart):
            scale = np.atleast_2d(np.asarray(prior.scale, np.float64))
            if scale.shape != (size, size):
                raise ValueError(f"NormalInverseWishart(scale=…) is for {len(scale)} columns, and there are {size}")
            mean = broadcast_to_columns(prior.mean, size, "NormalInverseWishart(mean=…)")
            return cls.of_one(mean, float(prior.kappa), float(prior.dof), scale)
        several = prior if isinstance(prior, (list, tuple)) else [prior]
        if any(isinstance(each, (Prior, str)) for each in several):
            raise unsupported_prior(
                prior, "multivariate gaussian", "a number more than 0, NormalInverseWishart or Flat"
            )
        rows = broadcast_to_columns(check_positive(prior, "prior"), size, "prior")
        variances = np.where(variances > (1e-15 * np.abs(centre)) ** 2, variances, 0.0)  # less is rounding error
        like = np.where(variances > 0, variances, max(float(variances.max()), LEAST_VARIANCE))
        c = float(rows.max())
        return cls.of_one(centre, c, c + size + 1.0, np.diag(rows * like))

    @classmethod
    def of_one(cls, *hyperparameters: Array | float) -> WishartHyperparameters:
        """Return the hyperparameters of a single class from its mean, kappa, dof and scale."""
        return cls(*(np.asarray(each)[None] for each in hyperparameters))

    def posterior(self, n: Array, mean: Array, scatter: Array, *, is_shared: bool = False) -> WishartHyperparameters:
        """Return the hyperparameters after n [class] rows with this mean and scatter about it."""
        rows = np.maximum(self.kappa + n, 1e-300)
        distance, is_near = mean - self.mean, (n > self.kappa)[:, None]
        # from the nearer of the two means: a small share of their distance has a small rounding error
        start, share = np.where(is_near, mean, self.mean), np.where(is_near, -self.kappa[:, None], n[:, None])
        pull = (self.kappa * (n / rows))[:, None, None] * distance[:, :, None] * distance[:, None, :]
        if is_shared:
            n = np.array([n.sum()])
            scatter, pull = scatter.sum(axis=0, keepdims=True), pull.sum(axis=0, keepdims=True)
        whole = self.scale + scatter + pull
        return WishartHyperparameters(start + distance * (share / rows[:, None]), rows, self.dof + n, whole)

    @property
    def first(self) -> Hyperparameters:
        """The hyperparameters of the first class."""
        return self.mean[0], self.kappa[0], self.dof[0], self.scale[0]

    @property
    def size(self) -> int:
        """The number of columns."""
        return int(self.mean.shape[1])

    def mode(self) -> Array:
        """Return the covariance at the mode of (μ, Σ) jointly."""
        means = len(self.kappa) // len(self.dof)
        return np.asarray(self.scale / (self.dof + self.size + 1 + means)[:, None, None])

    def expected_covariance(self) -> Array:
        """Return the mean of Σ."""
        divisor = self.dof - self.size - 1
        if (divisor <= 0).any():
            raise ValueError(
                f"the mean of Σ needs more than {self.size + 1} degrees of freedom, and there are "
                f"{float(self.dof.min()):g}; use a larger prior"
            )
        return np.asarray(self.scale / divisor[:, None, None])

    def predictive(self) -> tuple[Array, Array]:
        """Return degrees of freedom [class] and shape [class, column, column] of the predictive multivariate t."""
        dof = np.broadcast_to(self.dof - self.size + 1, len(self.kappa))
        # the uncertainty of a class's mean depends on the rows of that class, even if Σ is shared
        spread = (self.kappa + 1) / np.maximum(self.kappa, 1e-300) / np.maximum(dof, 1e-300)
        return dof, np.asarray(self.scale * spread[:, None, None])

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return means [class, column] and covariances drawn at random."""
        size = self.size
        if (self.dof <= size - 1).any():
            raise ValueError(
                "under this prior a class has too few rows to draw a covariance from; use a number as prior"
            )
        covariance = np.empty_like(self.scale)
        for k, (degrees, scale) in enumerate(zip(self.dof, self.scale, strict=True)):
            # Bartlett's decomposition: a triangle of chi and normal draws is the root of a Wishart draw
            triangle = np.tril(rng.standard_normal((size, size)), -1)
            triangle[np.diag_indices(size)] = np.sqrt(rng.chisquare(degrees - np.arange(size)))
            root = np.linalg.solve(triangle, np.linalg.cholesky(scale).T)
            covariance[k] = root.T @ root
        roots = np.broadcast_to(np.linalg.cholesky(covariance), (len(self.mean), size, size))
        away = np.einsum("kij,kj->ki", roots, rng.standard_normal(self.mean.shape))
        return self.mean + away / np.sqrt(np.maximum(self.kappa, 1e-300))[:, None], covariance


def prior_of_one(prior: Any, moments: CoMoments) -> Hyperparameters:
    """Return mean, kappa, dof and scale of a prior for the co-moments of a single class."""
    variances = np.diag(moments.scatter[0]) / (moments.n.item() or 1.0)
    return WishartHyperparameters.of_prior(prior, moments.mean[0], variances).first


def posterior_of_one(hyperparameters: Hyperparameters, moments: CoMoments) -> Hyperparameters:
    """Return mean, kappa, dof and scale after the co-moments of a single class."""
    before = WishartHyperparameters.of_one(*hyperparameters)
    return before.posterior(moments.n[:, 0], moments.mean + moments.tail, moments.scatter).first


def covariance_of_one(rule: str, hyperparameters: Hyperparameters, moments: CoMoments) -> Array:
    """Return the covariance of a single class by a rule: "mle", "map" or "mean"."""
    if rule == "mle":
        return np.asarray(moments.scatter[0] / moments.n.item())
    its = WishartHyperparameters.of_one(*hyperparameters)
    return np.asarray((its.mode() if rule == "map" else its.expected_covariance())[0])


def predictive_of_one(hyperparameters: Hyperparameters) -> tuple[float, Array]:
    """Return degrees of freedom and shape of the predictive multivariate t of a single class."""
    its = WishartHyperparameters.of_one(*hyperparameters)
    dof, shape = its.predictive()
    if not (its.kappa[0] > 0 and dof[0] > 0):
        raise ValueError(f"the predictive distribution needs more than {2 * its.size + 1} rows under a flat prior")
    return float(dof[0]), shape[0]


def log_partition_of_one(hyperparameters: Hyperparameters) -> float:
    """Return log Z of the conjugate prior of a single class."""
    mean, kappa, dof, scale = hyperparameters
    size, halved = len(mean), float(dof) / 2
    if not kappa > 0:
        raise ValueError("the flat prior has no evidence: it does not add up to 1; use NormalInverseWishart")
    log_det = np.linalg.slogdet(scale)[1]
    return float(multigammaln(halved, size) - halved * (log_det + size * np.log(np.pi)) - 0.5 * size * np.log(kappa))
