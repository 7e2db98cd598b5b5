"""Types of the columns of CSV files, decided by all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suffice.caller_warnings import warn_caller
from suffice.data.column_names import quote_names
from suffice.data.engines.source import SourceError
from suffice.data.files.csv_cells import TESTS, ColumnFacts, count_cells
from suffice.data.files.csv_dates import ORDERS
from suffice.data.files.csv_group import EXPRESSIONS, CsvGroup, identifier
from suffice.data.files.csv_numbers import FEWEST_NUMBERS, NEARLY_ALL
from suffice.data.files.table_file import ColumnHints, resolve_column

# Types of numbers, and those with which a column is read in which other cells are missing.
NEARLY = {"BIGINT": "NEARLY BIGINT", "DOUBLE": "NEARLY DOUBLE", "COMMA": "COMMA", "MARKED": "MARKED"}
DECIMAL_MARKS = {"COMMA": ",", "MARKED": "."}
DATES = ("DATE", "TIMESTAMP", *ORDERS)
TYPE_NAMES = {"BOOLEAN": "booleans", "VARCHAR": "strings"} | dict.fromkeys(DATES, "dates")


def infer_types(
    connection: Any, groups: Sequence[CsvGroup], hints: ColumnHints, ignored: Sequence[str] = ()
) -> dict[str, str]:
    """Return the type of each column; raise an error that names two files if a column is text in only one of them."""
    facts = count_cells(connection, groups, hints.decimal_marks)
    exact = {resolve_column(name, list(facts)) for name in hints.exact}
    texts = hints.texts.union(ignored)
    types = {
        name: "VARCHAR" if name in texts else _column_type(name, files, hints, name in exact)
        for name, files in facts.items()
    }
    kinds = {order: kind for kind, order in ORDERS.items()}
    for name in hints.date_parts:
        if name in types:
            types[name] = kinds.get(hints.date_orders.get(name, ""), "NEARLY TIMESTAMP")  # type: ignore[call-overload]
    shown = [name for name in types if name not in ignored and name in (hints.learned or types)]
    _note_numbers(connection, groups, {name: types[name] for name in shown}, facts, hints)
    if not hints.learned:
        _note_dates([name for name in shown if types[name] == "VARCHAR" and name not in hints.named], facts)
    return types


def reading_of(types: Mapping[str, str], has_parts: bool) -> dict[str, dict[str, str]]:
    """Return how cells are read, for a model to read other files in the same way: decimal marks and orders of dates."""
    known: dict[str, Mapping[str, str]] = {
        "decimal_marks_": DECIMAL_MARKS,
        "date_orders_": ORDERS if has_parts else {},
    }
    found = {
        name: {column: kinds[kind] for column, kind in types.items() if kind in kinds} for name, kinds in known.items()
    }
    return {name: read for name, read in found.items() if read}


def _note_dates(texts: Sequence[str], facts: Mapping[str, Sequence[ColumnFacts]]) -> None:
    """Say which columns of text hold dates."""
    dates = [name for name in texts if facts[name] and all(file.looks_like_dates for file in facts[name])]
    if dates:
        warn_caller(
            f"columns hold dates that cannot be read, and are learned as text: {quote_names(dates)}; the order of day "
            "and month is unclear, or the year has two digits: write them as 2026-12-31, or leave them out, such as "
            f"families={{{dates[0]!r}: 'ignore'}}"
        )


def _note_numbers(
    connection: Any,
    groups: Sequence[CsvGroup],
    types: Mapping[str, str],
    facts: Mapping[str, Sequence[ColumnFacts]],
    hints: ColumnHints,
) -> None:
    """Say which columns are read as numbers although their cells are not plain numbers."""
    for kind, what in (("COMMA", "decimal commas"), ("MARKED", "currency or percent signs or separators of thousands")):
        names = [name for name in types if types[name] == kind and not hints.learned]
        if names:
            warn_caller(f"columns with {what} are read as numbers: {quote_names(names)}")
    for kinds, what in ((NEARLY.values(), "numbers"), (("NEARLY TIMESTAMP", *ORDERS), "dates")):
        nearly = {name: kind for name, kind in types.items() if kind in kinds and _type_of(facts[name]) != kind}
        _note_other_cells(connection, groups, nearly, what)


def _note_other_cells(connection: Any, groups: Sequence[CsvGroup], types: Mapping[str, str], what: str) -> None:
    """Say which cells are read as missing, because they are not of the type of their column."""
    found = []
    for name in types:
        cell, value = identifier(name), EXPRESSIONS[types[name]].format(identifier(name))
        rows = " UNION ALL ".join(
            f"SELECT {cell} FROM {group.texts()} WHERE {cell} IS NOT NULL AND {value} IS NULL"
            for group in groups
            if name in group.layout.names
        )
        counts = connection.execute(f"SELECT {cell}, count(*) AS n FROM ({rows}) GROUP BY ALL ORDER BY n DESC, 1")
        cells = counts.fetchall()
        if cells:
            number = sum(count for _, count in cells)
            found.append(
                f"{name!r} ({quote_names([text for text, _ in cells], 3)} in {number:,} row{'s' if number > 1 else ''})"
            )
    if found:
        warn_caller(
            f"columns are read as {what}, and cells that are not {what} as missing: {'; '.join(found[:10])}"
            f"{f'; and {len(found) - 10} more columns' if len(found) > 10 else ''}"
        )


def find_row_counter(
    connection: Any, groups: Sequence[CsvGroup], types: Mapping[str, str], hints: ColumnHints
) -> tuple[str, ...]:
    """Return the first column of a file if it has no name and holds 0, 1, 2 … or 1, 2, 3 … in the order of the rows."""
    name, known = groups[0].layout.names[0], (*hints.named, *hints.learned)
    is_unnamed = name in groups[0].layout.unnamed and name not in known
    if not is_unnamed or len(groups) > 1 or len(groups[0].files) > 1 or types[name] != "BIGINT":
        return ()
    rows = (
        f"SELECT TRY_CAST({identifier(name)} AS BIGINT) AS cell, row_number() OVER () AS place FROM {groups[0].texts()}"
    )
    difference = f"SELECT min(place - cell), max(place - cell), count(*) = count(cell) FROM ({rows})"
    least, most, is_filled = connection.execute(difference).fetchone()
    return (name,) if is_filled and least == most and least in (0, 1) else ()


def _type_of(facts: Sequence[ColumnFacts]) -> str:
    """Return the first type whose test all cells of a column pass."""
    filled, has_commas = sum(file.filled for file in facts), any(file.commas for file in facts)
    fits = [kind for kind in TESTS if filled and filled == sum(file.fitting[kind] for file in facts)]
    if set(ORDERS) <= set(fits):  # 05/01/2026 may be in January or in May
        return "VARCHAR"
    return next((kind for kind in fits if kind != "COMMA" or has_commas), "VARCHAR")


def _column_type(name: str, facts: Sequence[ColumnFacts], hints: ColumnHints, is_exact: bool) -> str:
    """Return the type of a column; nearly all cells being numbers is enough, unless it is read exactly."""
    if is_exact:
        kind = _common_type(name, facts)
        return "VARCHAR" if kind in ("MARKED", *ORDERS) else kind  # labels such as 10% stay as they are
    kind = _nearly_numbers(name, facts, hints)
    return _common_type(name, facts) if kind == "VARCHAR" else kind


def _nearly_numbers(name: str, facts: Sequence[ColumnFacts], hints: ColumnHints) -> str:
    """Return the type of numbers of a column in which nearly all cells are numbers; text if they are not.

    Of a column that a model knows as numbers, one number is enough, or cells that are all marked as missing. If the
    model knows its decimal mark, too, that mark decides wherever all cells can be read with it.
    """
    filled, missing = sum(file.filled for file in facts), sum(file.missing for file in facts)
    known = next((kind for kind, mark in DECIMAL_MARKS.items() if hints.decimal_marks.get(name) == mark), None)
    if known and filled == missing + sum(file.fitting[known] for file in facts):
        return known
    if _type_of(facts) != "VARCHAR":
        return _type_of(facts)
    if name in hints.numbers and missing == filled > 0:
        return "NEARLY DOUBLE"
    counts = {kind: sum(file.fitting[kind] for file in facts) for kind in NEARLY}
    if not any(file.commas for file in facts):
        del counts["COMMA"]
    best = max(counts, key=lambda kind: counts[kind])  # the first of the best: whole numbers, then plain ones
    numbers, others = counts[best], filled - missing - counts[best]
    is_nearly = numbers >= max(FEWEST_NUMBERS, NEARLY_ALL * (numbers + others)) if others else numbers > 0
    return NEARLY[best] if is_nearly or (name in hints.numbers and numbers > 0) else "VARCHAR"


def _common_type(name: str, facts: Sequence[ColumnFacts]) -> str:
    """Return the type of a column in all files; raise an error if it is text in only some of them."""
    common = _type_of(facts)
    different = {_type_of([file]): file.file for file in reversed(facts) if file.filled}
    if common == "VARCHAR" and len(different) > 1:
        first, second, *_ = (
            f"{TYPE_NAMES.get(kind, 'numbers')} in {file}" for kind, file in [*different.items()][::-1]
        )
        raise SourceError(f"column {name!r} is {first} and {second}; make it the same in all files")
    return common
