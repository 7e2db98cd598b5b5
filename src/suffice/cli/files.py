"""Files of tables: CSV of any delimiter, Parquet, Feather and JSON lines, by name or as standard input and output."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from suffice.cli.words import UserError

EMPTY = ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"]
DELIMITERS = ",;\t|"
LONGEST_TITLE = 64
HEAD = 1 << 16  # characters of a CSV that say how it is delimited
KINDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


def read_table(name: str, header: bool | None = None, delimiter: str | None = None) -> Any:
    """Return a file as a polars frame; ``-`` is standard input. Columns without names are called c0, c1 and so on."""
    kind = _kind(name)
    content = _content(name)
    if not content.strip():
        raise UserError(f"{_said(name)} is empty")
    pl = _polars()
    try:
        if kind == "parquet":
            return pl.read_parquet(io.BytesIO(content))
        if kind == "feather":
            return pl.read_ipc(io.BytesIO(content))
        if kind == "jsonl":
            return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UserError(f"{_said(name)} cannot be read as {kind}: {_first_line(error)}") from error
    return _read_csv(pl, name, content, header, delimiter)


def split_target(frame: Any, target: str, name: str) -> tuple[Any, Any]:
    """Return the rows without the target, and the target; it goes by its name, or by its place (0, 1, …, −1)."""
    column = target_of(frame, target, name)
    return frame.drop(column), frame[column]


def target_of(frame: Any, target: str, name: str) -> str:
    """Return the name of the target column, or say which is nearest."""
    if target in frame.columns:
        return target
    if target.lstrip("-").isdigit() and -len(frame.columns) <= int(target) < len(frame.columns):
        return str(frame.columns[int(target)])
    near = get_close_matches(target, frame.columns, 1, 0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {_few(frame.columns)}"
    raise UserError(f"{_said(name)} has no column {target!r}; {hint}")


def write_table(frame: Any, name: str) -> None:
    """Write a polars frame to a file, in the form that its name says; ``-`` is standard output, as CSV."""
    kind = _kind(name)
    if name == "-":
        sys.stdout.write(frame.write_csv())
        return
    folder = Path(name).parent
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder} to write {Path(name).name} to")
    if kind == "parquet":
        frame.write_parquet(name)
    elif kind == "feather":
        frame.write_ipc(name)
    elif kind == "jsonl":
        frame.write_ndjson(name)
    elif name.endswith(".gz"):
        Path(name).write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        frame.write_csv(name)


def _read_csv(pl: Any, name: str, content: bytes, header: bool | None, delimiter: str | None) -> Any:
    try:
        text = content[: 4 * HEAD].decode("utf-8-sig", errors="ignore" if len(content) > 4 * HEAD else "strict")
    except UnicodeDecodeError as error:
        place = content[: error.start].count(b"\n") + 1
        raise UserError(
            f"{_said(name)} is not in UTF-8 (line {place}); convert it: iconv -f latin1 -t utf-8 {name} > new.csv"
        ) from error
    separator = delimiter or _delimiter(text)
    content = _without_spaces(content, text, separator)
    first = next(csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True), [])
    titled = _has_header(first) if header is None else header
    if titled and (twice := [title for title in first if first.count(title) > 1]):
        raise UserError(f"{_said(name)} has two columns called {twice[0]!r}: name each once, or use --no-header")
    how = {"separator": separator, "has_header": titled, "null_values": EMPTY, "infer_schema_length": None}
    try:
        try:
            frame = pl.read_csv(io.BytesIO(content), **how)
        except pl.exceptions.PolarsError:
            # a quotation mark may be one, and quote nothing
            frame = pl.read_csv(io.BytesIO(content), quote_char=None, **how)
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{_said(name)} cannot be read: {_ragged(content, separator) or _first_line(error)}") from error
    if not titled:
        frame.columns = [f"c{place}" for place in range(frame.width)]
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines are no rows
    short = _ragged(content, separator) if frame.width and frame[frame.columns[-1]].null_count() else ""
    if short:
        raise UserError(f"{_said(name)} cannot be read: {short}")
    if frame.height == 0:
        raise UserError(f"{_said(name)} has a header and no rows")
    return frame


def _ragged(content: bytes, separator: str) -> str:
    """Return which line has more or fewer cells than the first, if one has."""
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig", errors="replace")), delimiter=separator)
    width = None
    for place, line in enumerate(lines, 1):
        if not line:
            continue
        width = len(line) if width is None else width
        if len(line) != width:
            return f"line {place} has {len(line)} cells, and the first has {width}; quote what holds a {separator!r}"
    return ""


def _without_spaces(content: bytes, text: str, separator: str) -> bytes:
    """Return the content without the space after each separator, where every one has it."""
    some = "\n".join(text.splitlines()[:50])
    spaced = some.count(f"{separator} ")
    if separator.isspace() or not spaced or spaced != some.count(separator) or '"' in some:
        return content
    return content.replace(f"{separator} ".encode(), separator.encode())


def _delimiter(text: str) -> str:
    """Return what separates cells: what the first lines have most alike."""
    lines = [line for line in text.splitlines()[:50] if line.strip()]
    try:
        return csv.Sniffer().sniff("\n".join(lines[:20]), DELIMITERS).delimiter
    except csv.Error:
        return max(DELIMITERS, key=lambda each: lines[0].count(each)) if lines else ","


def _has_header(first: list[str]) -> bool:
    """Say whether the first line names columns: no cell of it is a number, empty or long, and none is there twice."""
    titles = all(cell.strip() and not _is_number(cell) and len(cell) <= LONGEST_TITLE for cell in first)
    return titles and len(set(first)) == len(first)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _content(name: str) -> bytes:
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
            raise UserError(f"{_said(name)} is a damaged gz file: {error}") from error
    return content


def _kind(name: str) -> str:
    suffixes = [each.lower() for each in Path(name).suffixes]
    return KINDS.get(suffixes[-1], "csv") if suffixes else "csv"


def _polars() -> Any:
    try:
        import polars
    except ImportError:
        raise UserError("the command line needs polars: pip install 'suffice[cli]'") from None
    return polars


def _said(name: str) -> str:
    return "standard input" if name == "-" else name


def _few(names: list[str]) -> str:
    return ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
