"""Delimited text: cells between separators, with titles in the first line or without, as people write it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from suffice.cli.formats import said
from suffice.cli.words import UserError, note
from suffice.data import EMPTY

DELIMITERS = ",;\t|"
NAMED = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
LONGEST_TITLE = 64
LONGEST_CELL = 2**31 - 1  # as long as any; the default is 131,072
HEAD = 1 << 16  # characters that say how a text is delimited
LINES = 50  # that say whether the first has titles
DECIMAL = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?\s*$"
DATE = r"^\s*(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2}([T ].*)?)\s*$"


@dataclass(frozen=True)
class Hints:
    """What is known of a table before it is read: by what was asked for, or by the model that is to take it.

    ``named`` are columns that its first line may name, ``columns`` those that were learned, and ``texts`` those whose
    cells are text even if they look like numbers. Of what is ``labelled`` the labels are needed, too.
    """

    named: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()
    labelled: bool = True

    @property
    def untitled(self) -> bool:
        """Whether the columns were learned without titles."""
        return bool(self.columns) and all(map(is_place, self.columns))


def is_place(name: str) -> bool:
    """Say whether a column is called by its place, as those without titles are."""
    return re.fullmatch(r"c\d+", name) is not None


def separator_of(asked: str | None, text: str) -> str:
    """Return what separates cells: as asked, or what the first lines have most alike."""
    if asked is not None:
        separator = NAMED.get(asked.lower(), asked)
        if len(separator.encode()) != 1:
            raise UserError(f"--delimiter is one character, or tab, not {asked!r}")
        return separator
    lines = [line for line in text[:HEAD].splitlines()[:50] if line.strip()]
    most = max(DELIMITERS, key=lambda each: lines[0].count(each)) if lines else ","
    try:
        found = csv.Sniffer().sniff("\n".join(lines[:20]), DELIMITERS).delimiter
    except csv.Error:
        return most
    # doubled quotes mislead it: what line 1 has none of separates nothing, if line 1 has another
    return found if found in lines[0] or most not in lines[0] else most


def read_delimited(pl: Any, name: str, text: str, header: bool | None, delimiter: str | None, hints: Hints) -> Any:
    """Return a text as a frame. Columns without names are called c0, c1 and so on."""
    csv.field_size_limit(LONGEST_CELL)
    if "\n" not in text:
        text = text.replace("\r", "\n")  # as old machines end lines
    separator = separator_of(delimiter, text)
    text = _without_spaces(text, separator)
    start = [*islice((line for line in _lines(text, separator) if "".join(line).strip()), LINES), []]
    first, rest = start[0], start[1:-1]
    titled = _titled(first, rest, hints) if header is None else header
    if header is None and not titled and not hints.untitled:
        titled = any(below and all(map(_is_number, below)) for _, below in _below_words(first, rest))
        if titled:  # a word above nothing but numbers is a name, whatever stands beside it
            note("note: line 1 was read as titles; if it is a row, use --no-header")
        elif _doubtful(first, rest):
            note("note: line 1 was read as data; if it names the columns, use --header, and if not, --no-header")
    names = _names(name, first, titled, hints)
    if len(names) > 1:
        text = without_blank_lines(text, separator)
    frame = _frame(pl, name, text, separator, titled, names, hints.texts)
    short = _ragged(text, separator) if frame.width and frame[frame.columns[-1]].null_count() else ""
    if short:
        raise UserError(f"{said(name)} cannot be read: {short}")
    if frame.height == 0:
        hint = "; if line 1 is a row, use --no-header" if header is None else ""
        raise UserError(f"{said(name)} has a header and no rows{hint}")
    return frame if separator == "," else _with_points(pl, frame, hints.texts)


def looks_like_dates(pl: Any, column: Any) -> bool:
    """Say whether a column holds dates that were not read as such."""
    there = column.drop_nulls()
    return bool(column.dtype == pl.String and len(there) and there.str.contains(DATE).all())


def without_blank_lines(text: str, separator: str = ",") -> str:
    r"""Return a text without the lines that hold nothing at all: they are no rows. Those in quotes stay.

    >>> without_blank_lines('a,b\n\n,\n"x\n\ny",2\n  \n')
    'a,b\n,\n"x\n\ny",2\n'
    """
    space = "" if separator == " " else " *"
    blank = rf"(?:(?<=\n)|\A){space}\r?\n|(?<=\n){space}\Z" if space else r"(?:(?<=\n)|\A)\r?\n"
    if not re.search(blank, text):
        return text
    quoted = rf'((?:\A|(?<=[\n{re.escape(separator)}]))"(?:[^"]|"")*")'
    return re.sub(f"{quoted}|{blank}", lambda found: found[1] or "", text)


def _titled(first: list[str], rest: list[list[str]], hints: Hints) -> bool:
    """Say whether the first line names columns: those that are known, or else what looks like names.

    The column before all others may have no name, if it counts the rows.
    """
    counted = first[:1] == [""] and len(first) > 1 and any(line[:1] and line[0].isdigit() for line in rest[:1])
    titles = first[1:] if counted else first
    cells = {cell.strip() for cell in titles}
    if any(name in cells for name in hints.named if not _is_number(name)):
        return True
    if hints.untitled:
        return False
    if hints.columns and cells.issuperset(hints.columns):
        return True
    plain = all(cell and not _is_number(cell) and len(cell) <= LONGEST_TITLE for cell in cells)
    return plain and len(cells) == len(titles)


def _doubtful(first: list[str], rest: list[list[str]]) -> bool:
    """Say whether a word of the first line may be a name: others come again in its column, and it does not."""
    return any(word not in below and len(set(below)) < len(below) for word, below in _below_words(first, rest))


def _below_words(first: list[str], rest: list[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each word of the first line, and the cells below it that are not empty."""
    for place, cell in enumerate(first):
        word = cell.strip()
        if word not in EMPTY and not _is_number(word) and not re.match(DATE, word):
            below = [line[place].strip() for line in rest if place < len(line)]
            yield word, [each for each in below if each not in EMPTY]


def _names(name: str, first: list[str], titled: bool, hints: Hints) -> list[str]:
    """Return what the columns are called; those without titles go by their places."""
    places = [f"c{place}" for place in range(len(first))]
    if not titled:
        # of rows to predict, the target may be left out: then the others stand one after the other
        fewer = hints.untitled and not hints.labelled and len(first) == len(hints.columns)
        return sorted(hints.columns, key=lambda each: int(each[1:])) if fewer else places
    titles = [cell.strip() for cell in first]
    if twice := [title for title in titles if title and titles.count(title) > 1]:
        raise UserError(f"{said(name)} has two columns called {twice[0]!r}: name each once, or use --no-header")
    return [title or place for title, place in zip(titles, places, strict=True)]


def _frame(pl: Any, name: str, text: str, separator: str, titled: bool, names: list[str], texts: frozenset[str]) -> Any:
    """Return the frame with its names, columns of text as they are."""
    content = text.encode()
    how = {"separator": separator, "has_header": titled, "null_values": list(EMPTY), "infer_schema_length": None}
    try:
        kinds = {}
        if texts:  # which go by the names that polars gives them
            own = pl.read_csv(io.BytesIO(content), n_rows=0, **how | {"infer_schema_length": 0}).columns
            known = names if len(own) == len(names) else own
            kinds = {its: pl.String for its, name in zip(own, known, strict=True) if name in texts}
        frame = _parsed(pl, content, how, kinds)
    except pl.exceptions.PolarsError as error:
        first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UserError(f"{said(name)} cannot be read: {_ragged(text, separator) or first_line}") from error
    frame.columns = names if frame.width == len(names) else [f"c{place}" for place in range(frame.width)]
    return frame


def _parsed(pl: Any, content: bytes, how: dict[str, Any], kinds: dict[str, Any]) -> Any:
    """Return the frame; numbers of more digits than any number has are read as text, and marks that quote nothing."""
    for _ in range(1 + content[: content.find(b"\n")].count(how["separator"].encode())):
        try:
            return pl.read_csv(io.BytesIO(content), schema_overrides=kinds, **how)
        except pl.exceptions.PolarsError as error:
            long = re.search(r"as dtype `[iu]\d+` at column '(.*)' \(", str(error))
            if long is None or long[1] in kinds:
                break
            kinds = kinds | {long[1]: pl.String}
    return pl.read_csv(io.BytesIO(content), schema_overrides=kinds, quote_char=None, **how)


def _with_points(pl: Any, frame: Any, texts: frozenset[str]) -> Any:
    """Return the frame with numbers where it has decimal commas."""
    found = []
    for column in frame.iter_columns():
        there = column.drop_nulls() if column.dtype == pl.String and column.name not in texts else column[:0]
        if len(there) and there.str.contains(",").any() and there.str.contains(DECIMAL).all():
            found.append(column.name)
    if not found:
        return frame
    note(f"note: columns with decimal commas are read as numbers: {few(found)}")
    plain = pl.col(*found).str.strip_chars().str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return frame.with_columns(plain.cast(pl.Float64, strict=False))


def few(names: list[str]) -> str:
    """Return names, or the first of them."""
    return ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")


def _lines(text: str, separator: str) -> Any:
    """Return the lines as lists of cells."""
    return csv.reader(io.StringIO(text, newline=None), delimiter=separator, skipinitialspace=True)


def _ragged(text: str, separator: str) -> str:
    """Return which line has more or fewer cells than the first, if one has."""
    width = None
    for place, line in enumerate(_lines(text, separator), 1):
        if not line:
            continue
        width = len(line) if width is None else width
        if len(line) != width:
            return (
                f"line {place} has {len(line)} cells, and the first has {width}; quote what holds a {separator!r}, or "
                "say what separates cells with --delimiter"
            )
    return ""


def _without_spaces(text: str, separator: str) -> str:
    """Return the text without the space after each separator, where every one has it."""
    some = "\n".join(text[:HEAD].splitlines()[:50])
    spaced = some.count(f"{separator} ")
    if separator.isspace() or not spaced or spaced != some.count(separator) or '"' in some:
        return text
    return text.replace(f"{separator} ", separator)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
