"""Multinomial: how often each of many things occurred in a row, such as the words of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from suffice.blocks import Part
from suffice.families.dirichlet import DirichletFamily
from suffice.families.family import Beliefs, Parameters, guarded, log_ratio
from suffice.priors import pseudo_counts
from suffice.schema import Array, Columns
from suffice.score import Linear, LogGamma, LogGammaOfTotal, Score
from suffice.statistics import Counts, Statistic, scan


@dataclass(frozen=True)
class MultinomialParameters(Parameters):
    """The logarithm of each column's share, [class, column]; or other weights, as of complements."""

    log_p: Array
    limit: float = -np.inf

    def score(self) -> Score:
        return Score((Linear.of(self.log_p, limit=self.limit),))

    @property
    def n_parameters(self) -> int:
        return int(len(self.log_p) * max(self.log_p.shape[1] - 1, 0))

    def as_linear(self) -> tuple[str, Array, Array]:
        return "linear", self.log_p, np.zeros(len(self.log_p))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        if self.limit > 0:
            return super().sample(k, count, rng)
        return drawn_counts(np.exp(self.log_p[k]), count, rng)


# How many words a drawn row has: a multinomial says which they are, not how many.
DRAWN_WORDS = 20


def drawn_counts(shares: Array, count: int, rng: np.random.Generator) -> Array:
    """Return counts of things drawn by their shares, so many rows of them."""
    if not len(shares):
        return np.zeros((count, 0))
    return rng.multinomial(DRAWN_WORDS, shares / shares.sum(), count).astype(np.float64)


@dataclass(frozen=True)
class DirichletMultinomial(Parameters):
    """Γ(A) / Γ(A + N)·Πⱼ Γ(αⱼ + xⱼ) / Γ(αⱼ), with A = Σα and N = Σx: shares that are not known exactly."""

    alpha: Array

    def score(self) -> Score:
        return LogGamma(self.alpha) + LogGammaOfTotal(self.alpha.sum(axis=-1))

    @property
    def n_parameters(self) -> int:
        return int(len(self.alpha) * max(self.alpha.shape[1] - 1, 0))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        shares = [rng.dirichlet(self.alpha[k]) for _ in range(count)] if self.alpha.shape[1] else []
        return np.concatenate([drawn_counts(each, 1, rng) for each in shares]) if shares else np.zeros((count, 0))

    @property
    def log_p(self) -> Array:
        """The logarithm of each column's expected share."""
        return log_ratio(self.alpha, self.alpha.sum(axis=1, keepdims=True), 1 / self.alpha.shape[1])


@dataclass(frozen=True)
class Multinomial(DirichletFamily):
    """p(x given class) ∝ Πⱼ pⱼ^xⱼ, with Σⱼ pⱼ = 1."""

    name = "multinomial"

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, scan.sums(part)

    def believed(self, prior: Any, columns: Columns, statistic: Statistic) -> Beliefs:
        alpha = pseudo_counts(prior, np.array([columns.width]), self.name)[None]
        return alpha, alpha

    def predictive(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        if not (beliefs[0] > 0).all():
            raise ValueError(
                'estimate="predictive" averages over what is believed, and a pseudo-count of 0 leaves nothing to '
                "believe of what was never seen; use a prior of more than 0"
            )
        return DirichletMultinomial(beliefs[0])

    def log_partition(self, columns: Columns, beliefs: Beliefs) -> Array:
        alpha = self._proper(beliefs[0])
        if not alpha.shape[1]:
            return np.zeros((len(alpha), 1))  # a vocabulary without words says nothing
        return np.asarray(gammaln(alpha).sum(axis=1, keepdims=True) - gammaln(alpha.sum(axis=1, keepdims=True)))

    def _groups(self, columns: Columns) -> Array:
        return np.array([0])

    def _shares(self, columns: Columns, weights: Array, unseen: Array) -> Parameters:
        log_p = log_ratio(weights, weights.sum(axis=-1, keepdims=True), 1 / max(weights.shape[-1], 1))
        return MultinomialParameters(guarded(log_p, self.epsilon))
