"""Decision trees as rows of several levels each, for tables of nodes."""

from collections.abc import Callable

from suffice.schema import Partition

# Levels of a tree in one row: 2ⁿ − 1 splits and 2ⁿ nodes below them.
LEVELS = 3
SPLITS, BELOW = (1 << LEVELS) - 1, 1 << LEVELS

SplitsOf = Callable[[Partition], list[list[float]]]


def join_levels(trees: list[Partition], splits_of: SplitsOf) -> tuple[list[list[float]], list[int], int]:
    """Return the rows of the table of nodes, the roots, and the largest number of rows that a path visits.

    A row has its number, from 1 on, the values of `SPLITS` splits, and the numbers of `BELOW` nodes below them. The
    number of a leaf is negative, from −1 on. ``splits_of`` returns the values of the split of each node of a tree;
    those of a leaf may be anything, as both places below it have its number.
    """
    rows: list[list[float]] = []
    roots, depth, leaves = [], 0, 0
    for tree in trees:
        joined = _JoinedLevels(tree, splits_of(tree), rows, leaves)
        roots.append(joined.root)
        depth, leaves = max(depth, joined.depth), leaves + tree.size
    return rows, roots, depth


class _JoinedLevels:
    """The rows of one tree, which are added to those of other trees; ``leaves`` are the leaves before its own."""

    def __init__(self, tree: Partition, splits: list[list[float]], rows: list[list[float]], leaves: int) -> None:
        self.column, self.child, self.leaf = tree.column.tolist(), tree.child.tolist(), tree.leaf.tolist()
        self.splits, self.rows, self.leaves, self.depth = splits, rows, leaves, 0
        self.waiting: list[tuple[int, int, int]] = []
        self.root = self._add_row(0, 1)  # a root that is a leaf has a row, too
        while self.waiting:
            self._fill(*self.waiting.pop())

    def _number(self, node: int, level: int) -> int:
        """Return the number of a node: negative for a leaf; a node that splits gets a row."""
        if self.column[node] < 0:
            return -(self.leaves + int(self.leaf[node])) - 1
        return self._add_row(node, level)

    def _add_row(self, node: int, level: int) -> int:
        """Return the number of a new row, which is filled later."""
        self.rows.append([])
        self.waiting.append((node, len(self.rows), level))
        return len(self.rows)

    def _fill(self, node: int, number: int, level: int) -> None:
        """Write the row of a node: the splits of its next levels, and the nodes below them."""
        self.depth = max(self.depth, level)
        values: list[float] = [number]
        here = [node]
        for _ in range(LEVELS):
            below: list[int] = []
            for each in here:
                values += self.splits[each]
                below += [each, each] if self.column[each] < 0 else [self.child[each], self.child[each] + 1]
            here = below
        self.rows[number - 1] = [*values, *(self._number(each, level + 1) for each in here)]
