"""JointLookUp: a table of log probabilities, one for each combination of the levels of all columns."""

from dataclasses import dataclass

import numpy as np

from suffice.blocks import Block, Coded
from suffice.schema import Array
from suffice.score.look_up import LookUp
from suffice.score.term import Term, sequential_contributions


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
