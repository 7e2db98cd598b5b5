"""Families whose parameters are shares that add up to one: beliefs are Dirichlet(α)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from suffice.families.family import Beliefs, Family, Parameters
from suffice.schema import Array, Columns
from suffice.tallies import Counts


@dataclass(frozen=True)
class DirichletFamily(Family):
    """p(θ) ∝ Πⱼ θⱼ^(αⱼ − 1), to which counts are added: every estimate is a share of something.

    Beliefs are α for each cell and α for a cell never met. The mode takes αⱼ − 1 of each; where that
    is negative the mode lies at the edge, 0, and where nothing is left all shares are equal.
    """

    epsilon: float = 0.0

    statistic = Counts

    @abstractmethod
    def _shares(self, columns: Columns, weights: Array, unseen: Array) -> Parameters:
        """Return the parameters in proportion to the weights [class, cell]."""

    def updated(self, beliefs: Beliefs, statistic: Counts) -> Beliefs:
        return beliefs[0] + statistic.total, beliefs[1]

    def most_likely(self, columns: Columns, statistic: Counts) -> Parameters:
        return self._shares(columns, statistic.total, np.zeros((1, columns.count)))

    def mode(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        return self._shares(columns, np.maximum(beliefs[0] - 1, 0), np.maximum(beliefs[1] - 1, 0))

    def mean(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        return self._shares(columns, *beliefs)

    def predictive(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        return self.mean(columns, beliefs)  # of a single draw the average is the mean

    def draw(self, columns: Columns, beliefs: Beliefs, rng: np.random.Generator) -> Parameters:
        shape = (len(beliefs[0]), columns.count)
        return self._shares(
            columns, rng.standard_gamma(beliefs[0]), rng.standard_gamma(np.broadcast_to(beliefs[1], shape))
        )
