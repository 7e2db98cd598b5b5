"""Repair of CSV files that DuckDB refuses: mixed line ends, lines of spaces, stray quotes; or a precise error."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Literal
from uuid import uuid4

from suffice.data.engines.source import SourceError
from suffice.data.files.csv_encoding import named_folders
from suffice.data.files.csv_format import CsvFormat
from suffice.data.files.file_formats import FoundFile, open_bytes


def repair_csv(file: FoundFile, layout: CsvFormat, folder: str) -> tuple[FoundFile, CsvFormat]:
    """Write a file again with one delimiter and one line end, and return it with its layout.

    Raises an error that names the line if it has more or fewer cells than the first.
    If the quotes of a file do not match, they are read as letters.
    """
    path = Path(folder, uuid4().hex, *named_folders(file), "rows.csv")
    path.parent.mkdir(parents=True)
    try:
        longest = _rewrite(file, layout, path, csv.QUOTE_MINIMAL)
    except SourceError as problem:
        try:
            longest = _rewrite(file, layout, path, csv.QUOTE_NONE)
        except SourceError:
            raise problem from None
    simple = replace(layout, delimiter=layout.delimiter[0], skip=0, longest_row=longest)
    return replace(file, path=str(path), compression="uncompressed"), simple


def _rewrite(file: FoundFile, layout: CsvFormat, path: Path, quoting: Literal[0, 3]) -> int:
    """Write the rows of a file with one delimiter and one line end; return the length of the longest."""
    shown, delimiter, width, longest = f"{file.shown} cannot be read:", layout.delimiter[0], 0, 0
    with open_bytes(file.path, file.compression) as packed, path.open("w", encoding="utf-8", newline="") as written:
        text = io.TextIOWrapper(packed, encoding="utf-8-sig", newline=None)
        for _ in range(layout.skip):
            text.readline()
        reader = csv.reader(text, delimiter=delimiter, quoting=quoting, skipinitialspace=len(layout.delimiter) > 1)
        writer = csv.writer(written, delimiter=delimiter, lineterminator="\n")
        try:
            for cells in reader:
                width = width or len(cells)
                if width > 1 and not "".join(cells).strip() and len(cells) < 2:
                    continue
                if len(cells) != width and not (width == 1 and not cells):
                    raise SourceError(
                        f"{shown} line {layout.skip + reader.line_num} has {len(cells)} cells, but the first has "
                        f"{width}; quote cells that hold a {delimiter!r}, or set TableFile(…, delimiter=…)"
                    )
                longest = max(longest, writer.writerow(cells or [""]))
        except csv.Error as error:
            raise SourceError(f"{shown} line {layout.skip + reader.line_num}: {error}") from error
    return longest
