"""Blocks whose columns are arrays of their own, such as those of an Arrow table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.blocks.block import MOST_CELLS, Block, Dense, handed_out
from suffice.schema import Array


@dataclass(frozen=True)
class ByColumn(Dense):
    """Columns of numbers as one array each, which may have different types; ``array`` is the tuple of them.

    >>> block = ByColumn("doc", None, (np.array([1, 2]), np.array([0.5, 1.5])), np.dtype(float), False)
    >>> [piece.tolist() for _, piece in block.pieces(0, 2)]
    [[[1.0, 0.5], [2.0, 1.5]]]
    """

    array: Any
    common: np.dtype[Any]
    gappy: bool

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.array[0]), len(self.array)

    @property
    def dtype(self) -> np.dtype[Any]:
        return handed_out(self.common)

    @property
    def in_place(self) -> bool:
        return False

    @property
    def gaps(self) -> bool:
        return self.gappy

    def between(self, start: int, stop: int) -> Block:
        return replace(self, array=tuple(column[start:stop] for column in self.array))

    def take(self, rows: Array) -> Block:
        return replace(self, array=tuple(column[rows] for column in self.array))

    def select(self, columns: list[int]) -> Dense:
        return replace(self, names=self._names_of(columns), array=tuple(self.array[j] for j in columns))

    def strips(self) -> Iterator[tuple[slice, slice, Array]]:
        for place, column in enumerate(self.array):
            for first in range(0, len(column), MOST_CELLS):
                rows = slice(first, min(first + MOST_CELLS, len(column)))
                strip = column[rows].astype(self.dtype, copy=False)[:, None]
                strip.flags.writeable = False
                yield rows, slice(place, place + 1), strip

    def _copied(self, rows: slice) -> Array:
        return np.stack([column[rows] for column in self.array], axis=1, dtype=self.dtype)
