"""The engine for data in memory: counts ranges of rows in threads, and merges their tallies."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np

from suffice.blocks import Block
from suffice.data import Table
from suffice.families import FAMILIES
from suffice.parallel import LEAST_WORK, limit_blas, map_threads
from suffice.schema import Array, Columns, Features, Schema
from suffice.statistics import Tally

Result = TypeVar("Result")

# A part has at least LEAST_WORK cells. There are up to FEW_PARTS parts, or MANY_PARTS if there are more than MUCH_WORK
# cells.
FEW_PARTS, MANY_PARTS, MUCH_WORK = 4, 16, 1 << 27
MOST_ROWS = 1 << 22  # in a part, so that sums of squares of bytes fit into 64 bits
SCORED_ROWS, FEWEST_ROWS = 1 << 13, 1 << 10
SCORED_CELLS = 1 << 21  # in a part that is scored, so that its scores stay in the cache


def tally(
    table: Table, columns: tuple[Columns, ...], features: Features | None = None, *, trimmed: bool = True
) -> Tally:
    """Return the tally of a table, with one scan of each block; if ``trimmed``, without levels that have no rows."""
    classes = table.target.classes
    for block in columns:
        block.check_pairs(len(classes))

    def tally_of(rows: slice) -> Tally:
        parts = table.parts(rows)
        tallied = [FAMILIES[block.family].tally(block, part) for block, part in zip(columns, parts, strict=True)]
        schema = Schema(classes, tuple(columns for columns, _ in tallied), features)
        return Tally(schema, parts[0].class_count, tuple(statistic for _, statistic in tallied))

    # only the co-moments of pairs are products of matrices
    cells = sum(block.cells for block in table.blocks)
    with limit_blas(cells) if any(block.pairs for block in columns) else nullcontext():
        whole = reduce(add, map_threads(tally_of, _parts(table.blocks, columns, len(classes))))
    return whole.trimmed() if trimmed else whole


def tally_by(
    table: Table, columns: tuple[Columns, ...], groups: Array, count: int, features: Features | None = None
) -> list[Tally]:
    """Return the tally of each group of rows in one scan; each pair of group and class is counted as a class."""
    target, classes = table.target, len(table.target.classes)
    finer = replace(target, classes=np.arange(count * classes), codes=groups * classes + target.codes)
    whole = tally(replace(table, target=finer), columns, features)
    schema = Schema(target.classes, whole.schema.blocks, features)
    tallies = []
    for group in range(count):
        lines = slice(group * classes, (group + 1) * classes)
        tallies.append(Tally(schema, whole.class_count[lines], tuple(sums.lines(lines) for sums in whole.statistics)))
    return tallies


def tally_rows(table: Table, schema: Schema) -> Tally:
    """Return the sums of each row, in the blocks of a schema: the tally in which each row is a class of its own."""
    places, weights = np.arange(len(table.target.codes)), table.target.weights
    if not schema.blocks:
        return Tally(replace(schema, classes=places), np.ones(len(places)) if weights is None else weights, ())
    own = replace(table, target=replace(table.target, classes=places, codes=places))
    return tally(own, schema.blocks, schema.features).on(replace(schema, classes=places))


def over_rows(blocks: tuple[Block, ...], classes: int, function: Callable[[slice], Result]) -> list[Result]:
    """Return the results of a function for ranges of rows, in order."""
    rows, cells = blocks[0].shape[0], sum(block.cells for block in blocks)
    quarter = max(-(-rows // 4), FEWEST_ROWS)
    step = max(min(SCORED_CELLS * rows // max(cells, 1), (1 << 17) // classes, SCORED_ROWS, quarter), 64)
    ranges = [slice(first, min(first + step, rows)) for first in range(0, rows, step)]
    return map_threads(function, ranges)


def _parts(blocks: tuple[Block, ...], columns: tuple[Columns, ...], classes: int) -> list[slice]:
    """Split the rows into ranges that depend on the size of the data only.

    They do not depend on the number of threads, so neither does the result. Each range needs its own accumulators, so
    there are few ranges if these are large (words times classes).
    """
    rows, cells = blocks[0].shape[0], sum(block.cells for block in blocks)
    if cells < LEAST_WORK and rows <= MOST_ROWS:
        return [slice(0, rows)]
    affordable = cells // max(LEAST_WORK, 2 * classes * sum(map(_size, columns, blocks)))
    most = FEW_PARTS if cells < MUCH_WORK else MANY_PARTS
    count = 1 << max(min(affordable, most, rows), 1).bit_length() - 1
    step = min(-(-rows // count), MOST_ROWS)
    return [slice(first, min(first + step, rows)) for first in range(0, rows, step)]


def _size(columns: Columns, block: Block) -> int:
    """Return the number of accumulators of a class; one per column for plain codes, whose levels are not known yet."""
    return block.shape[1] if columns.sizes is None and not columns.pairs else columns.size
