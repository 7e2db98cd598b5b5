"""Models and tables as commands open them, and put them back."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.cli import matching, words
from suffice.cli.delimited import Hints
from suffice.cli.files import read_table
from suffice.cli.words import UserError


@dataclass(frozen=True)
class Source:
    """A file of rows, and how it is to be read."""

    name: str
    header: bool | None = None
    delimiter: str | None = None

    def read(self, hints: Hints | None = None) -> Any:
        """Return the rows as a frame, read by what is known of them."""
        with words.working(f"reading {self.name}"):
            return read_table(self.name, self.header, self.delimiter, hints)


def load(name: str) -> Any:
    """Return the model in a file; what loads models is loaded when one is asked for, not before files are read."""
    from suffice import load

    return load(name)


def saved(model: Any, output: str) -> Path | None:
    """Write a model to a file; to standard output, if that is asked for: then nothing else may be said there."""
    from suffice import store

    if output != "-":
        return Path(model.save(output))
    sys.stdout.buffer.write(store.file_content(type(model).__name__, model.__getstate__()))
    sys.stdout.buffer.flush()
    return None


def as_prior(said: str) -> Any:
    """Return a prior as it is typed: a number, or a word."""
    try:
        return float(said)
    except ValueError:
        return said


def as_families(said: list[str]) -> Any:
    """Return {column: family} from COLUMN=FAMILY."""
    pairs = [each.rpartition("=") for each in said]
    for column, _, family in pairs:
        if not column or not family:
            raise UserError(f"--family is COLUMN=FAMILY, such as age=gaussian, not {(column or family)!r}")
    return {column: family for column, _, family in pairs} or "auto"


def check_able(model: Any, name: str, method: str, otherwise: str) -> None:
    """Raise if this kind of model cannot do what is asked."""
    if not hasattr(model, method):
        raise UserError(f"{name} is a {type(model).__name__}, which {otherwise}")


def split(model: Any, source: Source, target: str | None, drop: bool) -> tuple[Any, list[Any]]:
    """Return rows and labels, of which some must be known."""
    frame = source.read(matching.hints_of(model, target))
    X, y = matching.split(model, frame, target, source.name, drop)
    matching.check_known(y, model.classes_.tolist(), target or str(matching.target_name(model)))
    return X, y
