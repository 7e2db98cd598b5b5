"""Multinomial: counts of many things in a row that share a total, such as the words of a text."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from suffice.blocks import Part
from suffice.families import description
from suffice.families.dirichlet import DirichletFamily
from suffice.families.family import NO_EVIDENCE, Cells, Hyperparameters, Parameters, check_proper, log_ratio
from suffice.priors import pseudo_counts
from suffice.schema import Array, Columns
from suffice.score import Linear, LogGamma, LogGammaOfTotal, Score
from suffice.statistics import Counts, Statistic, scan

# The total of a row that is drawn: a multinomial has the shares of its columns, but no distribution of the total.
DRAWN_TOTAL = 20


@dataclass(frozen=True)
class MultinomialParameters(Parameters):
    """The logarithm of each column's share, [class, column]; or other weights, as those of the complement family."""

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
        return draw_counts(np.exp(self.log_p[k]), count, rng)


def draw_counts(shares: Array, count: int, rng: np.random.Generator) -> Array:
    """Return rows of counts drawn by their shares, [row, column]."""
    if not len(shares):
        return np.zeros((count, 0))
    return rng.multinomial(DRAWN_TOTAL, shares / shares.sum(), count).astype(np.float64)


@dataclass(frozen=True)
class DirichletMultinomial(Parameters):
    """Γ(A) / Γ(A + n)·Πⱼ Γ(αⱼ + xⱼ) / Γ(αⱼ), with A = Σα and n = Σx: the multinomial averaged over its shares."""

    alpha: Array

    def score(self) -> Score:
        return LogGamma(self.alpha) + LogGammaOfTotal(self.alpha.sum(axis=-1))

    @property
    def n_parameters(self) -> int:
        return int(len(self.alpha) * max(self.alpha.shape[1] - 1, 0))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        shares = [rng.dirichlet(self.alpha[k]) for _ in range(count)] if self.alpha.shape[1] else []
        return np.concatenate([draw_counts(each, 1, rng) for each in shares]) if shares else np.zeros((count, 0))

    @property
    def log_p(self) -> Array:
        """The logarithm of each column's expected share."""
        return log_ratio(self.alpha, self.alpha.sum(axis=1, keepdims=True), 1 / self.alpha.shape[1])


@dataclass(frozen=True)
class Multinomial(DirichletFamily):
    """p(x | class) ∝ Πⱼ pⱼ^xⱼ, with Σⱼ pⱼ = 1."""

    name = "multinomial"
    cells: ClassVar[Cells] = "counts"
    accepts_sparse = True
    sql_sums: ClassVar[Any] = "totals"
    is_compositional = True

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        return columns, scan.sums(part)

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Statistic) -> Hyperparameters:
        alpha = pseudo_counts(prior, np.array([columns.width]), self.name)[None]
        return alpha, alpha

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        (alpha,) = check_proper(
            hyperparameters[:1],
            'estimate="predictive" averages over the posterior, and a pseudo-count of 0 has none for what was never '
            "seen; use a prior of more than 0",
        )
        return DirichletMultinomial(alpha)

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        (alpha,) = check_proper(hyperparameters[:1], NO_EVIDENCE)
        if not alpha.shape[1]:
            return np.zeros((len(alpha), 1))  # a vocabulary without words has one parameter value only
        return np.asarray(gammaln(alpha).sum(axis=1, keepdims=True) - gammaln(alpha.sum(axis=1, keepdims=True)))

    def information(self, columns: Columns, statistic: Counts) -> Array:
        """Return the part of each column in the mutual information between a counted thing (a word) and its class."""
        return description.information_of_table(statistic.total / max(float(statistic.total.sum()), 1e-300), 0)

    def _from_weights(self, columns: Columns, weights: Array, unseen: Array) -> Parameters:
        return MultinomialParameters(self._log_shares(weights))

    def _log_shares(self, weights: Array) -> Array:
        """Return the logarithm of each weight's share of their sum."""
        return log_ratio(weights, weights.sum(axis=-1, keepdims=True), 1 / max(weights.shape[-1], 1), self.epsilon)


@dataclass(frozen=True)
class WordCounts(Multinomial):
    """p(text | class) ∝ Π p[word]^count over the words of the vocabulary; any other word adds 0 to the score."""

    name = "text"
    cells = "words"
    accepts_sparse = False
    sql_sums = None
