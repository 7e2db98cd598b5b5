"""Scan levels: counts the levels of coded columns, and pairs of levels."""

from typing import Any

import numpy as np

from suffice.blocks import Part
from suffice.caller_warnings import warn_caller
from suffice.kernels import count_pairs, count_rows
from suffice.parallel import map_threads
from suffice.schema import Array, by_group, starts_of
from suffice.statistics import Counts, PairCounts

# Levels are codes 0, 1, …; a larger code is an identifier or a mistake, not a level.
GREATEST_CODE = 1 << 24
MOST_CELLS = 1 << 29


def levels(part: Part, known: Array | None = None) -> tuple[Array, Array]:
    """Return the number of levels of each column, and the count of each level, of columns that hold plain codes.

    ``known`` is the number of levels where it is known; columns with more levels get more room as they are found.
    """
    columns = part.block.shape[1]
    room = np.full(columns, 8, np.intp) if known is None else known
    kind: Any = np.int64 if part.weights is None else np.float64
    counts = np.zeros((part.classes, int(room.sum())), kind)
    fractions, gaps = np.zeros(1, np.uint8), True if part.block.gaps else None
    for x, codes, weights in part.pieces():
        starts, first = starts_of(room), 0
        while True:
            work = (len(x) - first) * columns
            first = count_rows.count_levels(x, codes, weights, gaps, first, starts, room, counts, fractions, work=work)
            if first == len(x):
                break
            wider = _grow_room(part, x[first], room)
            counts, room = _rearrange(counts, room, wider), wider
            starts = starts_of(room)
    if fractions[0]:
        _warn_about_fractions(part)
    return room, counts.astype(np.float64, copy=False)


def coded(part: Part, sizes: Array) -> Counts:
    """Return the count of each level of columns with ``sizes`` levels; missing cells are skipped."""
    counts = np.zeros((part.classes, int(sizes.sum())))
    starts = starts_of(sizes)
    for x, codes, weights in part.pieces():
        count_rows.count_coded(x, codes, weights, starts, counts, work=x.size)
    return Counts(by_group(np.add, counts, starts), counts)


def pairs(part: Part, sizes: Array) -> PairCounts:
    """Return the count of each level and of each pair of levels."""
    starts, width = starts_of(sizes), int(sizes.sum())
    both = np.zeros((part.classes, width, width))
    if part.weights is None and bool(np.all(sizes == 2)) and part.block.dtype == np.int8 and _is_complete(part):
        _count_pairs_of_bits(part, both)
    else:
        kind: Any = np.uint32 if part.weights is None else np.float64
        lower = np.zeros((part.classes, width, width + 1), kind)
        for x, codes, weights in part.pieces():
            count_pairs.count_pairs(x, codes, weights, starts, lower, work=x.size * x.shape[1] // 2)
        for table, counted in zip(both, lower[:, :, :-1], strict=True):
            np.add(counted, counted.T, out=table)
            np.fill_diagonal(table, np.diagonal(counted))  # the upper half of `counted` is 0, but not its diagonal
    total = np.diagonal(both, axis1=1, axis2=2)
    return PairCounts(by_group(np.add, total, starts), total, both)


def _is_complete(part: Part) -> bool:
    """Return whether no cell of the coded columns is missing."""
    return all(x.min() >= 0 for x, _, _ in part.pieces())


def _count_pairs_of_bits(part: Part, both: Array) -> None:
    """Write the pair counts of columns with two levels into ``both``, from the 1s that two columns share."""
    ones = np.concatenate([x for x, _, _ in part.pieces()]).view(np.uint8)
    order = np.argsort(part.codes, kind="stable")
    ends = np.cumsum(part.class_count.astype(int))

    def count(k: int) -> None:
        rows = int(part.class_count[k])
        rows_of_class = ones[order[ends[k] - rows : ends[k]]]
        packed = np.packbits(rows_of_class, axis=0)
        words = np.zeros((packed.shape[1], -(-packed.shape[0] // 8) * 8), np.uint8)
        words[:, : packed.shape[0]] = packed.T
        totals = rows_of_class.sum(axis=0, dtype=np.float64)
        columns = words.view(np.uint64)
        count_pairs.count_bit_pairs(columns, float(rows), totals, both[k], work=columns.size * len(columns) // 2)

    map_threads(count, range(part.classes))


def _grow_room(part: Part, row: Array, room: Array) -> Array:
    """Return a number of levels that has room for a row; raise ValueError if the row has no valid levels."""
    block = part.block
    if row.dtype.kind == "f" and not np.isfinite(row).all():
        block.reject_if_not_finite(part.rows)
    if bool(np.any(row < 0)):
        block.reject_negative(part.rows)
    column = int(np.nanargmax(row))
    if row[column] >= GREATEST_CODE:
        raise ValueError(
            f"{block.name(column)} holds the level {row[column]}, but {block.owner} takes levels as codes 0, 1, 2, …; "
            "encode the column (sklearn.preprocessing.OrdinalEncoder) or leave it out"
        )
    needed = np.maximum(np.nan_to_num(row).astype(np.intp) + 1, room)
    # doubling: a column whose levels grow with every row would otherwise be rearranged for every row
    wider = np.where(needed > room, np.maximum(needed, 2 * room), room)
    if int(wider.sum()) * part.classes > MOST_CELLS:
        raise ValueError(
            f"{block.name(column)} holds the level {row[column]}: counting so many levels in {part.classes} classes "
            f"takes {int(wider.sum()) * part.classes * 8 / 2**30:.0f} GiB; group its rare levels, or leave it out"
        )
    return wider


def _rearrange(counts: Array, room: Array, wider: Array) -> Array:
    places = np.arange(counts.shape[1]) + np.repeat(starts_of(wider) - starts_of(room), room)
    rearranged = np.zeros((len(counts), int(wider.sum())), counts.dtype)
    rearranged[:, places] = counts
    return rearranged


def _warn_about_fractions(part: Part) -> None:
    block = part.block
    found = block.find(part.rows, lambda values: values != np.floor(values))
    if found is not None:
        row, column, value = found
        warn_caller(
            f"{block.name(column)} is {value} in row {row}: {block.owner} takes levels as whole numbers 0, 1, 2, … "
            "and truncates fractions, as scikit-learn does; encode the column (sklearn.preprocessing.OrdinalEncoder, "
            "or KBinsDiscretizer for numbers)"
        )
