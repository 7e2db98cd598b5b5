"""Binomial: the number of successes in a known number of trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.blocks import Block
from suffice.families import description
from suffice.families.beta_family import BetaFamily
from suffice.families.family import Hyperparameters, Parameters
from suffice.schema import Array, Columns
from suffice.score import Linear, LogBinomial, LogGamma, LogGammaOfRest, Score, log_rising
from suffice.statistics import Counts, rest_of

NO_TRIALS = "binomial needs the number of trials of a row: for 10 trials, the family is 'binomial(10)'"


@dataclass(frozen=True)
class BinomialParameters(Parameters):
    """The logarithms of p, the probability of success, and of 1 − p, [class, column]."""

    log_p: Array
    log_q: Array
    trials: float

    def score(self) -> Score:
        return Linear.of_bits(self.log_p, self.log_q, None, self.trials) + LogBinomial(self.trials)

    def as_linear(self) -> tuple[str, Array, Array]:
        return "linear", self.log_p - self.log_q, np.asarray(self.trials * self.log_q.sum(axis=1))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        p = np.minimum(np.exp(self.log_p[k]), 1.0)
        return rng.binomial(int(self.trials), p, (count, len(p))).astype(np.float64)


@dataclass(frozen=True)
class BetaBinomial(Parameters):
    """C(trials, x)·B(a + x, b + trials − x) / B(a, b): the binomial averaged over p ~ Beta(a, b)."""

    a: Array
    b: Array
    trials: float

    def score(self) -> Score:
        n = np.full(self.a.shape, self.trials)
        biases = log_rising(self.b, n) - log_rising(self.a + self.b, n)
        terms = LogGamma(self.a) + LogGammaOfRest(self.b, self.trials)
        return terms + Linear(np.zeros(self.a.shape), biases) + LogBinomial(self.trials)

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        p = rng.beta(self.a[k], self.b[k], (count, self.a.shape[1]))
        return rng.binomial(int(self.trials), p).astype(np.float64)


@dataclass(frozen=True)
class Binomial(BetaFamily):
    """p(x | class) = Πⱼ C(n, xⱼ)·pⱼ^xⱼ·(1 − pⱼ)^(n − xⱼ), for x = 0, …, n successes in n trials.

    The posterior is Beta(a + Σx, b + Σ(n − x)).

    Parameters
    ----------
    trials : float or None, default=None
        The number n of trials in each row, a whole number from 1, as in ``families={"x": "binomial(10)"}``. It has to
        be set. Columns with other numbers of trials are another block.
    """

    trials: float | None = None

    name = "binomial"
    is_separate = True
    setting = "trials"

    def __post_init__(self) -> None:
        if self.trials is not None and not (1 <= self.trials <= 1e15 and self.trials == int(self.trials)):
            raise ValueError(f"the number of trials of binomial is a whole number from 1 to 1e15, not {self.trials:g}")

    def refuses(self, values: Array) -> Array:
        return super().refuses(values) | (values > self._trials())

    def refusal(self, value: float) -> str:
        if value <= self._trials() or value != np.floor(value):
            return super().refusal(value)
        return (
            f"{self.full_name} takes 0 to {self.trials:g} successes; set the number of trials, as in "
            f"'binomial({value:.0f})', or take 'poisson', 'geometric' or 'negative-binomial', which have no upper bound"
        )

    def check_cells(self, block: Block) -> None:
        self._trials(block.name(0))
        super().check_cells(block)

    def outcomes(self, statistic: Counts, hyperparameters: Hyperparameters) -> tuple[Array, Array]:
        return statistic.total, rest_of(statistic.n * self._trials(), statistic.total)

    def from_logs(self, log_p: Array, log_q: Array, hyperparameters: Hyperparameters) -> BinomialParameters:
        return BinomialParameters(log_p, log_q, self._trials())

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> BetaBinomial:
        a, b = map(np.ascontiguousarray, np.broadcast_arrays(*hyperparameters))
        return BetaBinomial(a, b, self._trials())

    def location(self, statistic: Any) -> tuple[Array, Array]:
        mean, _ = super().location(statistic)
        return mean, np.sqrt(mean * np.maximum(1 - mean / self._trials(), 0.0))

    def support(self, columns: Columns, statistic: Any, j: int, seen: Sequence[float] = ()) -> description.Support:
        return description.support_of_counts(self._trials(), [*seen, self._trials()])

    def _trials(self, where: str = "") -> float:
        if self.trials is None:
            raise ValueError(f"{where}: {NO_TRIALS}" if where else NO_TRIALS)
        return self.trials
