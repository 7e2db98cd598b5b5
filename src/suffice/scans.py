"""One scan of a block's rows: which kernel reads it, with which accumulators, and what its alarm means."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from suffice.kernels import counting, moments, pairing
from suffice.schema import Array, by_group, starts_of
from suffice.tables import Block, Part, Sparse, cells_of
from suffice.tallies import CoMoments, Counts, Moments, PairCounts, rounded

# The first rows of a range, this many a class, give the means that the next ones are measured from, and
# these the means for all others. Measured from its first row alone, a column that starts with an outlier
# would lose a digit for each tenfold of rows.
HEAD = 32

# Products of rows with themselves are taken of this many cells at a time.
SCATTERED = 1 << 22

# Levels are codes 0, 1, …: a code beyond this is an identifier or a mistake, not a level.
MOST_LEVELS = 1 << 24
MOST_CELLS = 1 << 29


def bits(part: Part, threshold: float | None) -> Counts:
    """Return how often each column was above the threshold; without one, the sum of its bits."""
    if threshold is None:
        return sums(part, most=1)
    return Counts(part.class_count[:, None], _above(part, threshold))


def _above(part: Part, threshold: float) -> Array:
    block = part.block
    limit = comparable(threshold, block.dtype)
    if isinstance(block, Sparse):
        counts = np.zeros((part.classes, block.shape[1]))
        stored = part.stored()
        poison = counting.count_above_sparse(*stored, part.codes, part.weights, limit, counts, work=cells_of(stored))
        if poison != 0:
            block.reject_if_not_finite(part.rows)
        return counts
    check = finite_check(block)
    partial, counts, most_rows = _accumulators(part, {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.int64}, 1)
    for x, codes, weights in part.pieces():
        poison = counting.count_above(
            x, codes, weights, limit, check, most_rows, partial, counts, work=x.size + counts.size
        )
        if poison != 0:
            block.reject_if_not_finite(part.rows)
    return counts.astype(np.float64, copy=False)


def sums(part: Part, most: float | None = None) -> Counts:
    """Return the sum of each column, of numbers from 0 up (and up to ``most``)."""
    if isinstance(part.block, Sparse):
        counts = np.zeros((part.classes, part.block.shape[1]))
        stored = part.stored()
        outside = counting.add_up_sparse(*stored, part.codes, part.weights, most, counts, work=cells_of(stored))
        _check_sums(part, outside, counts, most)
        return Counts(part.class_count[:, None], counts)
    partial, counts, most_rows = _accumulators(part, {1: np.uint32} if part.block.dtype == np.uint8 else {}, 255)
    for x, codes, weights in part.pieces():
        outside = counting.add_up(x, codes, weights, most, most_rows, partial, counts, work=x.size + counts.size)
        if part.block.gaps and not np.isfinite(counts).all():
            return _sums_present(part)
        _check_sums(part, outside, counts, most)
    return Counts(part.class_count[:, None], counts)


def _sums_present(part: Part) -> Counts:
    """Return the sums over cells that are not empty, with the rows that have one."""
    shape = (part.classes, part.block.shape[1])
    n, counts = np.zeros(shape), np.zeros(shape)
    for x, codes, weights in part.pieces():
        outside = counting.add_up_present(x, codes, weights, n, counts, work=x.size)
        _check_sums(part, outside, counts, None)
    return Counts(n, counts)


def spreads(part: Part) -> Moments:
    """Return the moments of each column."""
    if part.block.dtype == np.uint8 and part.weights is None:
        return _moments_of_bytes(part)
    total, before = None, None
    for head in (HEAD * part.classes, HEAD**2 * part.classes, len(part.codes)):
        here, part = part.split(min(head, len(part.codes)))
        before = _deviations(here, before) or _deviations_present(here, before)
        total = before if total is None else total + before
        if not len(part.codes):
            break
    assert total is not None
    return total


def levels(part: Part) -> tuple[Array, Array]:
    """Return the number of levels of each column, and how often each level was seen, of plain codes."""
    columns = part.block.shape[1]
    room = np.full(columns, 8, np.intp)
    kind: Any = np.int64 if part.weights is None else np.float64
    counts = np.zeros((part.classes, int(room.sum())), kind)
    fractions = np.zeros(1, np.uint8)
    for x, codes, weights in part.pieces():
        starts, first = starts_of(room), 0
        while True:
            work = (len(x) - first) * columns
            first = counting.count_levels(x, codes, weights, first, starts, room, counts, fractions, work=work)
            if first == len(x):
                break
            wider = _room_for(part, x[first], room)
            counts, room = _relaid(counts, room, wider), wider
            starts = starts_of(room)
    if fractions[0]:
        _warn_of_fractions(part)
    return room, counts.astype(np.float64, copy=False)


def coded(part: Part, sizes: Array) -> Counts:
    """Return how often each level was seen, of columns with so many levels each, and the rows not empty."""
    counts = np.zeros((part.classes, int(sizes.sum())))
    starts = starts_of(sizes)
    for x, codes, weights in part.pieces():
        counting.count_coded(x, codes, weights, starts, counts, work=x.size)
    return Counts(by_group(np.add, counts, starts), counts)


def pairs(part: Part, sizes: Array) -> PairCounts:
    """Return how often each level was seen, and each two levels together."""
    starts, width = starts_of(sizes), int(sizes.sum())
    both = np.zeros((part.classes, width, width))
    if part.weights is None and bool(np.all(sizes == 2)) and _complete(part):
        _pairs_of_bits(part, both)
    else:
        for x, codes, weights in part.pieces():
            pairing.count_pairs(x, codes, weights, starts, both, work=x.size * x.shape[1] // 2)
        lower = np.tril_indices(width, -1)
        both[:, lower[1], lower[0]] = both[:, lower[0], lower[1]]
    total = np.diagonal(both, axis1=1, axis2=2)
    return PairCounts(by_group(np.add, total, starts), total, both)


def _complete(part: Part) -> bool:
    """Say whether all cells of coded columns hold one of the levels."""
    return all(x.min() >= 0 for x, _, _ in part.pieces())


def _pairs_of_bits(part: Part, both: Array) -> None:
    """Write the pairs of columns of two levels, from the ones that each two columns share."""
    ones = np.concatenate([x == 1 for x, _, _ in part.pieces()])
    for k in range(part.classes):
        mine = ones[part.codes == k]
        packed = np.packbits(mine, axis=0)
        words = np.zeros((packed.shape[1], -(-packed.shape[0] // 8) * 8), np.uint8)
        words[:, : packed.shape[0]] = packed.T
        lines = words.view(np.uint64)
        common = np.zeros((len(lines), len(lines)), np.uint64)
        pairing.count_common_bits(lines, common, work=lines.size * len(lines) // 2)
        lower = np.tril(common).astype(np.float64)
        shared = lower + np.tril(lower, -1).T
        alone = np.diagonal(shared)
        both[k, 1::2, 1::2] = shared
        both[k, 1::2, 0::2] = alone[:, None] - shared
        both[k, 0::2, 1::2] = alone[None, :] - shared
        both[k, 0::2, 0::2] = len(mine) - alone[:, None] - alone[None, :] + shared


def scatters(part: Part) -> CoMoments:
    """Return the co-moments of the columns, over the rows in which no cell is empty."""
    columns, classes = part.block.shape[1], part.classes
    n, sums = np.zeros((classes, 1)), np.zeros((classes, columns))
    shift, scatter = np.zeros((classes, columns)), np.zeros((classes, columns, columns))
    for x, codes, weights in part.pieces(SCATTERED):
        for k in np.unique(codes):
            mine = codes == k if weights is None else (codes == k) & (weights > 0)
            rows = x[mine].astype(np.float64, copy=False)
            weight = np.ones(len(rows)) if weights is None else weights[mine]
            total = weight @ rows
            if not np.isfinite(total).all():
                part.block.reject_if_not_finite(part.rows)
                there = np.isfinite(rows).all(axis=1)
                rows, weight = rows[there], weight[there]
                total = weight @ rows
            if not len(rows):
                continue
            if n[k] == 0:
                shift[k] = rows[: HEAD**2].mean(axis=0)
            rows -= shift[k]
            n[k] += weight.sum()
            sums[k] += weight @ rows
            if weights is not None:
                rows *= np.sqrt(weight)[:, None]
            with np.errstate(over="ignore", invalid="ignore"):
                scatter[k] += rows.T @ rows
    held = np.where(n > 0, n, 1.0)
    drift = sums / held
    _check_squares(part, sums, np.diagonal(scatter, axis1=1, axis2=2))
    together = CoMoments(n, *rounded(shift, drift), scatter - sums[:, :, None] * drift[:, None, :])
    whole = np.array_equal(n[:, 0], part.class_count) or not part.block.gaps
    return together if whole else together.beside(spreads(part))


def comparable(threshold: float, dtype: np.dtype[Any]) -> Any:
    """Return the threshold in the numbers' own type, so that they are compared without conversion.

    >>> comparable(127.5, np.dtype(np.uint8))
    np.uint8(127)
    """
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return dtype.type(threshold)
    bounds = np.iinfo(dtype)
    within = np.isfinite(threshold) and bounds.min <= int(np.floor(threshold)) <= bounds.max
    return dtype.type(int(np.floor(threshold))) if within else float(threshold)


def finite_check(block: Block) -> Any:
    """Return what asks a kernel to look out for NaN and infinity: whole numbers need no look."""
    return block.dtype.type(0) if block.dtype.kind == "f" else None


def _moments_of_bytes(part: Part) -> Moments:
    n, shape = part.class_count[:, None], (part.classes, part.block.shape[1])
    partial, partial_squares = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
    total, squares = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    most_rows = 0xFFFFFFFF // 255**2
    for x, codes, _ in part.pieces():
        moments.add_squares(
            x, codes, most_rows, partial, partial_squares, total, squares, work=2 * (x.size + total.size)
        )
    # n·Σx² − (Σx)² in whole numbers, where nothing is lost; a part is short enough for it
    held = np.where(n > 0, n, 1.0)
    return Moments(n, total / held, np.zeros(shape), (n.astype(np.int64) * squares - total * total) / held)


def _deviations(part: Part, before: Moments | None) -> Moments | None:
    """Return the moments, measured from the means of the rows before if there are any; None if cells are empty."""
    if before is not None and before.n.shape[1] > 1:
        return None  # cells were empty before, so this class and column may have no mean yet
    shape = (part.classes, part.block.shape[1])
    shift = np.zeros(shape) if before is None else before.mean.copy()
    met = np.zeros(part.classes, np.uint8) if before is None else (before.n[:, 0] > 0).astype(np.uint8)
    sums, squares = np.zeros(shape), np.zeros(shape)
    for x, codes, weights in part.pieces():
        if moments.add_deviations(x, codes, weights, shift, met, sums, squares, work=2 * x.size) != 0:
            part.block.reject_if_not_finite(part.rows)
        if part.block.gaps and not np.isfinite(sums).all():
            return None
    _check_squares(part, sums, squares)
    return Moments.about(part.class_count[:, None], shift, sums, squares)


def _deviations_present(part: Part, before: Moments | None) -> Moments:
    """Return the moments of the cells that are not empty, measured as `_deviations` does."""
    shape = (part.classes, part.block.shape[1])
    shift = np.zeros(shape) if before is None else before.mean.copy()
    met = np.zeros(shape, np.uint8) if before is None else np.broadcast_to(before.n > 0, shape).astype(np.uint8)
    n, sums, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for x, codes, weights in part.pieces():
        moments.add_deviations_present(x, codes, weights, shift, met, n, sums, squares, work=3 * x.size)
    _check_squares(part, sums, squares)
    return Moments.about(n, shift, sums, squares)


def _check_squares(part: Part, sums: Array, squares: Array) -> None:
    finite = np.isfinite(sums) & np.isfinite(squares)
    if not finite.all():
        part.block.reject_if_not_finite(part.rows)
        name = part.block.name(int(np.argmin(finite.all(axis=0))))
        raise ValueError(f"the numbers of {name} are so large that their squares overflow; rescale it")


def _accumulators(part: Part, narrow: dict[int, Any], largest: int) -> tuple[Array, Array, int]:
    """Return narrow accumulators, wide ones, and after how many rows the narrow ones are full."""
    shape, itemsize = (part.classes, part.block.shape[1]), part.block.dtype.itemsize
    if part.weights is not None or itemsize not in narrow:
        return np.zeros(shape), np.zeros(shape), 1 << 62
    return np.zeros(shape, narrow[itemsize]), np.zeros(shape, np.int64), int(np.iinfo(narrow[itemsize]).max) // largest


def _check_sums(part: Part, outside: bool, counts: Array, most: float | None) -> None:
    block = part.block
    if counts.dtype.kind == "f" and not np.isfinite(counts).all():
        block.reject_if_not_finite(part.rows)
        name = block.name(int(np.argmin(np.isfinite(counts).all(axis=0))))
        raise ValueError(f"the numbers of {name} are so large that their sum overflows; rescale it")
    if not outside:
        return
    found = None if most is None else block.find(part.rows, lambda values: values > most)
    if found is None:
        block.reject_negative(part.rows)
    row, column, value = found
    raise ValueError(
        f"{block.owner} with binarize=None takes 0s and 1s, but {block.name(column)} is {value} in row {row}; "
        "set binarize to the threshold above which a value counts as 1"
    )


def _room_for(part: Part, row: Array, room: Array) -> Array:
    """Return room for a row that did not fit, or say why it never will."""
    block = part.block
    if row.dtype.kind == "f" and not np.isfinite(row).all():
        block.reject_if_not_finite(part.rows)
    if bool(np.any(row < 0)):
        block.reject_negative(part.rows)
    column = int(np.argmax(row))
    if row[column] >= MOST_LEVELS:
        raise ValueError(
            f"{block.name(column)} holds the level {row[column]}, and {block.owner} takes levels as codes 0, 1, 2, …; "
            "encode the column (sklearn.preprocessing.OrdinalEncoder) or leave it out"
        )
    needed = np.maximum(row.astype(np.intp) + 1, room)
    # twice the room each time, so that a column whose levels grow row by row is not laid out anew each time
    wider = np.where(needed > room, np.maximum(needed, 2 * room), room)
    if int(wider.sum()) * part.classes > MOST_CELLS:
        raise ValueError(
            f"{block.name(column)} holds the level {row[column]}: to count so many levels in {part.classes} classes "
            f"takes {int(wider.sum()) * part.classes * 8 / 2**30:.0f} GiB; group its rare levels, or leave it out"
        )
    return wider


def _relaid(counts: Array, room: Array, wider: Array) -> Array:
    places = np.arange(counts.shape[1]) + np.repeat(starts_of(wider) - starts_of(room), room)
    relaid = np.zeros((len(counts), int(wider.sum())), counts.dtype)
    relaid[:, places] = counts
    return relaid


def _warn_of_fractions(part: Part) -> None:
    block = part.block
    found = block.find(part.rows, lambda values: values != np.floor(values))
    if found is not None:
        row, column, value = found
        warnings.warn(
            f"{block.name(column)} is {value} in row {row}: {block.owner} takes levels as whole numbers 0, 1, 2, … "
            "and cuts off the fraction, as scikit-learn does; encode the column (sklearn.preprocessing.OrdinalEncoder, "
            "or KBinsDiscretizer for numbers)",
            UserWarning,
            stacklevel=2,
        )
