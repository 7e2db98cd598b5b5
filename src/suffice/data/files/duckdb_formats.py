"""Which files a name stands for, what is in them, and how DuckDB reads them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from suffice.data.engines.source import SourceError
from suffice.data.files.duckdb_csv import check_names, literal, read_csv

FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".tab", ".txt", ".psv"),
    "json": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
PACKED = (".gz", ".zst")


def named(name: str) -> list[str]:
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


def format_of(name: str) -> str:
    """Return what a file is, by its ending."""
    for its, endings in FORMATS.items():
        if _bare(name).endswith(endings):
            return its
    raise SourceError(f"{name!r} has no ending that says what it is; known are {_endings()}")


def _endings() -> str:
    known = ", ".join(end for endings in FORMATS.values() for end in endings)
    return f"{known}; CSV and JSON lines also with .gz or .zst"


def read(connection: Any, files: Sequence[str], kind: str) -> Any:
    """Return the files as one table; columns go by name."""
    if kind == "arrow":
        import pyarrow.dataset as ds

        for name in files:
            try:
                its = ds.dataset(name, format="arrow").schema
            except Exception as error:
                raise _broken(name, "Arrow", error) from error
            check_names(its.names, name)
        found = ds.dataset(list(files), format="arrow")
        connection.con.register("arrow_files", found)
        return connection.table("arrow_files")
    if kind == "json":
        # all rows say what a column holds, once: to look at the first alone is to be wrong of the rest
        listed = ", ".join(map(literal, files))
        found = connection.con.sql(f"SELECT * FROM read_json([{listed}], sample_size=-1)")
        return connection.read_json(list(files), columns=dict(zip(found.columns, map(str, found.types), strict=True)))
    together = {"union_by_name": len(files) > 1, "hive_partitioning": _partitioned(files)}
    if kind == "csv":
        return read_csv(connection, files, together)
    _check_kinds((name, _kinds_of_parquet(name)) for name in files)
    return connection.read_parquet(list(files), **together)


def _partitioned(files: Sequence[str]) -> bool:
    """Say whether folders are named as columns are: year=2024/month=05."""
    named = ["=" in Path(name).parent.name for name in files]
    if any(named) and not all(named):
        raise SourceError(
            f"{files[named.index(False)]!r} lies in no folder that is named as a column is, and "
            f"{files[named.index(True)]!r} does: move it, or leave it out"
        )
    return all(named)


def _check_kinds(files: Iterable[tuple[str, dict[str, str]]]) -> None:
    """Name the column, and the files, where one holds numbers and another something else."""
    first: dict[str, tuple[str, str]] = {}
    for name, kinds in files:
        for column, kind in kinds.items():
            before, known = first.setdefault(column, (name, kind))
            if kind != known:
                raise SourceError(
                    f"column {column!r} is {known} in {before!r} and {kind} in {name!r}; make it the same in all files"
                )


def _broken(name: str, kind: str, error: Exception) -> SourceError:
    """Return what to say of a file that is not what its name says."""
    return SourceError(f"{name!r} is no {kind} file, or a broken one: {' '.join(str(error).split())}")


def _kinds_of_parquet(name: str) -> dict[str, str]:
    """Return what the columns of a file hold, or say that it is broken; numbers of any width are numbers."""
    import pyarrow.parquet as pq
    import pyarrow.types as types

    try:
        schema = pq.read_schema(name)
    except Exception as error:
        raise _broken(name, "Parquet", error) from error
    check_names(schema.names, name)
    found = {}
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            found[field.name] = "numbers"
        elif types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
            found[field.name] = "strings"
        elif not types.is_null(kind):
            found[field.name] = str(kind)
    return found
