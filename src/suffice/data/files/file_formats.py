"""Formats of table files: which files a path names, which format and compression each has, and its first bytes."""

import glob
import gzip
import io
import os
import re
import shutil
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any
from uuid import uuid4
from weakref import finalize

from suffice.data.engines.source import SourceError
from suffice.data.files.table_file import hide_password, show_path

FORMATS = {
    "Parquet": (".parquet", ".pq"),
    "CSV": (".csv", ".tsv", ".tab", ".txt", ".psv"),
    "JSON lines": (".jsonl", ".ndjson", ".json"),
    "Arrow": (".arrow", ".feather", ".ipc"),
    "Excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
}
KNOWN_ENDINGS = f"{', '.join(sum(FORMATS.values(), ()))}; CSV and JSON lines also with .gz or .zst"
FORMAT_MAGIC = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"PK\x03\x04": "Excel", b"\xd0\xcf\x11\xe0": "Excel"}
COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
HEAD_BYTES, HEAD_LINES = 1 << 16, 3  # the head has at least this many bytes and lines, if the file has
MOST_HEAD_BYTES = 1 << 28

# A compressed file may unpack to this many bytes, or to this many times its length if that is more.
MOST_UNPACKED, MOST_RATIO = 1 << 30, 100
UNPACKED_SETTING = "SUFFICE_MOST_UNPACKED"


@dataclass(frozen=True)
class FoundFile:
    """A file to read: ``path`` is where its bytes are, ``shown`` is its name in messages."""

    path: str
    shown: str
    format: str
    compression: str
    head: bytes
    is_complete: bool  # the head is the whole file


def find_files(path: Any) -> list[str]:
    """Return the files that a path, a glob, a folder or a list of these names."""
    if isinstance(path, (list, tuple)):
        return [name for each in path for name in find_files(each)]
    name = os.fspath(path)
    if os.path.isdir(name):
        files = [each for each in Path(name).rglob("*") if ending_format(each.name) and each.is_file()]
        found = sorted(str(each) for each in files if not each.name.startswith(("_", ".")))
        if not found:
            raise SourceError(f"folder {name!r} holds no file that can be read: {KNOWN_ENDINGS}")
        return found
    if name == "-" or os.path.exists(name):
        return [name]
    if glob.has_magic(name):
        found = sorted(glob.glob(name, recursive=True))
        if not found:
            raise SourceError(f"no file matches {name!r}")
        return found
    if "://" in name:
        kinds = "duckdb, sqlite, postgresql and mysql"
        raise FileNotFoundError(f"{hide_password(name)} cannot be read: URLs are those of tables of {kinds}")
    parent = Path(name).parent
    similar = get_close_matches(Path(name).name, os.listdir(parent) if parent.is_dir() else [], 1)
    hint = f"; did you mean {str(parent / similar[0])!r}?" if similar else ""
    raise FileNotFoundError(f"there is no file {name!r}{hint}")


class ScratchFolder:
    """A temporary folder, made when it is first needed, that is deleted with this object."""

    @cached_property
    def path(self) -> str:
        """The path of the folder."""
        path = mkdtemp(prefix="suffice")
        finalize(self, shutil.rmtree, path, ignore_errors=True)
        return path


def inspect_file(name: str, folder: ScratchFolder) -> FoundFile:
    """Return the format and compression of a file, by its first bytes and extension; standard input is copied."""
    path = name
    if name == "-":
        path = str(Path(folder.path) / "standard input")
        with open(path, "wb") as file:
            # one read at a time: a full buffer would be waited for, and an interrupt not noticed before
            while piece := sys.stdin.buffer.read1(1 << 16):  # type: ignore[union-attr]
                file.write(piece)
    with open(path, "rb") as file:
        start = file.read(8)
    compression = next((kind for magic, kind in COMPRESSION_MAGIC.items() if start.startswith(magic)), "uncompressed")
    try:
        with open_bytes(path, compression) as file:
            head, is_complete = _read_head(file, name)
            if compression != "uncompressed":  # DuckDB takes a truncated file for a whole one
                _unpack(file, len(head), os.path.getsize(path), name)
    except (OSError, EOFError, zlib.error) as error:
        if compression == "uncompressed":
            raise
        problem = f"is a damaged {compression[:2]} file and cannot be unpacked: {error}"
        raise SourceError(f"{show_path(name)} {problem}") from error
    if not head.strip():
        raise SourceError(f"{show_path(name)} is empty")
    found = _detect_format(name, head)
    if compression != "uncompressed" and found in FORMAT_MAGIC.values():
        path = str(Path(folder.path) / uuid4().hex)
        with open_bytes(name, compression) as packed, open(path, "wb") as file:
            shutil.copyfileobj(packed, file)
        compression = "uncompressed"
    return FoundFile(path, show_path(name), found, compression, head, is_complete)


def open_bytes(path: str, compression: str) -> IO[bytes]:
    """Return a stream of the uncompressed bytes of a file."""
    if compression == "zstd":
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(path, compression="zstd"))
    return gzip.open(path, "rb") if compression == "gzip" else open(path, "rb")  # type: ignore[return-value]


def is_partitioned(files: Sequence[FoundFile]) -> bool:
    """Return whether the folders of the files name a column and its value, as in year=2024/month=05."""
    named = ["=" in Path(file.path).parent.name for file in files]
    if any(named) and not all(named):
        without, within = (files[named.index(each)].shown for each in (False, True))
        raise SourceError(f"{without} is in no folder that names a column, but {within} is; move it, or leave it out")
    return all(named)


def ending_format(name: str) -> str | None:
    """Return the format that the ending of a file name stands for, compressed or not."""
    bare = re.sub(r"\.(gz|zst)$", "", name.lower())
    return next((kind for kind, endings in FORMATS.items() if bare.endswith(endings)), None)


def _detect_format(name: str, head: bytes) -> str:
    """Return the format of a file: by how it begins, if that is conclusive, or else by its ending."""
    by_name = ending_format(name)
    by_magic = next((kind for magic, kind in FORMAT_MAGIC.items() if head.startswith(magic)), None)
    if by_magic is not None and by_name in (None, "CSV", by_magic):
        return by_magic
    is_json = re.match(rb"\s*(\[\s*)?\{", head) is not None
    if by_name in ("CSV", None) and head.lstrip()[:1] == b"[" and is_json:
        return "JSON lines"
    if by_name is None and not is_json and name != "-" and not re.search(rb"[,;\t|]|[\r\n]+[^\r\n]", head):
        raise SourceError(f"{show_path(name)} has no known extension; known are {KNOWN_ENDINGS}")
    return by_name or ("JSON lines" if is_json else "CSV")


def _read_head(file: IO[bytes], name: str) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether they are the whole file."""
    head, ends = bytearray(), {b"\n": 0, b"\r": 0}
    while len(head) < HEAD_BYTES or max(ends.values()) < HEAD_LINES:
        more = file.read(HEAD_BYTES)
        if not more:
            return bytes(head), True
        head += more
        ends = {end: count + more.count(end) for end, count in ends.items()}
        if len(head) > MOST_HEAD_BYTES:
            raise SourceError(f"the first lines of {show_path(name)} are longer than {MOST_HEAD_BYTES >> 20} MB")
    return bytes(head), False


def _unpack(file: IO[bytes], size: int, packed: int, name: str) -> None:
    """Read a compressed file to its end; raise if it is damaged, or if it unpacks to more than is allowed."""
    setting = os.environ.get(UNPACKED_SETTING, "").strip()
    if setting and not setting.isdecimal():
        raise SourceError(f"{UNPACKED_SETTING} is a number of bytes, not {setting!r}")
    most = int(setting) if setting else max(MOST_UNPACKED, MOST_RATIO * packed)
    while size <= most:
        more = file.read(1 << 22)
        if not more:
            return
        size += len(more)
    raise SourceError(
        f"{show_path(name)} unpacks from {packed / 1e6:,.1f} MB to more than {most / 1e6:,.4g} MB; if that is right, "
        f"set the environment variable {UNPACKED_SETTING} to a larger number of bytes"
    )
