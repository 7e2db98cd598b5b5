"""`MeanOfTrees` as joins: rows descend several levels of each decision tree by one join with a table of its nodes."""

import numpy as np

from suffice.export.sql_expressions import Expression
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_long_columnwise import IMPOSSIBLE_TEXT, by_class
from suffice.export.sql_parameters import Kind
from suffice.schema import Partition
from suffice.score import MeanOfTrees

# Levels of a tree in one row of the table of nodes: 2ⁿ − 1 splits and 2ⁿ nodes below them.
LEVELS = 3
SPLITS, BELOW = (1 << LEVELS) - 1, 1 << LEVELS

# No number is beyond it; the largest double has three times its digits.
LARGEST = 1e308


def translate_mean_of_trees(term: MeanOfTrees, cells: LongCells) -> list[Expression]:
    """Add the logarithm of the mean over trees of the shares in the leaf that a row reaches.

    Leaves have negative numbers, so that a row has descended when its node is negative.
    """
    query, row, classes = cells.query, cells.query.id, range(cells.query.class_count)
    trees = [tree for tree in cells.columns.codings or () if isinstance(tree, Partition)]
    rows, roots, depth = join_levels(trees)
    split: dict[str, Kind] = {}
    for place in range(1, SPLITS + 1):
        split |= {f"col{place}": "integer", f"low{place}": "double", f"high{place}": "double"}
    kinds: dict[str, Kind] = {"node": "integer", **split, **{f"below{place}": "integer" for place in range(BELOW)}}
    nodes = query.parameters.add(query.new_name("nodes"), kinds, rows, ("node",))
    start = query.parameters.add_arrays(query.new_name("roots"), {"tree": np.arange(len(roots)), "node": roots}, {})
    leaves = query.parameters.add_arrays(
        query.new_name("leaves"), {"node": -np.arange(1, len(term.shares) + 1)}, by_class("c", term.shares.T)
    )
    array = cells.inputs(trees[0].inputs)
    sums = ", ".join(f'SUM(p."c{k}") AS "c{k}"' for k in classes)
    if query.dialect.has_lateral_recursion:
        step = f'SELECT {_step(cells, array)} FROM d JOIN {nodes} AS s ON s."node" = d."node"'
        paths = f'WITH RECURSIVE d("node") AS (SELECT t."node" FROM {start} AS t UNION ALL {step})'
        found = f'{paths} SELECT {sums} FROM d JOIN {leaves} AS p ON p."node" = d."node" WHERE d."node" < 0'
        columns = ", ".join(f"z.c{k}" for k in classes)
        means = query.add_common(
            "shares", f"SELECT r.{row}, {columns} FROM {query.cells} AS r CROSS JOIN LATERAL ({found}) AS z"
        )
    else:
        found = _add_paths(cells, array, nodes, start, depth)
        means = query.add_common(
            "shares",
            f'SELECT d.{row}, {sums} FROM ({found}) AS d JOIN {leaves} AS p ON p."node" = d."node" GROUP BY d.{row}',
        )
    results = ", ".join(
        f'CASE WHEN p."c{k}" > 0 THEN LN(p."c{k}") - LN({len(trees)}e0) ELSE {IMPOSSIBLE_TEXT} END AS "c{k}"'
        for k in classes
    )
    return query.join_scores("trees", f"SELECT p.{row}, {results} FROM {means} AS p")


def _add_paths(cells: LongCells, array: str, nodes: str, start: str, depth: int) -> str:
    """Add the nodes that rows visit, by recursion or step by step; return the query of the leaves they reach."""
    query, row = cells.query, cells.query.id
    node = f'{_step(cells, array)} AS "node"'
    roots = f'SELECT s.* FROM {nodes} AS s JOIN {start} AS t ON t."node" = s."node"'
    first = f"SELECT r.{row}, {node} FROM {query.cells} AS r CROSS JOIN ({roots}) AS s"
    # paths have no inputs: to find them again by the number of the row is faster than to carry them along
    step = (
        f"SELECT r.{row}, {node} FROM {{here}} AS d "
        f'JOIN {query.cells} AS r ON r.{row} = d.{row} JOIN {nodes} AS s ON s."node" = d."node"'
    )
    if query.dialect.has_recursion:
        here = query.add_recursive("paths", lambda name: f"{first} UNION ALL {step.format(here=name)}")
        return f'SELECT {row}, "node" FROM {here} WHERE "node" < 0'
    steps = [query.add_common("path", first)]
    for _ in range(depth - 1):
        steps.append(query.add_common("path", step.format(here=steps[-1])))
    return " UNION ALL ".join(f'SELECT {row}, "node" FROM {each} WHERE "node" < 0' for each in steps)


def _step(cells: LongCells, array: str, place: int = 1) -> str:
    """Return the node to which a row goes, as nested CASEs: of a split, then of the split below it."""
    if place > SPLITS:
        return f's."below{place - BELOW}"'
    value = cells.query.pick("r", array, f's."col{place}"')
    test = f'{value} BETWEEN s."low{place}" AND s."high{place}"'
    return f"CASE WHEN {test} THEN {_step(cells, array, 2 * place)} ELSE {_step(cells, array, 2 * place + 1)} END"


def join_levels(trees: list[Partition]) -> tuple[list[list[float]], list[int], int]:
    """Return the rows of the table of nodes, the roots, and the largest number of rows that a path visits."""
    rows: list[list[float]] = []
    roots, depth, leaves = [], 0, 0
    for tree in trees:
        joined = _JoinedLevels(tree, rows, leaves)
        roots.append(joined.root)
        depth, leaves = max(depth, joined.depth), leaves + tree.size
    return rows, roots, depth


class _JoinedLevels:
    """The rows of one tree, which are added to those of other trees; ``leaves`` are the leaves before its own."""

    def __init__(self, tree: Partition, rows: list[list[float]], leaves: int) -> None:
        self.column, self.child, self.leaf = tree.column.tolist(), tree.child.tolist(), tree.leaf.tolist()
        self.lows, self.highs = _intervals(tree)
        self.rows, self.leaves, self.depth = rows, leaves, 0
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
        self.waiting.append((node, len(self.rows) - 1, level))
        return len(self.rows) - 1

    def _fill(self, node: int, place: int, level: int) -> None:
        """Write the row of a node: the splits of its next levels, and the nodes below them."""
        self.depth = max(self.depth, level)
        values: list[float] = [place]
        here = [node]
        for _ in range(LEVELS):
            below: list[int] = []
            for each in here:
                is_leaf = self.column[each] < 0  # both places below it have its number
                values += [1, 0.0, 0.0] if is_leaf else [self.column[each] + 1, self.lows[each], self.highs[each]]
                below += [each, each] if is_leaf else [self.child[each], self.child[each] + 1]
            here = below
        self.rows[place] = [*values, *(self._number(each, level + 1) for each in here)]


def _intervals(tree: Partition) -> tuple[list[float], list[float]]:
    """Return the least and the greatest value of the inputs that go to the first child of each node."""
    is_level = np.array([each.levels is not None for each in tree.inputs])[tree.column] & (tree.column >= 0)
    low = np.where(is_level, tree.threshold, -LARGEST)
    high = np.where(is_level, tree.threshold, np.minimum(np.nextafter(tree.threshold, -np.inf), LARGEST))
    return low.tolist(), high.tolist()
