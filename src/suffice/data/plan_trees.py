"""Decision trees as part of the plan: rows and labels decide where they split; their leaves then count all rows.

Each tree is grown on a random part of the rows. A node is split by the best of a few random splits, until its rows have
one class. A threshold is a number with few binary digits, so that a tree holds no number of a row.

Chance is decided by keys of the rows, which depend on their contents. So the order of the rows does not matter, and a
table without a few rows grows similar trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.data.cells import shortest_between
from suffice.data.read_trees import read_inputs
from suffice.data.row_keys import mix_keys, smallest_keys
from suffice.data.sheets import Sheet
from suffice.data.table import Target
from suffice.kernels.grow_tree import MISSING, MODULUS, grow
from suffice.parallel import map_threads
from suffice.schema import (
    Array,
    Columns,
    Combinations,
    Levels,
    MissingLevel,
    Partition,
    TreeInput,
    Words,
    make_forest,
    starts_of,
)

# Trees are grown from at most MOST_ROWS rows, and each from a random SHARE of them, at most ROWS_A_TREE, and at most
# ROWS_A_CLASS for each class.
MOST_ROWS, SHARE, ROWS_A_CLASS, ROWS_A_TREE = 50_000, 0.75, 2048, 8192

# The splits that are tried in a node, and the rows by which they are judged.
TRIES, ROWS_JUDGED = 16, 256

# The seed of a tree is a multiple of this.
SEED = 742938285


@dataclass(frozen=True)
class PlannedTrees:
    """Trees, the rows that they were grown from, and which of these rows each tree used, [tree, row]."""

    trees: tuple[Partition, ...]
    rows: Array
    is_used: Array

    @property
    def columns(self) -> Columns:
        """The block of columns that counts the leaves."""
        return make_forest(self.trees)


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


def plan_trees(
    sheet: Sheet, target: Target, keys: Array, inputs: tuple[TreeInput, ...], count: int, most_counts: float
) -> PlannedTrees:
    """Return trees that are grown from rows of a table.

    Parameters
    ----------
    sheet : Sheet
        The table.
    target : Target
        The class and the weight of each row.
    keys : array [row]
        The keys of the rows, as `distinct_keys` returns them.
    inputs : tuple of TreeInput
        The columns on which trees split.
    count : int
        The number of trees.
    most_counts : float
        The largest number of counts in the leaves of all trees; there are fewer trees if they would have more.
    """
    weights = np.ones(len(target.codes)) if target.weights is None else target.weights
    rows = np.flatnonzero(weights > 0)
    rows = rows[smallest_keys(mix_keys(keys[rows], 0), MOST_ROWS)]
    values, starts, ranks = _rank(sheet, inputs, rows)
    codes, weights, keys = target.codes[rows].astype(np.int32), weights[rows], keys[rows]
    has_weights = bool((weights != 1).any())
    size = max(min(int(SHARE * len(rows)), ROWS_A_CLASS * len(target.classes), ROWS_A_TREE), 1)
    is_used = np.zeros((count, len(rows)), bool)

    def grow_tree(place: int) -> Partition:
        mixed = mix_keys(keys, place + 1)
        own = np.argpartition(mixed, size - 1)[:size]
        own = own[np.argsort(mixed[own])]
        is_used[place, own] = True
        part = Target(target.classes, codes[own], weights[own] if has_weights else None)
        # the remainder of a key tells nothing about its position
        part_keys = (mixed[own] % (MODULUS - 1)).astype(np.int64) + 1
        return _grow(inputs, values, starts, ranks[own], part, part_keys, place)

    first = grow_tree(0)
    fitting = max(int(most_counts // (first.size * len(target.classes))), 1)
    trees = (first, *map_threads(grow_tree, range(1, min(count, fitting))))
    return PlannedTrees(trees, rows, is_used[: len(trees)])


def _rank(sheet: Sheet, inputs: tuple[TreeInput, ...], rows: Array) -> tuple[Array, Array, Array]:
    """Return the different numbers of all inputs, where those of each input start, and ranks, [row, input].

    The rank of a number is its position among the different numbers. The rank of a level is its position and 1, and
    that of a missing level 0.
    """
    x = np.empty((len(inputs), len(rows)))
    for piece, cells in read_inputs(sheet, inputs):
        first, last = np.searchsorted(rows, (piece.start, piece.stop))
        x[:, first:last] = cells[rows[first:last] - piece.start].T
    values, ranks = [np.zeros(0)] * len(inputs), np.empty(x.shape, np.int32)

    def rank(place: int) -> None:
        if inputs[place].levels is not None:
            ranks[place] = x[place] + 1
            return
        held = ~np.isnan(x[place])
        values[place], inverse = np.unique(x[place, held], return_inverse=True)
        ranks[place] = MISSING
        ranks[place, held] = inverse

    map_threads(rank, range(len(inputs)))
    return np.concatenate(values), starts_of(np.array([len(each) for each in values])), np.ascontiguousarray(ranks.T)


def _grow(
    inputs: tuple[TreeInput, ...], values: Array, starts: Array, ranks: Array, target: Target, keys: Array, place: int
) -> Partition:
    """Return a tree that is grown from rows with these ranks, [row, input], in random order."""
    (rows, count), is_level = ranks.shape, np.array([each.levels is not None for each in inputs])
    most = 2 * rows + 1
    column, cut, child, low, high, first, last = (np.zeros(most, np.int32) for _ in range(7))
    salt, order = np.zeros(most, np.int64), np.empty((2, rows), np.uint32)
    ends = np.zeros(len(target.classes), np.int32)
    judged, near = np.zeros(ROWS_JUDGED, np.uint32), np.zeros(ROWS_JUDGED, np.int64)
    cells = np.zeros((count, ROWS_JUDGED), np.int32)
    span, read_at, logs = np.zeros((count, 3), np.int32), np.zeros(count, np.int32), np.zeros(ROWS_JUDGED + 1)
    nodes = grow(
        ranks, is_level, target.codes, target.weights, keys, SEED * (place + 1) % MODULUS, TRIES, ROWS_JUDGED, order,
        column, cut, child, low, high, first, last, salt, judged, ends, near, cells, span, read_at, logs,
        work=8 * TRIES * rows,
    )  # fmt: skip
    column, cut, child, low, high = (each[:nodes].copy() for each in (column, cut, child, low, high))
    threshold = cut - 1.0
    split = np.flatnonzero((column >= 0) & ~is_level[column])
    is_last = high[split] == MISSING
    below = values[starts[column[split]] + low[split]]
    above = values[starts[column[split]] + np.where(is_last, low[split], high[split])]
    threshold[split] = np.where(is_last, np.inf, shortest_between(below, above))
    leaf = column < 0
    threshold[leaf] = child[leaf] = 0
    return Partition(inputs, column, threshold, child)
