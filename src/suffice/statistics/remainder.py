"""Remainders: whether the sums that a subtraction leaves can be the sums of any rows.

A subtraction by itself refuses sums below zero. Sums that are all positive can still contradict each other: more cells
of a column than rows, more ones than cells, more pairs of a level than the level has rows, or a scatter matrix in which
some direction has a negative variance. No rows have such sums, so what was subtracted had not been added.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from suffice.schema import Array, Columns, by_group
from suffice.statistics.comoments import CoMoments
from suffice.statistics.counts import Counts
from suffice.statistics.pair_counts import PairCounts
from suffice.statistics.statistic import Statistic
from suffice.statistics.tally import Tally

# Fractional weights are summed in a different order for each sum; the relative difference of the sums is smaller.
ROUNDED_WEIGHTS = 1e-9

# Rounding changes the moments that are left by less than this share of the moments that were there before.
ROUNDED_MOMENTS = 1e-6

# Scatter matrices of more columns are not decomposed, which takes time in the cube of their number.
MOST_COLUMNS = 512

Contradiction = tuple[int, str]


def check_remainder(before: Tally, left: Tally, are_bits: Sequence[bool]) -> None:
    """Raise ValueError if the sums that are left contradict each other, so that no rows can have them.

    Parameters
    ----------
    before, left : Tally
        The tally before a subtraction, and its result.
    are_bits : sequence of bool
        For each block, whether its columns hold zeros and ones, so that a sum is a number of cells.
    """
    classes = np.searchsorted(before.schema.classes, left.schema.classes)
    rows, held = left.class_count[:, None], before.class_count[classes, None]
    blocks = zip(left.schema.blocks, before.statistics, left.statistics, are_bits, strict=True)
    for block, then, now, is_bits in blocks:
        found = next(_contradictions(block, then.lines(classes), now, rows, held, is_bits), None)  # type: ignore[arg-type]
        if found is not None:
            label = left.schema.classes.tolist()[found[0]]
            raise ValueError(f"cannot forget what was never learned: in class {label!r}, {found[1]}")


def _contradictions(
    block: Columns, then: Statistic, now: Statistic, rows: Array, held: Array, is_bits: bool
) -> Iterator[Contradiction]:
    """Yield what is impossible in the sums of a block: the place of the class, and a description."""
    n = now.alone_n if isinstance(now, CoMoments) else now.n
    for k, j in _excess(n, rows, held):
        name = block.name(j) if n.shape[1] == block.count else "its columns"
        yield k, f"{n[k, j]:g} cells of {name} would be left in {rows[k, 0]:g} rows"
    if is_bits and isinstance(now, Counts):
        for k, j in _excess(now.total, n, held):
            cells = np.broadcast_to(n, now.total.shape)[k, j]
            yield k, f"{now.total[k, j]:g} ones of {block.name(j)} would be left in {cells:g} cells"
    if isinstance(now, PairCounts):
        yield from _contradictions_of_pairs(block, now, rows, held)
    if isinstance(now, CoMoments) and isinstance(then, CoMoments):
        yield from _contradictions_of_comoments(block, then, now, held)


def _contradictions_of_pairs(block: Columns, now: PairCounts, rows: Array, held: Array) -> Iterator[Contradiction]:
    """Yield where the rows without a cell, by a level or another empty cell, would be fewer than none."""
    starts = block.starts
    present = by_group(np.add, now.pairs, starts)  # [class, cell, column]: rows of a level that have the column
    for k, cell, j in _excess(present, now.total[:, :, None], held[:, :, None]):
        yield (
            k,
            f"{present[k, cell, j]:g} rows with {block.name_of_cell(cell)} would have a value of {block.name(j)}, but "
            f"{now.total[k, cell]:g} rows with {block.name_of_cell(cell)} would be left",
        )
    both = by_group(np.add, np.swapaxes(present, 1, 2), starts)  # [class, column, column]: rows that have both
    n = np.broadcast_to(now.n, (len(rows), block.count))
    either = n[:, :, None] + n[:, None, :] - both
    for k, i, j in _excess(either, rows[:, :, None], held[:, :, None]):
        yield (
            k,
            f"{either[k, i, j]:g} rows would have a value of {block.name(i)} or {block.name(j)}, but {rows[k, 0]:g} "
            "rows would be left",
        )


def _contradictions_of_comoments(
    block: Columns, then: CoMoments, now: CoMoments, held: Array
) -> Iterator[Contradiction]:
    """Yield where complete rows cannot be a part of all rows, or cannot have their scatter matrix."""
    for k, j in _excess(now.n, now.alone_n, held):
        yield k, f"{now.n[k, 0]:g} complete rows would be left, but {now.alone_n[k, j]:g} cells of {block.name(j)}"
    others = np.maximum(now.alone_n - now.n, 0.0)  # cells in rows with a missing cell elsewhere
    difference = ((now.alone_mean - now.mean) + (now.alone_tail - now.tail)) ** 2
    rounding = ROUNDED_MOMENTS * then.alone_m2 + (1e-8 * np.abs(then.alone_mean)) ** 2 * then.alone_n
    complete = np.diagonal(now.scatter, axis1=1, axis2=2)
    # the variance of these other cells; 0 is the only possible one where there are none
    rest = now.alone_m2 - complete
    rest = np.where(others > 0, rest, -np.abs(rest))
    rest = rest - difference * now.alone_n * np.where(others > 0, now.n / np.where(others > 0, others, 1.0), 1.0)
    for k, j in np.argwhere((now.n > 0) & (rest < -rounding)).tolist():
        yield k, f"the complete rows that would be left have other values of {block.name(j)} than all rows"
    if block.count <= MOST_COLUMNS:
        scale = np.sqrt(np.maximum(np.diagonal(then.scatter, axis1=1, axis2=2), 1e-300))
        scaled = now.scatter / (scale[:, :, None] * scale[:, None, :]) + ROUNDED_MOMENTS * np.eye(block.count)
        for k, matrix in enumerate(scaled):
            if not _is_positive(matrix):
                yield k, f"{block.name(0)} to {block.name(block.count - 1)} would have a negative variance together"


def _is_positive(matrix: Array) -> bool:
    """Return whether all eigenvalues of a symmetric matrix are positive."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _excess(part: Array, whole: Array, held: Array) -> list[list[int]]:
    """Return the places where a part is greater than the whole, beyond the rounding of fractional weights."""
    part, whole, held = np.broadcast_arrays(part, whole, held)
    excess = part > whole
    if not excess.any():
        return []
    are_whole = (part == np.floor(part)) & (whole == np.floor(whole))
    places: list[list[int]] = np.argwhere(excess & (are_whole | (part - whole > ROUNDED_WEIGHTS * held))).tolist()
    return places
