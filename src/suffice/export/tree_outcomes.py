"""The splits of decision trees as positions in a string that each row has, with one character for each threshold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.export.joined_levels import BELOW, SPLITS, SplitsOf
from suffice.export.sql_expressions import Expression, fill
from suffice.export.sql_long_cells import LongCells
from suffice.schema import Array, Partition, TreeInput

# Columns of a table of nodes: the positions of the splits, and the numbers of the nodes below.
NODE_COLUMNS = [*(f"s{place}" for place in range(1, SPLITS + 1)), *(f"b{place}" for place in range(BELOW))]


def thresholds_of(trees: list[Partition]) -> list[Array]:
    """Return the thresholds of each column, in ascending order.

    Those of levels are all positions up to the last that is used.
    """
    found = []
    for j, column in enumerate(trees[0].inputs):
        used = np.unique(np.concatenate([tree.threshold[tree.column == j] for tree in trees]))
        found.append(used if column.levels is None or not len(used) else np.arange(-1.0, used[-1] + 1))
    return found


def splits_by_position(thresholds: list[Array]) -> SplitsOf:
    """Return the function that returns the position of the split of each node of a tree."""
    starts = np.cumsum([0, *map(len, thresholds)])

    def splits_of(tree: Partition) -> list[list[float]]:
        positions = np.zeros(len(tree.column), np.int64)
        for j, known in enumerate(thresholds):
            own = tree.column == j
            positions[own] = starts[j] + np.searchsorted(known, tree.threshold[own])
        return [[position] for position in positions.tolist()]

    return splits_of


def bin_list(cells: LongCells, thresholds: Array) -> int:
    """Add the thresholds of numbers to the table of bins; return the number of their list."""
    return cells.query.add_labels("bins", [-float(np.finfo(np.float64).max), *thresholds.tolist()])


def write_outcomes(
    cells: LongCells,
    inputs: tuple[TreeInput, ...],
    thresholds: list[Array],
    number_code: Callable[[int], Expression],
    as_string: Callable[[str], str],
) -> str:
    """Return the string of a row: '0' where its cell goes to the first child, '1' where to the second.

    A number is not less than the first thresholds, whose count ``number_code`` returns for a column: its characters are
    a part of 1…10…0. A level is equal to one of them: its characters are a part of 1…101…1. ``as_string`` converts
    these texts to the type of strings.
    """
    parts = {}
    for j, (column, count) in enumerate(zip(inputs, map(len, thresholds), strict=True)):
        if not count:
            continue
        if column.levels is None:  # a missing number is not less than any threshold
            texts, code = f"REPEAT('1', {count}) || REPEAT('0', {count})", number_code(j)
            first = f"{count + 1} - COALESCE(code_, {count})"
        else:  # whose thresholds are the positions from −1, for a missing cell, on
            texts = f"REPEAT('1', {count}) || '0' || REPEAT('1', {count - 1})"
            code = cells.level_code(str(column.name), column.levels, f"column {str(column.name)!r}")
            first = f"{count} - LEAST(COALESCE(code_, -1), {count - 1})"
        parts[f"part{j}_"] = fill(f"SUBSTRING({as_string(texts)}, {first}, {count})", {"code_": code})
    found = fill(" || ".join(parts) or as_string("'0'"), parts)
    return found.node.sql(dialect="duckdb", identify=True)
