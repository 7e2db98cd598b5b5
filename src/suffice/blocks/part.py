"""Parts: ranges of rows, with what is known of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suffice.blocks.block import Block, Dense, Sparse
from suffice.schema import Array


@dataclass(frozen=True)
class Part:
    """A range of a block's rows, with what is known of each: its class and its weight (None: 1)."""

    block: Block
    rows: slice
    codes: Array
    weights: Array | None
    class_count: Array

    @property
    def classes(self) -> int:
        return len(self.class_count)

    def pieces(self, cells: int | None = None) -> Iterator[tuple[Array, Array, Array | None]]:
        """Yield rows, their classes and their weights, a piece at a time, of so many cells if that is said."""
        assert isinstance(self.block, Dense)
        for here, x in self.block.pieces(self.rows.start, self.rows.stop, cells):
            place = slice(here.start - self.rows.start, here.stop - self.rows.start)
            yield x, self.codes[place], None if self.weights is None else self.weights[place]

    def stored(self) -> tuple[Array, Array, Array]:
        """Return row starts, columns and values of sparse rows."""
        assert isinstance(self.block, Sparse)
        return self.block.stored(self.rows.start, self.rows.stop)

    def split(self, row: int) -> tuple[Part, Part]:
        """Return the part before a row, counted from this part's first, and the part from it on."""
        middle = self.rows.start + row
        return (
            part_of(
                self.block,
                slice(self.rows.start, middle),
                self.codes[:row],
                _cut(self.weights, slice(row)),
                self.classes,
            ),
            part_of(
                self.block,
                slice(middle, self.rows.stop),
                self.codes[row:],
                _cut(self.weights, slice(row, None)),
                self.classes,
            ),
        )


def part_of(block: Block, rows: slice, codes: Array, weights: Array | None, classes: int) -> Part:
    """Return the part, with the weight of each class's rows in it."""
    return Part(block, rows, codes, weights, np.bincount(codes, weights, minlength=classes).astype(np.float64))


def _cut(weights: Array | None, place: slice) -> Array | None:
    return None if weights is None else weights[place]
