"""The layout of a CSV file: its delimiter, the lines before the table, and the names of its columns."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from suffice.caller_warnings import warn_caller
from suffice.data.column_names import quote_names
from suffice.data.engines.source import SourceError
from suffice.data.files.csv_dates import DATE
from suffice.data.files.csv_numbers import looks_like_number
from suffice.data.files.file_formats import FoundFile
from suffice.data.files.table_file import AS_NAMES, AS_ROW, ColumnHints, TableFile
from suffice.data.labels import EMPTY

DELIMITERS = ",;\t|"
DELIMITER_NAMES = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
LONGEST_NAME = 64  # characters of a column name that is recognized without a hint
LONGEST_CELL = 2**31 - 1  # characters; Python's own limit is 131,072
SAMPLE_LINES = 50  # lines that show the delimiter and whether the first line names the columns


@dataclass(frozen=True)
class CsvFormat:
    """How a CSV file is laid out.

    ``skip`` is the number of lines before the table: comments and blank lines. ``delimiter`` is one character,
    followed by a space if every delimiter is. ``unnamed`` are the columns for which the header has no name.
    ``longest_row`` is the length of the longest row in bytes if it is known.
    """

    delimiter: str
    skip: int
    has_header: bool
    names: tuple[str, ...]
    unnamed: tuple[str, ...] = ()
    longest_row: int = 0


def detect_csv_format(file: FoundFile, settings: TableFile, hints: ColumnHints) -> CsvFormat:
    """Return the layout of a CSV file: the settings, and what its first lines show."""
    csv.field_size_limit(LONGEST_CELL)
    text = _decode_head(file)
    skip = settings.skip_rows or 0
    lines = text.splitlines()[skip : skip + SAMPLE_LINES]
    if not lines:
        raise SourceError(f"{file.shown} has no line after the first {skip}; use TableFile(…, skip_rows=…) with fewer")
    delimiter = find_delimiter(lines, settings.delimiter)
    skip += 0 if settings.skip_rows is not None else _count_lines_before(lines, delimiter)
    lines = lines[skip - (settings.skip_rows or 0) :]
    if _has_space_after_each(lines, delimiter):
        delimiter += " "
    rows = csv.reader(io.StringIO("\n".join(text.splitlines()[skip:])), delimiter=delimiter[0], skipinitialspace=True)
    sample = [*islice((row for row in rows if "".join(row).strip()), SAMPLE_LINES), []]
    first, rest = sample[0], sample[1:-1]
    has_header = settings.header
    if has_header is None:
        has_header = _is_known_header(first, hints)
    if has_header is None:
        has_header = _looks_like_header(first, rest)
    names = _name_columns(file, first, has_header, hints)
    unnamed = tuple(name for name, cell in zip(names, first, strict=False) if has_header and not cell.strip())
    return CsvFormat(delimiter, skip, has_header, names, unnamed)


def find_delimiter(lines: Sequence[str], asked: str | None = None) -> str:
    """Return the delimiter: as set, or the one that divides all lines into equally many cells.

    A comma is the last choice, because it may also be a decimal mark.

    >>> find_delimiter(["age;town;income, net", "41;Bonn;2,5"])
    ';'
    """
    if asked is not None:
        delimiter = DELIMITER_NAMES.get(asked.lower(), asked)
        if len(delimiter.encode()) != 1:
            raise SourceError(f"delimiter is one character, or tab, not {asked!r}")
        return delimiter
    filled = [line for line in lines if line.strip() and not line.startswith("#")] or [line for line in lines if line]
    if not filled:
        return ","
    widths = {each: _common_width(filled, each) for each in DELIMITERS}
    widest = max(DELIMITERS[1:], key=lambda each: widths[each])
    if max(widths.values()):
        return widest if widths[widest] else ","
    most_frequent = max(DELIMITERS, key=filled[0].count)
    try:
        found = csv.Sniffer().sniff("\n".join(filled[:20]), DELIMITERS).delimiter
    except csv.Error:
        return most_frequent
    # doubled quotes mislead the sniffer: a character that the first line lacks is not the delimiter
    return found if found in filled[0] or most_frequent not in filled[0] else most_frequent


def _common_width(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of cells of each line; 0 if the lines have different numbers, or one cell."""
    rows = list(csv.reader(lines, delimiter=delimiter))
    widths = {len(row) for row in (rows[:-1] if len(lines) > 20 else rows)}  # a sample may end within a row
    return widths.pop() if len(widths) == 1 and widths != {1} else 0


def check_names(names: Sequence[str], shown: str) -> None:
    """Raise an error if two columns have one name; SQL does not distinguish capitals."""
    seen: dict[str, str] = {}
    for name in names:
        before = seen.setdefault(name.casefold(), name)
        if before != name:
            raise SourceError(f"{shown} has columns {before!r} and {name!r}, which differ in capitals only; rename one")
        if list(names).count(name) > 1:
            raise SourceError(f"{shown} has two columns called {name!r}: name each once")


def _decode_head(file: FoundFile) -> str:
    """Return the first lines of a file as text, or raise an error that says what the file is instead."""
    head, shown = file.head, file.shown
    if b"__metadata__" in head[8:64]:
        raise SourceError(f"{shown} is a model file, but a table is expected here: name the model before the table")
    if b"\0" in head:
        raise SourceError(
            f"{shown} contains bytes that are not text: it is not CSV, Parquet, Arrow or JSON lines; if it is "
            "text in another encoding, use TableFile(…, encoding=…)"
        )
    text = head.decode("utf-8-sig", errors="replace")
    if not file.is_complete:  # the last line may be cut
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def _count_lines_before(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of lines before the table: blank lines, and comments with another number of cells."""
    for skip, line in enumerate(lines[:-1]):
        rest = [each for each in lines[skip + 1 :] if each.strip() and not each.startswith("#")]
        is_comment = line.startswith("#") and rest and line.count(delimiter) != rest[0].count(delimiter)
        if line.strip() and not is_comment:
            return skip
    return max(len(lines) - 1, 0)


def _has_space_after_each(lines: Sequence[str], delimiter: str) -> bool:
    sample = "\n".join(lines)
    spaced = sample.count(f"{delimiter} ")
    return bool(spaced) and not delimiter.isspace() and spaced == sample.count(delimiter) and '"' not in sample


def _is_known_header(first: list[str], hints: ColumnHints) -> bool | None:
    """Return whether the first line names columns that the caller knows; None if the caller knows none."""
    cells = {cell.strip() for cell in first}
    if any(name in cells for name in hints.named if not looks_like_number(name)):
        return True
    if hints.is_headerless:
        return False
    return True if hints.learned and cells.issuperset(hints.learned) else None


def _looks_like_header(first: list[str], rest: list[list[str]]) -> bool:
    """Return whether the first line names the columns, by its cells and those below; say so unless it is evident.

    It does if one of its words has only numbers below, or if its cells are different words, of which less than half
    occur again below. The first column may have no name if it counts the rows.
    """
    counts_rows = first[:1] == [""] and len(first) > 1 and any(line[:1] and line[0].isdigit() for line in rest[:1])
    names = [cell.strip() for cell in (first[1:] if counts_rows else first)]
    are_words = all(name and not looks_like_number(name) and len(name) <= LONGEST_NAME for name in names)
    are_names = are_words and len(set(names)) == len(names)
    columns = list(_words_and_cells(first, rest))
    if any(below and all(map(looks_like_number, below)) for _, below in columns):
        if not are_names:
            _warn(f"line 1 was read as column names; if it is a row, use {AS_ROW}")
        return True
    repeated = [word for word, below in columns if word in below]
    if are_names and 2 * len(repeated) < max(len(columns), 1):
        if repeated:
            _warn(
                f"line 1 was read as column names, although {quote_names(repeated, 3)} occur below; if it is a row, "
                f"use {AS_ROW}"
            )
        return True
    _warn(
        f"line 1 was read as data, and the columns are called c0 to c{len(first) - 1}; if it names the columns, use "
        f"{AS_NAMES}, and if not, {AS_ROW}"
    )
    return False


def _words_and_cells(first: list[str], rest: list[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each word of the first line, and the non-empty cells below it."""
    for place, cell in enumerate(first):
        word = cell.strip()
        if word not in EMPTY and not looks_like_number(word) and not re.match(DATE, word):
            below = [line[place].strip() for line in rest if place < len(line)]
            yield word, [each for each in below if each not in EMPTY]


def _name_columns(file: FoundFile, first: list[str], has_header: bool, hints: ColumnHints) -> tuple[str, ...]:
    """Return the names of the columns; those without a name are called c0, c1 and so on."""
    positions = tuple(f"c{place}" for place in range(len(first)))
    if not has_header:
        # rows to predict may lack the target; then the columns are those of the model, in order
        lacks_target = hints.is_headerless and not hints.has_labels and len(first) == len(hints.learned)
        return tuple(sorted(hints.learned, key=lambda each: int(each[1:]))) if lacks_target else positions
    return _number_duplicates([cell.strip() or place for cell, place in zip(first, positions, strict=True)], file)


def _number_duplicates(names: Sequence[str], file: FoundFile) -> tuple[str, ...]:
    """Return names of which no two are equal: the second v is called v_2. SQL does not distinguish capitals."""
    taken = {name.casefold() for name in names}
    numbered: list[str] = []
    for name in names:
        free, number = name, 1
        while free.casefold() in map(str.casefold, numbered) or (number > 1 and free.casefold() in taken):
            number += 1
            free = f"{name}_{number}"
        numbered.append(free)
    renamed = [f"{new!r}" for old, new in zip(names, numbered, strict=True) if old != new]
    if renamed:
        _warn(f"{file.shown} has several columns of one name, which are numbered: {', '.join(renamed[:10])}")
    return tuple(numbered)


def _warn(message: str) -> None:
    warn_caller(message)
