"""Exponential: times between events, and other numbers from 0 up whose density falls at a constant rate."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.domain import NOT_NEGATIVE
from suffice.families.event_rates import EventRate
from suffice.families.family import Hyperparameters, Parameters
from suffice.schema import Array, Columns
from suffice.score import Linear, LogQuadratic, OfFunction, Score
from suffice.statistics import Counts

# The least mean: a mean of 0 has no density, and the inverse of this one is still a number.
LEAST_MEAN = 1e-150


@dataclass(frozen=True)
class ExponentialParameters(Parameters):
    """p(x) = λ·e^(−λx), with the rate λ [class, column]."""

    rate: Array

    def score(self) -> Score:
        return Score((Linear(-self.rate, np.log(self.rate)),))

    def as_linear(self) -> tuple[str, Array, Array]:
        return "linear", -self.rate, np.asarray(np.log(self.rate).sum(axis=1))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return rng.exponential(1 / self.rate[k], (count, self.rate.shape[1]))


@dataclass(frozen=True)
class Lomax(Parameters):
    """p(x) = a/b·(1 + x/b)^−(a + 1): the exponential distribution averaged over its rate, Gamma(a, b)."""

    shape: Array
    scale: Array

    def score(self) -> Score:
        # 1 + x/b is 1 + (√x)²/b, for which there is a term already
        peak = np.log(self.shape) - np.log(self.scale)
        term = LogQuadratic(np.zeros(self.shape.shape), 1 / self.scale, self.shape + 1, peak)
        return Score((OfFunction(term, "sqrt"),))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        rates = rng.gamma(self.shape[k], 1 / self.scale[k], (count, self.shape.shape[1]))
        return np.asarray(rng.exponential(1 / np.maximum(rates, 1e-300)))

    @property
    def rate(self) -> Array:
        """The expected rate."""
        return np.asarray(self.shape / self.scale)


@dataclass(frozen=True)
class Exponential(EventRate):
    """p(x | class) = Πⱼ λⱼ·e^(−λⱼ·xⱼ) of xⱼ ≥ 0; the conjugate prior of the rate is Gamma(shape, rate).

    The statistics are n and Σx. A number c stands for c rows with the mean of all classes pooled, Gamma(c, c·mean).
    The mode is (shape − 1) / rate, where a shape of less than 2 counts as 2: the maximum at a rate of 0 has no density.
    """

    name = "exponential"
    domain = NOT_NEGATIVE

    def pseudo_rows(self, count: Array, statistic: Any) -> Hyperparameters:
        return count, count * _pooled_mean(statistic)

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Counts) -> Hyperparameters:
        shape, rate = hyperparameters
        return np.broadcast_to(shape + statistic.n, statistic.total.shape), rate + statistic.total

    def maximum_likelihood(self, columns: Columns, statistic: Counts) -> ExponentialParameters:
        # a class without rows has the mean of all classes pooled
        mean = np.where(
            statistic.n > 0, statistic.total / np.where(statistic.n > 0, statistic.n, 1.0), _pooled_mean(statistic)
        )
        return ExponentialParameters(1 / np.maximum(mean, LEAST_MEAN))

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> ExponentialParameters:
        shape, rate = hyperparameters
        return _of_rate(np.maximum(shape - 1, 1.0), rate)

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> ExponentialParameters:
        return _of_rate(*hyperparameters)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Lomax:
        shape, rate = np.broadcast_arrays(*hyperparameters)
        return Lomax(np.ascontiguousarray(shape), np.maximum(rate, LEAST_MEAN))

    def draw(
        self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator
    ) -> ExponentialParameters:
        return _of_rate(np.maximum(rng.standard_gamma(hyperparameters[0]), 1e-300), hyperparameters[1])

    def location(self, statistic: Any) -> tuple[Array, Array]:
        mean = statistic.total / np.where(statistic.n > 0, statistic.n, 1.0)
        return mean, mean

    def log_location(self, statistic: Any) -> tuple[Array, Array]:
        mean = np.maximum(self.location(statistic)[0], LEAST_MEAN)
        return np.log(mean) - np.euler_gamma, np.full(mean.shape, np.pi / np.sqrt(6))


def _of_rate(events: Array, total: Array) -> ExponentialParameters:
    return ExponentialParameters(np.asarray(events / np.maximum(total, LEAST_MEAN)))


def _pooled_mean(statistic: Any) -> Array:
    """Return the mean of each column over all classes, [1, column]; never 0."""
    n = np.broadcast_to(statistic.n, statistic.total.shape).sum(axis=-2, keepdims=True)
    mean = statistic.total.sum(axis=-2, keepdims=True) / np.where(n > 0, n, 1.0)
    return np.asarray(np.maximum(np.where(mean > 0, mean, np.max(mean, axis=-1, keepdims=True)), LEAST_MEAN))
