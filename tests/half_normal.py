"""Half-normal: an example of a new family, which needs only one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln

from suffice.blocks import Part
from suffice.families.family import Family, Hyperparameters, Parameters, check_proper
from suffice.priors import Gamma, Prior, broadcast_to_columns, check_positive, unsupported_prior
from suffice.schema import Array, Columns
from suffice.score import LogQuadratic, Quadratic, Score, log_rising
from suffice.statistics import SquaredCounts, scan

MOST_PRECISE = 1e300  # the precision of a class in which all numbers are 0


@dataclass(frozen=True)
class HalfNormalParameters(Parameters):
    """p(x given class) = Πⱼ √(2·τⱼ/π)·exp(−τⱼ·xⱼ²/2) for xⱼ ≥ 0, with the precision τ [class, column]."""

    precision: Array

    def score(self) -> Score:
        peak = 0.5 * np.log(2 * self.precision / np.pi)
        return Score((Quadratic(np.zeros(peak.shape), self.precision / 2, peak),))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return np.abs(rng.normal(size=(count, self.precision.shape[1]))) / np.sqrt(self.precision[k])


@dataclass(frozen=True)
class HalfStudent(Parameters):
    """The half-normal averaged over τ ~ Gamma(s, r): 2·Γ(s + ½)/Γ(s)·(2·π·r)^−½·(1 + x²/(2·r))^−(s + ½)."""

    shape: Array
    rate: Array

    def score(self) -> Score:
        peak = np.log(2) + log_rising(self.shape, 0.5) - 0.5 * np.log(2 * np.pi * self.rate)
        return Score((LogQuadratic(np.zeros(peak.shape), 0.5 / self.rate, self.shape + 0.5, peak),))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        precision = rng.gamma(self.shape[k], 1 / self.rate[k], (count, self.shape.shape[1]))
        return np.abs(rng.normal(size=precision.shape)) / np.sqrt(precision)


@dataclass(frozen=True)
class HalfNormal(Family):
    """Numbers x ≥ 0 with the density of the absolute value of a normal variable; the conjugate prior is Gamma(s, r)."""

    name = "half-normal"
    cells = "numbers"
    sql_sums = "squares"

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, SquaredCounts]:
        return columns, scan.squares(part)

    def refuses(self, values: Array) -> Array:
        return np.asarray(values < 0)

    def refusal(self, value: float) -> str:
        return f"{self.name} takes numbers from 0 up; the families 'gaussian' and 'number' take it"

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Any) -> Hyperparameters:
        if isinstance(prior, Gamma):
            shape = broadcast_to_columns(prior.shape, columns.count, "Gamma(shape=…)")
            rate = broadcast_to_columns(prior.rate, columns.count, "Gamma(rate=…)")
            return shape[None], rate[None]
        if isinstance(prior, Prior):
            raise unsupported_prior(prior, self.name, "a number or Gamma")
        each = broadcast_to_columns(check_positive(prior, "prior"), columns.count, "prior")[None]
        squares, n = (sums.sum(axis=-2, keepdims=True) for sums in (statistic.squares, statistic.n))
        return each / 2, each / 2 * np.where(squares > 0, squares / np.maximum(n, 1e-300), 1.0)

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Any) -> Hyperparameters:
        shape, rate = hyperparameters
        return np.broadcast_to(shape + statistic.n / 2, statistic.squares.shape), rate + statistic.squares / 2

    def maximum_likelihood(self, columns: Columns, statistic: Any) -> Parameters:
        return self._ratio(np.broadcast_to(statistic.n / 2, statistic.squares.shape), statistic.squares / 2)

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        shape, rate = hyperparameters
        return self._ratio(np.where(shape > 1, shape - 1, shape), rate)

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return self._ratio(*hyperparameters)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return HalfStudent(*map(np.ascontiguousarray, np.broadcast_arrays(*hyperparameters)))

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        shape, rate = hyperparameters
        return np.asarray(gammaln(shape) - shape * np.log(rate))

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        shape, rate = np.broadcast_arrays(*check_proper(hyperparameters))
        return {"precision": stats.gamma(shape, scale=1 / rate)}

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> Parameters:
        return self._ratio(rng.standard_gamma(hyperparameters[0]), hyperparameters[1])

    def location(self, statistic: Any) -> tuple[Array, Array]:
        n = np.maximum(np.broadcast_to(statistic.n, statistic.total.shape), 1e-300)
        return statistic.total / n, 0.6 * np.sqrt(statistic.squares / n)

    def _ratio(self, shape: Array, rate: Array) -> HalfNormalParameters:
        precision = np.where(shape > 0, shape, 1.0) / np.where(shape > 0, np.maximum(rate, shape / MOST_PRECISE), 1.0)
        return HalfNormalParameters(precision)


def log_density(x: Array, precision: float) -> Array:
    """Return the log density by its formula, for comparison."""
    return np.asarray(0.5 * np.log(2 * precision / np.pi) - precision * np.asarray(x) ** 2 / 2)
