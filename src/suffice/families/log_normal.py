"""Log-normal: positive numbers whose logarithm is Gaussian, such as incomes, durations and sizes."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from suffice.blocks import Function, Part
from suffice.families.domain import POSITIVE
from suffice.families.family import Family, Hyperparameters, Parameters
from suffice.families.gaussian import Gaussian, GaussianParameters, StudentT
from suffice.families.gaussian_left_out import GaussianLeftOut
from suffice.schema import Array, Columns
from suffice.score import NegativeLog, OfFunction, Score
from suffice.statistics import Moments, scan

LOG = Function("log")


@dataclass(frozen=True)
class LogNormalParameters(GaussianParameters):
    """Mean and variance of log x, [class, column]; p(x) = N(log x; mean, variance) / x."""

    def score(self) -> Score:
        return _of_logarithms(super().score())

    def as_linear(self) -> tuple[str, Array, Array]:
        return Parameters.as_linear(self)

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return np.exp(super().sample(k, count, rng))


@dataclass(frozen=True)
class LogStudentT(StudentT):
    """Student's t of log x: the log-normal distribution averaged over mean and variance."""

    def score(self) -> Score:
        return _of_logarithms(super().score())

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return np.asarray(np.exp(np.clip(super().sample(k, count, rng), -700.0, 700.0)))


def _of_logarithms(score: Score) -> Score:
    """Return the score of log x as a density of x: p(x) = p(log x) / x."""
    (term,) = score
    return OfFunction(term, "log") + NegativeLog()


class LogNormal(Gaussian):
    """p(x | class) = Πⱼ N(log xⱼ; μⱼ, σⱼ²) / xⱼ of xⱼ > 0; the conjugate prior is Normal-inverse-gamma.

    The statistics are the moments of log x. Priors and rules are those of `Gaussian`, for log x.
    """

    name = "log-normal"
    domain = POSITIVE

    @property
    def functions(self) -> tuple[Function | None, ...]:
        return (LOG,)

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Moments]:
        return columns, scan.spreads(LOG.map_part(part))

    def maximum_likelihood(self, columns: Columns, statistic: Moments) -> LogNormalParameters:
        return _wrap(super().maximum_likelihood(columns, statistic))

    def left_out(self, columns: Columns, statistic: Any) -> GaussianLeftOut | None:
        found = super().left_out(columns, statistic)
        return None if found is None else replace(found, function=LOG)

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> LogNormalParameters:
        return _wrap(super().mode(columns, hyperparameters))

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> LogNormalParameters:
        return _wrap(super().mean(columns, hyperparameters))

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> LogStudentT:
        found = super().predictive(columns, hyperparameters)
        return LogStudentT(**{field.name: getattr(found, field.name) for field in fields(found)})

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> LogNormalParameters:
        return _wrap(super().draw(columns, hyperparameters, rng))

    def location(self, statistic: Any) -> tuple[Array, Array]:
        """Return e^(μ + σ²/2) and √(e^σ² − 1) times that, the mean and the standard deviation of x."""
        mean, deviation = super().location(statistic)
        variance = np.minimum(deviation**2, 50.0)  # so that the deviation is a number
        centre = np.exp(np.minimum(mean + variance / 2, 300.0))
        return centre, centre * np.sqrt(np.expm1(variance))

    def summarize(self, columns: Columns, statistic: Any, j: int) -> dict[str, Any]:
        return Family.summarize(self, columns, statistic, j)


def _wrap(found: GaussianParameters) -> LogNormalParameters:
    return LogNormalParameters(**{field.name: getattr(found, field.name) for field in fields(found)})
