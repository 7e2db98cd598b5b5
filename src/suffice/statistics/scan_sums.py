"""Scan sums: adds up numeric columns, or counts the numbers above a threshold."""

from typing import Any

import numpy as np

from suffice.blocks import Function, Part, Sparse, cells_of
from suffice.blocks.block import PIECE
from suffice.kernels import count_rows
from suffice.schema import Array
from suffice.statistics import Counts, FunctionSums, SquaredCounts
from suffice.statistics.kernel_arguments import comparable, finite_check


def bits(part: Part, threshold: float | None) -> Counts:
    """Return how often each column is above the threshold; without a threshold, the sums of columns of 0s and 1s."""
    return sums(part, most=1) if threshold is None else _count_above(part, threshold)


def sums(part: Part, most: float | None = None) -> Counts:
    """Return the sum of each column, whose numbers must not be negative (nor above ``most``)."""
    if isinstance(part.block, Sparse):
        counts = np.zeros((part.classes, part.block.shape[1]))
        stored = part.stored()
        outside = count_rows.add_up_sparse(*stored, part.codes, part.weights, most, counts, work=cells_of(stored))
        _check_sums(part, outside, counts, most)
        return Counts(part.class_count[:, None], counts)
    partial, counts, most_rows = _accumulators(part, {1: np.uint32} if part.block.dtype == np.uint8 else {}, 255)
    for x, codes, weights in part.pieces():
        outside = count_rows.add_up(x, codes, weights, most, most_rows, partial, counts, work=x.size + counts.size)
        if part.block.gaps and not np.isfinite(counts).all():
            return _sums_present(part, most=most)
        _check_sums(part, outside, counts, most)
    return Counts(part.class_count[:, None], counts)


def functions(part: Part, mappings: tuple[Function | None, Function]) -> FunctionSums:
    """Return the sums of two functions of each column; None is the number itself."""
    shape = (part.classes, part.block.shape[1])
    n, sums = np.zeros(shape), (np.zeros(shape), np.zeros(shape))
    for x, codes, weights in part.pieces(PIECE // 8):
        x = np.asarray(x, np.float64)
        present = ~np.isnan(x)
        weight = present * (1.0 if weights is None else weights[:, None])
        places = (codes[:, None].astype(np.intp) * shape[1] + np.arange(shape[1])).ravel()

        def add_up(values: Array, places: Array = places) -> Array:
            return np.bincount(places, values.ravel(), minlength=shape[0] * shape[1]).reshape(shape)

        n += add_up(weight)
        for total, mapping in zip(sums, mappings, strict=True):
            total += add_up(weight * np.where(present, x if mapping is None else mapping(x), 0.0))
    if not all(np.isfinite(total).all() for total in sums):
        part.block.reject_if_not_finite(part.rows)
        raise ValueError("the numbers of a column are so large that their sum overflows; rescale it")
    # rows without missing cells have the same n in all columns, up to the rounding of weights
    is_complete = not part.block.gaps or bool(np.allclose(n, part.class_count[:, None], rtol=1e-12, atol=0.0))
    return FunctionSums(part.class_count[:, None] if is_complete else n, *sums)


def squares(part: Part) -> SquaredCounts:
    """Return the sum of each column and of its squares; numbers must not be negative."""
    shape = (part.classes, part.block.shape[1])
    counts, squared, n = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    if isinstance(part.block, Sparse):
        stored = part.stored()
        sums = (counts, squared)
        outside = count_rows.add_up_squares_sparse(*stored, part.codes, part.weights, *sums, work=cells_of(stored))
        _check_sums(part, outside, squared, None)
    else:
        for x, codes, weights in part.pieces():
            outside = count_rows.add_up_squares(x, codes, weights, n, counts, squared, work=x.size)
            _check_sums(part, outside, squared, None)
    return SquaredCounts(n if part.block.gaps else part.class_count[:, None], counts, squared)


def _count_above(part: Part, threshold: float) -> Counts:
    block, n = part.block, part.class_count[:, None]
    limit = comparable(threshold, block.dtype)
    if isinstance(block, Sparse):
        counts = np.zeros((part.classes, block.shape[1]))
        stored = part.stored()
        poison = count_rows.count_above_sparse(*stored, part.codes, part.weights, limit, counts, work=cells_of(stored))
        if poison != 0:
            block.reject_if_not_finite(part.rows)
        return Counts(n, counts)
    check = finite_check(block)
    partial, counts, most_rows = _accumulators(part, {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.int64}, 1)
    for x, codes, weights in part.pieces():
        poison = count_rows.count_above(
            x, codes, weights, limit, check, most_rows, partial, counts, work=x.size + counts.size
        )
        if poison != 0:
            block.reject_if_not_finite(part.rows)
            return _sums_present(part, limit)
    return Counts(n, counts.astype(np.float64, copy=False))


def _sums_present(part: Part, threshold: Any = None, most: float | None = None) -> Counts:
    """Return the sums over the cells that are not missing, or how many are above the threshold, and n by column."""
    shape = (part.classes, part.block.shape[1])
    n, counts = np.zeros(shape), np.zeros(shape)
    for x, codes, weights in part.pieces():
        outside = count_rows.add_up_present(x, codes, weights, threshold, most, n, counts, work=x.size)
        _check_sums(part, outside, counts, most)
    return Counts(n, counts)


def _accumulators(part: Part, narrow: dict[int, Any], largest: int) -> tuple[Array, Array, int]:
    """Return narrow and wide accumulators, and the number of rows after which the narrow ones are full."""
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
