"""Reading and writing the model file of a command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from suffice.cli.interrupts import interrupts
from suffice.cli.output import CommandError, check_output, write_content
from suffice.storage.file_update import update_file


@contextmanager
def model_file(name: str) -> Iterator[str]:
    """Yield the path of a model file; standard input, ``-``, is copied to a file."""
    if name != "-":
        yield name
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "standard input")
        path.write_bytes(sys.stdin.buffer.read())
        yield str(path)


def load_model(name: str, method: str = "predict", otherwise: str = "") -> Any:
    """Return the model in a file; raise an error if its kind lacks the method that a command needs."""
    from suffice import load

    with model_file(name) as path:
        model = load(path)
    if not hasattr(model, method):
        raise CommandError(f"{name} is a {type(model).__name__}, which {otherwise}")
    return model


def save_model(model: Any, output: str) -> Path | None:
    """Write a model to a file; return None if it went to standard output, where nothing else may be printed."""
    return write_content(model.file_content(), output)


@contextmanager
def open_update(output: str, inputs: Sequence[str], wait: float) -> Iterator[Callable[[Any], Path | None]]:
    """Yield the function that writes a model. If the output is one of the inputs, no other process changes it."""
    check_output(output)
    if output == "-" or Path(output).resolve() not in [Path(name).resolve() for name in inputs]:
        yield lambda model: save_model(model, output)
        return
    with update_file(output, wait) as file:

        def save(model: Any) -> Path:
            content = model.file_content()
            interrupts.is_late = True
            return file.replace(content)

        yield save
