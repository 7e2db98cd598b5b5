"""Decision trees as part of the plan: rows and labels decide where they split; their leaves then count all rows.

Each tree is grown on a random part of the rows. A node is split by the best of a few random splits, until its rows have
one class. A threshold is a number with few binary digits, so that a tree holds no number of a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.data.cells import shortest_between
from suffice.data.read_trees import read_inputs
from suffice.data.sheets import Sheet
from suffice.data.table import Target
from suffice.kernels import trees as kernels
from suffice.parallel import map_threads
from suffice.schema import Array, Columns, Combinations, Levels, MissingLevel, Partition, TreeInput, Words

# Trees are grown from at most MOST_ROWS rows, and each from a random SHARE of them, at most ROWS_A_TREE.
MOST_ROWS, SHARE, ROWS_A_TREE = 50_000, 0.75, 8192

# The splits that are tried in a node, and the rows by which they are judged.
TRIES, ROWS_JUDGED = 8, 256


@dataclass(frozen=True)
class PlannedTrees:
    """Trees, the rows that they were grown from, and which of these rows each tree used, [tree, row]."""

    trees: tuple[Partition, ...]
    rows: Array
    is_used: Array

    @property
    def columns(self) -> Columns:
        """The block of columns that counts the leaves; the names of trees are no strings, as those of columns are."""
        names = tuple(("tree", place) for place in range(len(self.trees)))
        return Columns.coded("categorical", names, self.trees)


def list_inputs(sheet: Sheet, blocks: Sequence[Columns]) -> tuple[TreeInput, ...]:
    """Return the columns on which trees can split: all that are counted but texts."""
    inputs: dict[object, TreeInput] = {}
    for block in blocks:
        for name, coding in zip(block.names or (), block.codings or (None,) * block.count, strict=True):
            if isinstance(coding, (Words, Combinations)) or name not in sheet.places:
                continue
            coding = coding.values if isinstance(coding, MissingLevel) else coding
            is_number = sheet.kind(name) in ("number", "boolean", "empty")
            levels = coding.labels if isinstance(coding, Levels) and not is_number else None
            if is_number or levels is not None:
                inputs.setdefault(name, TreeInput(name, levels))
    return tuple(inputs.values())


def plan_trees(sheet: Sheet, target: Target, inputs: tuple[TreeInput, ...], count: int) -> PlannedTrees:
    """Return trees that are grown from rows of a table.

    Parameters
    ----------
    sheet : Sheet
        The table.
    target : Target
        The class and the weight of each row.
    inputs : tuple of TreeInput
        The columns on which trees split.
    count : int
        The number of trees.
    """
    weights = np.ones(len(target.codes)) if target.weights is None else target.weights
    rows, rng = np.flatnonzero(weights > 0), np.random.default_rng(0)
    if len(rows) > MOST_ROWS:
        rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
    values, ranks = _rank(sheet, inputs, rows)
    codes, weights = target.codes[rows].astype(np.int32), weights[rows]
    is_level = np.array([each.levels is not None for each in inputs])
    size = max(min(int(SHARE * len(rows)), ROWS_A_TREE), 1)
    is_used = np.zeros((count, len(rows)), bool)

    def grow(place: int) -> Partition:
        rng = np.random.default_rng([1, place])
        own = rng.permutation(len(rows))[:size]
        is_used[place, own] = True
        nodes = _grow(
            ranks[:, own], is_level, codes[own], weights[own], len(target.classes), int(rng.integers(1, 1 << 30))
        )
        return _as_partition(inputs, values, is_level, *nodes)

    return PlannedTrees(tuple(map_threads(grow, range(count))), rows, is_used)


def _rank(sheet: Sheet, inputs: tuple[TreeInput, ...], rows: Array) -> tuple[list[Array], Array]:
    """Return the different numbers of each input, and the rank of each row among them, [input, row].

    The rank of a level is its position and 1, and that of a missing level 0.
    """
    x = np.empty((len(rows), len(inputs)))
    for piece, cells in read_inputs(sheet, inputs):
        first, last = np.searchsorted(rows, (piece.start, piece.stop))
        x[first:last] = cells[rows[first:last] - piece.start]
    values, ranks = [], np.empty((len(inputs), len(rows)), np.int32)
    for place, each in enumerate(inputs):
        if each.levels is not None:
            values.append(np.zeros(0))
            ranks[place] = x[:, place] + 1
            continue
        held = ~np.isnan(x[:, place])
        different, inverse = np.unique(x[held, place], return_inverse=True)
        values.append(different)
        ranks[place] = kernels.MISSING
        ranks[place, held] = inverse
    return values, ranks


def _grow(ranks: Array, is_level: Array, codes: Array, weights: Array, classes: int, seed: int) -> tuple[Array, ...]:
    """Return column, cut, child, low and high of each node of a tree, as `kernels.grow` writes them."""
    rows = len(codes)
    most = 2 * rows + 1
    column, cut, child, low, high, first, last = (np.zeros(most, np.int32) for _ in range(7))
    buffers = (first, last, np.zeros((2, classes)))
    order = np.empty(rows, np.int32)
    nodes = kernels.grow(
        np.ascontiguousarray(ranks), is_level, codes, weights, seed, TRIES, ROWS_JUDGED, order,
        column, cut, child, low, high, *buffers, work=8 * TRIES * rows,
    )  # fmt: skip
    return tuple(each[:nodes] for each in (column, cut, child, low, high))


def _as_partition(
    inputs: tuple[TreeInput, ...],
    values: list[Array],
    is_level: Array,
    column: Array,
    cut: Array,
    child: Array,
    low: Array,
    high: Array,
) -> Partition:
    """Return a tree with thresholds instead of ranks."""
    threshold = np.zeros(len(column))
    for j in np.unique(column[column >= 0]).tolist():
        here = np.flatnonzero(column == j)
        if is_level[j]:
            threshold[here] = cut[here] - 1
            continue
        is_last = high[here] == kernels.MISSING
        above = values[j][np.where(is_last, 0, high[here])]
        threshold[here] = np.where(is_last, np.inf, shortest_between(values[j][low[here]], above))
    return Partition(inputs, column.copy(), threshold, np.where(column < 0, 0, child).astype(np.int32))
