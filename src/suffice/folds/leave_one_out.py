"""Leave-one-out: each row is predicted by a model of all other rows."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from suffice.data import Table
from suffice.folds.held_out import open_rows
from suffice.parallel import map_threads
from suffice.recipe import Recipe
from suffice.schema import Array

# An array of a chunk has at most CHUNK numbers, so that a dozen of them stay in the cache, but at least FEWEST_ROWS
# rows, so that a call is worth its overhead. Progress is reported after CHUNKS_AT_ONCE chunks.
CHUNK, FEWEST_ROWS, CHUNKS_AT_ONCE = 1 << 15, 16, 64


def predict_left_out(recipe: Recipe, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[slice, Array, Array]]:
    """Yield ranges of rows, log P(class | x) without the row itself, and for which rows that is exact.

    This is the closed form, for recipes with `Recipe.has_closed_leave_one_out`. Nothing is yielded where the other rows
    decide whether a missing cell is a level.
    """
    opened, target = open_rows(recipe, X, y, sample_weight)
    counted = recipe.tally(opened, target)
    tally = recipe.lay_out(counted)
    recipe.check(tally)
    if recipe.missing == "auto" and counted.has_missing_cells:
        return
    table = Table(recipe.read_for_scoring(opened, tally.schema), target)
    scorers = recipe.left_out(tally)
    # of the other blocks, parameters are estimated again for each row
    rest = tally.take_blocks([place for place, scorer in enumerate(scorers) if scorer is None])
    others = replace(table, blocks=tuple(b for b, scorer in zip(table.blocks, scorers, strict=True) if scorer is None))

    def predict(rows: slice) -> tuple[slice, Array, Array]:
        model, exact = recipe.leave_out(rest, others, rows)
        scores = []
        for part, scorer in zip(table.parts(rows), scorers, strict=True):
            if scorer is not None:
                found, is_exact = scorer.score(part)
                exact &= is_exact
                scores.append(found)
        return rows, model.posterior_by_row(others.between(rows.start, rows.stop).blocks, scores), exact

    sums = len(tally.class_count) * sum(block.width for block in rest.schema.blocks)
    sums += sum(scorer.width for scorer in scorers if scorer is not None)
    for ranges in _chunks(sums, opened.shape[0]):
        yield from map_threads(predict, ranges)


def _chunks(sums: int, rows: int) -> Iterator[list[slice]]:
    """Yield ranges of rows, a few at a time; the sums without each row of a range fit into a chunk."""
    step = max(CHUNK // max(sums, 1), FEWEST_ROWS)
    ranges = [slice(first, min(first + step, rows)) for first in range(0, rows, step)]
    for first in range(0, len(ranges), CHUNKS_AT_ONCE):
        yield ranges[first : first + CHUNKS_AT_ONCE]
