"""Full: all Gaussian columns depend on each other, with a covariance for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from suffice.families.family import Parameters
from suffice.structures.covariances import estimated, parameters, shrunk
from suffice.structures.structure import Structure, Subject
from suffice.tallies import CoMoments


@dataclass(frozen=True)
class Full(Structure):
    """p(x given class) = N(x; μ, Σ) of all Gaussian columns together; other columns are independent.

    >>> Full(shrinkage=0.1)
    Full(shrinkage=0.1)
    """

    shrinkage: float | str | None = None

    name = "full"
    paired = ("gaussian",)
    numeric = "gaussian"

    def dependent(self, rule: str, subject: Subject, prior: Any) -> Parameters:
        moments = subject[2]
        assert isinstance(moments, CoMoments)
        estimate = estimated(rule, moments, prior)
        return parameters(estimate, shrunk(estimate.covariance, estimate.rows, self.shrinkage))
