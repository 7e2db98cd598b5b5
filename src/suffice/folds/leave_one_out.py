"""Leaving out one row: the sums of all rows but one, for many rows at once, without learning again.

For a row of class k only that class's sums are others: the class's minus the row's own. So a chunk of
rows has sums [row, class, cell], and the families that estimate from [class, cell] estimate from those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from suffice.blocks import Block
from suffice.data import Table, Target
from suffice.data.engines import memory
from suffice.schema import Array, Schema
from suffice.statistics import Counts, Moments, Statistic, Tally, rounded
from suffice.statistics.cancellation import LEAST_LEFT
from suffice.statistics.moments import PooledMoments

Held = TypeVar("Held", bound=Statistic)

# So many numbers of sums at a time: they stay in the cache; and so many times until it is said how far it has come.
CHUNK, AT_ONCE = 1 << 17, 16


@dataclass(frozen=True)
class LeftOut:
    """Some rows, the tally of all others for each, [row, class, cell], and for which of them it is exact."""

    rows: slice
    tally: Tally
    blocks: tuple[Block, ...]
    exact: Array


def chunks(tally: Tally, rows: int) -> Iterator[list[slice]]:
    """Yield ranges of rows whose sums without each row are not too many at once, a few at a time."""
    step = max(CHUNK // (len(tally.class_count) * sum(block.width for block in tally.schema.blocks)), 1)
    ranges = [slice(first, min(first + step, rows)) for first in range(0, rows, step)]
    for first in range(0, len(ranges), AT_ONCE):
        yield ranges[first : first + AT_ONCE]


def left_out(tally: Tally, table: Table, rows: slice) -> LeftOut:
    """Return some rows of a table, each with the tally of all the others.

    It is not exact where a row is the last of its class or of a level, so that without it there would be
    no such class or level, and where the row is so far out that too few digits are left without it.
    """
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
    """Return the sums of each row by itself, as if it were a class."""
    each = np.arange(rows.stop - rows.start)
    weights = None if target.weights is None else target.weights[rows]
    own = memory.tally(Table(blocks, Target(each, each, weights)), tally.schema.blocks, tally.schema.features)
    return own.on(Schema(each, tally.schema.blocks, tally.schema.features))


def _counts_without(whole: Counts, mine: Counts, codes: Array, levels: bool) -> tuple[Statistic, Array]:
    """Return the counts without each row, and of which rows all levels stay."""
    exact = np.ones(len(codes), bool)
    if levels:
        total = whole.total.sum(axis=0)
        exact = ~((mine.total > 0) & (mine.total >= total * (1 - 1e-12))).any(axis=1)
    return _with_own(whole, whole.kept(codes, None) - mine, codes), exact


def _moments_without(whole: Moments, mine: Moments, codes: Array) -> tuple[Statistic, Array]:
    """Return the moments without each row, and of which rows digits enough are left."""
    rest, exact = _rest(whole.kept(codes, None), mine)
    # of all classes together there is one line a row, where adding up the classes would take them all
    pooled, fine = _rest(whole.pooled(), mine)
    found = _with_own(whole, rest, codes)
    by_row = {f"pooled_{name}": its[:, None] for name, its in pooled.arrays().items()}
    return PooledMoments(**found.arrays(), **by_row), exact & fine


def _rest(whole: Moments, mine: Moments) -> tuple[Moments, Array]:
    """Return the moments without one row each, of lines that have it: Σw(x − mean)² loses w·(x − mean)²·n / (n − w)."""
    n = np.maximum(whole.n - mine.n, 0.0)
    pull = mine.n / np.where(n > 0, n, 1.0)
    away = (mine.mean - whole.mean) - whole.tail
    m2 = whole.m2 - away * away * (pull * whole.n)
    gone = (mine.n > 0) & ((n <= 0) | (m2 < LEAST_LEFT * whole.m2))
    return Moments(n, *rounded(whole.mean, whole.tail - away * pull), np.maximum(m2, 0.0)), ~gone.any(axis=1)


def _with_own(whole: Held, own: Statistic, codes: Array) -> Held:
    """Return the sums of all classes for each row, [row, class, cell], with others for the row's own class."""
    arrays, each = {}, np.arange(len(codes))
    for name, array in whole.arrays().items():
        arrays[name] = np.repeat(array[None], len(codes), axis=0)
        arrays[name][each, codes] = getattr(own, name)
    return replace(whole, **arrays)
