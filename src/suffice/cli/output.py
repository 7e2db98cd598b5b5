"""Output of the command line: tables for people, JSON for machines, and one line for an error."""

import gzip
import io
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import Any

from suffice.cli.interrupts import interrupts
from suffice.printable import CONTROLS, escape_controls
from suffice.storage.atomic_write import check_output_path, replace_file

WIDTH = 80  # of output that is not a terminal

# A cell that begins so is a formula to a spreadsheet.
FORMULA = r"^[=+\-@\t\r]"

# Files of more bytes than this are announced before they are written.
LARGE_FILE = 10_000_000

# Settings of Python in messages, as patterns, and the options of the command line that stand for them.
OPTIONS = {
    r"BayesClassifier\((families=\{.*?\})\)": r"\1",
    r"families=\{(['\"])(.+?)\1: (['\"]?)([\w…().-]+)\3\}": r"--family \2=\4",
    r" and Text\(…\)$": "",  # the command line has no settings of texts, nor of structures
    r"Full\(shrinkage=0\.1\), ": "",
    "set calibrate=None": "leave out --calibrate",
    r"\bestimate=\"(\w+)\"": r"--estimate \1",
    r"\bestimate=\{\"([\w-]+)\": \"(\w+)\", …\}": r"--estimate \1=\2",
    r"\b(estimate|prior)=\{…\}": r"--\1",
    r"\bclass_weight\b": "--class-weight",
    r"\bstructure=\"(\w+)\"": r"--structure \1",
    r"\bstyle=\"(\w+)\"": r"--style \1",
    r"\bstyle is ": "--style is ",
    r"or predict in Python \(predict, predict_table\), which": "or use suffice predict, which",
    r"\bcv=(\d+)": r"--cv \1",
    r"\bscoring='(\w+)'": r"--scoring \1",
    r"\bmargin=": "--margin ",
    r"\brepeats=": "--repeats ",
    r"a splitter, such as KFold\(.*?\), or get": "get",  # the command line has no splitters
    r"TableFile\(…, header=False\)": "--no-header",
    r"TableFile\(…, header=True\)": "--header",
    r"TableFile\(…, skip_rows=…\)": "--skip-rows",
    r"TableFile\(…, na_values=…\)": "--na-values",
    r"TableFile\(…, dates='parts'\)": "--dates parts",
    r", or pass the file to fit_table\(…\), which reads numbers such as '1.234,50 €'": "",
    r"; in a data frame, add columns such as .*?\]\.dt\.month": "",
    r"TableFile\(…, (\w+)=…\)": r"--\1",
    "delimiter is one character": "--delimiter is one character",
    r"families=\{…\}": "--family",
    "missing_target='drop'": "--drop-unlabelled",
    r"\bclass_prior=\{label: p\}": "--class-prior LABEL=P",
    r"\bclass_prior=": "--class-prior ",
    r"\bmissing=\"(\w+)\"": r"--missing \1",
    r"\bprior=": "--prior ",
    r"\bcalibrate=": "--calibrate ",
    "plan=": "--plan",
    "timeout=…": "--wait SECONDS",
    "checkpoint=…": "--checkpoint",
}


class CommandError(Exception):
    """An error that the user of a command can correct; it is printed as one line."""


def print_note(message: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(f"suffice: {escape_controls(' '.join(message.split()))}\n")


def translate_settings(message: str) -> str:
    """Return a message of the library with Python settings written as options of the command line.

    >>> translate_settings("turn it into numbers, or use BayesClassifier(families={'age': 'categorical'})")
    'turn it into numbers, or use --family age=categorical'
    >>> translate_settings("line 1 was read as data; if it names the columns, use TableFile(…, header=True)")
    'line 1 was read as data; if it names the columns, use --header'
    >>> translate_settings("class_weight names 'c'; estimate={…} names 'd'")
    "--class-weight names 'c'; --estimate names 'd'"
    """
    for pattern, option in OPTIONS.items():
        message = re.sub(pattern, option, message)
    return message


def format_number(value: float) -> str:
    """Return a number as text for people: whole numbers in groups of three digits, and no exponent.

    >>> format_number(1234567.0), format_number(60), format_number(1234.5678), format_number(0.25)
    ('1,234,567', '60', '1,234.57', '0.25')
    """
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 100 else f"{value:.4g}"


def as_whole(count: float) -> float:
    """Return a count as an integer if it is one."""
    return int(count) if float(count).is_integer() else count


@contextmanager
def show_work(task: str) -> Iterator[None]:
    """Show a task on the terminal while it is in progress."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status, terminal = Console(stderr=True).status(task), sys.stderr
    try:
        with status:
            yield
    finally:
        terminal.write("\x1b[?25h")  # shows the cursor, also if rich was interrupted while it hid it


def print_json(facts: Any) -> None:
    """Print facts as JSON; NaN is null, and other values that JSON lacks, such as infinity, are strings."""
    text = json.dumps(facts, default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value))
    plain = json.loads(text, parse_constant=lambda name: None if name == "NaN" else str(float(name)))
    lines = json.dumps(plain, ensure_ascii=False, indent=2).split("\n")
    escaped = [CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", line) for line in lines]
    sys.stdout.write("\n".join(escaped) + "\n")


def print_facts(title: str, facts: Mapping[str, Any]) -> None:
    """Print named facts, one per line or more; names of files are not broken."""
    if title:
        print_text(escape_controls(title))
    indent = max((len(name) for name in facts), default=0) + 3
    for name, value in facts.items():
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        lines = wrap(escape_controls(text), _find_width() - indent, break_long_words=False, break_on_hyphens=False)
        first, *others = lines or [""]
        print_text(
            "\n".join(
                [f" {escape_controls(name):<{indent - 1}}{first}".rstrip(), *(" " * indent + line for line in others)]
            )
        )


def print_text(text: str) -> None:
    """Print a text on standard output."""
    sys.stdout.write(f"{text}\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> None:
    """Print a table; columns of numbers are aligned right."""
    from rich import box
    from rich.table import Table

    from suffice.data.files.csv_numbers import is_number

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        is_right = bool(rows) and all(is_number(str(row[place]).split(" ")[0].replace("−", "-")) for row in rows)
        table.add_column(_to_text(column), justify="right" if is_right else "left", overflow="fold", no_wrap=is_right)
    for row in rows:
        table.add_row(*(_to_text(cell) for cell in row))
    _print(title, table)


def write_text(text: str, output: str) -> None:
    """Write a text to a file, or to standard output if the name is ``-``."""
    if output == "-":
        sys.stdout.write(_as_shown(text))
        return
    write_file(output, text.encode())
    print_facts("", {"written to": output})


def write_content(content: bytes, output: str) -> Path | None:
    """Write the content of a file; return None if it went to standard output, where nothing else may be printed."""
    if output != "-":
        return write_file(output, content)
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    return None


def write_table(frame: Any, name: str) -> None:
    """Write a polars frame to a file in the format of its extension; ``-`` is standard output, as CSV."""
    from suffice.data.files.file_formats import ending_format

    if name == "-":
        sys.stdout.write(_as_shown(frame.write_csv()))
        return
    writers = {"Parquet": frame.write_parquet, "Arrow": frame.write_ipc, "JSON lines": frame.write_ndjson}
    writers["Excel"] = lambda made: _write_excel(frame, made, name)
    kind = ending_format(name) or "CSV"
    is_array = kind == "JSON lines" and ".json" in Path(name.lower()).suffixes  # .jsonl and .ndjson have a row per line
    made = io.BytesIO()
    (frame.write_json if is_array else writers.get(kind, frame.write_csv))(made)
    content = made.getvalue()
    write_file(name, gzip.compress(content) if name.lower().endswith(".gz") else content)


def _write_excel(frame: Any, made: io.BytesIO, name: str) -> None:
    """Write a polars frame as an Excel file."""
    if not name.lower().endswith(".xlsx"):
        raise CommandError(f"{name}: of the formats of Excel, only .xlsx can be written")
    try:
        frame.write_excel(made)
    except ImportError as error:
        raise CommandError(
            f"{name}: Excel files need the package xlsxwriter: pip install 'suffice[excel]', or name a .csv file"
        ) from error


def write_file(name: str, content: bytes) -> Path:
    """Write the file that a command is there to write; an interrupt comes too late from now on."""
    interrupts.is_late = True
    return replace_file(name, content)


def quote_formulas(frame: Any, output: str) -> Any:
    """Return a polars frame with an apostrophe before each text that a spreadsheet would take for a formula."""
    import polars as pl

    from suffice.data.files.file_formats import ending_format

    if output != "-" and ending_format(output) not in (None, "CSV"):
        raise CommandError(f"--safe-csv is for CSV, but {output} is {ending_format(output)}")
    kinds = (pl.String, pl.Categorical, pl.Enum)
    texts = {name: pl.col(name).cast(pl.String) for name, kind in frame.schema.items() if isinstance(kind, kinds)}
    mark = pl.lit("'")
    frame = frame.with_columns(
        pl.when(text.str.contains(FORMULA)).then(mark + text).otherwise(text).alias(name)
        for name, text in texts.items()
    )
    return frame.rename({name: f"'{name}" for name in frame.columns if re.match(FORMULA, name)})


def check_output(name: str) -> None:
    """Raise an error if a file cannot be written; called before the work, so that none is wasted."""
    if name != "-":
        check_output_path(name)


def _find_width() -> int:
    """Return the width of the terminal, or `WIDTH` without one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH


def _print(title: str, table: Any) -> None:
    """Print a table; no line ends with blanks."""
    from rich.console import Console

    console = Console(width=_find_width(), soft_wrap=False)
    with console.capture() as printed:
        if title:
            console.print(_to_text(title), style="bold", soft_wrap=True)
        console.print(table)
    sys.stdout.write("\n".join(map(str.rstrip, printed.get().split("\n"))))


def _to_text(value: Any) -> Any:
    from rich.text import Text  # not a string, because data may look like markup

    return Text(f"{value:.4g}" if isinstance(value, float) else escape_controls(str(value)))


def _as_shown(text: str) -> str:
    """Return the text for standard output: as it is, or without control characters if that is a terminal."""
    return "\n".join(map(escape_controls, text.split("\n"))) if sys.stdout.isatty() else text
