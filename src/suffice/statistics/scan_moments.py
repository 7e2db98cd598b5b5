"""Scan moments: computes means, sums of squares and scatter matrices of numeric columns."""

from math import isfinite

import numpy as np

from suffice.blocks import Part
from suffice.kernels import moment_sums
from suffice.schema import Array
from suffice.statistics import CoMoments, FourthMoments, Moments, two_sum

# The means of the first rows, this many per class, are the origin of the deviations of the next rows, whose means are
# the origin for all others. With the first row alone as the origin, a column that starts with an outlier would lose a
# digit for each tenfold number of rows.
HEAD = 32

# The scatter matrix is a product of this many cells at a time, which stay in the cache, or of more if it is large.
SCATTERED, MOST_SCATTERED = 1 << 16, 1 << 22

# The most cells of a piece whose fourth moments are merged with those of the others.
MOST_MERGED = 1 << 25


def spreads(part: Part) -> Moments:
    """Return the moments of each column."""
    if part.block.dtype == np.uint8 and part.weights is None:
        return _moments_of_bytes(part)
    if len(part.codes) == 1 and part.weights is None and not part.block.gaps:
        return _moments_of_row(part)
    total, before = None, None
    for head in (HEAD * part.classes, HEAD**2 * part.classes, len(part.codes)):
        last = head >= len(part.codes)
        here, part = (part, part) if last else part.split(head)
        before = _deviations(here, before) or _deviations_present(here, before)
        total = before if total is None else total + before
        if last:
            break
    assert total is not None
    return total


def scatters(part: Part) -> CoMoments:
    """Return the co-moments of the columns, over the rows in which no cell is missing."""
    columns, classes = part.block.shape[1], part.classes
    n, sums = np.zeros((classes, 1)), np.zeros((classes, columns))
    shift, scatter = np.zeros((classes, columns)), np.zeros((classes, columns, columns))
    for x, codes, weights in part.pieces(_cells_of_products(classes, columns, SCATTERED, MOST_SCATTERED)):
        for k in np.flatnonzero(np.bincount(codes)):
            chosen = np.flatnonzero(codes == k if weights is None else (codes == k) & (weights > 0))
            rows = np.take(x, chosen, axis=0).astype(np.float64, copy=False)
            weight = np.ones(len(rows)) if weights is None else weights[chosen]
            total = weight @ rows
            if not np.isfinite(total).all():
                part.block.reject_if_not_finite(part.rows)
                complete = np.isfinite(rows).all(axis=1)
                rows, weight = rows[complete], weight[complete]
                total = weight @ rows
            if not len(rows):
                continue
            if n[k] == 0:
                head = rows[: HEAD**2]
                # within the range despite rounding, so that a constant column is 0 after the shift
                shift[k] = head.mean(axis=0).clip(head.min(axis=0), head.max(axis=0))
            rows -= shift[k]
            n[k] += weight.sum()
            sums[k] += weight @ rows
            if weights is not None:
                rows *= np.sqrt(weight)[:, None]
            with np.errstate(over="ignore", invalid="ignore"):
                scatter[k] += rows.T @ rows
    drift = sums / np.where(n > 0, n, 1.0)
    _check_squares(part, sums, np.diagonal(scatter, axis1=1, axis2=2))
    comoments = CoMoments(n, *two_sum(shift, drift), scatter - sums[:, :, None] * drift[:, None, :])
    is_complete = np.array_equal(n[:, 0], part.class_count) or not part.block.gaps
    return comoments if is_complete else comoments.with_spreads(spreads(part))


def fourths(part: Part) -> FourthMoments:
    """Return the fourth moments of the columns, over the rows in which no cell is missing.

    Fourth powers of the distance to a common origin would lose digits if the numbers drift away from it, so the rows of
    a piece are centred at their own mean, and the pieces are merged.
    """
    columns, classes = part.block.shape[1], part.classes
    total = FourthMoments.zero(classes, columns)
    for x, codes, weights in part.pieces(_cells_of_products(classes, columns, MOST_SCATTERED, MOST_MERGED)):
        present = np.unique(codes)
        found = []
        for k in present:
            chosen = codes == k if weights is None else (codes == k) & (weights > 0)
            rows, weight = x[chosen].astype(np.float64, copy=False), None if weights is None else weights[chosen]
            if not np.isfinite(rows.sum()):
                part.block.reject_if_not_finite(part.rows)
                complete = np.isfinite(rows).all(axis=1)
                rows, weight = rows[complete], None if weight is None else weight[complete]
            with np.errstate(over="ignore", invalid="ignore"):
                found.append(FourthMoments.of(rows, weight) if len(rows) else FourthMoments.zero(1, columns))
        arrays = {name: np.concatenate([each.arrays()[name] for each in found]) for name in found[0].arrays()}
        with np.errstate(over="ignore", invalid="ignore"):
            total = total + FourthMoments(**arrays).rearrange((classes, columns), present, None, None)
    _check_squares(part, total.mean, np.diagonal(total.fourths, axis1=1, axis2=2), "fourth powers")
    is_complete = np.array_equal(total.n[:, 0], part.class_count) or not part.block.gaps
    return total if is_complete else total.with_spreads(spreads(part))


def _cells_of_products(classes: int, columns: int, least: int, most: int) -> int:
    """Return a number of cells with several rows for each column and class: products take longer than adding them."""
    return min(max(least, 8 * classes * columns**2), most)


def _moments_of_row(part: Part) -> Moments:
    """Return the moments of a single row, which is its own mean; a stream that arrives row by row needs this."""
    mean = np.zeros((part.classes, part.block.shape[1]))
    for x, codes, _ in part.pieces():
        mean[codes[0]] = x[0]
    if not isfinite(mean.sum()):
        part.block.reject_if_not_finite(part.rows)
    zeros = np.zeros(mean.shape)
    return Moments(part.class_count[:, None], mean, zeros, zeros)


def _moments_of_bytes(part: Part) -> Moments:
    n, shape = part.class_count[:, None], (part.classes, part.block.shape[1])
    partial, partial_squares = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
    total, squares = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    most_rows = 0xFFFFFFFF // 255**2
    for x, codes, _ in part.pieces():
        moment_sums.add_squares(
            x, codes, most_rows, partial, partial_squares, total, squares, work=2 * (x.size + total.size)
        )
    # n·Σx² − (Σx)² is exact in integers; a part has few enough rows for 64 bits
    divisor = np.where(n > 0, n, 1.0)
    return Moments(n, total / divisor, np.zeros(shape), (n.astype(np.int64) * squares - total * total) / divisor)


def _deviations(part: Part, before: Moments | None) -> Moments | None:
    """Return the moments, with the means of the rows before as the origin; None if cells are missing."""
    if before is not None and before.n.shape[1] > 1:
        return None  # cells were missing before, so this class and column may have no mean yet
    shape = (part.classes, part.block.shape[1])
    shift = np.zeros(shape) if before is None else before.mean.copy()
    has_mean = np.zeros(part.classes, np.uint8) if before is None else (before.n[:, 0] > 0).astype(np.uint8)
    sums, squares = np.zeros(shape), np.zeros(shape)
    for x, codes, weights in part.pieces():
        if moment_sums.add_deviations(x, codes, weights, shift, has_mean, sums, squares, work=2 * x.size) != 0:
            part.block.reject_if_not_finite(part.rows)
        if part.block.gaps and not np.isfinite(sums).all():
            return None
    _check_squares(part, sums, squares)
    return Moments.about(part.class_count[:, None], shift, sums, squares)


def _deviations_present(part: Part, before: Moments | None) -> Moments:
    """Return the moments of the cells that are not missing, with the same origin as `_deviations`."""
    shape = (part.classes, part.block.shape[1])
    shift = np.zeros(shape) if before is None else before.mean.copy()
    has_mean = np.zeros(shape, np.uint8) if before is None else np.broadcast_to(before.n > 0, shape).astype(np.uint8)
    n, sums, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for x, codes, weights in part.pieces():
        moment_sums.add_deviations_present(x, codes, weights, shift, has_mean, n, sums, squares, work=3 * x.size)
    _check_squares(part, sums, squares)
    return Moments.about(n, shift, sums, squares)


def _check_squares(part: Part, sums: Array, squares: Array, what: str = "squares") -> None:
    finite = np.isfinite(sums) & np.isfinite(squares)
    if not finite.all():
        part.block.reject_if_not_finite(part.rows)
        name = part.block.name(int(np.argmin(finite.all(axis=0))))
        raise ValueError(f"the numbers of {name} are so large that their {what} overflow; rescale it")
