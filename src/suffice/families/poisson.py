"""Poisson: counts of events in a row, without an upper bound."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.event_rates import EventRate
from suffice.families.family import Hyperparameters, Parameters
from suffice.schema import Array, Columns
from suffice.score import Linear, LogFactorial, LogGamma, Score
from suffice.statistics import Counts


@dataclass(frozen=True)
class PoissonParameters(Parameters):
    """The rate λ of each column in each class."""

    rate: Array
    epsilon: float = 0.0

    def score(self) -> Score:
        with np.errstate(divide="ignore"):
            return Linear.of(np.log(self.rate + self.epsilon), -self.rate) + LogFactorial()

    def as_linear(self) -> tuple[str, Array, Array]:
        return "linear", np.log(self.rate + self.epsilon), np.asarray(-self.rate.sum(axis=1))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return rng.poisson(self.rate[k], (count, self.rate.shape[1])).astype(np.float64)


@dataclass(frozen=True)
class NegativeBinomial(Parameters):
    """Γ(a + x) / Γ(a) x!·(b / (b + 1))^a·(b + 1)^−x: the Poisson distribution averaged over its rate, Gamma(a, b)."""

    shape: Array
    inverse_scale: Array

    def score(self) -> Score:
        biases = -self.shape * np.log1p(1 / self.inverse_scale)
        return LogGamma(self.shape) + Linear(-np.log1p(self.inverse_scale), biases) + LogFactorial()

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        rates = rng.gamma(self.shape[k], 1 / self.inverse_scale[k], (count, self.shape.shape[1]))
        return rng.poisson(rates).astype(np.float64)

    @property
    def rate(self) -> Array:
        """The expected rate."""
        return np.asarray(self.shape / self.inverse_scale)


@dataclass(frozen=True)
class Poisson(EventRate):
    """p(x | class) = Πⱼ λⱼ^xⱼ·e^−λⱼ / xⱼ!; the conjugate prior is Gamma(shape, rate).

    A number c stands for Gamma(c, c): c rows with one event each. The mode is (shape − 1) / rate, or 0 if shape is
    less than 1.
    """

    epsilon: float = 0.0

    name = "poisson"
    is_separate = True
    cells = "counts"
    accepts_sparse = True

    def pseudo_rows(self, count: Array, statistic: Any) -> Hyperparameters:
        return count, count

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Counts) -> Hyperparameters:
        return hyperparameters[0] + statistic.total, hyperparameters[1] + statistic.n

    def maximum_likelihood(self, columns: Columns, statistic: Counts) -> PoissonParameters:
        return self._rate(statistic.total, statistic.n)

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> PoissonParameters:
        return self._rate(np.maximum(hyperparameters[0] - 1, 0), hyperparameters[1])

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> PoissonParameters:
        return self._rate(*hyperparameters)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> NegativeBinomial:
        shape, rate = np.broadcast_arrays(*hyperparameters)
        return NegativeBinomial(np.ascontiguousarray(shape), np.where(rate > 0, rate, 1.0))

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> PoissonParameters:
        return self._rate(rng.standard_gamma(hyperparameters[0]), hyperparameters[1])

    def _rate(self, events: Array, rows: Array) -> PoissonParameters:
        return PoissonParameters(np.asarray(events / np.where(rows > 0, rows, 1.0)), self.epsilon)
