"""Categorical: one of several levels, each column with its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suffice import scans
from suffice.families.family import Family, log_ratio
from suffice.kernels import scoring
from suffice.schema import Array, Columns, Frozen
from suffice.tables import Block, Dense, Part
from suffice.tallies import Counts


@dataclass(frozen=True)
class CategoricalParameters(Frozen):
    """The log probability of each level [class, cell], and of a level never met [class, column]."""

    log_p: Array
    log_unseen: Array
    sizes: Array

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


class Categorical(Family):
    """p(x given class) = Πⱼ p[j, xⱼ], with Σ p[j, ·] = 1 for each column j."""

    name = "categorical"
    statistic = Counts

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        room, counts = scans.levels(part)
        return replace(columns, sizes=room), Counts(part.class_count[:, None], counts)

    def estimate(self, columns: Columns, counts: Counts, alpha: float) -> CategoricalParameters:
        """Return p = (count + α) / (n + α·L) for each of a column's L levels.

        A level never met has α / (n + α·(L + 1)): what it would have had as one more level.
        """
        assert columns.sizes is not None
        sizes = columns.sizes
        n = np.add.reduceat(counts.total, columns.starts, axis=1)
        spread = np.repeat(n + alpha * sizes, sizes, axis=1)
        log_p = log_ratio(counts.total + alpha, spread, 1 / np.repeat(sizes, sizes))
        log_unseen = log_ratio(np.full(n.shape, float(alpha)), n + alpha * (sizes + 1), 1 / (sizes + 1))
        return CategoricalParameters(log_p, log_unseen, sizes)

    def add_log_likelihood(
        self, parameters: CategoricalParameters, columns: Columns, block: Block, rows: slice, scores: Array
    ) -> None:
        assert isinstance(block, Dense)
        starts, table = parameters.lookup
        for place, x in block.pieces(rows.start, rows.stop):
            part = scores[place.start - rows.start : place.stop - rows.start]
            work = x.size * len(table)
            if scoring.add_levels(x, starts, parameters.sizes, table, part, work=work) < len(x):
                block.reject_if_not_finite(rows)
                block.reject_negative(rows)
