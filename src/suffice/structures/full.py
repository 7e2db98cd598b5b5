"""Full: Gaussian columns that depend on each other, with the covariance that is asked for."""

from __future__ import annotations

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
    check_together,
    estimated,
    of_kind,
    parameters,
    shrunk,
    with_scatter,
)
from suffice.structures.structure import Rule, Structure, Subject, independent


@dataclass(frozen=True)
class Full(Structure):
    """p(x given class) = N(x; μ, Σ) of all Gaussian columns together; other columns are independent.

    ``shrinkage`` draws Σ towards a multiple of the identity: a share from 0 to 1, or "oas".

    >>> Full(shrinkage=0.1)
    Full(shrinkage=0.1, covariance='full', ddof=0.0)
    """

    shrinkage: float | str | None = None
    covariance: str = "full"
    ddof: float = 0.0

    name = "full"
    paired = ("gaussian",)
    numeric = "gaussian"

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
            check_together(subject, prior)
        else:
            super().check(subject, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        moments = subject[2]
        if self.covariance not in PAIRED or (subject[1].count == 1 and not subject[1].pairs):
            return self._apart(rule, subject, prior)
        moments = with_scatter(moments)
        estimate = estimated(rule, moments, prior, self.ddof, self.covariance == "shared")
        covariance = shrunk(estimate.covariance, estimate.rows, self.shrinkage)
        found = parameters(estimate, of_kind(self.covariance, covariance, _shares(moments)))
        _ = found.solve.factors  # what has no inverse is found out here, not when rows come
        return found

    def _apart(self, rule: Any, subject: Subject, prior: Any) -> Parameters:
        """Return variances that are shrunk and tied, of columns that are independent."""
        _, columns, moments = subject
        assert isinstance(moments, (Moments, CoMoments))
        tied = self.covariance in ("spherical", "tied-diagonal") or self.shrinkage is not None
        if tied and rule == "predictive":
            rule = "mean"  # an average of Student's t's is none
        found = independent(rule, (Gaussian(0.0, self.ddof), columns, moments), prior)
        assert isinstance(found, (GaussianParameters, StudentT))
        if not tied:
            return found
        variance = found.variance
        if self.shrinkage is not None:
            whole = shrunk(np.eye(variance.shape[1]) * variance[:, None, :], moments.n.max(axis=1), self.shrinkage)
            variance = np.diagonal(whole, axis1=1, axis2=2)
        if self.covariance in ("spherical", "tied-diagonal"):
            variance = np.broadcast_to(variance.mean(axis=1, keepdims=True), variance.shape)
        if self.covariance == "spherical":
            variance = np.broadcast_to(_shares(moments) @ variance, variance.shape)
        return GaussianParameters(found.mean, np.ascontiguousarray(variance), 0.0)


def _shares(moments: Moments | CoMoments) -> Array:
    rows = moments.n.max(axis=1)
    return np.asarray(rows / max(float(rows.sum()), 1e-300))
