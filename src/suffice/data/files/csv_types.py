"""Types of the columns of CSV files, decided by all rows, and the query that reads the files with these types."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from suffice.data.column_names import quote_names
from suffice.data.engines.source import SourceError
from suffice.data.files.csv_format import DATE, CsvFormat
from suffice.data.files.file_formats import FoundFile
from suffice.data.files.table_file import ColumnHints
from suffice.data.labels import EMPTY

# The type of a column is the first whose test all its cells pass. (DuckDB rounds 0.4 to a whole number.) A look at one
# character comes first, because a cast that fails is slow: numbers begin with a sign, a point, a digit or "inf".
IS_NUMERIC = "(ascii({0}) < 58 OR ascii({0}) IN (73, 105))"
TESTS = {
    "BOOLEAN": "lower({0}) IN ('true', 'false')",
    "BIGINT": f"CASE WHEN {IS_NUMERIC} THEN TRY_CAST({{0}} AS BIGINT) = TRY_CAST({{0}} AS DOUBLE) END",
    "DOUBLE": f"CASE WHEN {IS_NUMERIC} THEN TRY_CAST({{0}} AS DOUBLE) IS NOT NULL END",
    "TIMESTAMP": "CASE WHEN substr(ltrim({0}), 5, 1) IN ('-', '/') THEN TRY_CAST({0} AS TIMESTAMP) IS NOT NULL END",
}
TYPE_NAMES = {
    "BOOLEAN": "booleans",
    "BIGINT": "numbers",
    "DOUBLE": "numbers",
    "COMMA": "numbers",
    "TIMESTAMP": "dates",
}
DECIMAL_COMMA = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?\s*$"
LONGEST_WHOLE = 18  # digits that every 64-bit integer can have
FILE = '"suffice file"'


class Doubt(NamedTuple):
    """A test that needs a second look at the cells, and the types of a column that passes and of one that fails."""

    test: str
    types: tuple[str, str]


DOUBTS = {
    "DIGITS": Doubt("regexp_full_match({0}, '\\s*[+-]?\\d+\\s*')", ("VARCHAR", "DOUBLE")),  # a double would round them
    "DAYS": Doubt("TRY_CAST({0} AS DATE) = TRY_CAST({0} AS TIMESTAMP)", ("DATE", "TIMESTAMP")),
    "COMMAS": Doubt(
        "regexp_matches({0}, '" + DECIMAL_COMMA.replace("{", "{{").replace("}", "}}") + "')", ("COMMA", "VARCHAR")
    ),
}

# How a column is read from its text; other types are plain casts.
EXPRESSIONS = {
    "VARCHAR": "{0}",
    "COMMA": "TRY_CAST(replace(replace(trim({0}), '.', ''), ',', '.') AS DOUBLE)",
}


@dataclass(frozen=True)
class CsvGroup:
    """Files of one layout, which DuckDB reads as one table."""

    files: tuple[FoundFile, ...]
    layout: CsvFormat
    is_partitioned: bool

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
            f"nullstr=[{', '.join(map(literal, EMPTY))}], compression={literal(self.files[0].compression)}, "
            f"hive_partitioning={str(self.is_partitioned).lower()}{large}{more})"
        )

    def typed(self, types: Mapping[str, str], left_out: Sequence[str] = ()) -> str:
        """Return the SQL that reads the columns with their types, without those that are left out."""
        made = []
        for name in self.layout.names:
            cell = identifier(name)
            read = EXPRESSIONS.get(types[name], f"CAST({{0}} AS {types[name]})").format(cell)
            if name not in left_out and read != cell:
                made.append(f"{read} AS {cell}")
        without = f" EXCLUDE ({', '.join(map(identifier, left_out))})" if left_out else ""
        replaced = f" REPLACE ({', '.join(made)})" if made else ""
        return f"SELECT *{without}{replaced} FROM {self.texts()}"


def infer_types(connection: Any, groups: Sequence[CsvGroup], hints: ColumnHints) -> dict[str, str]:
    """Return the type of each column; raise an error that names two files in which a column differs."""
    by_file: dict[str, dict[str, str]] = {}  # the first file in which a column has each type
    doubts: dict[str, str] = {}
    dates = set()
    for group in groups:
        for name, facts in _count_fitting_cells(connection, group).items():
            met = by_file.setdefault(name, {})
            for its in facts:
                if its.filled and name not in hints.texts:
                    met.setdefault(its.type, its.file)
                    doubts |= {name: its.doubt} if its.doubt else {}
            if facts and all(its.looks_like_dates for its in facts):
                dates.add(name)
    types = {name: _common_type(name, met) for name, met in by_file.items()}
    doubts = {name: doubt for name, doubt in doubts.items() if types[name] in DOUBTS[doubt].types}
    types |= _resolve_doubts(connection, groups, doubts)
    _warn_about_types(types, set() if hints.learned else dates.difference(hints.named))
    return types


def counts_rows(connection: Any, group: CsvGroup, name: str) -> bool:
    """Return whether a column holds 0, 1, 2 … or 1, 2, 3 … in the order of the rows."""
    number = f"TRY_CAST({identifier(name)} AS BIGINT)"
    asked = f"SELECT {number} AS cell, row_number() OVER () AS place FROM {group.texts()}"
    difference = f"SELECT min(place - cell), max(place - cell), count(*) = count(cell) FROM ({asked})"
    least, most, is_filled = connection.execute(difference).fetchone()
    return bool(is_filled) and least == most and least in (0, 1)


def literal(text: str) -> str:
    """Return a text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return the name of a column as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class _Facts:
    """What the cells of a column in one file show."""

    file: str
    has_commas: bool  # whether a number may have a decimal comma
    filled: int
    fitting: tuple[int, ...]
    longest: int
    ends: tuple[str, str]  # the first and the last cell in the order of strings

    @property
    def type(self) -> str:
        fits = (its for its, count in zip(TESTS, self.fitting, strict=True) if count == self.filled)
        return next(fits, "COMMA" if self.has_commas and self._ends_match(DECIMAL_COMMA) else "VARCHAR")

    @property
    def doubt(self) -> str:
        """Which of `DOUBTS` needs a second look at all cells."""
        long = "DIGITS" if self.type == "DOUBLE" and self.longest > LONGEST_WHOLE else ""
        return {"TIMESTAMP": "DAYS", "COMMA": "COMMAS"}.get(self.type, long)

    @property
    def looks_like_dates(self) -> bool:
        return self.type == "VARCHAR" and self._ends_match(DATE)

    def _ends_match(self, pattern: str) -> bool:
        return self.filled > 0 and all(re.match(pattern, end) for end in self.ends)


def _count_fitting_cells(connection: Any, group: CsvGroup) -> dict[str, list[_Facts]]:
    """Return for each column and file how many cells pass each test."""
    names, asked = group.layout.names, []
    for name in names:
        cell = identifier(name)
        tests = [f"count(*) FILTER (WHERE {test.format(cell)})" for test in TESTS.values()]
        asked += [f"count({cell})", *tests, f"max(length({cell}))", f"min({cell})", f"max({cell})"]
    rows = group.texts(", filename='suffice file'")
    found = connection.execute(f"SELECT {FILE}, {', '.join(asked)} FROM {rows} GROUP BY {FILE}").fetchall()
    shown = {file.path: file.shown for file in group.files}
    has_commas, width = group.layout.delimiter[0] != ",", len(asked) // len(names)
    facts: dict[str, list[_Facts]] = {name: [] for name in names}
    for file, *values in sorted(found):
        for place, name in enumerate(names):
            filled, *fitting, longest, least, most = values[place * width : (place + 1) * width]
            its = _Facts(shown[file], has_commas, filled, tuple(fitting), longest or 0, (least or "", most or ""))
            facts[name].append(its)
    return facts


def _common_type(name: str, by_file: Mapping[str, str]) -> str:
    """Return the type of a column in all files, or raise an error that names two files in which it differs."""
    for numbers in (("BIGINT",), ("BIGINT", "DOUBLE"), ("BIGINT", "COMMA")):
        if by_file and set(by_file) <= set(numbers):
            return numbers[-1]
    if len(by_file) > 1:
        (one, here), (other, there) = list(by_file.items())[:2]
        raise SourceError(
            f"column {name!r} is {TYPE_NAMES.get(one, 'strings')} in {here} and {TYPE_NAMES.get(other, 'strings')} in "
            f"{there}; make it the same in all files"
        )
    return next(iter(by_file), "VARCHAR")


def _resolve_doubts(connection: Any, groups: Sequence[CsvGroup], doubts: Mapping[str, str]) -> dict[str, str]:
    """Return the type of each doubtful column after a test of all its cells."""
    passes = dict.fromkeys(doubts, True)
    for group in groups:
        here = [name for name in doubts if name in group.layout.names]
        asked = []
        for name in here:
            cell = identifier(name)
            asked.append(f"count({cell}) = count(*) FILTER (WHERE {DOUBTS[doubts[name]].test.format(cell)})")
        answer = connection.execute(f"SELECT {', '.join(asked)} FROM {group.texts()}").fetchone() if here else ()
        for name, passed in zip(here, answer, strict=True):
            passes[name] &= passed
    return {name: DOUBTS[doubts[name]].types[0 if passed else 1] for name, passed in passes.items()}


def _warn_about_types(types: Mapping[str, str], dates: set[str]) -> None:
    commas = [name for name, its in types.items() if its == "COMMA"]
    if commas:
        warnings.warn(f"columns with decimal commas are read as numbers: {quote_names(commas)}", stacklevel=2)
    texts = [name for name, its in types.items() if its == "VARCHAR" and name in dates]
    if texts:
        warnings.warn(
            f"columns hold dates as text: {quote_names(texts)}; turn them into numbers, such as the month or days "
            f"since, or leave them out, such as families={{{texts[0]!r}: 'ignore'}}",
            stacklevel=2,
        )
