"""`AveragedPairs` and `JointLookUp` as joins with tables of pairs of levels and of combinations."""

import numpy as np

from suffice.data.read_columns import combination_order
from suffice.export import sql_row_pairs
from suffice.export.pair_values import exponential, implied_levels, values_of_pairs
from suffice.export.sql_expressions import Expression
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_long_columnwise import IMPOSSIBLE_TEXT, add_slots, by_class
from suffice.export.sql_parameters import LEAST_POSSIBLE, Kind
from suffice.schema import Array, Combinations, Levels, MissingLevel
from suffice.score import AveragedPairs, JointLookUp


def translate_averaged_pairs(term: AveragedPairs, cells: LongCells) -> list[Expression]:
    """Add log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ over the eligible levels i of a row.

    The table of pairs has log p(b | a) of levels a and b of two columns, and log p(a) where both are the same.
    """
    if cells.query.dialect.has_fast_rows:
        return sql_row_pairs.translate_averaged_pairs(term, cells)
    query, classes = cells.query, range(cells.query.class_count)
    slots, row = add_slots(cells, term.sizes), query.id
    of_slot = np.repeat(np.arange(len(term.sizes)), term.sizes + 1)
    weights = np.where(term.eligible > 0, term.weights[of_slot], 0.0)
    lone = query.parameters.add_arrays(
        query.new_name("parents"), {"slot": np.arange(len(of_slot))}, {"w": weights} | by_class("c", term.alone.T)
    )
    kept = query.add_common("kept", _without_implied(term, cells, slots, lone))
    alone = ", ".join(f'SUM(a."c{k}") AS "c{k}"' for k in classes)
    if query.dialect.has_fast_elements:
        alone += ', ARRAY_AGG(a."slot") AS "slots"'
    whole = query.add_common("whole", f'SELECT a.{row}, SUM(a."w") AS "w", {alone} FROM {kept} AS a GROUP BY a.{row}')
    parents = np.flatnonzero(weights)
    values = values_of_pairs(term, of_slot, parents)
    if query.dialect.has_fast_elements:
        lines = query.add_common("lines", _lines_by_elements(cells, weights, parents, values, whole))
        tops = ", ".join(f'MAX(l."c{k}") AS "t{k}"' for k in classes)
        highest = query.add_common("tops", f"SELECT l.{row}, {tops} FROM {lines} AS l GROUP BY l.{row}")
        lines, top = f"{lines} AS l JOIN {highest} AS t ON t.{row} = l.{row}", "t"
    else:
        lines, top = f"{query.add_common('lines', _lines_by_joins(cells, of_slot, parents, values, kept))} AS l", "l"
    shares = ", ".join(
        f'SUM(l."w" * {exponential(f"(l.c{k} - {top}.t{k})")}) AS "c{k}", MAX({top}.t{k}) AS "t{k}"' for k in classes
    )
    means = query.add_common("means", f"SELECT l.{row}, {shares} FROM {lines} GROUP BY l.{row}")
    results = ", ".join(
        f"CASE WHEN m.t{k} IS NULL THEN w.c{k} WHEN m.t{k} < {LEAST_POSSIBLE!r} THEN {IMPOSSIBLE_TEXT} "
        f'ELSE m.t{k} + LN(m.c{k}) - LN(w."w") END AS "c{k}"'
        for k in classes
    )
    return query.join_scores(
        "averaged", f"SELECT w.{row}, {results} FROM {whole} AS w LEFT JOIN {means} AS m ON m.{row} = w.{row}"
    )


def _lines_by_joins(cells: LongCells, of_slot: Array, parents: Array, values: Array, kept: str) -> str:
    """Return log p(a)·Πⱼ p(xⱼ | a) for each row and level a that is a parent, by a join with all pairs of levels.

    A window has the greatest of each row: some databases compute a table again for each query that refers to it.
    """
    query, row = cells.query, cells.query.id
    a, b = np.nonzero((of_slot[parents, None] != of_slot) | (parents[:, None] == np.arange(len(of_slot))))
    pairs = query.parameters.add_arrays(
        query.new_name("pairs"), {"a": parents[a], "b": b}, by_class("c", values[a, b].T)
    )
    sums = ", ".join(
        f'SUM(p."c{k}") AS "c{k}", MAX(SUM(p."c{k}")) OVER (PARTITION BY a.{row}) AS "t{k}"'
        for k in range(query.class_count)
    )
    return (
        f'SELECT a.{row}, a."w", {sums} FROM {kept} AS a JOIN {kept} AS b ON b.{row} = a.{row} '
        f'JOIN {pairs} AS p ON p."a" = a."slot" AND p."b" = b."slot" WHERE a."w" > 0 GROUP BY a.{row}, a."slot", a."w"'
    )


def _lines_by_elements(cells: LongCells, weights: Array, parents: Array, values: Array, whole: str) -> str:
    """Return the same by elements of one array for each class, which has all children of the first parent first."""
    query, size = cells.query, len(weights)
    classes = range(query.class_count)
    pairs = query.parameters.add_arrays(
        query.new_name("pairs"),
        {"place": np.arange(len(parents) * size)},
        by_class("c", values.reshape(-1, query.class_count).T),
    )
    starts = np.zeros(size, np.int64)
    starts[parents] = np.arange(len(parents)) * size
    starting = query.parameters.add_arrays(
        query.new_name("starts"), {"slot": np.arange(size), "start": starts}, {"w": weights}
    )
    arrays = ", ".join(f'ARRAY_AGG(p."c{k}" ORDER BY p."place") AS "c{k}"' for k in classes)
    matrix = query.add_common("matrix", f"SELECT {arrays} FROM {pairs} AS p")
    parent = query.add_common(
        "starts",
        f'SELECT ARRAY_AGG(p."start" ORDER BY p."slot") AS "start", ARRAY_AGG(p."w" ORDER BY p."slot") AS "w" '
        f"FROM {starting} AS p",
    )
    columns, element = query.parameters.reference(f"columns{cells.first}"), query.dialect.element

    def pick(array: str, place: str) -> str:
        return element.format(array=array, place=place)

    level = pick('r."slots"', 'd."col"')
    start, weight = (pick(f's."{name}"', f"{level} + 1") for name in ("start", "w"))
    begun = query.add_common(
        "begun",
        f'SELECT r.{query.id}, r."slots", {start} AS "start", {weight} AS "w" '
        f"FROM {whole} AS r CROSS JOIN {columns} AS d CROSS JOIN {parent} AS s WHERE {level} IS NOT NULL",
    )
    sums = ", ".join(
        " + ".join(
            f"COALESCE({pick(f'm.c{k}', pick('r.slots', str(j + 1)) + ' + r.start + 1')}, 0e0)"
            for j in range(len(cells.names))
        )
        + f' AS "c{k}"'
        for k in classes
    )
    return f'SELECT r.{query.id}, r."w", {sums} FROM {begun} AS r CROSS JOIN {matrix} AS m WHERE r."w" > 0'


def _without_implied(term: AveragedPairs, cells: LongCells, slots: str, lone: str) -> str:
    """Return the levels of each row that no other level of the row implies."""
    query, row = cells.query, cells.query.id
    values = ", ".join(f"p.c{k}" for k in range(query.class_count))
    select = f'SELECT s.{row}, s."slot", p."w", {values} FROM {slots} AS s JOIN {lone} AS p ON p."slot" = s."slot"'
    keys = implied_levels(term, np.repeat(np.arange(len(term.sizes)), term.sizes + 1))
    if not len(keys["kept"]):
        return select
    implied = query.parameters.add_arrays(query.new_name("implied"), keys, {})
    dropped = query.add_common(
        "dropped",
        f'SELECT DISTINCT a.{row}, m."dropped" FROM {slots} AS a JOIN {implied} AS m ON m."kept" = a."slot"',
    )
    return (
        f'{select} LEFT JOIN {dropped} AS d ON d.{row} = s.{row} AND d."dropped" = s."slot" WHERE d."dropped" IS NULL'
    )


def translate_joint_look_up(term: JointLookUp, cells: LongCells) -> list[Expression]:
    """Add the value of a known combination; otherwise the look-up of each column by itself.

    The key of a combination is the text of its codes.
    """
    query, row, classes = cells.query, cells.query.id, range(cells.query.class_count)
    slots, codings = add_slots(cells, term.separate.sizes), list(cells.columns.codings or ())
    combinations = codings.pop()
    assert isinstance(combinations, Combinations)
    values = [coding.values if isinstance(coding, MissingLevel) else coding for coding in codings]
    order = combination_order((cells.columns.names or ())[:-1])
    places = [values[place] for place in order]
    keys = [
        ",".join(str(of.index[x] if isinstance(of, Levels) else x) for x, of in zip(label, places, strict=True))
        for label in combinations.labels
    ]
    kinds: dict[str, Kind] = {"key": "text", **dict.fromkeys([f"c{k}" for k in classes], "double")}
    table = query.parameters.add(
        query.new_name("combinations"),
        kinds,
        [[key, *line] for key, line in zip(keys, term.table.T.tolist(), strict=True)],
        ("key",),
    )
    array = query.add_array(("raw", cells.first), [cells.raw_code(place) for place in order], "bigint")
    key = " || ',' || ".join(f"CAST({each} AS VARCHAR)" for each in query.elements("r", array))
    lone = query.parameters.add_arrays(
        query.new_name("levels"), {"slot": np.arange(term.separate.table.shape[1])}, by_class("c", term.separate.table)
    )
    unseen = query.parameters.add_arrays(
        query.new_name("unseen"), {"one": np.array([1])}, by_class("u", term.log_unseen[:, None])
    )
    sums = ", ".join(f'SUM(p."c{k}") AS "c{k}"' for k in classes)
    separate = query.add_common(
        "separate", f'SELECT s.{row}, {sums} FROM {slots} AS s JOIN {lone} AS p ON p."slot" = s."slot" GROUP BY s.{row}'
    )
    keyed = query.add_common("combined", f'SELECT r.{row}, {key} AS "key" FROM {query.cells} AS r')
    results = ", ".join(
        f'CASE WHEN p."key" IS NOT NULL THEN p.c{k} WHEN r."key" IS NOT NULL THEN s.c{k} + u.u{k} '
        f'ELSE s.c{k} END AS "c{k}"'
        for k in classes
    )
    return query.join_scores(
        "joint",
        f"SELECT r.{row}, {results} FROM {keyed} AS r CROSS JOIN {unseen} AS u "
        f'LEFT JOIN {table} AS p ON p."key" = r."key" '
        f"LEFT JOIN {separate} AS s ON s.{row} = r.{row}",
    )
