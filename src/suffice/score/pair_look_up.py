"""PairLookUp: tables of log p(level | level of the parent column, class), for trees and chains."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.blocks import Block, Coded
from suffice.kernels import score_dependent
from suffice.schema import Array, starts_of
from suffice.score.term import Term, sequential_contributions


@dataclass(frozen=True)
class PairLookUp(Term):
    """Σⱼ log p(xⱼ | x of the parent of j, class); missing cells are summed out exactly.

    The code of a level is a slot; a code of sizes[j] or more is the slot sizes[j] if the column is open, and a missing
    cell otherwise. A negative code is a missing cell.

    Parameters
    ----------
    parents : array [class, column]
        The parent of each column; −1 for a root.
    order : array [class, column]
        The columns, each after its parent.
    offsets : array [class, column]
        Where the table of a column starts in ``table``.
    sizes : array [column]
        The number of known levels of each column.
    is_open : array [column]
        1 if a column has a probability for unseen levels, else 0.
    table : array
        table[offsets[k, j] + u·(sizes[j] + 1) + v] is log p(slot v of j | slot u of its parent); u is 0 for a root.
        May be −∞.
    """

    parents: Array
    order: Array
    offsets: Array
    sizes: Array
    is_open: Array
    table: Array

    @cached_property
    def starts(self) -> Array:
        """The first slot of each column."""
        return starts_of(self.sizes + 1)

    def table_of(self, k: int, j: int) -> Array:
        """Return log p(slot of column j | slot of its parent, class k), [parent's slot, slot]; a root has one line."""
        parent = int(self.parents[k, j])
        lines, width = 1 if parent < 0 else int(self.sizes[parent]) + 1, int(self.sizes[j]) + 1
        first = int(self.offsets[k, j])
        return self.table[first : first + lines * width].reshape(lines, width)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Coded)
        arrays = (self.parents, self.order, self.offsets, self.sizes, self.is_open, self.starts, self.table)
        for x, part in block.scored(rows, scores):
            messages = np.zeros(int((self.sizes + 1).sum()))
            score_dependent.add_tree(x, *arrays, messages, part, work=x.size * len(self.parents) * 2)

    def contributions(self, block: Block) -> Array:
        """Return log p(xⱼ | x of its parent, class), 0 for a missing cell."""
        return sequential_contributions(self, block, list(self.order), each_class=True)
