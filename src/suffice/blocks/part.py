"""Parts: ranges of rows with their classes and weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suffice.blocks.block import Block, Dense, Sparse
from suffice.schema import Array


@dataclass(frozen=True)
class Part:
    """A range of the rows of a block, with their classes and weights.

    Attributes
    ----------
    block : Block
        The block that the rows belong to.
    rows : slice
        Their positions in the block.
    codes : array
        The code of the class of each row.
    weights : array or None
        The weight of each row; None if all are 1.
    class_count : array
        The total weight of the rows of each class.
    """

    block: Block
    rows: slice
    codes: Array
    weights: Array | None
    class_count: Array

    @property
    def classes(self) -> int:
        return len(self.class_count)

    def pieces(self, cells: int | None = None) -> Iterator[tuple[Array, Array, Array | None]]:
        """Yield the rows, their classes and their weights in pieces of at most ``cells`` cells."""
        assert isinstance(self.block, Dense)
        for here, x in self.block.pieces(self.rows.start, self.rows.stop, cells):
            place = slice(here.start - self.rows.start, here.stop - self.rows.start)
            yield x, self.codes[place], None if self.weights is None else self.weights[place]

    def stored(self) -> tuple[Array, Array, Array]:
        """Return row starts, column numbers and values of sparse rows."""
        assert isinstance(self.block, Sparse)
        return self.block.stored(self.rows.start, self.rows.stop)

    def split(self, row: int) -> tuple[Part, Part]:
        """Return the part before a row and the part from it on; rows are counted from the start of this part."""
        return self._between(0, row), self._between(row, len(self.codes))

    def _between(self, start: int, stop: int) -> Part:
        rows = slice(self.rows.start + start, self.rows.start + stop)
        weights = None if self.weights is None else self.weights[start:stop]
        return part_of(self.block, rows, self.codes[start:stop], weights, self.classes)


def part_of(block: Block, rows: slice, codes: Array, weights: Array | None, classes: int) -> Part:
    """Return a part; its class counts are computed from the codes and weights."""
    return Part(block, rows, codes, weights, np.bincount(codes, weights, minlength=classes).astype(np.float64))
