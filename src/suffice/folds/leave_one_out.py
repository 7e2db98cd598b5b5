"""Leave-one-out: each row is predicted by a model of all other rows.

Leaving out a row of class k changes only the sums of that class: the sums of the row are subtracted from them. The sums
of a chunk of rows are arrays [row, class, cell]; families estimate from these as they do from [class, cell].
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from suffice.blocks import Block
from suffice.data import Table, Target
from suffice.data.engines import memory
from suffice.folds.held_out import open_rows
from suffice.model import Model
from suffice.parallel import map_threads
from suffice.recipe import Recipe
from suffice.schema import Array, Schema
from suffice.statistics import Counts, Moments, Statistic, Tally, two_sum
from suffice.statistics.cancellation import LEAST_LEFT
from suffice.statistics.moments import PooledMoments

Held = TypeVar("Held", bound=Statistic)

# A chunk has at most CHUNK numbers, so that it stays in the cache. Progress is reported after CHUNKS_AT_ONCE chunks.
CHUNK, CHUNKS_AT_ONCE = 1 << 17, 16


@dataclass(frozen=True)
class LeftOut:
    """A range of rows, the tally without each of them, [row, class, cell], and for which rows it is exact."""

    rows: slice
    tally: Tally
    blocks: tuple[Block, ...]
    exact: Array


def predict_left_out(recipe: Recipe, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[slice, Array, Array]]:
    """Yield ranges of rows, log P(class | x) without the row itself, and for which rows that is exact.

    This is the closed form, for recipes with `Recipe.has_closed_leave_one_out`. It is not exact for a row that is
    the last one of its class or of a level, for a row so large that too few digits are left without it, and where the
    other rows decide whether a missing cell is a level.
    """
    opened, target = open_rows(recipe, X, y, sample_weight)
    counted = recipe.tally(opened, target)
    tally = recipe.lay_out(counted)
    recipe.check(tally)
    is_chosen = recipe.missing == "auto" and counted.has_missing_cells
    table = Table(recipe.read_for_scoring(opened, tally.schema), target)

    def predict(rows: slice) -> tuple[slice, Array, Array]:
        chunk = leave_out(tally, table, rows)
        model = recipe.estimate(chunk.tally)
        assert isinstance(model, Model)  # a pool has no closed form
        return rows, model.posterior_by_row(chunk.blocks), chunk.exact & (not is_chosen)

    for ranges in _chunks(tally, opened.shape[0]):
        yield from map_threads(predict, ranges)


def _chunks(tally: Tally, rows: int) -> Iterator[list[slice]]:
    """Yield ranges of rows, a few at a time; the sums without each row of a range fit into a chunk."""
    step = max(CHUNK // (len(tally.class_count) * sum(block.width for block in tally.schema.blocks)), 1)
    ranges = [slice(first, min(first + step, rows)) for first in range(0, rows, step)]
    for first in range(0, len(ranges), CHUNKS_AT_ONCE):
        yield ranges[first : first + CHUNKS_AT_ONCE]


def leave_out(tally: Tally, table: Table, rows: slice) -> LeftOut:
    """Return a range of rows, each with the tally of all other rows."""
    target, classes = table.target, len(table.target.classes)
    blocks = tuple(block.between(rows.start, rows.stop) for block in table.blocks)
    codes, places = target.codes[rows], np.arange(rows.stop - rows.start)
    exact = np.bincount(target.codes, minlength=classes)[codes] > 1
    own = _own(tally, blocks, target, rows)
    lines = []
    for whole, row, columns in zip(tally.statistics, own.statistics, tally.schema.blocks, strict=True):
        if isinstance(whole, Moments) and isinstance(row, Moments):
            line, is_exact = _moments_without(whole, row, codes)
        else:
            assert isinstance(whole, Counts)
            assert isinstance(row, Counts)
            line, is_exact = _counts_without(whole, row, codes, levels=columns.sizes is not None)
        lines.append(line)
        exact &= is_exact
    count = np.repeat(tally.class_count[None], len(codes), axis=0)
    count[places, codes] = np.maximum(count[places, codes] - own.class_count, 0.0)
    return LeftOut(rows, Tally(tally.schema, count, tuple(lines)), blocks, exact)


def _own(tally: Tally, blocks: tuple[Block, ...], target: Target, rows: slice) -> Tally:
    """Return the sums of each row: the tally in which each row is a class of its own."""
    places = np.arange(rows.stop - rows.start)
    weights = None if target.weights is None else target.weights[rows]
    own = memory.tally(Table(blocks, Target(places, places, weights)), tally.schema.blocks, tally.schema.features)
    return own.on(Schema(places, tally.schema.blocks, tally.schema.features))


def _counts_without(whole: Counts, row: Counts, codes: Array, levels: bool) -> tuple[Statistic, Array]:
    """Return the counts without each row, and whether all levels of the row occur in other rows, too."""
    exact = np.ones(len(codes), bool)
    if levels:
        total = whole.total.sum(axis=0)
        exact = ~((row.total > 0) & (row.total >= total * (1 - 1e-12))).any(axis=1)
    return _with_own(whole, whole.kept(codes, None) - row, codes), exact


def _moments_without(whole: Moments, row: Moments, codes: Array) -> tuple[Statistic, Array]:
    """Return the moments without each row, and whether enough digits are left after the subtraction."""
    rest, exact = _rest(whole.kept(codes, None), row)
    # the row is subtracted from the pooled moments, too: pooling the classes again for each row would cost far more
    pooled, pooled_exact = _rest(whole.pooled(), row)
    moments = _with_own(whole, rest, codes)
    by_row = {f"pooled_{name}": array[:, None] for name, array in pooled.arrays().items()}
    return PooledMoments(**moments.arrays(), **by_row), exact & pooled_exact


def _rest(whole: Moments, row: Moments) -> tuple[Moments, Array]:
    """Return the moments without each row, and whether enough digits are left.

    Without a row of weight w, Σw(x − mean)² is smaller by w·(x − mean)²·n / (n − w).
    """
    n = np.maximum(whole.n - row.n, 0.0)
    ratio = row.n / np.where(n > 0, n, 1.0)
    difference = (row.mean - whole.mean) - whole.tail
    m2 = whole.m2 - difference * difference * (ratio * whole.n)
    lost = (row.n > 0) & ((n <= 0) | (m2 < LEAST_LEFT * whole.m2))
    return Moments(n, *two_sum(whole.mean, whole.tail - difference * ratio), np.maximum(m2, 0.0)), ~lost.any(axis=1)


def _with_own(whole: Held, own: Statistic, codes: Array) -> Held:
    """Return the sums of all classes for each row, [row, class, cell], replaced for the row's own class."""
    arrays, places = {}, np.arange(len(codes))
    for name, array in whole.arrays().items():
        arrays[name] = np.repeat(array[None], len(codes), axis=0)
        arrays[name][places, codes] = getattr(own, name)
    return replace(whole, **arrays)
