"""What the command line says: tables for people, JSON for machines, one line for an error."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


class UserError(Exception):
    """Something that whoever typed the command can mend: said in one line."""


def note(message: str) -> None:
    """Say something on the side, on standard error."""
    sys.stderr.write(f"suffice: {' '.join(message.split())}\n")


def as_typed(message: str) -> str:
    """Return a message of the library with its settings as they are typed on the command line.

    >>> as_typed("turn it into numbers, or learn it as levels: families={'age': 'categorical'}")
    'turn it into numbers, or learn it as levels: --family age=categorical'
    """
    message = re.sub(r"families=\{(['\"])(.+?)\1: (['\"]?)([\w…]+)\3\}", r"--family \2=\4", message)
    message = re.sub(r"\bstructure=\"(\w+)\"", r"--structure \1", message)
    message = re.sub(r"\bcv=(\d+)", r"--cv \1", message)
    message = re.sub(r"use a splitter, such as KFold\(.*?\), or ", "", message)  # there are none on the command line
    return message.replace("families={…}", "--family").replace("missing_target='drop'", "--drop-unlabelled")


def number(value: float) -> str:
    """Return a number as people read it: whole ones in groups of three digits, and no exponent.

    >>> number(1234567.0), number(60), number(1234.5678), number(0.25)
    ('1,234,567', '60', '1,234.57', '0.25')
    """
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 100 else f"{value:.4g}"


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that something is being done, while it is."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def as_json(facts: Any) -> None:
    """Write facts as JSON; what JSON has no number for, such as infinity, is written as a word."""
    sys.stdout.write(json.dumps(_finite(facts), ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def _console() -> Any:
    """Return where to write: as wide as the terminal, and wide where there is none."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # which ends every command in one way, whoever writes

    return Plain(width=None if sys.stdout.isatty() else 160, soft_wrap=False)


def facts(title: str, named: Mapping[str, Any]) -> None:
    """Write named facts under each other."""
    from rich.table import Table

    table = Table(title=title or None, show_header=False, box=None, title_justify="left", title_style="bold")
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in named.items():
        table.add_row(_text(name), _text(value))
    _console().print(table)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> None:
    """Write a table; columns of numbers to the right."""
    from rich import box
    from rich.table import Table

    found = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        number = all(isinstance(row[place], (int, float)) or _is_number(row[place]) for row in rows)
        right = bool(number and rows)
        found.add_column(_text(column), justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in rows:
        found.add_row(*(_text(cell) for cell in row))
    _console().print(found)


def _text(value: Any) -> Any:
    # what comes from data is no markup
    from rich.text import Text

    return Text(f"{value:.4g}" if isinstance(value, float) else str(value))


def _is_number(cell: Any) -> bool:
    try:
        float(str(cell).split(" ")[0].rstrip("%"))
    except ValueError:
        return False
    return True


def _finite(value: Any) -> Any:
    """Return facts of numbers, words, lists and objects alone."""
    if isinstance(value, Mapping):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    return str(value)
