"""Leave-one-out: each row predicted by a model of all the others.

For a row of class k only the sums of that class change: they are the sums of the class minus the row's own. So a
chunk of rows has sums [row, class, cell], and families that estimate from [class, cell] estimate from those, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from suffice.blocks import Block
from suffice.data import Table, Target
from suffice.data.engines import memory
from suffice.folds.held_out import open_rows
from suffice.parallel import map_threads
from suffice.recipe import Recipe
from suffice.schema import Array, Schema
from suffice.statistics import Counts, Moments, Statistic, Tally, two_sum
from suffice.statistics.cancellation import LEAST_LEFT
from suffice.statistics.moments import PooledMoments

Held = TypeVar("Held", bound=Statistic)

# A chunk has at most this many numbers, so that it stays in the cache; so many chunks are done between two reports.
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
    the last one of its class or of a level, and for a row so large that too few digits are left without it.
    """
    opened, target = open_rows(recipe, X, y, sample_weight)
    tally = recipe.tally(opened, target)
    recipe.check(tally)
    tally = recipe.lay_out(tally)
    table = Table(recipe.read_for_scoring(opened, tally.schema), target)

    def predict(rows: slice) -> tuple[slice, Array, Array]:
        some = leave_out(tally, table, rows)
        return rows, recipe.model(some.tally).posterior_by_row(some.blocks), some.exact

    for some in _chunks(tally, opened.shape[0]):
        yield from map_threads(predict, some)


def _chunks(tally: Tally, rows: int) -> Iterator[list[slice]]:
    """Yield a few ranges of rows at a time, each small enough for the sums without each row."""
    step = max(CHUNK // (len(tally.class_count) * sum(block.width for block in tally.schema.blocks)), 1)
    ranges = [slice(first, min(first + step, rows)) for first in range(0, rows, step)]
    for first in range(0, len(ranges), CHUNKS_AT_ONCE):
        yield ranges[first : first + CHUNKS_AT_ONCE]


def leave_out(tally: Tally, table: Table, rows: slice) -> LeftOut:
    """Return a range of rows, each with the tally of all other rows."""
    target, classes = table.target, len(table.target.classes)
    blocks = tuple(block.between(rows.start, rows.stop) for block in table.blocks)
    codes, each = target.codes[rows], np.arange(rows.stop - rows.start)
    exact = np.bincount(target.codes, minlength=classes)[codes] > 1
    own = _own(tally, blocks, target, rows)
    lines = []
    for whole, mine, columns in zip(tally.statistics, own.statistics, tally.schema.blocks, strict=True):
        if isinstance(whole, Moments) and isinstance(mine, Moments):
            line, fine = _moments_without(whole, mine, codes)
        else:
            assert isinstance(whole, Counts)
            assert isinstance(mine, Counts)
            line, fine = _counts_without(whole, mine, codes, levels=columns.sizes is not None)
        lines.append(line)
        exact &= fine
    count = np.repeat(tally.class_count[None], len(codes), axis=0)
    count[each, codes] = np.maximum(count[each, codes] - own.class_count, 0.0)
    return LeftOut(rows, Tally(tally.schema, count, tuple(lines)), blocks, exact)


def _own(tally: Tally, blocks: tuple[Block, ...], target: Target, rows: slice) -> Tally:
    """Return the sums of each row by itself: each row is a class of its own."""
    each = np.arange(rows.stop - rows.start)
    weights = None if target.weights is None else target.weights[rows]
    own = memory.tally(Table(blocks, Target(each, each, weights)), tally.schema.blocks, tally.schema.features)
    return own.on(Schema(each, tally.schema.blocks, tally.schema.features))


def _counts_without(whole: Counts, mine: Counts, codes: Array, levels: bool) -> tuple[Statistic, Array]:
    """Return the counts without each row, and for which rows no level disappears."""
    exact = np.ones(len(codes), bool)
    if levels:
        total = whole.total.sum(axis=0)
        exact = ~((mine.total > 0) & (mine.total >= total * (1 - 1e-12))).any(axis=1)
    return _with_own(whole, whole.kept(codes, None) - mine, codes), exact


def _moments_without(whole: Moments, mine: Moments, codes: Array) -> tuple[Statistic, Array]:
    """Return the moments without each row, and for which rows enough digits are left."""
    rest, exact = _rest(whole.kept(codes, None), mine)
    # the pooled moments need one line a row; pooling the classes of each row anew would cost as much as all of them
    pooled, fine = _rest(whole.pooled(), mine)
    found = _with_own(whole, rest, codes)
    by_row = {f"pooled_{name}": its[:, None] for name, its in pooled.arrays().items()}
    return PooledMoments(**found.arrays(), **by_row), exact & fine


def _rest(whole: Moments, mine: Moments) -> tuple[Moments, Array]:
    """Return the moments without one row each: Σw(x − mean)² loses w·(x − mean)²·n / (n − w)."""
    n = np.maximum(whole.n - mine.n, 0.0)
    pull = mine.n / np.where(n > 0, n, 1.0)
    away = (mine.mean - whole.mean) - whole.tail
    m2 = whole.m2 - away * away * (pull * whole.n)
    gone = (mine.n > 0) & ((n <= 0) | (m2 < LEAST_LEFT * whole.m2))
    return Moments(n, *two_sum(whole.mean, whole.tail - away * pull), np.maximum(m2, 0.0)), ~gone.any(axis=1)


def _with_own(whole: Held, own: Statistic, codes: Array) -> Held:
    """Return the sums of all classes for each row, [row, class, cell], replaced for the row's own class."""
    arrays, each = {}, np.arange(len(codes))
    for name, array in whole.arrays().items():
        arrays[name] = np.repeat(array[None], len(codes), axis=0)
        arrays[name][each, codes] = getattr(own, name)
    return replace(whole, **arrays)
