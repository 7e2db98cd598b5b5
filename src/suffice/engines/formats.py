"""Which files a name stands for, what is in them, and how DuckDB reads them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from suffice.engines.source import SourceError

FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".tab", ".txt", ".psv"),
    "json": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
PACKED = (".gz", ".zst", ".bz2")
EMPTY = ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"]  # what stands for an empty cell in CSV


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
    return ", ".join(end for endings in FORMATS.values() for end in endings) + ", each also with .gz"


def read(connection: Any, files: Sequence[str], kind: str) -> Any:
    """Return the files as one table; columns go by name."""
    if kind == "arrow":
        import pyarrow.dataset as ds

        connection.con.register("arrow_files", ds.dataset(list(files), format="arrow"))
        return connection.table("arrow_files")
    if kind == "json":
        return connection.read_json(list(files))
    together = {"union_by_name": len(files) > 1, "hive_partitioning": _partitioned(files)}
    if kind == "parquet":
        _check_kinds((name, _kinds_of_parquet(name)) for name in files)
        return connection.read_parquet(list(files), **together)
    _check_kinds((name, _kinds_of_csv(connection, name)) for name in files)
    table = connection.read_csv(list(files), nullstr=EMPTY, **together)
    booleans = [name for name, kind in table.schema().items() if kind.is_boolean()]
    words = [name for name in booleans if not _says_so(connection, files, name)]
    if not words:
        return table
    return connection.read_csv(list(files), nullstr=EMPTY, types=dict.fromkeys(words, "string"), **together)


def _partitioned(files: Sequence[str]) -> bool:
    """Say whether folders are named as columns are: year=2024/month=05."""
    return all("=" in Path(name).parent.name for name in files)


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


def _kinds_of_parquet(name: str) -> dict[str, str]:
    """Return what the columns of a file hold, or say that it is broken; numbers of any width are numbers."""
    import pyarrow.parquet as pq
    import pyarrow.types as types

    try:
        schema = pq.read_schema(name)
    except Exception as error:
        said = " ".join(str(error).split())
        raise SourceError(f"{name!r} is no Parquet file, or a broken one: {said}") from error
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


def _kinds_of_csv(connection: Any, name: str) -> dict[str, str]:
    """Return what the columns of a file hold, by its first rows; an empty column may be anything."""
    read = f"read_csv({literal(name)}, nullstr=[{', '.join(map(literal, EMPTY))}])"
    rows = connection.con.sql(f"SELECT * FROM {read} LIMIT 10000")
    numbers = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "UBIGINT")
    kinds = dict(zip(rows.columns, map(str, rows.types), strict=True))
    filled = rows.aggregate(", ".join(f"count({_identifier(column)})" for column in kinds)).fetchone() or ()
    return {
        column: "numbers" if any(each in kind for each in numbers) else "strings"
        for (column, kind), count in zip(kinds.items(), filled, strict=True)
        if count
    }


def _says_so(connection: Any, files: Sequence[str], name: str) -> bool:
    """Say whether a column that DuckDB takes for booleans says true and false: yes and no are words."""
    some = ", ".join(map(literal, files[:4]))
    read = f"read_csv([{some}], all_varchar=true, union_by_name=true, nullstr=[{', '.join(map(literal, EMPTY))}])"
    met = connection.con.sql(f"SELECT DISTINCT lower({_identifier(name)}) FROM (SELECT * FROM {read} LIMIT 20000)")
    return {value for (value,) in met.fetchall()} <= {"true", "false", None}


def literal(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
