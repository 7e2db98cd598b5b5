"""Negative binomial: counts whose variance is larger than their mean."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from suffice.blocks import Part
from suffice.families.beta_family import BetaFamily
from suffice.families.family import Hyperparameters, Parameters
from suffice.schema import Array, Columns
from suffice.score import Linear, LogFactorial, LogGamma, Score, log_rising
from suffice.statistics import SquaredCounts, scan

# The estimated dispersion lies between these. At the upper end the distribution is Poisson but for x² / r.
LEAST_DISPERSION, MOST_DISPERSION = 1e-3, 1e8


@dataclass(frozen=True)
class NegativeBinomialParameters(Parameters):
    """The logarithms of p and of 1 − p, [class, column], and the dispersion r of each column, [1, column]."""

    log_p: Array
    log_q: Array
    dispersion: Array
    is_estimated: bool = False

    def score(self) -> Score:
        line = Linear.of(self.log_q, self.dispersion * self.log_p)
        return _coefficient(self.dispersion, self.log_p) + line + LogFactorial()

    @property
    def n_parameters(self) -> int:
        return self.log_p.size + (self.dispersion.size if self.is_estimated else 0)

    def as_linear(self) -> tuple[str, Array, Array]:
        return "linear", self.log_q, np.asarray((self.dispersion * self.log_p).sum(axis=1))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        shape = (count, self.log_p.shape[1])
        return rng.negative_binomial(self.dispersion[0], np.exp(self.log_p[k]), shape).astype(np.float64)


@dataclass(frozen=True)
class BetaNegativeBinomial(Parameters):
    """Γ(r + x) / Γ(r) x!·B(a + r, b + x) / B(a, b): the negative binomial averaged over p ~ Beta(a, b)."""

    a: Array
    b: Array
    dispersion: Array
    is_estimated: bool = False

    def score(self) -> Score:
        whole = self.a + self.b
        biases = log_rising(self.a, self.dispersion) - log_rising(whole, self.dispersion)
        terms = _coefficient(self.dispersion, self.a) + LogGamma(self.b)
        terms += LogGamma(whole + self.dispersion, weight=-1.0)
        return terms + Linear(np.zeros(self.a.shape), biases) + LogFactorial()

    @property
    def n_parameters(self) -> int:
        return self.a.size + (self.dispersion.size if self.is_estimated else 0)

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        p = rng.beta(self.a[k], self.b[k], (count, self.a.shape[1]))
        return rng.negative_binomial(self.dispersion[0], p).astype(np.float64)


@dataclass(frozen=True)
class NegativeBinomial(BetaFamily):
    """p(x | class) = Πⱼ Γ(rⱼ + xⱼ) / Γ(rⱼ) xⱼ!·pⱼ^rⱼ·(1 − pⱼ)^xⱼ: failures before the r-th success.

    Given r, the posterior of p is Beta(a + r·n, b + Σx). The mean is m = r·(1 − p) / p and the variance m + m² / r.

    Parameters
    ----------
    dispersion : float or None, default=None
        The number r, more than 0, of all columns, as in ``families={"x": "negative-binomial(2.5)"}``. If None, r of
        each column is estimated by moments within the classes: 1 / r = Σₖ (nₖ − 1)·(sₖ² − mₖ) / Σₖ (nₖ − 1)·mₖ², with
        the means mₖ and the variances sₖ². All classes have the same r, which every rule takes as known.
    """

    dispersion: float | None = None

    name = "negative-binomial"
    setting = "dispersion"
    sql_sums: ClassVar[Any] = "squares"

    def __post_init__(self) -> None:
        if self.dispersion is not None and not 0 < self.dispersion < np.inf:
            raise ValueError(f"the dispersion of negative-binomial is a number of more than 0, not {self.dispersion:g}")

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, SquaredCounts]:
        return columns, scan.squares(part)

    def extras(self, columns: Columns, statistic: Any) -> Hyperparameters:
        if self.dispersion is not None:
            return (np.full((1, columns.count), self.dispersion),)
        return (estimate_dispersion(statistic),)

    def outcomes(self, statistic: SquaredCounts, hyperparameters: Hyperparameters) -> tuple[Array, Array]:
        return statistic.n * hyperparameters[0], statistic.total

    def from_logs(self, log_p: Array, log_q: Array, hyperparameters: Hyperparameters) -> NegativeBinomialParameters:
        return NegativeBinomialParameters(log_p, log_q, hyperparameters[0], self.dispersion is None)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> BetaNegativeBinomial:
        a, b = map(np.ascontiguousarray, np.broadcast_arrays(*hyperparameters[:2]))
        return BetaNegativeBinomial(a, b, hyperparameters[2], self.dispersion is None)

    def location(self, statistic: Any) -> tuple[Array, Array]:
        mean, _ = super().location(statistic)
        r = estimate_dispersion(statistic) if self.dispersion is None else self.dispersion
        return mean, np.sqrt(mean + mean**2 / r)


def estimate_dispersion(statistic: Any) -> Array:
    """Return r of each column, [1, column], by moments within the classes; large if the variance is not above the mean.

    >>> from suffice.statistics import SquaredCounts
    >>> estimate_dispersion(SquaredCounts(n=[[4], [3]], total=[[8], [3]], squares=[[40], [9]])).round(3).tolist()
    [[0.636]]
    """
    n = np.maximum(statistic.n, 1e-300)
    mean, others = statistic.total / n, np.maximum(statistic.n - 1, 0.0)
    # with fewer than two rows there is no variance
    spread = np.where(others > 0, statistic.squares - statistic.total * mean, 0.0)
    above = (spread - others * mean).sum(axis=-2, keepdims=True)
    squares = (others * mean**2).sum(axis=-2, keepdims=True)
    r = squares / np.maximum(above, 1e-300)
    return np.asarray(np.clip(r, LEAST_DISPERSION, MOST_DISPERSION))


def _coefficient(dispersion: Array, like: Array) -> LogGamma:
    """Return log Γ(r + x) − log Γ(r), the same for all classes."""
    return LogGamma(np.ascontiguousarray(np.broadcast_to(dispersion, like.shape)))
