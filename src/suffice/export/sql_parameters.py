"""Parameter tables: the numbers of a model as tables of the database, written as CREATE TABLE and INSERT."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sqlglot import exp, parse_one

from suffice.export.dialects import Dialect

# Rows of one INSERT.
ROWS_AT_ONCE = 500

# Stands for the logarithm of 0: sums of many of them are still doubles, and SUM leaves out NULL.
IMPOSSIBLE = -1e300

# Scores below this contain an impossible term.
LEAST_POSSIBLE = -1e290

Kind = Literal["integer", "double", "text"]


@dataclass(frozen=True)
class ParameterTable:
    """A table of parameters.

    Parameters
    ----------
    name : str
        The name after the prefix of the script.
    columns : dict of str to {"integer", "double", "text"}
        The columns with their types.
    rows : list of lists
        The values.
    key : sequence of str
        The columns of the primary key.
    """

    name: str
    columns: dict[str, Kind]
    rows: list[list[Any]]
    key: Sequence[str]


@dataclass
class ParameterTables:
    """The parameter tables of a script.

    Parameters
    ----------
    dialect : Dialect
        The database.
    prefix : tuple of str
        The schema, if there is one, and the beginning of the names of all tables.
    temporary : bool, default=False
        Whether the tables are dropped at the end of the session.
    """

    dialect: Dialect
    prefix: tuple[str, ...]
    temporary: bool = False
    tables: list[ParameterTable] = field(default_factory=list)

    def add(self, name: str, columns: dict[str, Kind], rows: Iterable[Sequence[Any]], key: Sequence[str]) -> str:
        """Add a table; return the reference to it, for queries."""
        self.tables.append(ParameterTable(name, columns, [list(row) for row in rows], tuple(key)))
        return self.reference(name)

    def add_arrays(self, name: str, keys: dict[str, Any], values: dict[str, Any]) -> str:
        """Add a table whose columns are given as arrays: integers of the key, and doubles."""
        columns: dict[str, Kind] = {**dict.fromkeys(keys, "integer"), **dict.fromkeys(values, "double")}
        arrays = [np.asarray(each).tolist() for each in (*keys.values(), *values.values())]
        return self.add(name, columns, zip(*arrays, strict=True), list(keys))

    def reference(self, name: str) -> str:
        """Return the quoted name of a table."""
        *schema, last = self.prefix
        return ".".join(map(quote, (*schema, f"{last}_{name}")))

    @property
    def cell_count(self) -> int:
        """The number of values in all tables."""
        return sum(len(table.rows) * len(table.columns) for table in self.tables)

    def statements(self) -> list[str]:
        """Return the statements that create and fill the tables."""
        found = []
        for table in self.tables:
            name = to_dialect(self.reference(table.name), self.dialect, exp.Table)
            filled = [self._create_as(name, table)] if self.dialect.fills_from_json else self._create(name, table)
            found += [f"DROP TABLE IF EXISTS {name}", *filled]
            found += [each.format(name=name) for each in self.dialect.after_insert]
        return found

    def _create_as(self, name: str, table: ParameterTable) -> str:
        """Return the statement that creates a table from one text: the rows as arrays of JSON."""
        kinds = self.dialect.types
        columns = (
            f"CAST(cells[{place}] AS {kinds[kind]}) AS {self._quoted(column)}"
            for place, (column, kind) in enumerate(table.columns.items())
        )
        rows = "[" + ",\n".join(f"[{','.join(map(_json, row))}]" for row in table.rows) + "]"
        text = "'" + rows.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return (
            f"CREATE TABLE {name}{self.dialect.table_options} AS\nSELECT {', '.join(columns)}\n"
            f"FROM (SELECT EXPLODE(FROM_JSON({text}, 'ARRAY<ARRAY<STRING>>')) AS cells)"
        )

    def _create(self, name: str, table: ParameterTable) -> Iterable[str]:
        kinds = self.dialect.types
        columns = [f"{self._quoted(column)} {kinds[kind]}" for column, kind in table.columns.items()]
        key = ", ".join(self.dialect.key_part(self._quoted(each), table.columns[each]) for each in table.key)
        columns += [self.dialect.key.format(key=key)] if self.dialect.key else []
        kind = self.dialect.temporary if self.temporary else "TABLE"
        yield f"CREATE {kind} {name} ({', '.join(columns)}){self.dialect.table_options.format(key=key)}"
        for first in range(0, len(table.rows), ROWS_AT_ONCE):
            lines = (", ".join(map(self._value, row)) for row in table.rows[first : first + ROWS_AT_ONCE])
            yield f"INSERT INTO {name} VALUES\n" + ",\n".join(f"({line})" for line in lines)

    def _value(self, value: Any) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, str):
            return text_literal(value, self.dialect).sql(dialect=self.dialect.name)
        if isinstance(value, float):
            return number_text(value)
        return str(value)

    def _quoted(self, name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(dialect=self.dialect.name)


def _json(value: Any) -> str:
    """Return a value in JSON."""
    if isinstance(value, float):
        return number_text(value)
    # Spark would replace ${name} by the value of a setting
    return json.dumps(value, ensure_ascii=False).replace("$", "\\u0024")


def number_text(value: float) -> str:
    """Return a double with all digits, −∞ as `IMPOSSIBLE`, and other infinities as the largest double.

    >>> number_text(0.1), number_text(3.0), number_text(-np.inf)
    ('0.1e0', '3e0', '-1e+300')
    """
    if value == -np.inf:
        value = IMPOSSIBLE
    digits = repr(float(min(value, np.finfo(np.float64).max)))
    return digits if "e" in digits else f"{digits.removesuffix('.0')}e0"


def text_literal(text: str, dialect: Dialect) -> exp.Expression:
    """Return a text as a literal; in hexadecimal digits where settings of a session change what a backslash means.

    Where ``${name}`` is replaced by the value of a setting, the text is joined from parts that do not contain it.

    >>> from suffice.export.dialects import DIALECTS
    >>> text_literal("costs ${x}", DIALECTS["spark"]).sql("spark")
    "CONCAT('costs $', '{x}')"
    """
    if dialect.has_variables and "${" in text:
        parts = text.replace("${", "$\0{").split("\0")
        return exp.Concat(expressions=[exp.Literal.string(part) for part in parts])
    if dialect.hexadecimal_texts and not (text.isascii() and text.replace("_", "").isalnum()):
        digits = exp.HexString(this=text.encode().hex())
        return exp.Anonymous(
            this="CONVERT", expressions=[exp.Var(this=f"{digits.sql(dialect=dialect.name)} USING utf8mb4")]
        )
    return exp.Literal.string(text)


def quote(name: str) -> str:
    """Return an identifier as this package writes it before it is translated to a dialect."""
    return '"' + name.replace('"', '""') + '"'


def to_dialect(text: str, dialect: Dialect, into: Any = None) -> str:
    """Return SQL that this package wrote in the dialect of a database."""
    return str(parse_one(text, read="duckdb", into=into).sql(dialect=dialect.name, identify=True))
