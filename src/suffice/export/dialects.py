"""SQL dialects: the databases that statements are written for and how they differ."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from suffice.data.engines.source import NoSqlError

# Characters that no text in a database can have: NUL, and halves of surrogate pairs, which cannot be encoded.
NO_TEXT = "\x00\ud800-\udfff"

Layout = Literal["except", "row", "lateral", "join"]


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
    underflow_is_error : bool
        Whether a product that is too small for a double is an error, and not 0.
    """

    name: str
    title: str
    layout: Layout
    folds: bool
    plain_names: bool = False
    underflow_is_error: bool = False

    def check_name(self, name: str, what: str) -> str:
        """Return a name that can be quoted, or raise ExportError."""
        if not self.can_quote(name):
            raise ExportError(f"{what} {name!r} is not a valid name in {self.title}; rename it and fit again")
        return name

    def can_quote(self, name: str) -> bool:
        """Return whether a name can be written as a quoted identifier."""
        # BigQuery has no columns with these characters, and reads them in quotes as escapes
        forbidden = NO_TEXT + (r"`\\\n\r\t" if self.plain_names else "")
        return bool(name) and re.search(f"[{forbidden}]", name) is None

    def result_name(self, name: str) -> str:
        """Return the name of a result column, with underscores for what the dialect does not allow.

        >>> DIALECTS["bigquery"].result_name("p(no way)"), DIALECTS["duckdb"].result_name("p(no way)")
        ('p_no_way', 'p(no way)')
        """
        if self.plain_names:
            name = "".join(c if c.isascii() and c.isalnum() else "_" for c in name).rstrip("_")
        return self.check_name(name, "the result column")


DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect("duckdb", "DuckDB", "except", folds=True),
    "postgres": Dialect("postgres", "PostgreSQL", "row", folds=False, underflow_is_error=True),
    "sqlite": Dialect("sqlite", "SQLite", "join", folds=True),
    "spark": Dialect("spark", "Spark", "lateral", folds=True),
    "bigquery": Dialect("bigquery", "BigQuery", "except", folds=True, plain_names=True),
    "snowflake": Dialect("snowflake", "Snowflake", "except", folds=False),
}
ALIASES = {"postgresql": "postgres", "pyspark": "spark", "databricks": "spark", "sqlite3": "sqlite"}


def find_dialect(name: str) -> Dialect:
    """Return the dialect with a name or alias, in any case.

    >>> find_dialect("PostgreSQL").name
    'postgres'
    >>> find_dialect("sqlight")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    suffice.export.dialects.ExportError: unknown dialect 'sqlight'; did you mean 'sqlite'? Available: duckdb, ...
    """
    key = str(name).lower()
    dialect = DIALECTS.get(ALIASES.get(key, key))
    if dialect is None:
        close = get_close_matches(key, [*DIALECTS, *ALIASES], 1, 0.5)
        hint = f"; did you mean {close[0]!r}?" if close else ";"
        raise ExportError(f"unknown dialect {name!r}{hint} Available: {', '.join(DIALECTS)}")
    return dialect


def check_text(text: str, what: str) -> str:
    """Return a text that can be written as a string literal, or raise ExportError."""
    if re.search(f"[{NO_TEXT}]", text):
        raise ExportError(f"{what} {text!r} contains a character that no text in a database can have; rename it")
    return text
