"""The engine for files: DuckDB, embedded, through Ibis; CSV, Parquet, JSON lines, globs and folders of them."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from suffice.engines.source import SourceError
from suffice.engines.sql import SqlSource

FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".tab", ".txt", ".psv"),
    "json": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
PACKED = (".gz", ".zst", ".bz2")

# Where rows are only to show what the columns are, they come from so many places in the files.
STRETCHES = 4


@dataclass(frozen=True)
class FilesSource(SqlSource):
    """Files that DuckDB reads."""

    files: tuple[str, ...]

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
        files = tuple(name for each in some for name in _named(os.fspath(each)))
        kinds = {_format(name) for name in files}
        if len(kinds) > 1:
            raise SourceError(f"files are of one format at a time, not of several: {', '.join(sorted(kinds))}")
        connection = ibis.duckdb.connect()
        try:
            return cls(_read(connection, files, kinds.pop()), files)
        except duckdb.Error as error:
            raise _complaint(error, files) from error

    def complaint(self, error: Exception) -> SourceError:
        return _complaint(error, self.files)

    def few(self, rows: int) -> Any:
        """Return rows from a few places: DuckDB skips to them without reading what lies before."""
        import pyarrow as pa

        some = rows // STRETCHES
        places = np.linspace(0, max(self.rows - some, 0), STRETCHES).astype(int).tolist()
        return pa.concat_tables([self.run(self.table.limit(some, offset=place)) for place in places])

    @property
    def _sampling(self) -> str:
        return "block"  # a thousand rows here and there, without a look at all others


def _named(name: str) -> list[str]:
    """Return the files that a name stands for."""
    if os.path.isdir(name):
        found = sorted(str(path) for path in Path(name).rglob("*") if _known(path.name) and path.is_file())
        found = [path for path in found if not Path(path).name.startswith(("_", "."))]
        if not found:
            raise SourceError(f"folder {name!r} holds no file that can be read: {_endings()}")
        return found
    if os.path.exists(name):
        return [name]
    if glob.has_magic(name):
        found = sorted(glob.glob(name, recursive=True))
        if found:
            return found
        raise SourceError(f"no file is named like {name!r}")
    raise FileNotFoundError(f"there is no file {name!r}")


def _known(name: str) -> bool:
    return any(_bare(name).endswith(endings) for endings in FORMATS.values())


def _bare(name: str) -> str:
    """Return a name without the ending that says how it is packed."""
    lower = name.lower()
    return next((lower[: -len(end)] for end in PACKED if lower.endswith(end)), lower)


def _format(name: str) -> str:
    for its, endings in FORMATS.items():
        if _bare(name).endswith(endings):
            return its
    raise SourceError(f"{name!r} has no ending that says what it is; known are {_endings()}")


def _endings() -> str:
    return ", ".join(end for endings in FORMATS.values() for end in endings) + ", each also with .gz"


def _read(connection: Any, files: Sequence[str], kind: str) -> Any:
    """Return the files as one table; columns go by name."""
    if kind == "parquet":
        _check_parquet(connection, files)
        return connection.read_parquet(list(files), union_by_name=True, hive_partitioning=_partitioned(files))
    if kind == "json":
        return connection.read_json(list(files))
    if kind == "arrow":
        import pyarrow.dataset as ds

        return connection.read_in_memory(ds.dataset(list(files), format="arrow"), "arrow_files")
    return connection.read_csv(
        list(files), union_by_name=True, hive_partitioning=_partitioned(files), nullstr=["", "NA", "NaN", "nan", "null"]
    )


def _partitioned(files: Sequence[str]) -> bool:
    """Say whether folders are named as columns are: year=2024/month=05."""
    return all("=" in Path(name).parent.name for name in files)


def _check_parquet(connection: Any, files: Sequence[str]) -> None:
    """Name a file that is broken, or whose columns are of other types than those of the first."""
    import pyarrow.parquet as pq

    first: dict[str, tuple[str, str]] = {}
    for name in files:
        try:
            schema = pq.read_schema(name)
        except Exception as error:
            raise SourceError(
                f"{name!r} is no Parquet file, or a broken one: {' '.join(str(error).split())}"
            ) from error
        for field in schema:
            before, kind = first.setdefault(field.name, (name, _kind(field.type)))
            if _kind(field.type) != kind:
                raise SourceError(
                    f"column {field.name!r} is {kind} in {before!r} and {_kind(field.type)} in {name!r}; make it the "
                    "same in all files"
                )


def _kind(kind: Any) -> str:
    """Return what a type of Arrow's is, numbers of any width being numbers."""
    import pyarrow.types as types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind) or types.is_string_view(kind):
        return "strings"
    return "of no type" if types.is_null(kind) else str(kind)


def _complaint(error: Exception, files: Sequence[str]) -> SourceError:
    """Return DuckDB's complaint in a line; it names the file, unless there is only one."""
    said = " ".join(str(error).split())
    named = "" if any(name in said for name in files) or len(files) > 1 else f"{files[0]!r}: "
    return SourceError(f"{named}{said[:700]}")
