"""Mapped blocks: columns of which a function is counted and scored, such as the logarithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from suffice.blocks.block import PIECE, Block, Dense
from suffice.blocks.part import Part
from suffice.schema import Array

FunctionName = Literal["log", "sqrt", "cos", "sin", "positive"]

FUNCTIONS: dict[str, Any] = {
    "log": np.log,
    "sqrt": np.sqrt,
    "cos": np.cos,
    "sin": np.sin,
    "positive": lambda x: np.where(x > 0, x, np.nan),  # other numbers count as missing
}


@dataclass(frozen=True)
class Function:
    """A function of a number: the function of this name, of factor·x.

    >>> float(Function("cos", np.pi / 180)(np.array(60.0)).round(9))
    0.5
    """

    name: FunctionName
    factor: float = 1.0

    def __call__(self, x: Array) -> Array:
        x = np.asarray(x, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(FUNCTIONS[self.name](x if self.factor == 1 else x * self.factor))

    def map_part(self, part: Part) -> Part:
        """Return a part whose cells are the function of the cells."""
        return replace(part, block=self.map_block(part.block))

    def map_block(self, block: Block) -> Mapped:
        """Return a block whose cells are the function of the cells."""
        assert isinstance(block, Dense)
        return Mapped(block.owner, block.names, block.array, block, self)


@dataclass(frozen=True)
class Mapped(Dense):
    """A function of the cells of another block, computed piece by piece; a missing cell stays missing."""

    inner: Dense
    function: Function

    @property
    def shape(self) -> tuple[int, int]:
        return self.inner.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    @property
    def in_place(self) -> bool:
        return False

    @property
    def gaps(self) -> bool:
        return self.inner.gaps or self.function.name == "positive"

    def between(self, start: int, stop: int) -> Block:
        return self.function.map_block(self.inner.between(start, stop))

    def take(self, rows: Array) -> Block:
        return self.function.map_block(self.inner.take(rows))

    def select(self, columns: list[int]) -> Dense:
        return self.function.map_block(self.inner.select(columns))

    def pieces(self, start: int, stop: int, cells: int | None = None) -> Iterator[tuple[slice, Array]]:
        # in pieces, so that no array is as large as the table
        for rows, piece in self.inner.pieces(start, stop, cells or PIECE // 8):
            mapped = np.ascontiguousarray(self.function(piece))
            mapped.flags.writeable = False
            yield rows, mapped
