"""Multivariate Gaussian: all columns together, with their covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import multigammaln

from suffice.families.family import Beliefs
from suffice.priors import Flat, NormalInverseWishart, Prior, per_column, positive, refused
from suffice.schema import Array
from suffice.statistics import CoMoments


@dataclass(frozen=True)
class Multivariate:
    """Beliefs about (μ, Σ) are Normal-inverse-Wishart(mean, kappa, dof, scale); functions of one class.

    A number c stands for c rows like those at hand: their mean, and the variances of their columns
    without the covariances (dof = c + columns + 1, so that the expected Σ is that diagonal for c rows).
    The mode is that of (μ, Σ) jointly, scale / (dof + columns + 2); the mean of Σ is
    scale / (dof − columns − 1).
    """

    def believed(self, prior: Any, moments: CoMoments) -> Beliefs:
        """Return the hyperparameters that a prior stands for."""
        size = moments.mean.shape[1]
        if isinstance(prior, Flat):
            return np.zeros(size), np.array(0.0), np.array(-size - 2.0), np.zeros((size, size))
        if isinstance(prior, NormalInverseWishart):
            scale = np.atleast_2d(np.asarray(prior.scale, np.float64))
            if scale.shape != (size, size):
                raise ValueError(f"NormalInverseWishart(scale=…) is for {len(scale)} columns, and there are {size}")
            mean = per_column(prior.mean, size, "NormalInverseWishart(mean=…)")
            return mean, np.array(float(prior.kappa)), np.array(float(prior.dof)), scale
        if isinstance(prior, (Prior, str)) or np.ndim(prior):
            raise refused(prior, "multivariate gaussian", "a number more than 0, NormalInverseWishart or Flat")
        prior = float(positive(prior, "prior"))
        variances = np.diag(moments.scatter[0]) / max(moments.n.item(), 1.0)
        spread = np.where(variances > 0, variances, max(variances.max(), 1e-300))
        return moments.mean[0], np.array(float(prior)), np.array(prior + size + 1.0), np.diag(prior * spread)

    def updated(self, beliefs: Beliefs, moments: CoMoments) -> Beliefs:
        """Return the hyperparameters of the posterior."""
        mean, kappa, dof, scale = beliefs
        n = moments.n.item()
        distance = (moments.mean[0] - mean) + moments.tail[0]
        rows = kappa + n
        pull = np.outer(distance, distance) * (kappa * n / rows)
        return mean + distance * (n / rows), np.asarray(rows), np.asarray(dof + n), scale + moments.scatter[0] + pull

    def covariance(self, rule: str, beliefs: Beliefs, moments: CoMoments) -> Array:
        """Return Σ by a rule."""
        size = moments.mean.shape[1]
        _, _, dof, scale = beliefs
        if rule == "mle":
            return np.asarray(moments.scatter[0] / moments.n.item())
        if rule == "map":
            return np.asarray(scale / (dof + size + 2))
        if dof <= size + 1:
            raise ValueError(
                f"the mean of Σ needs more than {size + 1} degrees of freedom, and there are {float(dof):g}"
            )
        return np.asarray(scale / (dof - size - 1))

    def predictive(self, beliefs: Beliefs) -> tuple[float, Array]:
        """Return degrees of freedom and shape of the posterior predictive distribution, a multivariate t."""
        mean, kappa, dof, scale = beliefs
        df = float(dof) - len(mean) + 1
        if not (kappa > 0 and df > 0):
            raise ValueError(f"the predictive distribution needs more than {2 * len(mean) + 1} rows under a flat prior")
        return df, np.asarray(scale * (kappa + 1) / (kappa * df))

    def log_partition(self, beliefs: Beliefs) -> float:
        """Return log Z of the conjugate prior."""
        mean, kappa, dof, scale = beliefs
        size = len(mean)
        if not kappa > 0:
            raise ValueError("the flat prior has no evidence: it does not add up to 1; use NormalInverseWishart")
        log_det = np.linalg.slogdet(scale)[1]
        halved = float(dof) / 2
        return float(
            multigammaln(halved, size) - halved * (log_det + size * np.log(np.pi)) - 0.5 * size * np.log(kappa)
        )
