"""Categorical: one of several levels, each column with its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from suffice import scans
from suffice.families.dirichlet import DirichletFamily
from suffice.families.family import Beliefs, Parameters, guarded, log_ratio
from suffice.kernels import scoring
from suffice.priors import pseudo_counts
from suffice.schema import Array, Columns
from suffice.tables import Block, Dense, Part
from suffice.tallies import Counts, Statistic


@dataclass(frozen=True)
class CategoricalParameters(Parameters):
    """The log probability of each level [class, cell], and of a level never met [class, column]."""

    log_p: Array
    log_unseen: Array
    sizes: Array

    def add(self, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        starts, table = self.lookup
        for x, part in block.scored(rows, scores):
            if scoring.add_levels(x, starts, self.sizes, table, part, work=x.size * len(table)) < len(x):
                block.reject_if_not_finite(rows)
                block.reject_negative(rows)

    @property
    def by_column(self) -> list[Array]:
        """The log probabilities as one array [class, level] a column."""
        return np.split(self.log_p, np.cumsum(self.sizes)[:-1], axis=1)

    @cached_property
    def lookup(self) -> tuple[Array, Array]:
        """Where each column starts in the table, and the table [class, slot]."""
        ends = np.cumsum(self.sizes + 1) - 1
        table = np.zeros((len(self.log_p), int((self.sizes + 1).sum())))
        table[:, np.setdiff1d(np.arange(table.shape[1]), ends)] = self.log_p
        table[:, ends] = self.log_unseen
        return (ends - self.sizes).astype(np.intp), table


@dataclass(frozen=True)
class Categorical(DirichletFamily):
    """p(x given class) = Πⱼ p[j, xⱼ], with Σ p[j, ·] = 1 for each column j.

    A level never met has the weight α of the column's levels on average, and its share is what it
    would have had as one more level: α / (n + Σα + α).
    """

    name = "categorical"

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        room, counts = scans.levels(part)
        return replace(columns, sizes=room), Counts(part.class_count[:, None], counts)

    def believed(self, prior: Any, columns: Columns, statistic: Statistic) -> Beliefs:
        assert columns.sizes is not None
        alpha = pseudo_counts(prior, columns.sizes, self.name)
        return alpha[None], (np.add.reduceat(alpha, columns.starts) / columns.sizes)[None]

    def log_partition(self, columns: Columns, beliefs: Beliefs) -> Array:
        alpha = self._proper(beliefs[0])
        whole = np.add.reduceat(alpha, columns.starts, axis=1)
        return np.asarray(np.add.reduceat(gammaln(alpha), columns.starts, axis=1) - gammaln(whole))

    def _groups(self, columns: Columns) -> Array:
        return columns.starts

    def _shares(self, columns: Columns, weights: Array, unseen: Array) -> CategoricalParameters:
        assert columns.sizes is not None
        sizes = columns.sizes
        whole = np.add.reduceat(weights, columns.starts, axis=1)
        log_p = log_ratio(weights, np.repeat(whole, sizes, axis=1), 1 / np.repeat(sizes, sizes))
        log_unseen = log_ratio(np.broadcast_to(unseen, whole.shape), whole + unseen, 1 / (sizes + 1))
        return CategoricalParameters(guarded(log_p, self.epsilon), guarded(log_unseen, self.epsilon), sizes)
