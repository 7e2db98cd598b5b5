"""Tables of log probabilities: `LookUp`, `PairLookUp`, `JointLookUp` and `AveragedPairs`."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.blocks import Block, Coded, Dense
from suffice.kernels import score_dependent, score_independent
from suffice.schema import Array, starts_of
from suffice.score.term import ColumnwiseTerm, Term, as_doubles, sequential_contributions
from suffice.statistics.kernel_arguments import finite_check


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

    shared = ("sizes",)

    @cached_property
    def starts(self) -> Array:
        """The first slot of each column."""
        return starts_of(self.sizes + 1)

    @cached_property
    def _by_slot(self) -> tuple[Array, Array, Array]:
        """Where each column starts in the table of the kernels, the sizes, and the table.

        The classes of a slot are next to each other. The last slot is that of missing cells, which add 0.
        """
        return self.starts * len(self.table), self.sizes, np.pad(self.table, ((0, 0), (0, 1))).T.ravel()

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        gaps = True if block.gaps else None
        for x, part in block.scored(rows, scores):
            work = x.size * len(self.table)
            if isinstance(block, Coded):
                score_independent.add_coded(x, *self._by_slot, part, work=work)
            elif score_independent.add_levels(x, *self._by_slot, finite_check(block), gaps, part, work=work) < len(x):
                block.reject_if_not_finite(rows)
                block.reject_negative(rows)

    def contributions(self, block: Block) -> Array:
        x, present = as_doubles(block)
        codes = np.where(present, x, -1)[:, 0].astype(np.intp)
        slots = self.starts + np.minimum(np.maximum(codes, 0), self.sizes)
        table = self.table[None] if self.table.ndim == 2 else self.table
        return np.where(codes[:, None] >= 0, np.take_along_axis(table, slots[:, None, :], axis=-1), 0.0)


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

    def table_of(self, k: int, j: int) -> Array:
        """Return log p(slot of column j | slot of its parent, class k), [parent's slot, slot]; a root has one line."""
        parent = int(self.parents[k, j])
        lines, width = 1 if parent < 0 else int(self.sizes[parent]) + 1, int(self.sizes[j]) + 1
        first = int(self.offsets[k, j])
        return self.table[first : first + lines * width].reshape(lines, width)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Coded)
        starts, messages = starts_of(self.sizes + 1), np.zeros(int((self.sizes + 1).sum()))
        for x, part in block.scored(rows, scores):
            work = x.size * len(self.parents) * 2
            score_dependent.add_tree(x, *self.fields, starts, messages, part, work=work)

    def contributions(self, block: Block) -> Array:
        """Return log p(xⱼ | x of its parent, class), 0 for a missing cell."""
        return sequential_contributions(self, block, list(self.order), each_class=True)


@dataclass(frozen=True)
class JointLookUp(Term):
    """table[class, code of the combination] for a known combination; otherwise the look-up of each column by itself.

    The last column of a block holds the code of the combination of all other columns: −1 if a cell is missing, and
    the number of known combinations if the combination was not seen while learning. An unseen combination has the
    value log_unseen[class] + separate, a row with a missing cell the value of ``separate`` alone.

    Parameters
    ----------
    table : array [class, combination]
        Log probability of each known combination.
    log_unseen : array [class]
        Log of the probability left for all unseen combinations; 0 if none is left.
    separate : LookUp
        The columns without the column of combinations.
    """

    table: Array
    log_unseen: Array
    separate: LookUp

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Coded)
        codes = block.array[rows, -1].astype(np.intp)  # block codes have the smallest type that holds them
        known = (codes >= 0) & (codes < self.table.shape[1])
        scores[known] += self.table[:, codes[known]].T
        others = np.flatnonzero(~known)
        if len(others):
            columns = Coded(block.owner, block.names, np.ascontiguousarray(block.array[rows][others, :-1]))
            part = scores[others]
            self.separate.add(columns, slice(0, len(others)), part)
            part[codes[others] >= 0] += self.log_unseen
            scores[others] = part

    def contributions(self, block: Block) -> Array:
        """Return what each column adds; the column of combinations counts towards the last column of an order."""
        count = block.shape[1] - 1
        total = np.zeros((block.shape[0], len(self.table), count))
        for order in (np.arange(count), np.arange(count)[::-1]):
            found = sequential_contributions(self, block, [np.append(order, count)])
            found[:, :, order[-1]] += found[:, :, count]
            total += found[:, :, :count] / 2
        return total


@dataclass(frozen=True)
class AveragedPairs(Term):
    """log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ, over the columns i whose level is eligible.

    Slots are those of all columns one after another, sizes[j] + 1 for column j; codes become slots as in `PairLookUp`.
    Missing cells are left out of sum and product. If ``implied`` says that a level present in the row implies another
    one, the implied level is left out. If no level is eligible, the value is Σⱼ log p(xⱼ | class).

    Parameters
    ----------
    alone : array [slot, class]
        log p(slot | class).
    given : array [slot a, slot b, 2, class]
        log p(b | a, class) and log p(a | b, class); where a is b, log p(a | class) of a parent.
    eligible : array [slot]
        1 if the level can be a parent, else 0.
    weights : array [column]
        Weight of each column as a parent; positive.
    implied : array [slot a, slot b] or None
        1 where a implies b, 2 where b implies a, 3 where each implies the other (the first column then stays).
    sizes, is_open : arrays [column]
        The number of known levels, and 1 if there is a probability for unseen levels.
    """

    alone: Array
    given: Array
    eligible: Array
    weights: Array
    implied: Array | None
    sizes: Array
    is_open: Array

    @property
    def class_count(self) -> int:
        return int(self.alone.shape[1])

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Coded)
        for x, part in block.scored(rows, scores):
            work = x.size * x.shape[1] * part.shape[1]
            score_dependent.add_averaged(x, *self.fields, starts_of(self.sizes + 1), part, work=work)
