"""Rows to predict, as a classifier has read them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from suffice.blocks import Block
from suffice.recipe import Recipe
from suffice.schema import Schema


@dataclass(frozen=True)
class Rows:
    """Rows to predict, and how a model reads them."""

    recipe: Recipe
    opened: Any
    schema: Schema

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of cells that the model scores."""
        return self.recipe.read_for_scoring(self.opened, self.schema)

    @property
    def names(self) -> list[Any]:
        """The names of the columns; indices where they have no names."""
        return self._cells[0]

    @property
    def values(self) -> list[list[Any]]:
        """The values of the cells, row by row, as the user would write them."""
        return self._cells[1]

    @cached_property
    def _cells(self) -> tuple[list[Any], list[list[Any]]]:
        return self.recipe.reader.list_cells(self.opened, self.schema)


class LinearRows(NamedTuple):
    """Rows as the model scores them, and their cells as the user would write them."""

    opened: Block
    names: list[Any]
    values: list[list[Any]]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The rows, which are one block of numbers."""
        return (self.opened,)
