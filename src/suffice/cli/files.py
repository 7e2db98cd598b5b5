"""Files of tables: CSV of any delimiter, Parquet, Feather and JSON lines, by name or as standard input."""

from __future__ import annotations

import glob
import io
import os
import re
from difflib import get_close_matches
from typing import Any

from suffice.cli.delimited import Hints, few, is_place, looks_like_dates, read_delimited
from suffice.cli.formats import content_of, kind_of, polars, said, text_of
from suffice.cli.words import UserError, note

LARGE = 100_000_000  # bytes


def read_table(name: str, header: bool | None = None, delimiter: str | None = None, hints: Hints | None = None) -> Any:
    """Return a file as a polars frame; ``-`` is standard input."""
    content = content_of(name)
    if not content.strip():
        raise UserError(f"{said(name)} is empty")
    kind, pl = kind_of(name, content), polars()
    if kind in ("csv", "jsonl") and re.match(rb"\s*\[\s*\{", content):
        raise UserError(
            f"{said(name)} is one array of JSON; write an object a line (JSON lines): jq -c '.[]' {name} > new.jsonl"
        )
    if kind == "csv":
        return read_delimited(pl, name, text_of(name, content), header, delimiter, hints or Hints())
    try:
        if kind == "parquet":
            return pl.read_parquet(io.BytesIO(content))
        if kind == "feather":
            return pl.read_ipc(io.BytesIO(content))
        return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UserError(f"{said(name)} cannot be read as {kind}: {first}") from error


def stays_where_it_is(name: str) -> bool:
    """Say whether a table is learned where it is: a folder, several files, or Parquet too large to be held twice."""
    if os.path.isdir(name):
        return True
    if not os.path.exists(name):
        return name != "-" and glob.has_magic(name)
    return name.lower().endswith((".parquet", ".pq")) and os.path.getsize(name) > LARGE


def name_at(column: str, name: str) -> str:
    """Return the name of a column of a table that is learned where it is, by its name or by its place."""
    if not _is_whole(column):
        return column
    from suffice.data.engines.open_source import opened

    far = opened(name)
    names = far.names if far is not None else ()
    place = int(column)
    return names[place] if column not in names and -len(names) <= place < len(names) else column


def _is_whole(column: str) -> bool:
    digits = column.removeprefix("-")
    return digits.isascii() and digits.isdecimal()


def target_of(frame: Any, target: str, name: str) -> str:
    """Return the name of a column, which goes by its name or by its place (0, 1, …, −1), or say which is nearest."""
    if target in frame.columns:
        return target
    if _is_whole(target) and -len(frame.columns) <= int(target) < len(frame.columns):
        return str(frame.columns[int(target)])
    near = get_close_matches(target, frame.columns, 1, 0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {few(frame.columns)}"
    raise UserError(f"{said(name)} has no column {target!r}; {hint}{untitled(frame)}")


def untitled(frame: Any) -> str:
    """Return what to do if the first line was taken for data by mistake, where it was taken for data."""
    read_as_data = all(map(is_place, frame.columns))
    return "; line 1 was read as data; if it names the columns, use --header" if read_as_data else ""


def without_counter(frame: Any, target: str) -> Any:
    """Return the frame without a first column that has no name and counts the rows, as some programs write it."""
    first = frame.columns[0]
    if first != "c0" or first == target or all(map(is_place, frame.columns)) or not frame[first].dtype.is_integer():
        return frame
    if frame[first].to_list() not in (list(range(frame.height)), list(range(1, frame.height + 1))):
        return frame
    note("note: the first column has no name and counts the rows: it is left out")
    return frame.drop(first)


def tell_of_dates(frame: Any, target: str) -> None:
    """Say which columns hold dates as text, which are levels or identifiers to a model."""
    found = [its.name for its in frame.iter_columns() if its.name != target and looks_like_dates(polars(), its)]
    if found:
        note(
            f"note: columns hold dates as text: {few(found)}; turn them into numbers, such as the month or days since, "
            f"or leave them out, such as --family {found[0]}=ignore"
        )
