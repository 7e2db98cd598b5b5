"""The leaves of decision trees that the rows of a table reach."""

from collections.abc import Iterator

import numpy as np

from suffice.blocks import Coded
from suffice.data.sheets import Sheet
from suffice.kernels import tree_leaves
from suffice.parallel import map_threads
from suffice.schema import Array, Columns, Partition, TreeInput, starts_of

# So many rows are read at once, and so many descend at once.
ROWS_READ, ROWS_AT_ONCE = 1 << 14, 1 << 10


def read_leaves(sheet: Sheet, columns: Columns) -> Coded:
    """Return the leaf of each row in each tree of a block."""
    trees = [tree for tree in columns.codings or () if isinstance(tree, Partition)]
    inputs = trees[0].inputs
    roots = starts_of(np.array([len(tree.column) for tree in trees]))
    joined = zip(trees, roots.tolist(), strict=True)
    below = np.concatenate([np.where(tree.column < 0, tree.leaf, tree.child + root) for tree, root in joined])
    column = np.concatenate([tree.column for tree in trees])
    high = np.concatenate([tree.threshold for tree in trees])
    # a level goes to the first child if it is the threshold; a number if it is below
    is_level = np.array([each.levels is not None for each in inputs])[column]
    low, high = np.where(is_level, high, -np.inf), high + is_level
    column = np.where(column < 0, tree_leaves.LEAF, column).astype(np.uint32)
    nodes = roots.astype(np.uint32), column, low, high, below.astype(np.uint32)
    codes = np.empty((sheet.shape[0], len(trees)), np.min_scalar_type(-max(tree.size for tree in trees)))

    def write(part: tuple[Array, Array]) -> None:
        x, leaves = part
        buffers = np.empty((3, len(x)), np.uint32)
        tree_leaves.descend(x, *nodes, leaves, *buffers, work=8 * len(x) * len(trees))

    parts = []
    for rows, x in read_inputs(sheet, inputs):
        few = (slice(first, first + ROWS_AT_ONCE) for first in range(0, len(x), ROWS_AT_ONCE))
        parts += [(x[here], codes[rows][here]) for here in few]
    map_threads(write, parts)
    return Coded(sheet.owner, columns.names, codes)


def read_inputs(sheet: Sheet, inputs: tuple[TreeInput, ...]) -> Iterator[tuple[slice, Array]]:
    """Yield rows in pieces: numbers, NaN if missing, and positions of levels, −1 if missing, [row, input].

    A level that trees do not know has the position after the last.
    """
    rows = sheet.shape[0]
    numbers = [place for place, each in enumerate(inputs) if each.levels is None and each.name in sheet.places]
    levels = {place: _level_positions(sheet, each) for place, each in enumerate(inputs) if each.levels is not None}
    block = sheet.numbers(tuple(inputs[place].name for place in numbers)) if numbers else None
    for first in range(0, rows, ROWS_READ):
        piece = slice(first, min(first + ROWS_READ, rows))
        x = np.full((piece.stop - first, len(inputs)), np.nan)
        if block is not None:
            for here, cells in block.pieces(piece.start, piece.stop):  # type: ignore[attr-defined]
                x[here.start - first : here.stop - first, numbers] = cells
        for place, positions in levels.items():
            x[:, place] = positions[piece]
        yield piece, x


def _level_positions(sheet: Sheet, each: TreeInput) -> Array:
    if each.name not in sheet.places:
        return np.full(sheet.shape[0], -1)
    labels, codes = sheet.coded(each.name)
    known = {label: place for place, label in enumerate(each.levels or ())}
    return np.array([*(known.get(label, len(known)) for label in labels), -1])[codes]
