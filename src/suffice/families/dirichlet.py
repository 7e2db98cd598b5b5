"""Families whose parameters are shares that sum to 1; the conjugate prior is Dirichlet(α)."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from suffice.families.family import Family, Hyperparameters, Parameters, check_proper, draw_weights
from suffice.schema import Array, Columns, by_group
from suffice.statistics import Counts
from suffice.statistics.statistic import ROUNDING


def mode_weights(alpha: Array) -> Array:
    """Return α − 1, or 0 where that is negative or rounding error.

    >>> mode_weights(np.array([0.3, 1 + 2e-16, 3.0])).tolist()
    [0.0, 0.0, 2.0]
    """
    return np.where(alpha > 1 + ROUNDING, alpha - 1, 0.0)


@dataclass(frozen=True)
class DirichletFamily(Family):
    """p(θ) ∝ Πⱼ θⱼ^(αⱼ − 1); the posterior adds counts to α, so that every estimate is a share of a sum.

    Hyperparameters are α of each cell and α of a cell that was not seen. The mode has weights αⱼ − 1, or 0 where that
    is negative; if all weights are 0, the cells with the largest α have equal shares.
    """

    epsilon: float = 0.0

    is_separate = True

    @abstractmethod
    def _from_weights(self, columns: Columns, weights: Array, unseen: Array) -> Parameters:
        """Return the parameters in proportion to the weights [class, cell]."""

    def _starts(self, columns: Columns) -> Array:
        """Return the first cell of each group of shares that sum to 1: the block, or each column."""
        return np.array([0]) if self.is_compositional else columns.starts

    def _whole(self, columns: Columns, weights: Array, unseen: Array) -> Array:
        """Return the weight of each group."""
        return by_group(np.add, weights, self._starts(columns))

    def _by_cell(self, columns: Columns, values: Array, width: int) -> Array:
        """Return values of groups, repeated for each cell of a group; ``width`` is the number of all cells."""
        return np.repeat(values, np.diff([*self._starts(columns), width]), axis=-1)

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Counts) -> Hyperparameters:
        return hyperparameters[0] + statistic.total, hyperparameters[1]

    def maximum_likelihood(self, columns: Columns, statistic: Counts) -> Parameters:
        return self._from_weights(columns, statistic.total, np.zeros((1, columns.count)))

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        (alpha, unseen), starts = hyperparameters, self._starts(columns)
        weights, width = mode_weights(alpha), alpha.shape[-1]
        at_edge = self._by_cell(columns, by_group(np.add, weights, starts) == 0, width)
        highest = alpha >= (1 - ROUNDING) * self._by_cell(columns, by_group(np.maximum, alpha, starts), width)
        return self._from_weights(columns, np.where(at_edge, highest, weights), mode_weights(unseen))

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return self._from_weights(columns, *hyperparameters)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return self.mean(columns, hyperparameters)  # the average of a single draw is the mean

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        (alpha,) = check_proper(hyperparameters[:1])
        whole = self._by_cell(columns, self._whole(columns, *hyperparameters), alpha.shape[-1])
        return {"p": stats.beta(alpha, whole - alpha)}

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> Parameters:
        weights = draw_weights(hyperparameters[0], self._starts(columns), rng)
        return self._from_weights(columns, weights, hyperparameters[1])
