"""Encodings of CSV files: a file that is not UTF-8 is copied as UTF-8."""

import codecs
import io
import os
import shutil
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from suffice.caller_warnings import warn_caller
from suffice.data.engines.source import SourceError
from suffice.data.files.file_formats import FoundFile, ScratchFolder, inspect_file, open_bytes

SETTING = "TableFile(…, encoding=…)"
BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def as_utf8(file: FoundFile, encoding: str | None, folder: ScratchFolder, whole: bool = False) -> FoundFile:
    """Return a file whose text is UTF-8: the same one, or a copy.

    Without an encoding, text is UTF-16 if it begins with a byte order mark, and cp1252 (Western Windows) if it is not
    UTF-8. Only the first bytes are looked at, unless ``whole``.
    """
    found = _detect_encoding(file, whole) if encoding is None else _find_codec(encoding)
    if found == "utf-8":
        return file
    if encoding is None:
        warn_caller(f"{file.shown} is not in UTF-8 and was read as {found}; if it is another, use {SETTING}")
    path = Path(folder.path, uuid4().hex, *named_folders(file), "rows.csv")
    path.parent.mkdir(parents=True)
    try:
        with (
            open_bytes(file.path, file.compression) as packed,
            io.TextIOWrapper(packed, encoding=found, newline="") as text,
            path.open("w", encoding="utf-8", newline="") as written,
        ):
            shutil.copyfileobj(text, written, 1 << 20)
    except UnicodeError as error:
        raise SourceError(
            f"{file.shown} is not in {found}: {error.args[-1]}; name its encoding with {SETTING}"
        ) from error
    return replace(inspect_file(str(path), folder), shown=file.shown)


def named_folders(file: FoundFile) -> list[str]:
    """Return the folders of a file that name a column and its value, as in year=2024."""
    return [part for part in Path(file.path).parts if "=" in part and os.sep not in part]


def _find_codec(encoding: str) -> str:
    try:
        found = codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, ValueError):
        raise SourceError(
            f"there is no encoding {encoding!r}; known are utf-8, cp1252, latin1, utf-16 and others"
        ) from None
    return found.name


def _detect_encoding(file: FoundFile, whole: bool) -> str:
    if file.head.startswith(BYTE_ORDER_MARKS):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(file.head, final=file.is_complete)
        if whole:
            with open_bytes(file.path, file.compression) as packed, io.TextIOWrapper(packed, encoding="utf-8") as text:
                while text.read(1 << 20):
                    pass
    except UnicodeDecodeError:
        # bytes that are no text are named later
        return "utf-8" if b"\0" in file.head else "cp1252"
    return "utf-8"
