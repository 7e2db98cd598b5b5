"""Negative binomial: a family that is written in one file, to show that a new family needs no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln

from suffice.blocks import Part
from suffice.families.family import Family, Hyperparameters, Parameters, check_proper, log_ratio
from suffice.priors import Beta, Prior, broadcast_to_columns, check_positive, unsupported_prior
from suffice.schema import Array, Columns
from suffice.score import Linear, LogFactorial, LogGamma, Score
from suffice.statistics import Counts, Statistic, scan


@dataclass(frozen=True)
class NegativeBinomialParameters(Parameters):
    """p(x given class) = Πⱼ Γ(r + xⱼ) / Γ(r)·xⱼ!·(1 − pⱼ)^r·pⱼ^xⱼ, with log p and log(1 − p) [class, column]."""

    log_p: Array
    log_q: Array
    dispersion: float

    def score(self) -> Score:
        linear = Linear.of(self.log_p, self.dispersion * self.log_q)
        return LogGamma(np.full(self.log_p.shape, self.dispersion)) + linear + LogFactorial()

    @property
    def n_parameters(self) -> int:
        return self.log_p.size

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return rng.negative_binomial(self.dispersion, np.exp(self.log_q[k]), (count, self.log_q.shape[1])).astype(float)


@dataclass(frozen=True)
class BetaNegativeBinomial(Parameters):
    """The negative binomial averaged over p ~ Beta(a, b): Γ(r + x) / Γ(r)·x!·B(a + x, b + r) / B(a, b)."""

    a: Array
    b: Array
    dispersion: float

    def score(self) -> Score:
        whole = self.a + self.b
        biases = betaln(self.a, self.b + self.dispersion) - betaln(self.a, self.b)
        terms = LogGamma(np.full(self.a.shape, self.dispersion)) + LogGamma(self.a)
        terms += LogGamma(whole + self.dispersion, weight=-1.0)
        return terms + Linear(np.zeros(self.a.shape), biases) + LogFactorial()

    @property
    def n_parameters(self) -> int:
        return self.a.size

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        q = 1 - rng.beta(self.a[k], self.b[k], (count, self.a.shape[1]))
        return rng.negative_binomial(self.dispersion, q).astype(float)


@dataclass(frozen=True)
class NegativeBinomial(Family):
    """Counts whose variance is larger than their mean, with a known dispersion r; the conjugate prior is Beta(a, b)."""

    dispersion: float = 2.0

    name = "negative-binomial"
    cells = "counts"
    accepts_sparse = True

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, scan.sums(part)

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Statistic) -> Hyperparameters:
        if isinstance(prior, Beta):
            a = broadcast_to_columns(prior.a, columns.count, "Beta(a=…)")
            b = broadcast_to_columns(prior.b, columns.count, "Beta(b=…)")
            return a[None], b[None]
        if isinstance(prior, Prior):
            raise unsupported_prior(prior, self.name, "a number or Beta")
        each = broadcast_to_columns(check_positive(prior, "prior"), columns.count, "prior")[None]
        return each, each

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Counts) -> Hyperparameters:
        a, b = hyperparameters
        return a + statistic.total, np.broadcast_to(b + statistic.n * self.dispersion, statistic.total.shape)

    def maximum_likelihood(self, columns: Columns, statistic: Counts) -> Parameters:
        return self._from_weights(statistic.total, statistic.n * self.dispersion)

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        a, b = hyperparameters
        return self._from_weights(np.maximum(a - 1, 0), np.maximum(b - 1, 0))

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return self._from_weights(*hyperparameters)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        a, b = map(np.ascontiguousarray, np.broadcast_arrays(*hyperparameters))
        return BetaNegativeBinomial(a, b, self.dispersion)

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        return np.asarray(betaln(*hyperparameters))

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        return {"p": stats.beta(*check_proper(hyperparameters))}

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> Parameters:
        p = rng.beta(*hyperparameters)
        return self._from_weights(p, 1 - p)

    def _from_weights(self, events: Array, others: Array) -> NegativeBinomialParameters:
        log_p, log_q = (log_ratio(part, events + others, 0.5) for part in (events, others))
        return NegativeBinomialParameters(log_p, log_q, self.dispersion)


def log_density(x: Array, p: float, dispersion: float) -> Array:
    """Return the log density by its formula, for comparison."""
    coefficient = gammaln(dispersion + x) - gammaln(dispersion) - gammaln(x + 1)
    return np.asarray(coefficient + dispersion * np.log1p(-p) + x * np.log(p))
