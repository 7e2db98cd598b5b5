"""Leaves of decision trees by joins with the table of nodes, one after another, for DuckDB.

Recursion would store the rows of each step.
"""

from __future__ import annotations

from suffice.export.joined_levels import BELOW, SPLITS, join_levels
from suffice.export.sql_expressions import Expression, column
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_parameters import Kind
from suffice.export.tree_outcomes import NODE_COLUMNS, bin_list, splits_by_position, thresholds_of, write_outcomes
from suffice.schema import Partition

# Rows that are in a leaf take no further joins after so many steps, or after a third of all steps.
LEAST_STEPS = 5


def add_paths(trees: list[Partition], cells: LongCells) -> str:
    """Add the nodes that rows visit; return the query of the leaves they reach.

    Each row gets a string with one bit for each threshold of each column. A join reads the positions of three splits,
    and the numbers of the nodes below them.
    """
    query, row = cells.query, cells.query.id
    thresholds = thresholds_of(trees)
    rows, roots, depth = join_levels(trees, splits_by_position(thresholds))
    kinds: dict[str, Kind] = dict.fromkeys(["node", *NODE_COLUMNS], "integer")
    table = query.parameters.add(query.new_name("nodes"), kinds, rows, ("node",))
    start = query.parameters.add(query.new_name("roots"), {"node": "integer"}, [[root] for root in roots], ("node",))
    outcomes = query.add_common("outcomes", _outcomes(trees, cells))
    # half the memory of the table that DuckDB hashes
    narrow = ", ".join(f'CAST(s."{name}" AS INT) AS "{name}"' for name in ["node", *NODE_COLUMNS])
    nodes = f"(SELECT {narrow} FROM {table} AS s)"
    here = f'SELECT r.{row}, r."x", CAST(t."node" AS INT) AS "node" FROM {outcomes} AS r CROSS JOIN {start} AS t'
    size = max(LEAST_STEPS, -(-depth // 3))
    leaves: list[str] = []
    for done in range(0, depth, size):
        if done:  # the strings are not stored with the paths: they are longer
            here = (
                f'SELECT r.{row}, r."x", d."node" FROM {leaves[-1]} AS d JOIN {outcomes} AS r ON r.{row} = d.{row} '
                f'WHERE d."node" > 0'
            )
        for _ in range(min(size, depth - done)):
            here = (
                f'SELECT d.{row}, d."x", CASE WHEN d."node" < 0 THEN d."node" ELSE {_step()} END AS "node" '
                f'FROM ({here}) AS d LEFT JOIN {nodes} AS s ON s."node" = d."node"'
            )
        leaves.append(query.add_common("paths", f'SELECT d.{row}, d."node" FROM ({here}) AS d'))
    return " UNION ALL ".join(f'SELECT {row}, "node" FROM {each} WHERE "node" < 0' for each in leaves)


def _outcomes(trees: list[Partition], cells: LongCells) -> str:
    """Return the query of the string of bits of each row."""
    thresholds, inputs = thresholds_of(trees), trees[0].inputs
    bins, joins = cells.query.parameters.reference("bins"), []
    for j, (each, known) in enumerate(zip(inputs, thresholds, strict=True)):
        if each.levels is None and len(known):
            number = cells.input_number(str(each.name)).node.sql(dialect="duckdb", identify=True)
            own = f'SELECT l."value", l."code" FROM {bins} AS l WHERE l."list" = {bin_list(cells, known)}'
            joins.append(f'ASOF LEFT JOIN ({own}) AS b{j} ON b{j}."value" <= {number}')

    def number_code(j: int) -> Expression:
        return column("code", f"b{j}")

    bits = write_outcomes(cells, inputs, thresholds, number_code, str)
    return f'SELECT r.{cells.query.id}, CAST({bits} AS BIT) AS "x" FROM {cells.query.cells} AS r {" ".join(joins)}'


def _step(place: int = 1) -> str:
    """Return the node to which a row goes, as nested CASEs: of a split, then of the split below it."""
    if place > SPLITS:
        return f's."b{place - BELOW}"'
    return f'CASE WHEN GET_BIT(d."x", s."s{place}") = 0 THEN {_step(2 * place)} ELSE {_step(2 * place + 1)} END'
