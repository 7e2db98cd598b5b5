"""The engine for files: DuckDB, embedded, through Ibis; CSV, Parquet, JSON lines, globs and folders of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.engines import batches
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import Request, SourceError
from suffice.data.files.duckdb_csv import literal, ragged
from suffice.data.files.duckdb_formats import format_of, named, read
from suffice.progress import watched
from suffice.statistics import Tally

# Where rows are only to show what the columns are, they come from so many places in the files.
STRETCHES = 4


@dataclass(frozen=True)
class FilesSource(SqlSource):
    """Files that DuckDB reads."""

    files: tuple[str, ...]
    kind: str

    @classmethod
    def accepts(cls, source: Any) -> bool:
        """Say whether something names files."""
        some = source if isinstance(source, (list, tuple)) and len(source) else [source]
        return all(isinstance(each, (str, os.PathLike)) for each in some)

    @classmethod
    def opened(cls, source: Any) -> FilesSource:
        """Return files by name: a file, a glob, a folder, or several of these."""
        import duckdb
        import ibis

        some = source if isinstance(source, (list, tuple)) else [source]
        files = tuple(name for each in some for name in named(os.fspath(each)))
        kinds = {format_of(name) for name in files}
        if len(kinds) > 1:
            raise SourceError(f"files are of one format at a time, not of several: {', '.join(sorted(kinds))}")
        connection = ibis.duckdb.connect()
        # how far it has come is asked for, and shown in our way: its own bar would go among what a program prints
        connection.raw_sql("SET enable_progress_bar = true")
        connection.raw_sql("SET enable_progress_bar_print = false")
        connection.raw_sql("SET enable_external_file_cache = false")  # each column is read once: memory stays flat
        (kind,) = kinds
        try:
            return cls(read(connection, files, kind), files, kind)
        except duckdb.Error as error:
            raise _complaint(error, files, kind) from error

    def run(self, expression: Any) -> Any:
        with watched("reading files", self.backend.con.query_progress):
            return super().run(expression)

    def complaint(self, error: Exception) -> SourceError:
        return _complaint(error, self.files, self.kind)

    def tally(self, request: Request) -> Tally:
        if self.kind == "parquet":
            return super().tally(request)
        # a file that is not laid out by columns is read once, however many columns there are to count
        return batches.tally(self.handed_out(request), request)

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        if self.kind != "parquet":  # how many rows there are is not known before all are read
            first = self.run(self.table.limit(rows + 1))
            if 0 < first.num_rows <= rows or (first.num_rows and not spread):
                return first, first.num_rows <= rows
        return super().sample(rows, spread=spread)

    def few(self, rows: int) -> Any:
        """Return rows from a few places: DuckDB skips to them without reading what lies before."""
        import pyarrow as pa

        some = rows // STRETCHES // 5  # what a column is shows in fewer rows than where it is to be cut
        places = np.linspace(0, max(self.rows - some, 0), STRETCHES).astype(int).tolist()
        return pa.concat_tables([self.run(self.table.limit(some, offset=place)) for place in places])


def _complaint(error: Exception, files: Sequence[str], kind: str) -> SourceError:
    """Return DuckDB's complaint in a line that names the file."""
    said = " ".join(str(error).split())[:700]
    uneven = ragged(files) if kind == "csv" else None
    if uneven is not None:
        return SourceError(uneven)
    if any(name in said for name in files):
        return SourceError(said)
    return SourceError(f"{_broken(files, kind)!r} cannot be read: {said}")


def _broken(files: Sequence[str], kind: str) -> str:
    """Return the file that cannot be read by itself, of several; the first, if all can."""
    import duckdb

    for name in files[:-1] if kind in ("parquet", "csv", "json") else ():
        try:
            duckdb.sql(f"SELECT max(CAST(COLUMNS(*) AS VARCHAR)) FROM read_{kind}({literal(name)})").fetchall()
        except duckdb.Error:
            return name
    return files[-1]
