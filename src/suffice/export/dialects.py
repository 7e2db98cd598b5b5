"""Dialects: which databases SQL is written for, and what each of them does in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from suffice.data.engines.source import NoSqlError


class ExportError(NoSqlError):
    """Why a model, or a name in it, cannot be written as SQL."""


@dataclass(frozen=True)
class Dialect:
    """A database: its name in sqlglot, and how a query keeps the table's columns without those it computes by.

    ``keeps`` is "except" (a star may leave columns out), "row" (a whole row can be a value), "lateral" (what is
    computed stands beside the table) or "join" (none of these: what is computed is joined by the columns it was
    computed from). ``folds`` says whether names that differ in capitals alone are the same, ``plain_names`` whether
    they are made of letters, digits and underscores, ``underflows`` whether a product that is too small for a number
    is an error, and not 0.
    """

    name: str
    title: str
    keeps: str
    folds: bool
    plain_names: bool = False
    underflows: bool = False

    def checked_name(self, name: str, what: str) -> str:
        """Return a name that can be quoted, or say why it cannot."""
        if not self.has_name(name):
            raise ExportError(f"{what} {name!r} is no name that {self.title} can have; rename it, and fit again")
        return name

    def has_name(self, name: str) -> bool:
        """Say whether a name can be quoted."""
        bad = "\x00"
        if self.plain_names:
            bad += "`\\\n\r\t"  # no column of it has them, and its quotes read them as escapes
        return bool(name) and not any(character in name for character in bad) and _encodes(name)

    def result_name(self, name: str) -> str:
        """Return the name of a column that is computed, without what the dialect cannot have in one.

        >>> DIALECTS["bigquery"].result_name("p(no way)"), DIALECTS["duckdb"].result_name("p(no way)")
        ('p_no_way', 'p(no way)')
        """
        if self.plain_names:  # letters, digits and underscores, and nothing else in what a query gives back
            name = "".join(c if c.isascii() and c.isalnum() else "_" for c in name).rstrip("_")
        return self.checked_name(name, "the label in")


DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect("duckdb", "DuckDB", "except", folds=True),
    "postgres": Dialect("postgres", "PostgreSQL", "row", folds=False, underflows=True),
    "sqlite": Dialect("sqlite", "SQLite", "join", folds=True),
    "spark": Dialect("spark", "Spark", "lateral", folds=True),
    "bigquery": Dialect("bigquery", "BigQuery", "except", folds=True, plain_names=True),
    "snowflake": Dialect("snowflake", "Snowflake", "except", folds=False),
}
ALIASES = {"postgresql": "postgres", "pyspark": "spark", "databricks": "spark", "sqlite3": "sqlite"}


def dialect_of(name: str) -> Dialect:
    """Return the dialect of a name, or say which there are.

    >>> dialect_of("PostgreSQL").name
    'postgres'
    >>> dialect_of("sqlight")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    suffice.export.dialects.ExportError: there is no dialect 'sqlight'; did you mean 'sqlite'? There are duckdb, ...
    """
    said = str(name).lower()
    found = DIALECTS.get(ALIASES.get(said, said))
    if found is None:
        near = get_close_matches(said, [*DIALECTS, *ALIASES], 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ";"
        raise ExportError(f"there is no dialect {name!r}{hint} There are {', '.join(DIALECTS)}")
    return found


def checked_text(text: str, what: str) -> str:
    """Return a text that a literal can hold, or say why it cannot."""
    if "\x00" in text or not _encodes(text):
        raise ExportError(f"{what} {text!r} holds a character that no text in a database can have; rename it")
    return text


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
