"""Types of the columns of CSV files, decided by all rows, and the query that reads the files with these types."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.data.column_names import quote_names
from suffice.data.engines.source import SourceError
from suffice.data.files.csv_format import DATE, CsvFormat
from suffice.data.files.csv_numbers import (
    DECIMAL_COMMA,
    DECIMAL_POINT,
    FEWEST_NUMBERS,
    MISSING_AMONG_NUMBERS,
    NEARLY_ALL,
    number_test,
    number_value,
)
from suffice.data.files.file_formats import FoundFile, is_partitioned
from suffice.data.files.table_file import ColumnHints, resolve_column

# The type of a column is the first whose test all its cells pass. (DuckDB rounds 0.4 to a whole number.) Tests look at
# one character first, because a cast that fails is slow: numbers begin with a sign, a point, a digit or "inf".
NUMERIC = "ascii({0}) < 58 OR ascii({0}) IN (73, 105)"
DATED = "substr(ltrim({0}), 5, 1) IN ('-', '/')"
TESTS = {
    "BOOLEAN": "lower({0}) IN ('true', 'false')",
    "BIGINT": f"CASE WHEN {NUMERIC} THEN TRY_CAST({{0}} AS BIGINT) = TRY_CAST({{0}} AS DOUBLE) END",
    "DATE": f"CASE WHEN {DATED} THEN TRY_CAST({{0}} AS DATE) = TRY_CAST({{0}} AS TIMESTAMP) END",
    "TIMESTAMP": f"CASE WHEN {DATED} THEN TRY_CAST({{0}} AS TIMESTAMP) IS NOT NULL END",
    # whole numbers of more than 64 bits stay text
    "DIGITS": "translate({0}, '+-0123456789', '') = '' AND rtrim({0}, '+-') <> ''",
    "DOUBLE": f"CASE WHEN {NUMERIC} THEN TRY_CAST({{0}} AS DOUBLE) IS NOT NULL END",
    "COMMA": number_test(DECIMAL_COMMA),
    "MARKED": number_test(DECIMAL_POINT),
}
# Types of numbers, and those with which a column is read in which other cells are missing.
NEARLY = {"BIGINT": "NEARLY BIGINT", "DOUBLE": "NEARLY DOUBLE", "COMMA": "COMMA", "MARKED": "MARKED"}
DECIMAL_MARKS = {"COMMA": ",", "MARKED": "."}
# Expressions that convert text to some types; other types are plain casts.
EXPRESSIONS = {
    "VARCHAR": "{0}",
    "DIGITS": "{0}",
    "COMMA": number_value(DECIMAL_COMMA),
    "MARKED": number_value(DECIMAL_POINT),
    "NEARLY BIGINT": "TRY_CAST({0} AS BIGINT)",
    "NEARLY DOUBLE": "TRY_CAST({0} AS DOUBLE)",
    "NEARLY TIMESTAMP": "TRY_CAST({0} AS TIMESTAMP)",
}
# The cells of so many columns are counted by one query: DuckDB's time for a query grows with the square of its length.
COUNTED_TOGETHER = 16
TYPE_NAMES = {"BOOLEAN": "booleans", "DATE": "dates", "TIMESTAMP": "dates", "VARCHAR": "strings"}


@dataclass(frozen=True)
class CsvGroup:
    """Files of one layout, which DuckDB reads as one table."""

    files: tuple[FoundFile, ...]
    layout: CsvFormat
    is_partitioned: bool
    na_values: tuple[str, ...]

    def texts(self, more: str = "") -> str:
        """Return the SQL of a table whose columns are all text."""
        layout = self.layout
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in layout.names)
        longest = 2 * layout.longest_row + 1024  # in a repaired file; DuckDB's own limit is 2,000,000 bytes
        large = f", max_line_size={longest}, buffer_size={2 * longest}" if longest > 2_000_000 else ""
        return (
            f"read_csv([{', '.join(literal(file.path) for file in self.files)}], auto_detect=false, "
            f"columns={{{columns}}}, header={str(layout.has_header).lower()}, skip={layout.skip}, "
            f"delim={literal(layout.delimiter)}, quote='\"', escape='\"', "
            f"nullstr=[{', '.join(map(literal, dict.fromkeys(('', *self.na_values))))}], "
            f"compression={literal(self.files[0].compression)}, "
            f"hive_partitioning={str(self.is_partitioned).lower()}{large}{more})"
        )

    def typed(self, types: Mapping[str, str]) -> str:
        """Return the SQL that reads the columns with their types."""
        made = []
        for name in self.layout.names:
            read = EXPRESSIONS.get(types[name], f"CAST({{0}} AS {types[name]})")
            if read != "{0}":
                made.append(f"{read.format(identifier(name))} AS {identifier(name)}")
        replaced = f" REPLACE ({', '.join(made)})" if made else ""
        return f"SELECT *{replaced} FROM {self.texts()}"


@dataclass(frozen=True)
class ColumnFacts:
    """The cells of a column in a file: how many are filled, may have a decimal comma, are missing, pass each test."""

    file: str
    filled: int
    commas: int
    missing: int
    fitting: tuple[int, ...]
    looks_like_dates: bool


def infer_types(
    connection: Any, groups: Sequence[CsvGroup], hints: ColumnHints, ignored: Sequence[str] = ()
) -> dict[str, str]:
    """Return the type of each column; raise an error that names two files if a column is text in only one of them."""
    facts: dict[str, list[ColumnFacts]] = {name: [] for group in groups for name in group.layout.names}
    for group in groups:
        for name, column_facts in _count_cells(connection, group):
            facts[name].append(column_facts)
    exact = {resolve_column(name, list(facts)) for name in hints.exact}
    texts = hints.texts.union(ignored)
    types = {
        name: "VARCHAR" if name in texts else _column_type(name, files, hints, name in exact)
        for name, files in facts.items()
    }
    types |= {name: "NEARLY TIMESTAMP" for name in hints.date_parts if name in types}
    shown = [name for name in types if name not in ignored and name in (hints.learned or types)]
    _note_numbers(connection, groups, {name: types[name] for name in shown}, facts, hints)
    if not hints.learned:
        _note_dates([name for name in shown if types[name] == "VARCHAR" and name not in hints.named], facts)
    return types


def _note_dates(texts: Sequence[str], facts: Mapping[str, Sequence[ColumnFacts]]) -> None:
    """Say which columns of text hold dates."""
    dates = [name for name in texts if facts[name] and all(file.looks_like_dates for file in facts[name])]
    if dates:
        warnings.warn(
            f"columns hold dates as text: {quote_names(dates)}; turn them into numbers, such as the month or days "
            f"since, or leave them out, such as families={{{dates[0]!r}: 'ignore'}}",
            stacklevel=3,
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
            warnings.warn(f"columns with {what} are read as numbers: {quote_names(names)}", stacklevel=3)
    for kinds, what in ((NEARLY.values(), "numbers"), (("NEARLY TIMESTAMP",), "dates")):
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
        warnings.warn(
            f"columns are read as {what}, and cells that are not {what} as missing: {'; '.join(found[:10])}"
            f"{f'; and {len(found) - 10} more columns' if len(found) > 10 else ''}",
            stacklevel=4,
        )


def group_files(files: Sequence[FoundFile], layouts: Sequence[CsvFormat], na_values: tuple[str, ...]) -> list[CsvGroup]:
    """Return groups of files with the same layout and compression."""
    partitioned = is_partitioned(files)
    groups: dict[Any, list[FoundFile]] = {}
    for file, layout in zip(files, layouts, strict=True):
        groups.setdefault((layout, file.compression), []).append(file)
    return [CsvGroup(tuple(grouped), layout, partitioned, na_values) for (layout, _), grouped in groups.items()]


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


def literal(text: str) -> str:
    """Return a text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return the name of a column as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _count_cells(connection: Any, group: CsvGroup) -> list[tuple[str, ColumnFacts]]:
    """Return the facts about each column in each file."""
    # where commas separate cells, a quoted 1,234 has a separator of thousands, and only 1,5 a decimal comma
    separates = group.layout.delimiter[0] == ","
    is_comma = "contains({0}, ',')" + (f" AND NOT ({TESTS['MARKED']})" if separates else "")
    marks = f"length({{0}}) < 16 AND lower(trim({{0}})) IN ({', '.join(map(literal, MISSING_AMONG_NUMBERS))})"
    aggregates = ["count({0})", f"count(*) FILTER (WHERE {is_comma})", f"count(*) FILTER (WHERE {marks})"]
    aggregates += ["min({0})", "max({0})"]
    aggregates += [f"count(*) FILTER (WHERE {test})" for test in TESTS.values()]
    rows, file = group.texts(", filename='suffice file'"), identifier("suffice file")
    shown = {file.path: file.shown for file in group.files}
    facts = []
    for start in range(0, len(group.layout.names), COUNTED_TOGETHER):
        names = group.layout.names[start : start + COUNTED_TOGETHER]
        expressions = [aggregate.format(identifier(name)) for name in names for aggregate in aggregates]
        counts = connection.execute(f"SELECT {file}, {', '.join(expressions)} FROM {rows} GROUP BY {file}").fetchall()
        for path, *values in sorted(counts):
            for place, name in enumerate(names):
                column = values[place * len(aggregates) : (place + 1) * len(aggregates)]
                filled, commas, missing, least, most, *fitting = column
                if separates and not commas:
                    fitting[list(TESTS).index("COMMA")] = 0
                looks_like_dates = filled > 0 and all(re.match(DATE, end) for end in (least, most))
                facts.append(
                    (name, ColumnFacts(shown[path], filled, commas, missing, tuple(fitting), looks_like_dates))
                )
    return facts


def _type_of(facts: Sequence[ColumnFacts]) -> str:
    """Return the first type whose test all cells of a column pass."""
    filled, has_commas = sum(file.filled for file in facts), any(file.commas for file in facts)
    counts = [sum(file.fitting[place] for file in facts) for place in range(len(TESTS))]
    fits = (kind for kind, count in zip(TESTS, counts, strict=True) if filled and count == filled)
    return next((kind for kind in fits if kind != "COMMA" or has_commas), "VARCHAR")


def _column_type(name: str, facts: Sequence[ColumnFacts], hints: ColumnHints, is_exact: bool) -> str:
    """Return the type of a column; nearly all cells being numbers is enough, unless it is read exactly."""
    if is_exact:
        kind = _common_type(name, facts)
        return "VARCHAR" if kind == "MARKED" else kind  # labels such as 10% stay as they are
    kind = _nearly_numbers(name, facts, hints)
    return _common_type(name, facts) if kind == "VARCHAR" else kind


def _nearly_numbers(name: str, facts: Sequence[ColumnFacts], hints: ColumnHints) -> str:
    """Return the type of numbers of a column in which nearly all cells are numbers; text if they are not.

    Of a column that a model knows as numbers, one number is enough, or cells that are all marked as missing. If the
    model knows its decimal mark, too, that mark decides wherever all cells can be read with it.
    """
    filled, missing = sum(file.filled for file in facts), sum(file.missing for file in facts)
    known = next((kind for kind, mark in DECIMAL_MARKS.items() if hints.decimal_marks.get(name) == mark), None)
    if known and filled == missing + sum(file.fitting[list(TESTS).index(known)] for file in facts):
        return known
    if _type_of(facts) != "VARCHAR":
        return _type_of(facts)
    if name in hints.numbers and missing == filled > 0:
        return "NEARLY DOUBLE"
    counts = {kind: sum(file.fitting[place] for file in facts) for place, kind in enumerate(TESTS) if kind in NEARLY}
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
