"""`AveragedPairs` row by row, for databases in which a subquery of each row reads elements of arrays fast."""

import numpy as np

from suffice.export.pair_values import exponential, implied_levels, values_of_pairs
from suffice.export.sql_expressions import Expression, integer
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_long_columnwise import IMPOSSIBLE_TEXT, by_class
from suffice.export.sql_parameters import LEAST_POSSIBLE
from suffice.export.sql_row_trees import gather
from suffice.score import AveragedPairs


def translate_averaged_pairs(term: AveragedPairs, cells: LongCells) -> list[Expression]:
    """Add log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ over the eligible levels i of a row.

    The arrays have the weight of each level, the place of its first pair, and log p(b | a) of all pairs of levels.
    """
    query, classes = cells.query, range(cells.query.class_count)
    of_slot = np.repeat(np.arange(len(term.sizes)), term.sizes + 1)
    weights = np.where(term.eligible > 0, term.weights[of_slot], 0.0)
    parents = np.flatnonzero(weights)
    starts = np.zeros(len(of_slot))
    starts[parents] = np.arange(len(parents)) * len(of_slot)
    levels = {"start": starts, "w": weights} | by_class("c", term.alone.T)
    lone = query.parameters.add_arrays(query.new_name("parents"), {"slot": np.arange(len(of_slot))}, levels)
    values = values_of_pairs(term, of_slot, parents).reshape(-1, query.class_count).T
    pairs = query.parameters.add_arrays(
        query.new_name("pairs"), {"place": np.arange(values.shape[1])}, by_class("c", values)
    )
    codes = [cells.code(j) + integer(int(first)) for j, first in enumerate(np.cumsum(term.sizes + 1) - term.sizes)]
    slots = f"r.{query.parts(query.add_array(('slots', cells.first), codes, 'int'))[0]}"
    given = f'(SELECT UNNEST({slots}) AS "slot")'
    condition, dropped = 'a."slot" IS NOT NULL', ""
    implied = implied_levels(term, of_slot)
    if len(implied["kept"]):
        # elements of arrays are numbered from 1 on
        table = query.parameters.add_arrays(
            query.new_name("implied"), {name: places + 1 for name, places in implied.items()}, {}
        )
        condition += ' AND NOT COALESCE(a."slot" = ANY(g."slots"), FALSE)'
        dropped = (
            f'(SELECT ARRAY_AGG(CAST(i."dropped" AS INT)) AS "slots" FROM {given} AS a '
            f'JOIN {table} AS i ON i."kept" = a."slot") AS g CROSS JOIN '
        )
    alone = ", ".join(f'SUM(p."c{k}"[a."slot"]) AS "c{k}"' for k in classes)
    kept = (
        f'SELECT ARRAY_AGG(a."slot") AS "slots", SUM(p."w"[a."slot"]) AS "w", {alone} FROM {given} AS a '
        f"WHERE {condition}"
    )
    results = ", ".join(
        f"CASE WHEN l.t{k} IS NULL THEN k.c{k} WHEN l.t{k} < {LEAST_POSSIBLE!r} THEN {IMPOSSIBLE_TEXT} "
        f'ELSE l.t{k} + LN(s.c{k}) - LN(k."w") END AS "c{k}"'
        for k in classes
    )
    # with OFFSET 0, PostgreSQL plans the subquery for one row; otherwise it caches results by the values of all arrays
    found = (
        f"SELECT {results} FROM {dropped}LATERAL ({kept}) AS k CROSS JOIN LATERAL ({_lines(cells)}) AS l "
        f"CROSS JOIN LATERAL ({_shares(cells)}) AS s OFFSET 0"
    )
    return query.join_scores(
        "averaged",
        f"SELECT r.{query.id}, {', '.join(f'z.c{k}' for k in classes)} FROM {query.cells} AS r "
        f"CROSS JOIN {gather(lone, list(levels), 'slot', 'DOUBLE')} AS p "
        f"CROSS JOIN {gather(pairs, [f'c{k}' for k in classes], 'place', 'DOUBLE')} AS m "
        f"CROSS JOIN LATERAL ({found}) AS z",
    )


def _lines(cells: LongCells) -> str:
    """Return log p(a)·Πⱼ p(xⱼ | a) for each level a of a row that is a parent, as arrays, and their maxima."""
    classes = range(cells.query.class_count)
    parent = (
        'SELECT p."w"[b."slot"] AS "w", CAST(p."start"[b."slot"] AS INT) AS "start" '
        'FROM (SELECT UNNEST(k."slots") AS "slot") AS b OFFSET 0'
    )
    sums = ", ".join(
        " + ".join(f'COALESCE(m."c{k}"[a."start" + k."slots"[{j + 1}]], 0e0)' for j in range(len(cells.names)))
        + f' AS "c{k}"'
        for k in classes
    )
    lines = f'SELECT a."w", {sums} FROM ({parent}) AS a WHERE a."w" > 0 OFFSET 0'
    found = ", ".join(f'MAX(a."c{k}") AS "t{k}", ARRAY_AGG(a."c{k}") AS "c{k}"' for k in classes)
    return f'SELECT ARRAY_AGG(a."w") AS "w", {found} FROM ({lines}) AS a'


def _shares(cells: LongCells) -> str:
    """Return Σ w·exp(line − maximum) of each class."""
    classes = range(cells.query.class_count)
    lines = ", ".join(f'UNNEST(l."c{k}") AS "c{k}"' for k in classes)
    sums = ", ".join(f'SUM(a."w" * {exponential(f"(a.c{k} - l.t{k})")}) AS "c{k}"' for k in classes)
    return f'SELECT {sums} FROM (SELECT UNNEST(l."w") AS "w", {lines}) AS a'
