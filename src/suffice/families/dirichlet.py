"""Families whose parameters are shares that sum to 1; the conjugate prior is Dirichlet(α)."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from suffice.families.family import Family, Hyperparameters, Parameters, check_proper, draw_weights
from suffice.schema import Array, Columns, by_group
from suffice.statistics import Counts


@dataclass(frozen=True)
class DirichletFamily(Family):
    """p(θ) ∝ Πⱼ θⱼ^(αⱼ − 1); the posterior adds counts to α, so that every estimate is a share of a sum.

    Hyperparameters are α of each cell and α of a cell that was not seen. The mode has weights αⱼ − 1, or 0 where that
    is negative; if all weights are 0, the cells with the largest α have equal shares.
    """

    epsilon: float = 0.0

    @abstractmethod
    def _from_weights(self, columns: Columns, weights: Array, unseen: Array) -> Parameters:
        """Return the parameters in proportion to the weights [class, cell]."""

    @abstractmethod
    def _starts(self, columns: Columns) -> Array:
        """Return the first cell of each group of shares that sum to 1."""

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Counts) -> Hyperparameters:
        return hyperparameters[0] + statistic.total, hyperparameters[1]

    def maximum_likelihood(self, columns: Columns, statistic: Counts) -> Parameters:
        return self._from_weights(columns, statistic.total, np.zeros((1, columns.count)))

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        (alpha, unseen), starts = hyperparameters, self._starts(columns)
        sizes = np.diff([*starts, alpha.shape[-1]])
        weights = np.maximum(alpha - 1, 0)
        at_edge = np.repeat(by_group(np.add, weights, starts) == 0, sizes, axis=-1)
        highest = alpha == np.repeat(by_group(np.maximum, alpha, starts), sizes, axis=-1)
        return self._from_weights(columns, np.where(at_edge, highest, weights), np.maximum(unseen - 1, 0))

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return self._from_weights(columns, *hyperparameters)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return self.mean(columns, hyperparameters)  # the average of a single draw is the mean

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        (alpha,), starts = check_proper(hyperparameters[:1]), self._starts(columns)
        whole = np.repeat(by_group(np.add, alpha, starts), np.diff([*starts, alpha.shape[-1]]), axis=-1)
        return {"p": stats.beta(alpha, whole - alpha)}

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> Parameters:
        weights = draw_weights(hyperparameters[0], self._starts(columns), rng)
        return self._from_weights(columns, weights, hyperparameters[1])

    def _check_positive(self, alpha: Array) -> Array:
        if not (alpha > 0).all():
            raise ValueError("a pseudo-count of 0 has no evidence: it is no distribution; use a prior of more than 0")
        return alpha
