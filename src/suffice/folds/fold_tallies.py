"""Tallies of folds: the tally of each training set, and the rows to predict, from one pass.

Each training set is planned only from its own rows. Training sets whose plans differ only in cut points are counted
in one pass, in the bins between the cut points of all of them. A bin of one plan is a union of such bins, so the
counts of a fold depend on its training rows only.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.blocks import Block
from suffice.data import Table, Target, recode_block
from suffice.data.reader import Opened, Plan
from suffice.folds.splits import Split
from suffice.folds.training_sums import SplitGroup, group_splits, sum_training_sets
from suffice.recipe import Recipe
from suffice.schema import Array, Columns, Cuts, Schema
from suffice.statistics import Tally
from suffice.structures.combinations import has_combinations


@dataclass(frozen=True)
class FoldTally:
    """The tally of a split's training rows, and its test rows as blocks that the model of the tally scores."""

    split: Split
    tally: Tally
    blocks: tuple[Block, ...]


def fold_tallies(recipe: Recipe, opened: Opened, target: Target, splits: Iterable[Split]) -> Iterator[FoldTally]:
    """Yield for each split the tally of its training rows, and its test rows."""
    for group in group_splits(splits, opened.shape[0]):
        for split, (tally, take) in zip(group.splits, _tally_group(recipe, opened, target, group), strict=True):
            yield FoldTally(split, tally, recipe.select_cells(tally.schema.blocks, take(split.test)))


TakeRows = Callable[[Array], tuple[Block, ...]]


def _tally_group(recipe: Recipe, opened: Opened, target: Target, group: SplitGroup) -> list[tuple[Tally, TakeRows]]:
    """Return the tally of each split of a group, with the function that reads rows for it."""
    plans = _plan_splits(recipe, opened, target, group.splits)
    shapes = [_shape(plan.blocks) for plan in plans]
    results: dict[int, tuple[Tally, TakeRows]] = {}
    for shape in {repr(shape): shape for shape in shapes}.values():
        alike = [place for place, other in enumerate(shapes) if other == shape]
        subgroup = SplitGroup(tuple(group.splits[place] for place in alike), group.atoms, group.learned[alike])
        results |= zip(alike, _count(recipe, opened, target, subgroup, [plans[place] for place in alike]), strict=True)
    return [results[place] for place in range(len(plans))]


def _plan_splits(recipe: Recipe, opened: Opened, target: Target, splits: Sequence[Split]) -> list[Plan]:
    if not recipe.reader.plans_from_rows:
        return [recipe.plan(opened, target)] * len(splits)
    plans = [recipe.plan(opened, target.only(splits[0].train))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first plan has warned already
        return plans + [recipe.plan(opened, target.only(split.train)) for split in splits[1:]]


def _count(
    recipe: Recipe, opened: Opened, target: Target, group: SplitGroup, plans: Sequence[Plan]
) -> list[tuple[Tally, TakeRows]]:
    """Return the tallies of splits whose plans differ only in cut points."""
    finest = Plan(_finest([plan.blocks for plan in plans]), plans[0].features)
    columns, cells = recipe.read(opened, finest, target, marks_pairs=True)
    results = []
    for tally, plan in zip(sum_training_sets(group, Table(cells, target), columns), plans, strict=True):
        coarse = tuple(map(_with_cuts, tally.schema.blocks, plan.blocks))
        tally = tally.on(Schema(tally.schema.classes, coarse, plan.features))
        results.append((tally, _row_taker(cells, columns, coarse)))
    return results


def _row_taker(cells: tuple[Block, ...], columns: tuple[Columns, ...], known: tuple[Columns, ...]) -> TakeRows:
    return lambda rows: tuple(
        recode_block(block.take(rows), old, new) for block, old, new in zip(cells, columns, known, strict=True)
    )


def _shape(blocks: tuple[Columns, ...]) -> list[Any]:
    """Return what plans must have in common to be counted in one pass: everything but the cut points.

    A combination of levels contains bins, so blocks with combinations must agree in the cut points as well.
    """
    shape: list[Any] = []
    for block in blocks:
        joint = has_combinations(block)
        codings = [
            ("cuts", code.edges if joint else None) if isinstance(code, Cuts) else code for code in block.codings or ()
        ]
        shape.append((block.family, block.names, codings))
    return shape


def _finest(plans: Sequence[tuple[Columns, ...]]) -> tuple[Columns, ...]:
    """Return the blocks with the cut points of all plans."""
    blocks = []
    for alike in zip(*plans, strict=True):
        if alike[0].codings is None:
            blocks.append(alike[0])
            continue
        columns = zip(*(block.codings or () for block in alike), strict=True)
        finest = tuple(first.finer(*rest) if isinstance(first, Cuts) else first for first, *rest in columns)
        blocks.append(alike[0].recoded(finest))
    return tuple(blocks)


def _with_cuts(columns: Columns, plan: Columns) -> Columns:
    """Return the columns with the cut points of a plan."""
    if columns.codings is None or plan.codings is None:
        return columns
    pairs = zip(columns.codings, plan.codings, strict=True)
    return columns.recoded(tuple(planned if isinstance(planned, Cuts) else coding for coding, planned in pairs))
