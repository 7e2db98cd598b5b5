"""`MeanOfTrees` as joins: rows descend several levels of each decision tree by one join with a table of its nodes."""

import numpy as np

from suffice.export import sql_bit_trees, sql_row_trees
from suffice.export.joined_levels import BELOW, SPLITS, join_levels
from suffice.export.sql_expressions import Expression
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_long_columnwise import IMPOSSIBLE_TEXT, by_class
from suffice.export.sql_parameters import Kind
from suffice.schema import Partition
from suffice.score import MeanOfTrees

# No number is beyond it; the largest double has three times its digits.
LARGEST = 1e308


def translate_mean_of_trees(term: MeanOfTrees, cells: LongCells) -> list[Expression]:
    """Add the logarithm of the mean over trees of the shares in the leaf that a row reaches.

    Leaves have negative numbers, so that a row has descended when its node is negative.
    """
    query, row, classes = cells.query, cells.query.id, range(cells.query.class_count)
    trees = [tree for tree in cells.columns.codings or () if isinstance(tree, Partition)]
    if query.dialect.has_fast_rows:
        means = sql_row_trees.add_shares(term, trees, cells)
        return _join_logarithms(cells, means, len(trees))
    leaves = query.parameters.add_arrays(
        query.new_name("leaves"), {"node": -np.arange(1, len(term.shares) + 1)}, by_class("c", term.shares.T)
    )
    sums = ", ".join(f'SUM(p."c{k}") AS "c{k}"' for k in classes)
    found = (sql_bit_trees.add_paths if query.dialect.has_bits else _add_paths)(trees, cells)
    means = query.add_common(
        "shares",
        f'SELECT d.{row}, {sums} FROM ({found}) AS d JOIN {leaves} AS p ON p."node" = d."node" GROUP BY d.{row}',
    )
    return _join_logarithms(cells, means, len(trees))


def _join_logarithms(cells: LongCells, means: str, count: int) -> list[Expression]:
    """Join log(sum / number of trees) of a table of sums to the scores."""
    results = ", ".join(
        f'CASE WHEN p."c{k}" > 0 THEN LN(p."c{k}") - LN({count}e0) ELSE {IMPOSSIBLE_TEXT} END AS "c{k}"'
        for k in range(cells.query.class_count)
    )
    return cells.query.join_scores("trees", f"SELECT p.{cells.query.id}, {results} FROM {means} AS p")


def _add_paths(trees: list[Partition], cells: LongCells) -> str:
    """Add the nodes that rows visit, by recursion or step by step; return the query of the leaves they reach."""
    query, row = cells.query, cells.query.id
    lines, roots, depth = join_levels(trees, _intervals)
    split: dict[str, Kind] = {}
    for place in range(1, SPLITS + 1):
        split |= {f"col{place}": "integer", f"low{place}": "double", f"high{place}": "double"}
    kinds: dict[str, Kind] = {"node": "integer", **split, **{f"below{place}": "integer" for place in range(BELOW)}}
    nodes = query.parameters.add(query.new_name("nodes"), kinds, lines, ("node",))
    start = query.parameters.add_arrays(query.new_name("roots"), {"tree": np.arange(len(roots)), "node": roots}, {})
    array = cells.inputs(trees[0].inputs)
    node = f'{_step(cells, array)} AS "node"'
    begun = f'SELECT s.* FROM {nodes} AS s JOIN {start} AS t ON t."node" = s."node"'
    first = f"SELECT r.{row}, {node} FROM {query.cells} AS r CROSS JOIN ({begun}) AS s"
    if query.dialect.has_recursion:
        # paths have no inputs: to find them again by the number of the row is faster than to carry them along
        step = (
            f"SELECT r.{row}, {node} FROM {{here}} AS d "
            f'JOIN {query.cells} AS r ON r.{row} = d.{row} JOIN {nodes} AS s ON s."node" = d."node"'
        )
        here = query.add_recursive("paths", lambda name: f"{first} UNION ALL {step.format(here=name)}")
        return f'SELECT {row}, "node" FROM {here} WHERE "node" < 0'
    # nested: Spark analyses a common table expression once more for each reference to it
    parts = ", ".join(f"r.{name}" for name in query.parts(array))
    here = f"SELECT r.{row}, {parts}, {node} FROM {query.cells} AS r CROSS JOIN ({begun}) AS s"
    for _ in range(depth - 1):
        here = (
            f'SELECT r.{row}, {parts}, CASE WHEN r."node" < 0 THEN r."node" ELSE {_step(cells, array)} END AS "node" '
            f'FROM ({here}) AS r LEFT JOIN {nodes} AS s ON s."node" = r."node"'
        )
    return here


def _step(cells: LongCells, array: str, place: int = 1) -> str:
    """Return the node to which a row goes, as nested CASEs: of a split, then of the split below it."""
    if place > SPLITS:
        return f's."below{place - BELOW}"'
    value = cells.query.pick("r", array, f's."col{place}"')
    test = f'{value} BETWEEN s."low{place}" AND s."high{place}"'
    return f"CASE WHEN {test} THEN {_step(cells, array, 2 * place)} ELSE {_step(cells, array, 2 * place + 1)} END"


def _intervals(tree: Partition) -> list[list[float]]:
    """Return the column of each split, and the least and greatest value of the rows that go to the first child."""
    is_level = np.array([each.levels is not None for each in tree.inputs])[tree.column] & (tree.column >= 0)
    low = np.where(is_level, tree.threshold, -LARGEST)
    high = np.where(is_level, tree.threshold, np.minimum(np.nextafter(tree.threshold, -np.inf), LARGEST))
    return [
        [1, 0.0, 0.0] if column < 0 else [column + 1, least, most]
        for column, least, most in zip(tree.column.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
