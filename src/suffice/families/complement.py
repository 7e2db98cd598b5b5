"""Complement: the multinomial's counts, where the score of a class depends on the counts of all other classes."""

from dataclasses import dataclass

import numpy as np

from suffice.families.family import Hyperparameters, Parameters
from suffice.families.multinomial import Multinomial, MultinomialParameters
from suffice.schema import Array, Columns
from suffice.statistics import Counts


@dataclass(frozen=True)
class Complement(Multinomial):
    """The score Σⱼ −log p̃ⱼ·xⱼ of Rennie et al. (2003), with p̃ the share of a column in all other classes.

    With ``norm``, the weights of each class are log p̃ divided by its sum over the columns. The score is not a
    probability, so the predictive rule is the mean.
    """

    norm: bool = False

    name = "complement"
    is_separate = False

    @property
    def generative(self) -> Multinomial:
        return Multinomial(self.epsilon)

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Counts) -> Hyperparameters:
        return super().posterior_hyperparameters(hyperparameters, self._others(statistic))

    def maximum_likelihood(self, columns: Columns, statistic: Counts) -> Parameters:
        return super().maximum_likelihood(columns, self._others(statistic))

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return self.mean(columns, hyperparameters)

    def _others(self, counts: Counts) -> Counts:
        """Return for each class the counts of all other classes."""
        n, total = counts.n.sum(axis=-2, keepdims=True), counts.total.sum(axis=-2, keepdims=True)
        return Counts(n - counts.n, total - counts.total)

    def _from_weights(self, columns: Columns, weights: Array, unseen: Array) -> MultinomialParameters:
        logged = self._log_shares(weights)
        if not self.norm:
            return MultinomialParameters(-logged, np.inf)
        whole = logged.sum(axis=-1, keepdims=True)
        infinite = np.isinf(logged)
        with np.errstate(divide="ignore", invalid="ignore"):
            # columns that no other class has share all of the weight
            alone = infinite / np.maximum(infinite.sum(axis=-1, keepdims=True), 1)
            share = np.where(np.isinf(whole), alone, logged / whole)
        return MultinomialParameters(np.where(whole == 0, 0.0, share))
