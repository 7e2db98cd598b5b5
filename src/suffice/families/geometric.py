"""Geometric: the number of failures before the first success."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.beta_family import BetaFamily
from suffice.families.family import Hyperparameters, Parameters
from suffice.schema import Array, Columns
from suffice.score import Linear, LogGamma, Score
from suffice.statistics import Counts


@dataclass(frozen=True)
class GeometricParameters(Parameters):
    """The logarithms of p, the probability of success, and of 1 − p, [class, column]."""

    log_p: Array
    log_q: Array

    def score(self) -> Score:
        return Score((Linear.of(self.log_q, self.log_p),))

    def as_linear(self) -> tuple[str, Array, Array]:
        return "linear", self.log_q, np.asarray(self.log_p.sum(axis=1))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        # NumPy counts the trials up to the first success, which is one of them
        return rng.geometric(np.exp(self.log_p[k]), (count, self.log_p.shape[1])) - 1.0


@dataclass(frozen=True)
class BetaGeometric(Parameters):
    """B(a + 1, b + x) / B(a, b): the geometric distribution averaged over p ~ Beta(a, b)."""

    a: Array
    b: Array

    def score(self) -> Score:
        whole = self.a + self.b
        start = Linear(np.zeros(self.a.shape), np.log(self.a) - np.log(whole))
        return LogGamma(self.b) + LogGamma(whole + 1, weight=-1.0) + start

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return rng.geometric(rng.beta(self.a[k], self.b[k], (count, self.a.shape[1]))) - 1.0


@dataclass(frozen=True)
class Geometric(BetaFamily):
    """p(x | class) = Πⱼ pⱼ·(1 − pⱼ)^xⱼ, for x = 0, 1, 2, … failures before the first success.

    Each row has one success and x failures: the posterior is Beta(a + n, b + Σx). NumPy and SciPy count the trials
    with the success, x + 1 ≥ 1; subtract 1 from such a column.
    """

    name = "geometric"
    is_separate = True

    def outcomes(self, statistic: Counts, hyperparameters: Hyperparameters) -> tuple[Array, Array]:
        return np.broadcast_to(statistic.n, statistic.total.shape), statistic.total

    def from_logs(self, log_p: Array, log_q: Array, hyperparameters: Hyperparameters) -> GeometricParameters:
        return GeometricParameters(log_p, log_q)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> BetaGeometric:
        return BetaGeometric(*map(np.ascontiguousarray, np.broadcast_arrays(*hyperparameters)))

    def location(self, statistic: Any) -> tuple[Array, Array]:
        mean, _ = super().location(statistic)
        return mean, np.sqrt(mean + mean**2)
