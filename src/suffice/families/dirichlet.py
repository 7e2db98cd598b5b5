"""Families whose parameters are shares that add up to one: beliefs are Dirichlet(α)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from suffice.families.family import Beliefs, Family, Parameters, drawn_weights, proper
from suffice.schema import Array, Columns, by_group
from suffice.statistics import Counts


@dataclass(frozen=True)
class DirichletFamily(Family):
    """p(θ) ∝ Πⱼ θⱼ^(αⱼ − 1), to which counts are added: every estimate is a share of something.

    Beliefs are α for each cell and α for a cell never met. The mode takes αⱼ − 1 of each; where that
    is negative the mode lies at the edge, 0; where nothing is left, those of the largest α share all.
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
        alpha, starts = beliefs[0], self._groups(columns)
        sizes = np.diff([*starts, alpha.shape[-1]])
        weights = np.maximum(alpha - 1, 0)
        at_edge = np.repeat(by_group(np.add, weights, starts) == 0, sizes, axis=-1)
        highest = alpha == np.repeat(by_group(np.maximum, alpha, starts), sizes, axis=-1)
        return self._shares(columns, np.where(at_edge, highest, weights), np.maximum(beliefs[1] - 1, 0))

    def mean(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        return self._shares(columns, *beliefs)

    def predictive(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        return self.mean(columns, beliefs)  # of a single draw the average is the mean

    def marginals(self, columns: Columns, beliefs: Beliefs) -> dict[str, Any]:
        (alpha,), starts = proper(beliefs[:1]), self._groups(columns)
        whole = np.repeat(by_group(np.add, alpha, starts), np.diff([*starts, alpha.shape[-1]]), axis=-1)
        return {"p": stats.beta(alpha, whole - alpha)}

    def draw(self, columns: Columns, beliefs: Beliefs, rng: np.random.Generator) -> Parameters:
        weights = drawn_weights(beliefs[0], self._groups(columns), rng)
        return self._shares(columns, weights, beliefs[1])

    @abstractmethod
    def _groups(self, columns: Columns) -> Array:
        """Return where each set of shares that add up to one starts."""

    def _proper(self, alpha: Array) -> Array:
        if not (alpha > 0).all():
            raise ValueError("a pseudo-count of 0 has no evidence: it is no distribution; use a prior of more than 0")
        return alpha
