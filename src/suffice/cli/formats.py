"""Forms of files: which one a file has, by its name or by how it begins, and bytes in and out."""

from __future__ import annotations

import gzip
import io
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from suffice.cli.words import UserError

KINDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
}
BEGINNINGS = {b"PAR1": "parquet", b"ARROW1": "feather"}
LOOKED_AT = 1 << 16  # bytes in which what is no text shows


def polars() -> Any:
    """Return polars, which reads and writes tables."""
    try:
        import polars
    except ImportError:
        raise UserError("the command line needs polars: pip install 'suffice[cli]'") from None
    return polars


def said(name: str) -> str:
    """Return a file as messages call it."""
    return "standard input" if name == "-" else name


def content_of(name: str) -> bytes:
    """Return what a file holds, unpacked if it is packed; ``-`` is standard input."""
    if name == "-":
        content = sys.stdin.buffer.read()
    else:
        path = Path(name)
        if path.is_dir():
            raise UserError(f"{name} is a folder; name a file in it")
        if not path.exists():
            others = [each.name for each in path.parent.glob("*")] if path.parent.is_dir() else []
            near = get_close_matches(path.name, others, 1)
            hint = f"; did you mean {path.parent / near[0]}?" if near else ""
            raise UserError(f"there is no file {name}{hint}")
        content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise UserError(f"{said(name)} is a damaged gz file: {error}") from error
    return content


def kind_of(name: str, content: bytes) -> str:
    """Return the form of a file: as it begins, if that tells, else as its name ends."""
    by_name = _by_name(name)
    for beginning, kind in BEGINNINGS.items():
        if content.startswith(beginning) and by_name in (None, "csv", kind):
            return kind
    if by_name is None:
        return "jsonl" if content.lstrip()[:1] == b"{" else "csv"
    return by_name


def text_of(name: str, content: bytes) -> str:
    """Return the text of a file, or say what it is instead."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UserError(
            f"{said(name)} is in UTF-16, not in UTF-8; convert it: iconv -f utf-16 -t utf-8 {name} > new.csv"
        )
    if content[:4] == b"PK\x03\x04":
        raise UserError(f"{said(name)} is a zip file, such as a spreadsheet; save the sheet as CSV")
    if b"__metadata__" in content[8:64]:
        raise UserError(f"{said(name)} is a model file, and a table is wanted here: models come first, then rows")
    if b"\0" in content[:LOOKED_AT]:
        raise UserError(f"{said(name)} holds bytes that no text has: it is no CSV, Parquet, Feather or JSON lines")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = content[: error.start].count(b"\n") + 1
        raise UserError(
            f"{said(name)} is not in UTF-8 (line {place}); convert it: iconv -f latin1 -t utf-8 {name} > new.csv"
        ) from error


def write_table(frame: Any, name: str) -> None:
    """Write a polars frame to a file, in the form that its name says; ``-`` is standard output, as CSV."""
    if name == "-":
        sys.stdout.write(frame.write_csv())
        return
    check_place(name)
    writers = {"parquet": frame.write_parquet, "feather": frame.write_ipc, "jsonl": frame.write_ndjson}
    made = io.BytesIO()
    writers.get(_by_name(name) or "csv", frame.write_csv)(made)
    content = made.getvalue()
    Path(name).write_bytes(gzip.compress(content) if name.lower().endswith(".gz") else content)


def check_place(name: str) -> None:
    """Raise if a file cannot be written there: before the work whose result it is to hold."""
    if name != "-":
        from suffice import store

        store.check_place(name)


def _by_name(name: str) -> str | None:
    """Return the form that a name ends with, if one, packed or not."""
    suffixes = [each.lower() for each in Path(name).suffixes]
    packed = suffixes[-1:] == [".gz"]
    return KINDS.get(suffixes[-2 if packed else -1]) if len(suffixes) > packed else None
