"""Complement: the multinomial's counts, each class judged by how little a row is like all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.families.family import Beliefs, Parameters, guarded, log_ratio
from suffice.families.multinomial import Multinomial, MultinomialParameters
from suffice.schema import Array, Columns
from suffice.statistics import Counts


@dataclass(frozen=True)
class Complement(Multinomial):
    """The score Σⱼ −log p̃ⱼ·xⱼ of Rennie et al. (2003), with p̃ the share in all other classes.

    With ``norm``, the weights of each class are log p̃ divided by its sum over the columns. A score and
    no probability, so the predictive rule is the mean.
    """

    norm: bool = False

    @property
    def generative(self) -> Multinomial:
        return Multinomial(self.epsilon)

    name = "complement"

    def updated(self, beliefs: Beliefs, statistic: Counts) -> Beliefs:
        return super().updated(beliefs, self._others(statistic))

    def most_likely(self, columns: Columns, statistic: Counts) -> Parameters:
        return super().most_likely(columns, self._others(statistic))

    def predictive(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        return self.mean(columns, beliefs)

    def _others(self, counts: Counts) -> Counts:
        n, total = counts.n.sum(axis=-2, keepdims=True), counts.total.sum(axis=-2, keepdims=True)
        return Counts(n - counts.n, total - counts.total)

    def _shares(self, columns: Columns, weights: Array, unseen: Array) -> MultinomialParameters:
        logged = log_ratio(weights, weights.sum(axis=-1, keepdims=True), 1 / max(weights.shape[-1], 1))
        logged = guarded(logged, self.epsilon)
        if not self.norm:
            return MultinomialParameters(-logged, np.inf)
        whole = logged.sum(axis=-1, keepdims=True)
        infinite = np.isinf(logged)
        with np.errstate(divide="ignore", invalid="ignore"):
            # a column that no other class has takes all the weight there is
            alone = infinite / np.maximum(infinite.sum(axis=-1, keepdims=True), 1)
            share = np.where(np.isinf(whole), alone, logged / whole)
        return MultinomialParameters(np.where(whole == 0, 0.0, share))
