"""One scan of a block's rows: which kernel reads it, with which accumulators, and what its alarm means."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from suffice.kernels import counting, moments
from suffice.schema import Array
from suffice.tables import Block, Dense, Sparse
from suffice.tallies import Moments

# The first rows of a range, this many a class, give the means that the others are measured from.
# Measured from its first row alone, a column that starts with an outlier would lose a digit for each
# tenfold of rows.
HEAD = 32

# Levels are codes 0, 1, …: a code beyond this is an identifier or a mistake, not a level.
MOST_LEVELS = 1 << 24


def bits(
    block: Block, rows: slice, codes: Array, weights: Array | None, classes: int, threshold: float | None
) -> Array:
    """Return how often each column was above the threshold; without one, the sum of its bits."""
    if threshold is None:
        return sums(block, rows, codes, weights, classes, most=1)
    limit = comparable(threshold, block.dtype)
    if isinstance(block, Sparse):
        counts = np.zeros((classes, block.shape[1]))
        stored = block.stored(rows.start, rows.stop)
        poison = counting.count_above_sparse(*stored, codes, weights, limit, counts, work=_stored(stored))
        if poison != 0:
            block.reject_if_not_finite(rows)
        return counts
    check = finite_check(block)
    partial, counts, most_rows = _accumulators(
        block, weights, classes, {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.int64}, 1
    )
    for here, x in _pieces(block, rows):
        weight = None if weights is None else weights[here]
        poison = counting.count_above(x, codes[here], weight, limit, check, most_rows, partial, counts, work=x.size)
        if poison != 0:
            block.reject_if_not_finite(rows)
    return counts.astype(np.float64, copy=False)


def sums(
    block: Block, rows: slice, codes: Array, weights: Array | None, classes: int, most: float | None = None
) -> Array:
    """Return the sum of each column, of numbers from 0 up (and up to ``most``)."""
    if isinstance(block, Sparse):
        counts = np.zeros((classes, block.shape[1]))
        stored = block.stored(rows.start, rows.stop)
        outside = counting.add_up_sparse(*stored, codes, weights, most, counts, work=_stored(stored))
        _check_sums(block, rows, outside, counts, most)
        return counts
    narrow = {1: np.uint32} if block.dtype == np.uint8 else {}
    partial, counts, most_rows = _accumulators(block, weights, classes, narrow, 255)
    for here, x in _pieces(block, rows):
        weight = None if weights is None else weights[here]
        outside = counting.add_up(x, codes[here], weight, most, most_rows, partial, counts, work=x.size)
        _check_sums(block, rows, outside, counts, most)
    return counts.astype(np.float64, copy=False)


def spreads(block: Block, rows: slice, codes: Array, weights: Array | None, class_count: Array) -> Moments:
    """Return the moments of each column."""
    n = class_count[:, None]
    shape = (len(n), block.shape[1])
    if block.dtype == np.uint8 and weights is None:
        partial, partial_squares = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
        total, squares = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        most_rows = 0xFFFFFFFF // 255**2
        for here, x in _pieces(block, rows):
            moments.add_squares(x, codes[here], most_rows, partial, partial_squares, total, squares, work=2 * x.size)
        # n·Σx² − (Σx)² in whole numbers, where nothing is lost; a part is short enough for it
        spread = (n.astype(np.int64) * squares - total * total) / np.where(n > 0, n, 1.0)
        mean = total / np.where(n > 0, n, 1.0)
        return Moments(n, mean, np.zeros(shape), spread)
    head = HEAD * len(n)
    weight, later = (None, None) if weights is None else (weights[:head], weights[head:])
    first = _deviations(block, slice(rows.start, min(rows.start + head, rows.stop)), codes[:head], weight, len(n), None)
    if len(codes) <= head:
        return first
    return first + _deviations(block, slice(rows.start + head, rows.stop), codes[head:], later, len(n), first)


def _deviations(
    block: Block, rows: slice, codes: Array, weights: Array | None, classes: int, first: Moments | None
) -> Moments:
    """Return the moments of a range of rows, about the means of the rows before it if there are any."""
    shape = (classes, block.shape[1])
    shift = np.zeros(shape) if first is None else first.mean.copy()
    met = np.zeros(classes, np.uint8) if first is None else (first.n[:, 0] > 0).astype(np.uint8)
    sums, squares = np.zeros(shape), np.zeros(shape)
    for here, x in _pieces(block, rows):
        weight = None if weights is None else weights[here]
        moments.add_deviations(x, codes[here], weight, shift, met, sums, squares, work=2 * x.size)
    finite = np.isfinite(sums) & np.isfinite(squares)
    if not finite.all():
        block.reject_if_not_finite(rows)
        column = int(np.argmin(finite.all(axis=0)))
        raise ValueError(f"the numbers of {block.name(column)} are so large that their squares overflow; rescale it")
    n = np.bincount(codes, weights, minlength=classes).astype(np.float64)[:, None]
    return Moments.about(n, shift, sums, squares)


def levels(block: Block, rows: slice, codes: Array, weights: Array | None, classes: int) -> tuple[Array, Array]:
    """Return the number of levels of each column, and how often each level was seen."""
    columns = block.shape[1]
    room = np.full(columns, 8, np.intp)
    kind: Any = np.int64 if weights is None else np.float64
    counts = np.zeros((classes, int(room.sum())), kind)
    fractions = np.zeros(1, np.uint8)
    for here, x in _pieces(block, rows):
        weight = None if weights is None else weights[here]
        starts, first = _starts(room), 0
        while True:
            work = (len(x) - first) * columns
            first = counting.count_levels(x, codes[here], weight, first, starts, room, counts, fractions, work=work)
            if first == len(x):
                break
            wider = _room_for(block, rows, x[first], room)
            counts, room = _relaid(counts, room, wider), wider
            starts = _starts(room)
    if fractions[0]:
        _warn_of_fractions(block, rows)
    return room, counts.astype(np.float64, copy=False)


def comparable(threshold: float, dtype: np.dtype[Any]) -> Any:
    """Return the threshold in the numbers' own type, so that they are compared without conversion.

    >>> comparable(127.5, np.dtype(np.uint8))
    np.uint8(127)
    """
    if dtype.kind == "f":
        return dtype.type(threshold)
    whole = np.floor(threshold)
    bounds = np.iinfo(dtype)
    return dtype.type(int(whole)) if bounds.min <= whole <= bounds.max else float(threshold)


def finite_check(block: Block) -> Any:
    """Return what asks a kernel to look out for NaN and infinity: whole numbers need no look."""
    return block.dtype.type(0) if block.dtype.kind == "f" else None


def _pieces(block: Block, rows: slice) -> Iterator[tuple[slice, Array]]:
    """Yield the rows in pieces, with where each stands among the rows asked for."""
    assert isinstance(block, Dense)
    for place, piece in block.pieces(rows.start, rows.stop):
        yield slice(place.start - rows.start, place.stop - rows.start), piece


def _accumulators(
    block: Block, weights: Array | None, classes: int, narrow: dict[int, Any], largest: int
) -> tuple[Array, Array, int]:
    """Return narrow accumulators, wide ones, and after how many rows the narrow ones are full."""
    shape = (classes, block.shape[1])
    if weights is not None or block.dtype.itemsize not in narrow:
        return np.zeros(shape), np.zeros(shape), 1 << 62
    kind = narrow[block.dtype.itemsize]
    return np.zeros(shape, kind), np.zeros(shape, np.int64), int(np.iinfo(kind).max) // largest


def _stored(stored: tuple[Array, Array, Array]) -> int:
    return int(stored[0][-1] - stored[0][0])


def _check_sums(block: Block, rows: slice, outside: bool, counts: Array, most: float | None) -> None:
    if counts.dtype.kind == "f" and not np.isfinite(counts).all():
        block.reject_if_not_finite(rows)
    if not outside:
        return
    found = None if most is None else block.find(rows, lambda values: values > most)
    if found is None:
        block.reject_negative(rows)
    row, column, value = found
    raise ValueError(
        f"{block.owner} with binarize=None takes 0s and 1s, but {block.name(column)} is {value} in row {row}; "
        "set binarize to the threshold above which a value counts as 1"
    )


def _starts(room: Array) -> Array:
    return np.concatenate([[0], np.cumsum(room)[:-1]]).astype(np.intp)


def _room_for(block: Block, rows: slice, row: Array, room: Array) -> Array:
    """Return room for a row that did not fit, or say why it never will."""
    if row.dtype.kind == "f" and not np.isfinite(row).all():
        block.reject_if_not_finite(rows)
    if bool(np.any(row < 0)):
        block.reject_negative(rows)
    column = int(np.argmax(row))
    if row[column] >= MOST_LEVELS:
        raise ValueError(
            f"{block.name(column)} holds the level {row[column]}, and {block.owner} takes levels as codes 0, 1, 2, …; "
            "encode the column (sklearn.preprocessing.OrdinalEncoder) or leave it out"
        )
    needed = np.maximum(row.astype(np.intp) + 1, room)
    # twice the room each time, so that a column whose levels grow row by row is not laid out anew each time
    return np.where(needed > room, np.maximum(needed, 2 * room), room)


def _relaid(counts: Array, room: Array, wider: Array) -> Array:
    places = np.arange(counts.shape[1]) + np.repeat(_starts(wider) - _starts(room), room)
    relaid = np.zeros((len(counts), int(wider.sum())), counts.dtype)
    relaid[:, places] = counts
    return relaid


def _warn_of_fractions(block: Block, rows: slice) -> None:
    found = block.find(rows, lambda values: values != np.floor(values))
    if found is not None:
        row, column, value = found
        warnings.warn(
            f"{block.name(column)} is {value} in row {row}: {block.owner} takes levels as whole numbers 0, 1, 2, … "
            "and cuts off the fraction, as scikit-learn does; encode the column (sklearn.preprocessing.OrdinalEncoder, "
            "or KBinsDiscretizer for numbers)",
            UserWarning,
            stacklevel=2,
        )
