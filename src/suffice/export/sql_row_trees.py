"""`MeanOfTrees` row by row, for databases in which a subquery of each row reads elements of arrays fast."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from suffice.export.joined_levels import BELOW, SPLITS, join_levels
from suffice.export.sql_expressions import Expression
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_parameters import Kind
from suffice.export.tree_outcomes import NODE_COLUMNS, bin_list, splits_by_position, thresholds_of, write_outcomes
from suffice.schema import Partition
from suffice.score import MeanOfTrees

# Most rows are in a leaf after so many steps; the others go on in subqueries, each of which is half as long again.
FIRST_STEPS = 6

# The byte '0' of a threshold that a row's cell is below; it is '1' otherwise.
BELOW_THRESHOLD = 48

# The string of bytes of a row.
OUTCOMES = "r.x"


def add_shares(term: MeanOfTrees, trees: list[Partition], cells: LongCells) -> str:
    """Add the sum over trees of the shares in the leaf that a row reaches, for each row; return the table's name.

    Each row gets a string with one byte for each threshold of each column. A step reads the bytes of three splits by
    their positions, which are elements of arrays, and then the number of the next node.
    """
    query, classes = cells.query, range(cells.query.class_count)
    thresholds = thresholds_of(trees)
    rows, roots, depth = join_levels(trees, splits_by_position(thresholds))
    kinds: dict[str, Kind] = dict.fromkeys(["node", *NODE_COLUMNS], "integer")
    nodes = query.parameters.add(query.new_name("nodes"), kinds, rows, ("node",))
    start = query.parameters.add(query.new_name("roots"), kinds, [rows[root - 1] for root in roots], ("node",))
    # the shares of the last class are what the others leave
    is_whole = np.allclose(term.shares.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    summed = classes[:-1] if is_whole else classes
    shares = {f"c{k}": term.shares[:, k] for k in summed}
    leaves = query.parameters.add_arrays(query.new_name("leaves"), {"leaf": np.arange(len(term.shares))}, shares)

    def number_code(j: int) -> Expression:
        name = str(trees[0].inputs[j].name)
        code = query.look_up("bins", bin_list(cells, thresholds[j]), "<=", cells.input_number(name))
        return query.add_once(1, ("threshold", name, cells.first), code)

    # not a column of the cells, which are stored and read several times
    outcomes = write_outcomes(cells, trees[0].inputs, thresholds, number_code, lambda text: f"CAST({text} AS BLOB)")
    found = f'(SELECT r.{query.id}, {outcomes} AS "x" FROM {query.cells} AS r OFFSET 0)'
    sums = ", ".join(f'SUM(p."c{k}"[-d."n"]) AS "c{k}"' for k in summed)
    results = [f"z.c{k}" for k in summed]
    if is_whole:
        results.append(f"{len(trees)}e0 - ({' + '.join(results)}) AS c{classes[-1]}")
    return query.add_common(
        "shares",
        f"SELECT r.{query.id}, {', '.join(results)} FROM {found} AS r "
        f"CROSS JOIN {gather(nodes, NODE_COLUMNS, 'node')} AS m "
        f"CROSS JOIN {gather(leaves, list(shares), 'leaf', 'DOUBLE')} AS p "
        f"CROSS JOIN LATERAL (SELECT {sums} FROM ({_descend(start, depth)}) AS d) AS z",
    )


def gather(table: str, columns: list[str], order: str, kind: str = "INT") -> str:
    """Return a subquery of one row, which has the columns of a table as arrays."""
    # sorted once: ORDER BY in each ARRAY_AGG would sort the table for each of them
    items = ", ".join(f'ARRAY_AGG(CAST(a."{name}" AS {kind})) AS "{name}"' for name in columns)
    return f'(SELECT {items} FROM (SELECT * FROM {table} ORDER BY "{order}") AS a)'


def _descend(roots: str, depth: int, outcomes: str = OUTCOMES) -> str:
    """Return the leaf of each tree that a row reaches, as column n."""
    done = min(FIRST_STEPS, depth)
    first = _step(outcomes, lambda name: f'CAST(t."{name}" AS INT)')
    steps = [f'd1 AS (SELECT {first} AS "n" FROM {roots} AS t OFFSET 0)', *_steps("d1", 1, done, outcomes)]
    return f'WITH {", ".join(steps)} SELECT {_go_on(done, depth, outcomes)} AS "n" FROM d{done}'


def _go_on(done: int, depth: int, outcomes: str) -> str:
    """Return the leaf that a row reaches from a node; nodes that are leaves already take no further steps."""
    if done == depth:
        return f'd{done}."n"'
    after = min(done + done // 2, depth)
    first = f"e{done}"
    steps = [f'{first} AS (SELECT d{done}."n" AS "n" OFFSET 0)', *_steps(first, done, after, outcomes)]
    rest = f"WITH {', '.join(steps)} SELECT {_go_on(after, depth, outcomes)} FROM d{after}"
    return f'CASE WHEN d{done}."n" < 0 THEN d{done}."n" ELSE ({rest}) END'


def _steps(before: str, first: int, last: int, outcomes: str) -> list[str]:
    """Return common table expressions of one step each."""
    names = [before, *(f"d{place}" for place in range(first + 1, last + 1))]
    step = _step(outcomes, lambda name: f'm."{name}"[d."n"]')
    # OFFSET 0: PostgreSQL would write the step's expression in place of each reference to its result
    return [
        f'{name} AS (SELECT CASE WHEN d."n" < 0 THEN d."n" ELSE {step} END AS "n" FROM {source} AS d OFFSET 0)'
        for source, name in pairwise(names)
    ]


def _step(outcomes: str, value: Callable[[str], str], place: int = 1) -> str:
    """Return the node to which a row goes, as nested CASEs: of a split, then of the split below it."""
    if place > SPLITS:
        return value(f"b{place - BELOW}")
    below, above = (_step(outcomes, value, 2 * place + side) for side in (0, 1))
    return f"CASE GET_BYTE({outcomes}, {value(f's{place}')}) WHEN {BELOW_THRESHOLD} THEN {below} ELSE {above} END"
