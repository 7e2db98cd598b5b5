"""Full: Gaussian columns with a covariance of a given kind."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.families.family import Parameters
from suffice.families.gaussian import Gaussian, GaussianParameters, StudentT
from suffice.schema import Array
from suffice.statistics import CoMoments, Moments
from suffice.structures.covariances import (
    KINDS,
    LEDOIT_WOLF,
    PAIRED,
    CovarianceKind,
    Estimate,
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
    shrinkage : float, "oas", "ledoit-wolf", "auto" or None, default=None
        How far Σ is moved towards a multiple of the identity: a share from 0 to 1, the share of Chen et al. (OAS), or
        that of Ledoit and Wolf, for the columns as they are or in standard units ("auto"). The last two need fourth
        moments, which are taken in the same pass.
    covariance : str, default="full"
        The kind of Σ: "spherical", "tied-diagonal", "diagonal", "chain", "tridiagonal", "tied-tridiagonal", "full" or
        "shared" (one for all classes).
    ddof : float, default=0.0
        Subtracted from the number of rows in the maximum-likelihood estimate.
    reg_param : float from 0 to 1, default=0.0
        The weight r of the identity in (1 − r)·Σ + r·I, in place of ``shrinkage``.

    Examples
    --------
    >>> Full(shrinkage=0.1)
    Full(shrinkage=0.1, covariance='full', ddof=0.0, reg_param=0.0)
    """

    shrinkage: float | str | None = None
    covariance: CovarianceKind = "full"
    ddof: float = 0.0
    reg_param: float = 0.0

    name = "full"
    paired = ("gaussian",)
    numeric = numeric_in_pool = "gaussian"

    def __post_init__(self) -> None:
        is_name = isinstance(self.shrinkage, str)
        if self.shrinkage not in ("oas", *LEDOIT_WOLF) if is_name else not 0 <= (self.shrinkage or 0) <= 1:  # type: ignore[operator]
            names = ", ".join(map(repr, ("oas", *LEDOIT_WOLF)))
            raise ValueError(f"shrinkage is a share from 0 to 1, {names} or None, not {self.shrinkage!r}")
        if not 0 <= self.reg_param <= 1:
            raise ValueError(f"reg_param is a share from 0 to 1, not {self.reg_param!r}")
        if self.shrinkage is not None and self.reg_param:
            raise ValueError(
                f"shrinkage={self.shrinkage!r} and reg_param={self.reg_param!r} are two ways to regularize the same "
                "covariance: set one of them"
            )
        if self.covariance not in KINDS:
            raise ValueError(f"covariance is one of {', '.join(KINDS)}, not {self.covariance!r}")
        if self.shrinkage in LEDOIT_WOLF and self.covariance not in PAIRED:
            raise ValueError(
                f"shrinkage={self.shrinkage!r} needs a covariance of pairs of columns ({', '.join(PAIRED)}), not "
                f'covariance={self.covariance!r}; use "oas" or a number'
            )
        if not self.ddof >= 0:
            raise ValueError(f"ddof is 0 or more, not {self.ddof!r}")

    @property
    def needs_fourths(self) -> bool:
        return self.shrinkage in LEDOIT_WOLF

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
        estimate, covariance = self._estimate_covariance(rule, moments, prior)
        if self.reg_param:
            covariance = (1 - self.reg_param) * covariance + self.reg_param * np.eye(columns.count)
        parameters = estimate.parameters(restrict(self.covariance, covariance, _shares(moments)))
        _ = parameters.solve.factors  # raises now, not when rows are scored, if the covariance is singular
        return parameters

    def _estimate_covariance(self, rule: Rule, moments: CoMoments, prior: Any) -> tuple[Estimate, Array]:
        """Return the estimated means, and the covariances after shrinkage."""
        by_class = str(self.shrinkage) if self.shrinkage in LEDOIT_WOLF else None
        estimate = estimate_covariances(rule, moments, prior, self.ddof, self.covariance == "shared", by_class)
        if by_class:
            return estimate, estimate.covariance
        return estimate, shrink(estimate.covariance, estimate.rows, self.shrinkage)

    def _diagonal(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        """Return shrunk or tied variances of independent columns."""
        columns, moments = subject.columns, subject.statistic
        assert isinstance(moments, (Moments, CoMoments))
        tied = self.covariance in ("spherical", "tied-diagonal") or self.shrinkage is not None or self.reg_param > 0
        if tied and rule == "predictive":
            rule = "mean"  # an average of several Student's t is not a Student's t
        parameters = Subject(Gaussian(0.0, self.ddof), columns, moments).independent(rule, prior)
        assert isinstance(parameters, (GaussianParameters, StudentT))
        if not tied:
            return parameters
        variance = parameters.variance
        if self.shrinkage is not None and self.shrinkage not in LEDOIT_WOLF:  # whose share is 0 for a single column
            whole = shrink(np.eye(variance.shape[1]) * variance[:, None, :], moments.n.max(axis=1), self.shrinkage)
            variance = np.diagonal(whole, axis1=1, axis2=2)
        variance = (1 - self.reg_param) * variance + self.reg_param
        if self.covariance in ("spherical", "tied-diagonal"):
            variance = np.broadcast_to(variance.mean(axis=1, keepdims=True), variance.shape)
        if self.covariance == "spherical":
            variance = np.broadcast_to(_shares(moments) @ variance, variance.shape)
        return GaussianParameters(parameters.mean, np.ascontiguousarray(variance), 0.0, parameters.tail)


@dataclass(frozen=True)
class GivenCovariances(Full):
    """`Full`, with covariances [class, column, column] that were estimated from rows, by other software or rules."""

    matrices: Any = field(default=None, compare=False)

    def _estimate_covariance(self, rule: Rule, moments: CoMoments, prior: Any) -> tuple[Estimate, Array]:
        estimate = estimate_covariances(rule, moments, prior, is_shared=self.covariance == "shared")
        if self.covariance != "shared":
            return estimate, self.matrices
        return estimate, np.tensordot(_shares(moments), self.matrices, 1)[None]


def _shares(moments: Moments | CoMoments) -> Array:
    rows = moments.n.max(axis=1)
    return np.asarray(rows / max(float(rows.sum()), 1e-300))
