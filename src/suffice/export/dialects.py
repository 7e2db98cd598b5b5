"""SQL dialects: the databases that statements are written for and how they differ."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

from suffice.data.engines.source import NoSqlError

# Characters that no text in a database can have: NUL, and halves of surrogate pairs, which cannot be encoded.
NO_TEXT = "\x00\ud800-\udfff"

Layout = Literal["except", "row", "lateral", "join"]


# The types of the columns of parameter tables.
TYPES = {"integer": "BIGINT", "double": "DOUBLE PRECISION", "text": "TEXT"}


class ExportError(NoSqlError):
    """Raised if a model, or a name in it, cannot be written as SQL or ONNX."""


@dataclass(frozen=True)
class Dialect:
    """A database and what is special about its SQL.

    Attributes
    ----------
    name : str
        The name of the dialect in sqlglot.
    title : str
        The name of the database, for messages.
    layout : {"except", "row", "lateral", "join"}
        How the statement returns the columns of the table without the intermediate columns: ``SELECT * EXCEPT``, a
        whole row as one value, lateral subqueries, or a join of the table with the scores of its distinct rows.
    folds : bool
        Whether names that differ only in case are the same name.
    plain_names : bool
        Whether names of result columns consist of letters, digits and underscores.
    escapes_in_names : bool
        Whether a backslash in a quoted name is an escape, so that no name may have one.
    has_variables : bool
        Whether ``${name}`` is replaced by the value of a setting, also within quotes.
    underflow_is_error : bool
        Whether a product that is too small for a double is an error, and not 0.
    has_select : bool
        Whether models are written as one SELECT; not where comparisons of texts ignore case.
    tables_layout : {"except", "row", "join"}, optional
        The layout of the style "tables", if it is another one.
    element : str
        How an element of an array is read, by its position from 1 on; empty if the database has no arrays.
    has_fast_elements : bool
        Whether reading an element of a long array takes the same time as of a short one, so that arrays replace joins.
    find_equal, find_below : str
        The position, from 0 on, of a key in an array, and of the last element of a sorted array that is not greater;
        empty if they are found by subqueries.
    lists : str
        The array of the values of a list, in a table of lists, sorted by their codes.
    is_materialized : bool
        Whether a common table expression is computed once, so that the numbers of its rows need no order.
    row_number : str
        The function that numbers rows in any order, in a common table expression that is computed once because of it;
        empty if rows are numbered by a window.
    has_recursion : bool
        Whether common table expressions may be recursive.
    has_fast_rows : bool
        Whether averaged pairs and trees are computed by a subquery of each row, which reads elements of arrays.
    has_bits : bool
        Whether strings of bits are read fast and tables are joined by the next lesser value, so that trees need no
        recursion.
    types : mapping of str to str
        The types of the columns of parameter tables.
    key : str
        The clause of a primary key in CREATE TABLE; empty if the database has none.
    table_options : str
        What follows the columns in CREATE TABLE.
    fills_from_json : bool
        Whether a table is created and filled by one statement, which reads its rows from a text.
    temporary : str
        What follows CREATE for a temporary table; empty if no table is dropped with the session and read twice by one
        query.
    after_insert : tuple of str
        Statements that follow the rows of a parameter table.
    setup : tuple of str
        Statements at the beginning of a script.
    hexadecimal_texts : bool
        Whether texts are written in hexadecimal digits, because what a backslash means depends on the session.
    is_run : bool
        Whether the tests run the statements; those of other dialects are only parsed.
    """

    name: str
    title: str
    layout: Layout
    folds: bool
    plain_names: bool = False
    escapes_in_names: bool = False
    has_variables: bool = False
    underflow_is_error: bool = False
    has_select: bool = True
    tables_layout: Layout | None = None
    element: str = ""
    has_fast_elements: bool = False
    find_equal: str = ""
    find_below: str = ""
    lists: str = '(SELECT ARRAY_AGG(l."value" ORDER BY l."code") FROM {table} AS l WHERE l."list" = {place})'
    is_materialized: bool = False
    row_number: str = ""
    has_recursion: bool = True
    has_fast_rows: bool = False
    has_bits: bool = False
    types: Mapping[str, str] = field(default_factory=lambda: TYPES)
    key: str = "PRIMARY KEY ({key})"
    table_options: str = ""
    fills_from_json: bool = False
    temporary: str = "TEMPORARY TABLE"
    after_insert: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    hexadecimal_texts: bool = False
    is_run: bool = True

    def key_part(self, column: str, kind: str) -> str:
        """Return a column of a primary key or an index."""
        return f"{column}(200)" if kind == "text" and self.types["text"] == "BLOB" else column

    def check_name(self, name: str, what: str) -> str:
        """Return a name that can be quoted, or raise ExportError."""
        if not self.can_quote(name):
            raise ExportError(f"{what} {name!r} is not a valid name in {self.title}; rename it and fit again")
        return name

    def can_quote(self, name: str) -> bool:
        """Return whether a name can be written as a quoted identifier."""
        # BigQuery has no columns with these characters, and reads them in quotes as escapes
        forbidden = NO_TEXT + (r"`\\\n\r\t" if self.plain_names else r"\\" if self.escapes_in_names else "")
        is_variable = self.has_variables and "${" in name
        return bool(name) and not is_variable and re.search(f"[{forbidden}]", name) is None

    def result_name(self, name: str) -> str:
        """Return the name of a result column, with underscores for what the dialect does not allow.

        >>> DIALECTS["bigquery"].result_name("p(no way)"), DIALECTS["duckdb"].result_name("p(no way)")
        ('p_no_way', 'p(no way)')
        """
        if self.plain_names:
            name = "".join(c if c.isascii() and c.isalnum() else "_" for c in name).rstrip("_")
        if self.escapes_in_names:
            name = name.replace("\\", "_")
        if self.has_variables:
            name = name.replace("${", "_{")
        return self.check_name(name, "the result column")


DIALECTS: dict[str, Dialect] = {
    each.name: each
    for each in (
        Dialect(
            "duckdb",
            "DuckDB",
            "except",
            folds=True,
            element="{array}[{place}]",
            has_fast_elements=True,
            is_materialized=True,
            has_bits=True,
            key="",
        ),
        Dialect(
            "postgres",
            "PostgreSQL",
            "row",
            folds=False,
            underflow_is_error=True,
            element="{array}[{place}]",
            has_fast_elements=True,
            find_equal="ARRAY_POSITION({array}, {key}) - 1",
            find_below="WIDTH_BUCKET({key}, {array}) - 1",
            is_materialized=True,
            has_fast_rows=True,
            after_insert=("ANALYZE {name}",),
            # compiling the query takes longer than running it on 100,000 rows
            setup=("SET jit = off",),
        ),
        Dialect("sqlite", "SQLite", "join", folds=True, is_materialized=True),
        Dialect(
            "spark",
            "Spark",
            "lateral",
            folds=True,
            has_variables=True,
            tables_layout="row",
            element="ELEMENT_AT({array}, CAST({place} AS INT))",
            find_equal="NULLIF(ARRAY_POSITION({array}, {key}), 0) - 1",
            find_below="SIZE({array}) - ARRAY_POSITION(SORT_ARRAY(ARRAY_CONCAT({array}, ARRAY({key})), FALSE), {key})",
            # one query for all lists
            lists='ELEMENT_AT((SELECT MAP_FROM_ENTRIES(COLLECT_LIST(STRUCT(a."list", a."found"))) FROM ('
            'SELECT l."list", SORT_ARRAY(COLLECT_LIST(STRUCT(l."code", l."value"))).value AS "found" '
            'FROM {table} AS l GROUP BY l."list") AS a), {place})',
            # a window would move all rows to one task
            row_number="MONOTONICALLY_INCREASING_ID",
            has_recursion=False,
            temporary="",
            types={"integer": "BIGINT", "double": "DOUBLE", "text": "STRING"},
            key="",
            table_options=" USING PARQUET",
            # each INSERT is a job, and literals take long to parse
            fills_from_json=True,
        ),
        Dialect(
            "bigquery",
            "BigQuery",
            "except",
            folds=True,
            plain_names=True,
            types={"integer": "INT64", "double": "FLOAT64", "text": "STRING"},
            key="",
            temporary="",
            is_run=False,
        ),
        Dialect("snowflake", "Snowflake", "except", folds=False, key="", is_run=False),
        Dialect(
            "mysql",
            "MySQL",
            "join",
            folds=True,
            has_select=False,
            types={"integer": "BIGINT", "double": "DOUBLE", "text": "BLOB"},
            setup=("SET NAMES utf8mb4",),
            key="KEY ({key})",
            temporary="",
            hexadecimal_texts=True,
        ),
        Dialect(
            "tsql",
            "SQL Server",
            "join",
            folds=True,
            has_select=False,
            types={"integer": "BIGINT", "double": "FLOAT", "text": "NVARCHAR(400) COLLATE Latin1_General_100_BIN2"},
            temporary="",
            is_run=False,
        ),
        Dialect(
            "clickhouse",
            "ClickHouse",
            "except",
            folds=False,
            escapes_in_names=True,
            types={"integer": "Int64", "double": "Float64", "text": "String"},
            key="",
            table_options=" ENGINE = MergeTree ORDER BY ({key})",
            is_run=False,
        ),
    )
}
ALIASES = {
    "postgresql": "postgres",
    "pyspark": "spark",
    "databricks": "spark",
    "sqlite3": "sqlite",
    "mariadb": "mysql",
    "sqlserver": "tsql",
    "mssql": "tsql",
}


def find_dialect(name: str) -> Dialect:
    """Return the dialect with a name or alias, in any case.

    >>> find_dialect("PostgreSQL").name
    'postgres'
    >>> find_dialect("sqlight")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    suffice.export.dialects.ExportError: unknown dialect 'sqlight'; did you mean 'sqlite'? The dialects are duckdb, ...
    """
    key = str(name).lower()
    dialect = DIALECTS.get(ALIASES.get(key, key))
    if dialect is None:
        close = get_close_matches(key, [*DIALECTS, *ALIASES], 1, 0.5)
        hint = f"; did you mean {close[0]!r}? The" if close else "; the"
        raise ExportError(f"unknown dialect {name!r}{hint} dialects are {', '.join(DIALECTS)}")
    return dialect


def check_text(text: str, what: str) -> str:
    """Return a text that can be written as a string literal, or raise ExportError."""
    if re.search(f"[{NO_TEXT}]", text):
        raise ExportError(f"{what} {text!r} contains a character that no text in a database can have; rename it")
    return text
