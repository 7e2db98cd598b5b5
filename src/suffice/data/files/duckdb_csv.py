"""CSV for DuckDB: which separator, which columns, and what each holds, by all rows and not by the first of them."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from suffice.data import EMPTY
from suffice.data.engines.source import SourceError

SEPARATORS = ",;\t|"

# What a column holds if all its cells can be read so; the first that fits. (DuckDB rounds 0.4 that is to be whole.)
KINDS = {
    "BOOLEAN": "lower({0}) IN ('true', 'false')",
    "BIGINT": "TRY_CAST({0} AS BIGINT) = TRY_CAST({0} AS DOUBLE)",
    "DOUBLE": "TRY_CAST({0} AS DOUBLE) IS NOT NULL",
    "TIMESTAMP": "TRY_CAST({0} AS TIMESTAMP) IS NOT NULL",
}


def read_csv(connection: Any, files: Sequence[str], together: Mapping[str, Any]) -> Any:
    """Return files of CSV as one table; what a column holds is what all of its cells are."""
    titles = [_first_line(connection, name) for name in files]
    separator = separator_of(titles[0])
    check_names(next(csv.reader(titles[:1], delimiter=separator)), files[0])
    # nothing is skipped: DuckDB would pass over lines that are shorter than those after them
    how = {"nullstr": list(EMPTY), "delim": separator, "header": True, "skip": 0, **together}
    return connection.read_csv(list(files), types=_kinds(connection, files, how), **how)


def separator_of(line: str) -> str:
    """Return what separates the cells of a line.

    >>> separator_of("age;town;income, net")
    ';'
    """
    return max(SEPARATORS, key=line.count)


def check_names(names: Sequence[str], file: str) -> None:
    """Raise if two columns have one name; capitals make no difference to DuckDB."""
    met: dict[str, str] = {}
    for name in names:
        before = met.setdefault(name.casefold(), name)
        if list(names).count(name) > 1 or before != name:
            twice = f"{before!r} and {name!r}, which differ in capitals only" if before != name else f"{name!r} twice"
            raise SourceError(f"{file!r} has columns {twice}: rename one")


def _first_line(connection: Any, name: str) -> str:
    """Return the line of titles of a file that is whole; say if it is empty, or broken."""
    if name.lower().endswith(".zst"):
        whole = "header=false, auto_detect=false, delim=chr(7), quote='', escape='', columns={'line': 'VARCHAR'}"
        found = connection.con.sql(f"SELECT line FROM read_csv({literal(name)}, {whole}) LIMIT 1").fetchall()
        first = (found[0][0] or "").encode() if found else b""
    else:
        packed = name.lower().endswith(".gz")
        try:
            with gzip.open(name, "rb") if packed else open(name, "rb") as file:
                first = file.readline()
                while first.startswith(b"#"):  # a remark, unless it has as many cells as what follows: then titles
                    after = file.readline()
                    if _cells(first) >= _cells(after):
                        break
                    first = after
                while packed and file.read(1 << 22):  # to its end, where it is said whether all of it is there
                    pass
        except (OSError, EOFError, zlib.error) as error:
            raise SourceError(f"{name!r} cannot be unpacked: {error}") from error
    if not first.strip():
        raise SourceError(f"{name!r} is empty")
    return first.decode("utf-8-sig", errors="replace").rstrip("\r\n")


def _cells(line: bytes) -> int:
    """Return how many cells a line has, at least."""
    return max(line.count(separator.encode()) for separator in SEPARATORS) if line.strip() else 0


def _kinds(connection: Any, files: Sequence[str], how: Mapping[str, Any]) -> dict[str, str]:
    """Return the type of each column, or name the two files in which it has two."""
    said = ", ".join(f"{name}={_said(value)}" for name, value in how.items())
    listed = ", ".join(map(literal, files))
    rows = connection.con.sql(f"SELECT * FROM read_csv([{listed}], all_varchar=true, filename='suffice file', {said})")
    # what folders are named for is no text, and needs no judging
    texts = zip(rows.columns, map(str, rows.types), strict=True)
    names = [name for name, kind in texts if name != "suffice file" and kind == "VARCHAR"]
    asked = []
    for name in names:
        cell = identifier(name)
        asked += [f"count({cell})", *(f"count(*) FILTER (WHERE {test.format(cell)})" for test in KINDS.values())]
    found = rows.aggregate(f'"suffice file", {", ".join(asked)}', '"suffice file"').fetchall()
    kinds: dict[str, str] = {}
    width = len(KINDS) + 1
    for place, name in enumerate(names):
        first: dict[str, str] = {}
        for file, *counts in sorted(found):
            filled, *fitting = counts[place * width : place * width + width]
            kind = next((kind for kind, count in zip(KINDS, fitting, strict=True) if count == filled), "VARCHAR")
            if filled:
                first.setdefault(kind, file)
        if {"BIGINT", "DOUBLE"} >= set(first):
            kinds[name] = "VARCHAR" if not first else "DOUBLE" if "DOUBLE" in first else "BIGINT"
        elif len(first) > 1:
            (one, here), (other, there) = list(first.items())[:2]
            raise SourceError(
                f"column {name!r} is {_spoken(one)} in {here!r} and {_spoken(other)} in {there!r}; make it the same in "
                "all files"
            )
        else:
            kinds[name] = next(iter(first))
    return kinds


def _spoken(kind: str) -> str:
    return {"BIGINT": "numbers", "DOUBLE": "numbers", "VARCHAR": "strings", "TIMESTAMP": "dates"}.get(kind, "booleans")


def _said(value: Any) -> str:
    if isinstance(value, (bool, int)):
        return str(value).lower()
    return literal(value) if isinstance(value, str) else f"[{', '.join(map(literal, value))}]"


def ragged(files: Sequence[str]) -> str | None:
    """Return which line has more or fewer cells than the first, if any has."""
    for name in files:
        if name.lower().endswith(".zst"):
            continue
        opened = gzip.open if name.lower().endswith(".gz") else open
        with opened(name, "rt", encoding="utf-8-sig", errors="replace") as file:
            first = file.readline()
            separator = separator_of(first)
            width = len(next(csv.reader([first], delimiter=separator), []))
            lines = enumerate(csv.reader(file, delimiter=separator), 2)
            with suppress(csv.Error):  # a cell that Python's reader finds too long is nothing to complain of
                for line, cells in lines:
                    if cells and len(cells) != width:
                        return f"{name!r}: line {line} has {len(cells)} cells, and the first has {width}"
    return None


def literal(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return the name of a column as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
