"""Bernoulli: yes or no, 1 or 0, above the threshold or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betaln

from suffice.blocks import Part
from suffice.families.family import Beliefs, Family, Parameters, drawn_weights, guarded, log_ratio, proper
from suffice.priors import Beta, MEstimate, Prior, per_column, positive, pseudo_counts
from suffice.schema import Array, Columns
from suffice.score import Linear, Score
from suffice.statistics import Counts, Statistic, scan


@dataclass(frozen=True)
class BernoulliParameters(Parameters):
    """The logarithms of p, the probability of a 1, and of 1 − p, [class, column]."""

    log_p: Array
    log_q: Array
    threshold: float | None = None

    def score(self) -> Score:
        return Score((Linear.of_bits(self.log_p, self.log_q, self.threshold),))

    @property
    def n_parameters(self) -> int:
        return self.log_p.size

    def as_linear(self) -> tuple[str, Array, Array]:
        return "linear", self.log_p - self.log_q, np.asarray(self.log_q.sum(axis=1))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return np.asarray(rng.random((count, self.log_p.shape[1])) < np.exp(self.log_p[k]), np.float64)


@dataclass(frozen=True)
class Bernoulli(Family):
    """p(x given class) = Πⱼ pⱼ^xⱼ·(1 − pⱼ)^(1 − xⱼ); beliefs are Beta(a, b).

    The mode is (a − 1) / (a + b − 2); where a or b is less than 1 it lies at the edge, 0 or 1. Where
    a = b ≤ 1, so that no value stands out, it is taken to be ½.
    """

    epsilon: float = 0.0

    name = "bernoulli"
    statistic = Counts

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, scan.bits(part, columns.threshold)

    def believed(self, prior: Any, columns: Columns, statistic: Statistic) -> Beliefs:
        count = columns.count
        if isinstance(prior, Beta):
            return per_column(prior.a, count, "Beta(a=…)")[None], per_column(prior.b, count, "Beta(b=…)")[None]
        if isinstance(prior, MEstimate) and prior.p is not None and np.size(prior.p) != 2 * count:
            # of yes and no, p is the share of yes
            rows, p = per_column(prior.m, count, "MEstimate(m=…)"), per_column(prior.p, count, "MEstimate(p=…)")
            return (rows * p)[None], (rows * (1 - p))[None]
        if isinstance(prior, Prior):
            zeros, ones = pseudo_counts(prior, np.full(count, 2), self.name).reshape(-1, 2).T
            return ones[None], zeros[None]
        each = per_column(positive(prior, "prior", zero=True), count, "prior")[None]
        return each, each

    def updated(self, beliefs: Beliefs, statistic: Counts) -> Beliefs:
        return beliefs[0] + statistic.total, beliefs[1] + (statistic.n - statistic.total)

    def most_likely(self, columns: Columns, statistic: Counts) -> BernoulliParameters:
        return self._shares(columns, statistic.total, statistic.n - statistic.total)

    def mode(self, columns: Columns, beliefs: Beliefs) -> BernoulliParameters:
        ones, zeros = (np.maximum(belief - 1, 0) for belief in beliefs)
        at_edge = (ones + zeros) == 0
        ones = np.where(at_edge, beliefs[0] > beliefs[1], ones)
        return self._shares(columns, ones, np.where(at_edge, beliefs[1] > beliefs[0], zeros))

    def mean(self, columns: Columns, beliefs: Beliefs) -> BernoulliParameters:
        return self._shares(columns, *beliefs)

    def predictive(self, columns: Columns, beliefs: Beliefs) -> BernoulliParameters:
        return self.mean(columns, beliefs)  # of a single trial the average is the mean

    def log_partition(self, columns: Columns, beliefs: Beliefs) -> Array:
        if not all((belief > 0).all() for belief in beliefs):
            raise ValueError("a pseudo-count of 0 has no evidence: it is no distribution; use a prior of more than 0")
        return np.asarray(betaln(*beliefs))

    def marginals(self, columns: Columns, beliefs: Beliefs) -> dict[str, Any]:
        return {"p": stats.beta(*proper(beliefs))}

    def draw(self, columns: Columns, beliefs: Beliefs, rng: np.random.Generator) -> BernoulliParameters:
        both = np.stack(np.broadcast_arrays(*beliefs), axis=-1).reshape(-1, 2)
        drawn = drawn_weights(both, np.array([0]), rng).reshape(*beliefs[0].shape, 2)
        return self._shares(columns, drawn[..., 0], drawn[..., 1])

    def _shares(self, columns: Columns, ones: Array, zeros: Array) -> BernoulliParameters:
        log_p, log_q = (guarded(log_ratio(part, ones + zeros, 0.5), self.epsilon) for part in (ones, zeros))
        return BernoulliParameters(log_p, log_q, columns.threshold)
