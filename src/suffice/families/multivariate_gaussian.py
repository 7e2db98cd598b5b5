"""Multivariate Gaussian and Student's t: columns of numbers with a covariance."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.families.family import Parameters
from suffice.schema import Array, field_names
from suffice.score import Score, TriangularSolve
from suffice.score.multivariate import lower_triangle


@dataclass(frozen=True)
class MultivariateGaussian(Parameters):
    """log p(x | class) = −½·(d·log 2π + log det Σ + (x − μ)ᵀ Σ⁻¹ (x − μ)).

    ``covariance`` is [class, column, column], or [1, column, column] if all classes share it. Missing cells are left
    out of μ and Σ, which is the exact marginal.
    """

    mean: Array
    covariance: Array

    @cached_property
    def solve(self) -> TriangularSolve:
        """The term that scores rows, which has the same fields; it keeps the factors of the covariances."""
        return TriangularSolve(*(getattr(self, name) for name in field_names(type(self))))

    def score(self) -> Score:
        return Score((self.solve,))

    @property
    def residual_variance(self) -> Array:
        """The variance of each column given all others, [class or 1, column]."""
        factors, _ = self.solve.factors
        return np.asarray(1 / (factors**2).sum(axis=2))

    @property
    def n_parameters(self) -> int:
        return int(self.mean.size + len(self.covariance) * self.mean.shape[1] * (self.mean.shape[1] + 1) // 2)

    def as_linear(self) -> tuple[str, Array, Array]:
        factors, logs = self.solve.factors
        precision = factors @ factors.transpose(0, 2, 1)
        slopes = np.einsum("kij,kj->ki", np.broadcast_to(precision, (len(self.mean), *precision.shape[1:])), self.mean)
        biases = -0.5 * ((self.mean * slopes).sum(axis=1) + logs)
        if len(precision) == 1:
            return "linear", slopes, biases
        first, second = np.triu_indices(self.mean.shape[1])
        squares = -np.where(first == second, 0.5, 1.0) * precision[:, first, second]
        return "quadratic", np.hstack([squares, slopes]), biases

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        lower = lower_triangle(self.solve.covariance_of(k), k)
        return np.asarray(self.mean[k] + rng.standard_normal((count, len(lower))) @ lower.T)


@dataclass(frozen=True)
class MultivariateStudentT(MultivariateGaussian):
    """The multivariate Gaussian averaged over mean and covariance: Student's t with shape ``covariance``."""

    dof: Array

    def as_linear(self) -> tuple[str, Array, Array]:
        raise ValueError(
            "the log density of Student's t is not linear in any lift; use another estimate than predictive"
        )

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        away = super().sample(k, count, rng) - self.mean[k]
        return np.asarray(self.mean[k] + away / np.sqrt(rng.chisquare(self.dof[k], (count, 1)) / self.dof[k]))
