"""What the cells of CSV files look like: how many of a column pass the test of each type, counted by DuckDB."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suffice.data.files.csv_dates import DATE, ORDERS, date_test
from suffice.data.files.csv_group import CsvGroup, identifier, literal
from suffice.data.files.csv_numbers import DECIMAL_COMMA, DECIMAL_POINT, MISSING_AMONG_NUMBERS, number_test

# The type of a column is the first whose test all its cells pass. (DuckDB rounds 0.4 to a whole number.) Tests look at
# one character first, because a cast that fails is slow: numbers begin with a sign, a point, a digit or "inf". The
# conditions are CASEs, because DuckDB evaluates both sides of AND and OR. {0} stands for the text of a cell, and {1}
# for its number, which is computed once for all tests.
NUMERIC = "{0} < ':' OR ascii({0}) IN (73, 105)"
DATED = "substr(ltrim({0}), 5, 1) IN ('-', '/')"
NUMBER = f"CASE WHEN {NUMERIC} THEN TRY_CAST({{0}} AS DOUBLE) END"
TESTS = {
    "BOOLEAN": "CASE WHEN ascii({0}) IN (70, 84, 102, 116) THEN lower({0}) IN ('true', 'false') END",
    "BIGINT": "CASE WHEN {1} = floor({1}) THEN TRY_CAST({0} AS BIGINT) = {1} END",
    "DATE": f"CASE WHEN {DATED} THEN TRY_CAST({{0}} AS DATE) = TRY_CAST({{0}} AS TIMESTAMP) END",
    "TIMESTAMP": f"CASE WHEN {DATED} THEN TRY_CAST({{0}} AS TIMESTAMP) IS NOT NULL END",
    **{kind: date_test(order) for kind, order in ORDERS.items()},
    # whole numbers of more than 64 bits stay text
    "DIGITS": (
        "CASE WHEN ascii({0}) BETWEEN 43 AND 57 THEN translate({0}, '+-0123456789', '') = '' "
        "AND rtrim({0}, '+-') <> '' END"
    ),
    "DOUBLE": "{1} IS NOT NULL",
    "COMMA": number_test(DECIMAL_COMMA),
    "MARKED": number_test(DECIMAL_POINT),
}
# The tests of the first scan; columns of plain numbers and those of plain texts are not scanned again for the others.
PLAIN = ("BIGINT", "DOUBLE")
DIGITS = frozenset("+-0123456789")
# A text that stands for a missing number begins with one of these characters, or with a blank.
FIRST_OF_MARKS = sorted({ord(first) for mark in MISSING_AMONG_NUMBERS for first in (" ", mark[0], mark[0].upper())})
IS_MARK = (
    f"CASE WHEN ascii({{0}}) IN ({', '.join(map(str, FIRST_OF_MARKS))}) "
    f"THEN lower(trim({{0}})) IN ({', '.join(map(literal, MISSING_AMONG_NUMBERS))}) END"
)
# Of texts that begin with an ASCII letter, only these and infinite numbers pass a test.
OF_LETTERS = frozenset(("true", "false", *MISSING_AMONG_NUMBERS))
# So many aggregates are computed by one query: DuckDB's time for a query grows with the square of its length.
AGGREGATES = 208


@dataclass(frozen=True)
class ColumnFacts:
    """The cells of a column in a file.

    ``filled`` cells are not empty; ``least`` and ``most`` are the first and the last of them in alphabetical order.
    ``commas`` may have a decimal comma, and ``missing`` stand for a missing number. ``fitting`` is the number of cells
    that pass the test of each type.
    """

    file: str
    filled: int
    least: str | None
    most: str | None
    fitting: Mapping[str, int]
    commas: int = 0
    missing: int = 0

    @property
    def looks_like_dates(self) -> bool:
        """Whether the first and the last cell are dates."""
        return self.filled > 0 and all(re.match(DATE, end or "") for end in (self.least, self.most))

    @property
    def are_plain_numbers(self) -> bool:
        """Whether all cells are numbers without signs of currencies and the like, and of at most 64 bits if whole."""
        has_fraction = not (DIGITS.issuperset(self.least or "") and DIGITS.issuperset(self.most or ""))
        return self.filled == self.fitting["BIGINT"] or (self.filled == self.fitting["DOUBLE"] and has_fraction)

    @property
    def are_plain_texts(self) -> bool:
        """Whether all cells begin with ASCII letters and are not all booleans or all missing: all tests fail."""
        ends = (self.least or "", self.most or "")
        are_texts = ends[0] >= "A" and ends[1] < "{" and any(end.strip().lower() not in OF_LETTERS for end in ends)
        return not self.filled or (are_texts and not self.fitting["DOUBLE"])


def count_cells(connection: Any, groups: Sequence[CsvGroup], marked: Collection[str]) -> dict[str, list[ColumnFacts]]:
    """Return the facts about each column in each file.

    A first scan finds the columns that hold plain numbers or plain texts only. The other tests are slow, and only the
    other columns are scanned again for them, and those of which a model knows the decimal mark (``marked``).
    """
    found: dict[str, dict[str, ColumnFacts]] = {name: {} for group in groups for name in group.layout.names}
    for group in groups:
        _count_numbers(connection, group, found)
    plain = {
        name
        for name, files in found.items()
        if all(file.are_plain_numbers for file in files.values())
        or all(file.are_plain_texts for file in files.values())
    }
    for group in groups:
        names = [name for name in group.layout.names if name not in plain or name in marked]
        _count_others(connection, group, names, found)
    return {name: list(files.values()) for name, files in found.items()}


def _count_numbers(connection: Any, group: CsvGroup, found: dict[str, dict[str, ColumnFacts]]) -> None:
    """Add the facts that the first scan finds."""
    aggregates = ["count({0})", "min({0})", "max({0})", *(_count(TESTS[kind]) for kind in PLAIN)]
    shown = {file.path: file.shown for file in group.files}
    for name, path, values in _aggregate(connection, group, group.layout.names, aggregates):
        filled, least, most, *counts = values
        fitting = dict.fromkeys(TESTS, 0) | dict(zip(PLAIN, counts, strict=True))
        found[name][path] = ColumnFacts(shown[path], filled, least, most, fitting)


def _count_others(
    connection: Any, group: CsvGroup, names: Sequence[str], found: dict[str, dict[str, ColumnFacts]]
) -> None:
    """Complete the facts about some columns."""
    # where commas separate cells, a quoted 1,234 has a separator of thousands, and only 1,5 a decimal comma
    separates, is_comma = group.layout.delimiter[0] == ",", "contains({0}, ',')"
    if separates:
        is_comma = f"CASE WHEN {is_comma} THEN NOT ({TESTS['MARKED']}) END"
    others = [kind for kind in TESTS if kind not in PLAIN]
    aggregates = [_count(is_comma), _count(IS_MARK), *(_count(TESTS[kind]) for kind in others)]
    for name, path, (commas, missing, *counts) in _aggregate(connection, group, names, aggregates):
        fitting = {**found[name][path].fitting, **dict(zip(others, counts, strict=True))}
        if separates and not commas:
            fitting["COMMA"] = 0
        found[name][path] = replace(found[name][path], commas=commas, missing=missing, fitting=fitting)


def _count(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


def _aggregate(
    connection: Any, group: CsvGroup, names: Sequence[str], aggregates: Sequence[str]
) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield the name of each column, the path of each file, and the aggregates of its cells."""
    many, width = len(group.files) > 1, len(aggregates)
    texts = group.texts(", filename='suffice file'" if many else "")
    # a query without groups takes half the time
    file = identifier("suffice file") if many else literal(group.files[0].path)
    step = AGGREGATES // width
    for start in range(0, len(names), step):
        some = names[start : start + step]
        cells = [
            f"{cell} AS text{place}, {NUMBER.format(cell)} AS number{place}"
            for place, cell in enumerate(map(identifier, some))
        ]
        expressions = [
            each.format(f"text{place}", f"number{place}") for place in range(len(some)) for each in aggregates
        ]
        inner = f"SELECT {', '.join([*cells, file] if many else cells)} FROM {texts}"
        query = f"SELECT {file}, {', '.join(expressions)} FROM ({inner})" + (f" GROUP BY {file}" if many else "")
        for path, *values in sorted(connection.execute(query).fetchall(), key=lambda line: str(line[0])):
            for place, name in enumerate(some):
                yield name, path, values[place * width : (place + 1) * width]
