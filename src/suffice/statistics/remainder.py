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

# The decomposition of a matrix of ones has rounding errors, too.
ROUNDED_MATRIX = 1e-9

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
    if not len(left.class_count):
        return
    classes = np.searchsorted(before.schema.classes, left.schema.classes)
    rows, held = left.class_count[:, None], before.class_count[classes, None]
    blocks = zip(left.schema.blocks, before.statistics, left.statistics, are_bits, strict=True)
    for block, then, now, is_bits in blocks:
        errors = then.variance_errors[classes] if isinstance(then, CoMoments) else None
        found = next(contradictions(block, now, errors, rows, held, is_bits), None)
        if found is not None:
            label = left.schema.classes.tolist()[found[0]]
            raise ValueError(f"cannot forget what was never learned: in class {label!r}, {found[1]}")


def contradictions(
    block: Columns, now: Statistic, errors: Array | None, rows: Array, held: Array, is_bits: bool
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
    if isinstance(now, CoMoments) and errors is not None:
        yield from _contradictions_of_comoments(block, now, errors, held)


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


def _contradictions_of_comoments(block: Columns, now: CoMoments, errors: Array, held: Array) -> Iterator[Contradiction]:
    """Yield where there would be more complete rows than cells, or a scatter matrix that no rows have."""
    for k, j in _excess(now.n, now.alone_n, held):
        yield k, f"{now.n[k, 0]:g} complete rows would be left, but {now.alone_n[k, j]:g} cells of {block.name(j)}"
    if block.count > MOST_COLUMNS:
        return
    scale = np.sqrt(np.diagonal(now.scatter, axis1=1, axis2=2) + block.count * errors)
    scale = np.where(scale > 0, scale, 1.0)
    scaled = now.scatter / (scale[:, :, None] * scale[:, None, :])
    diagonal = np.arange(block.count)
    scaled[:, diagonal, diagonal] = 1.0 + ROUNDED_MATRIX
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
