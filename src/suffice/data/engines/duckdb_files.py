"""The engine for files: an embedded DuckDB reads CSV, Parquet, JSON lines and Arrow, by name, glob or folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.engines import batches
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import SAMPLE, Request, SourceError, check_target_type
from suffice.data.files.file_scan import VIEW, FileScan, scan_files
from suffice.data.files.parquet_rows import ParquetRows, open_parquet
from suffice.data.files.table_file import ColumnHints, TableFile, show_path
from suffice.progress import watched
from suffice.schema import Columns, Words
from suffice.statistics import Tally

# A sample that is needed only for the types of columns consists of this many runs of consecutive rows.
RUNS = 4


class FilesSource(SqlSource):
    """Files as one table: a view of an embedded DuckDB.

    Rows are counted in batches, in the order of the files. DuckDB reads them, and of Parquet Arrow the columns of plain
    types, which is several times as fast because strings stay codes.
    """

    scan: FileScan

    def __init__(self, scan: FileScan) -> None:
        self.__dict__["scan"] = scan

    @classmethod
    def accepts(cls, source: Any) -> bool:
        parts = source if isinstance(source, (list, tuple)) and len(source) else [source]
        return all(isinstance(part, (str, os.PathLike, TableFile)) for part in parts)

    @classmethod
    def open(cls, source: Any, hints: ColumnHints) -> FilesSource:
        return cls(scan_files(source if isinstance(source, TableFile) else TableFile(source), hints))

    @cached_property
    def table(self) -> Any:
        """The files as a table expression of Ibis."""
        import ibis

        backend = ibis.duckdb.from_connection(self.scan.connection)
        backend.scratch_folder = self.scan.folder  # lazy tables of this backend may read copies of files
        return backend.table(VIEW)

    @property
    def names(self) -> tuple[str, ...]:
        return self.scan.names

    @cached_property
    def rows(self) -> int:
        return self.scan.count_rows()

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        if self.scan.format == "Parquet" and self.rows > rows:
            return self._sample_parquet(rows, spread), False
        # the number of rows of other formats is not known before all are read
        first = self.scan.read_rows(rows + 1)
        if first.num_rows == 0:
            raise SourceError("there are no rows to learn from")
        is_whole = first.num_rows <= rows
        return (first, is_whole) if is_whole or not spread else super().sample(rows, spread=spread)

    def _sample_parquet(self, rows: int, spread: bool) -> Any:
        if not spread or self.parquet is None or not self.parquet.has(self.names):
            return super().sample(rows, spread=spread)[0]
        try:
            return self.parquet.sample(rows, self.names, batches.ROWS)
        except Exception as error:
            raise self.explain_error(error) from error

    @cached_property
    def parquet(self) -> ParquetRows | None:
        """The files as rows that Arrow reads; None if DuckDB has to read them."""
        return open_parquet(self.scan.files) if self.scan.format == "Parquet" else None

    def read_batches(self, request: Request) -> Iterator[Any]:
        names = request.select(self.names)
        if self.parquet is None or not self.parquet.has(names):
            yield from super().read_batches(request)
            return
        texts = {name for block in request.blocks for name in block.read_names if _is_text(block)}
        levels = [name for name in names if name not in texts]
        try:
            yield from self.parquet.read_batches(names, batches.ROWS, levels)
        except Exception as error:
            raise self.explain_error(error) from error

    def read_rows(self, most: int | None = None) -> Any:
        return self.scan.read_rows(most)

    @property
    def all_columns(self) -> tuple[str, ...]:
        return self.scan.file_columns

    def check_target(self, name: str) -> None:
        check_target_type(name, self.scan.read_rows(0).schema.field(name).type)

    @property
    def reading(self) -> dict[str, Any]:
        return self.scan.reading

    @property
    def fingerprint(self) -> str:
        """The names, sizes and times of the files, and the names of the columns."""
        stated = []
        for file in self.scan.files:
            status = os.stat(file.path)
            is_copy = file.shown != show_path(file.path)
            stated.append(f"{file.shown} of {status.st_size} bytes" + ("" if is_copy else f" at {status.st_mtime_ns}"))
        return f"{', '.join(stated)} with columns {', '.join(self.names)}"

    def tally(self, request: Request) -> Tally:
        is_read_by_arrow = self.parquet is not None and self.parquet.has(request.select(self.names))
        if self.scan.format == "Parquet" and not is_read_by_arrow and self.rows > SAMPLE and request.counted is None:
            return super().tally(request)
        return batches.tally(self.read_batches(request), request, self.rows if is_read_by_arrow else 0)

    def run(self, expression: Any) -> Any:
        with watched("reading files", self.scan.connection.query_progress):
            return super().run(expression)

    def explain_error(self, error: Exception) -> SourceError:
        return self.scan.explain_error(error)

    def cheap_rows(self, rows: int) -> Any:
        """Return runs of consecutive rows: DuckDB skips the rows between them."""
        import pyarrow as pa

        length = rows // RUNS // 5  # the type of a column needs fewer rows than the cuts of its numbers
        starts = np.linspace(0, max(self.rows - length, 0), RUNS).astype(int).tolist()
        return pa.concat_tables([self.run(self.table.limit(length, offset=start)) for start in starts])


def _is_text(block: Columns) -> bool:
    return isinstance(block.codings[0] if block.codings else None, Words)
