"""LookUp: a table of log probabilities, one for each level of each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.blocks import Block, Coded, Dense
from suffice.kernels import score_independent
from suffice.schema import Array, starts_of
from suffice.score.term import ColumnwiseTerm, as_doubles


@dataclass(frozen=True)
class LookUp(ColumnwiseTerm):
    """Σⱼ table[class, starts[j] + min(xⱼ, sizes[j])], with xⱼ the code of a level; a negative code is a missing cell.

    The last slot of a column stands for every level that was not seen while learning.

    Parameters
    ----------
    table : array [class, slot]
        The slots of the columns one after another, ``sizes[j] + 1`` for column j. May be −∞.
    sizes : array [column]
        The number of known levels of each column.

    >>> term = LookUp(np.log([[0.5, 0.4, 0.1], [0.2, 0.7, 0.1]]), np.array([2]))
    >>> np.exp(term.contributions(Coded("example", None, np.array([[0], [7], [-1]])))[:, :, 0]).round(2).tolist()
    [[0.5, 0.2], [0.1, 0.1], [1.0, 1.0]]
    """

    table: Array
    sizes: Array

    @cached_property
    def starts(self) -> Array:
        """The first slot of each column."""
        return starts_of(self.sizes + 1)

    @cached_property
    def by_slot(self) -> Array:
        """The table [slot, class], so that the values of one cell are adjacent in memory."""
        return np.ascontiguousarray(self.table.T)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        if isinstance(block, Coded):
            for x, part in block.scored(rows, scores):
                work = x.size * len(self.table)
                score_independent.add_coded(x, self.starts, self.sizes, self.by_slot, part, work=work)
            return
        for x, part in block.scored(rows, scores):
            work = x.size * len(self.table)
            if score_independent.add_levels(x, self.starts, self.sizes, self.table, part, work=work) < len(x):
                block.reject_if_not_finite(rows)
                block.reject_negative(rows)

    def contributions(self, block: Block) -> Array:
        codes = as_doubles(block)[0][:, 0].astype(np.intp)
        slots = self.starts + np.minimum(np.maximum(codes, 0), self.sizes)
        table = self.table[None] if self.table.ndim == 2 else self.table
        return np.where(codes[:, None] >= 0, np.take_along_axis(table, slots[:, None, :], axis=-1), 0.0)

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> LookUp:
        return cls(np.concatenate([term.table for term in terms]), terms[0].sizes)
