"""Full: Gaussian columns with a covariance of a given kind."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.family import Parameters
from suffice.families.gaussian import Gaussian, GaussianParameters, StudentT
from suffice.schema import Array
from suffice.statistics import CoMoments, Moments
from suffice.structures.covariances import (
    KINDS,
    PAIRED,
    CovarianceKind,
    check_prior_of,
    estimate_covariances,
    require_scatter,
    restrict,
    shrink,
)
from suffice.structures.structure import Rule, Structure, Subject


@dataclass(frozen=True)
class Full(Structure):
    """p(x | class) = N(x; μ, Σ) of all Gaussian columns; other columns are independent given the class.

    Parameters
    ----------
    shrinkage : float, "oas" or None, default=None
        How far Σ is moved towards a multiple of the identity: a share from 0 to 1, or the share of Chen et al. (OAS).
    covariance : str, default="full"
        The kind of Σ: "spherical", "tied-diagonal", "diagonal", "chain", "tridiagonal", "tied-tridiagonal", "full" or
        "shared" (one for all classes).
    ddof : float, default=0.0
        Subtracted from the number of rows in the maximum-likelihood estimate.

    Examples
    --------
    >>> Full(shrinkage=0.1)
    Full(shrinkage=0.1, covariance='full', ddof=0.0)
    """

    shrinkage: float | str | None = None
    covariance: CovarianceKind = "full"
    ddof: float = 0.0

    name = "full"
    paired = ("gaussian",)
    numeric = numeric_in_pool = "gaussian"

    def __post_init__(self) -> None:
        wrong = self.shrinkage != "oas" if isinstance(self.shrinkage, str) else not 0 <= (self.shrinkage or 0) <= 1
        if wrong:
            raise ValueError(f"shrinkage is a share from 0 to 1, 'oas' or None, not {self.shrinkage!r}")
        if self.covariance not in KINDS:
            raise ValueError(f"covariance is one of {', '.join(KINDS)}, not {self.covariance!r}")
        if not self.ddof >= 0:
            raise ValueError(f"ddof is 0 or more, not {self.ddof!r}")

    def check(self, subject: Subject, prior: Any) -> None:
        if self.covariance in PAIRED:
            check_prior_of(subject, prior)
        else:
            super().check(subject, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        columns = subject.columns
        if self.covariance not in PAIRED or (columns.count == 1 and not columns.pairs):
            return self._diagonal(rule, subject, prior)
        moments = require_scatter(subject.statistic)
        estimate = estimate_covariances(rule, moments, prior, self.ddof, self.covariance == "shared")
        covariance = shrink(estimate.covariance, estimate.rows, self.shrinkage)
        parameters = estimate.parameters(restrict(self.covariance, covariance, _shares(moments)))
        _ = parameters.solve.factors  # raises now, not when rows are scored, if the covariance is singular
        return parameters

    def _diagonal(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        """Return shrunk or tied variances of independent columns."""
        columns, moments = subject.columns, subject.statistic
        assert isinstance(moments, (Moments, CoMoments))
        tied = self.covariance in ("spherical", "tied-diagonal") or self.shrinkage is not None
        if tied and rule == "predictive":
            rule = "mean"  # an average of several Student's t is not a Student's t
        parameters = Subject(Gaussian(0.0, self.ddof), columns, moments).independent(rule, prior)
        assert isinstance(parameters, (GaussianParameters, StudentT))
        if not tied:
            return parameters
        variance = parameters.variance
        if self.shrinkage is not None:
            whole = shrink(np.eye(variance.shape[1]) * variance[:, None, :], moments.n.max(axis=1), self.shrinkage)
            variance = np.diagonal(whole, axis1=1, axis2=2)
        if self.covariance in ("spherical", "tied-diagonal"):
            variance = np.broadcast_to(variance.mean(axis=1, keepdims=True), variance.shape)
        if self.covariance == "spherical":
            variance = np.broadcast_to(_shares(moments) @ variance, variance.shape)
        return GaussianParameters(parameters.mean, np.ascontiguousarray(variance), 0.0, parameters.tail)


def _shares(moments: Moments | CoMoments) -> Array:
    rows = moments.n.max(axis=1)
    return np.asarray(rows / max(float(rows.sum()), 1e-300))
