"""The engine for tables named by the URL of a database, such as ``postgresql://user@host/base#table``."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self
from urllib.parse import SplitResult, unquote, urlsplit

from suffice.data.column_names import quote_names
from suffice.data.engines.batches import ROWS, Batches
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import NoSqlError, Scored, ScoreQuery, SourceError
from suffice.data.files.table_file import ColumnHints, TableFile, hide_password, resolve_column
from suffice.data.labelled_table import missing_column

# What pip installs for the driver of each kind of database.
EXTRAS = {
    "duckdb": "suffice",
    "sqlite": "suffice",
    "postgres": "suffice[postgres]",
    "postgresql": "suffice[postgres]",
    "mysql": "suffice[mysql]",
    "mariadb": "suffice[mysql]",
}


@dataclass(frozen=True)
class UrlSource(SqlSource):
    """A table of a database that a URL names; ``url`` is not shown in messages, because it may have a password."""

    url: SplitResult

    @classmethod
    def accepts(cls, source: Any) -> bool:
        path = source.path if isinstance(source, TableFile) else source
        return isinstance(path, str) and re.match(rf"({'|'.join(EXTRAS)})://", path) is not None

    @classmethod
    def open(cls, source: Any, hints: ColumnHints) -> Self:
        file = source if isinstance(source, TableFile) else TableFile(source)
        given = [name for name, value in vars(file).items() if value and name not in ("path", "ignore")]
        if given:
            raise SourceError(f"TableFile(…, {given[0]}=…) is for files, and {file.shown} is a table of a database")
        url = urlsplit(str(file.path))
        backend = _connect(url, file.shown)
        opened = cls(_clean(lambda: _find_table(backend, unquote(url.fragment)), url, f"{file.shown}: "), url)
        ignored = [resolve_column(name, opened.names) for name in file.ignore]
        for name in ignored:
            if name not in opened.names:
                raise missing_column(name, opened.names)
        return cls(opened.table.drop(*ignored), url) if ignored else opened

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: ScoreQuery) -> Any:
        try:
            return super().scored(score, added, query)
        except NoSqlError:  # the rows are scored here, batch by batch
            return Batches(self.table.to_pyarrow_batches(chunk_size=ROWS)).scored(score, added, query)

    def explain_error(self, error: Exception) -> SourceError:
        return SourceError(_without_password(str(super().explain_error(error)), self.url))


def _connect(url: SplitResult, shown: str) -> Any:
    """Return the backend of Ibis for a URL; raise an error if its driver is missing or the database does not answer."""
    import ibis

    scheme = url.scheme
    try:
        if scheme == "duckdb":
            path = _find_file(url)
            return _clean(lambda: ibis.duckdb.connect(path, read_only=True), url, f"cannot open {shown}: ")
        if scheme == "sqlite":
            path = _find_file(url)
            return _clean(lambda: ibis.sqlite.connect(path), url, f"cannot open {shown}: ")
        if scheme in ("mysql", "mariadb"):
            _provide_mysql_driver()
            scheme = "mysql"
        else:
            import psycopg  # noqa: F401 - Ibis would name an extra of its own if it is missing
        address = url._replace(scheme=scheme, fragment="").geturl()
        return _clean(lambda: ibis.connect(address), url, f"cannot connect to {shown}: ")
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"{missing.name} is needed to read {url.scheme}:// URLs, and is not installed: pip install "
            f"'{EXTRAS[url.scheme]}'",
            name=missing.name,
        ) from None


def _provide_mysql_driver() -> None:
    """Let PyMySQL stand in for mysqlclient, which Ibis imports and which must be compiled."""
    with suppress(ModuleNotFoundError):
        import MySQLdb  # noqa: F401

        return
    import pymysql

    pymysql.install_as_MySQLdb()


def _find_file(url: SplitResult) -> str:
    """Return the file of an embedded database: ``sqlite:///file`` is absolute, or else relative as in SQLAlchemy."""
    path = unquote(url.netloc + url.path)
    found = [each for each in (path, path.removeprefix("/")) if os.path.isfile(each)]
    if not found:
        relative = path.removeprefix("/")
        either = repr(path) if relative == path else f"{relative!r}, nor {path!r}"
        raise FileNotFoundError(f"there is no file {either}, which {url.scheme}:// names")
    return found[0]


def _find_table(backend: Any, wanted: str) -> Any:
    """Return a table by its name, or by schema.name; raise an error that lists the tables if there is none."""
    names = backend.list_tables()
    if wanted in names:
        return _distinguish_capitals(backend, backend.table(wanted), (wanted,))
    schema, dot, name = wanted.partition(".")
    if dot:
        with suppress(Exception):  # the schema may not exist
            return _distinguish_capitals(backend, backend.table(name, database=schema), (schema, name))
    similar = get_close_matches(wanted, names, 1)
    tables = f"did you mean {similar[0]!r}?" if similar else f"there are {quote_names(names, 20) or 'none'}"
    problem = f"there is no table {wanted!r}" if wanted else "the URL must end in # and the name of a table"
    raise SourceError(f"{problem}; {tables}")


def _distinguish_capitals(backend: Any, table: Any, path: tuple[str, ...]) -> Any:
    """Return a table whose texts are equal only if they are the same; MySQL ignores capitals and accents."""
    if backend.name != "mysql":
        return table

    def quote(text: str) -> str:
        return "`" + text.replace("`", "``") + "`"

    columns = [
        f"CONVERT({quote(each)} USING utf8mb4) COLLATE utf8mb4_bin AS {quote(each)}"
        if kind.is_string()
        else quote(each)
        for each, kind in table.schema().items()
    ]
    return backend.sql(f"SELECT {', '.join(columns)} FROM {'.'.join(map(quote, path))}", schema=table.schema())


def _clean(call: Callable[[], Any], url: SplitResult, prefix: str) -> Any:
    """Return the result of a call; raise its errors as one line without the password."""
    try:
        return call()
    except ModuleNotFoundError:
        raise
    except Exception as error:
        message = " ".join(str(error).split())[:600]
        # the cause may hold the password
        raise SourceError(_without_password(prefix + message, url)) from None


def _without_password(message: str, url: SplitResult) -> str:
    for secret in {url.password, unquote(url.password or "")} - {None, ""}:
        message = message.replace(str(secret), "***")
    return hide_password(message)
