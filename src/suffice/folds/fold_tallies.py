"""Tallies of folds: the tally of each training set, and the rows to predict, from one pass under one plan.

The plan does not use the labels: it says which columns are counted, in which cells. Everything else is decided by each
fold from the sums of its training rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from suffice.blocks import Block
from suffice.choice import lay_out_rows
from suffice.data import Table, Target
from suffice.data.reader import Opened
from suffice.folds.splits import Split
from suffice.folds.training_sums import group_splits, sum_training_sets
from suffice.recipe import Recipe
from suffice.schema import Columns
from suffice.statistics import Tally


@dataclass(frozen=True)
class CountedRows:
    """All rows, as they were read for counting."""

    opened: Opened
    columns: tuple[Columns, ...]
    cells: tuple[Block, ...]


@dataclass(frozen=True)
class FoldTally:
    """The tally of a split's training rows, and all rows."""

    split: Split
    tally: Tally
    rows: CountedRows

    @cached_property
    def _test_cells(self) -> tuple[Block, ...]:
        return tuple(block.take(self.split.test) for block in self.rows.cells)

    def test_blocks(self, recipe: Recipe, chosen: tuple[Columns, ...]) -> tuple[Block, ...]:
        """Return the test rows as blocks of the chosen columns, which the model of a recipe scores."""
        blocks = []
        for columns, block in zip(chosen, lay_out_rows(self._test_cells, self.rows.columns, chosen), strict=True):
            if block is None:
                _, (block,) = recipe.reader.read(self.rows.opened, (columns,), grow=False)
                block = block.take(self.split.test)
            blocks.append(block)
        return recipe.select_cells(chosen, tuple(blocks))


def fold_tallies(recipe: Recipe, opened: Opened, target: Target, splits: Iterable[Split]) -> Iterator[FoldTally]:
    """Yield for each split the tally of its training rows, and its test rows."""
    plan = recipe.plan(opened, target)
    columns, cells = recipe.read(opened, plan, target)
    rows = CountedRows(opened, columns, cells)
    for group in group_splits(splits, opened.shape[0]):
        tallies = sum_training_sets(group, Table(cells, target), columns, plan.features)
        for split, tally in zip(group.splits, tallies, strict=True):
            yield FoldTally(split, tally, rows)
