"""Ctrl-C and SIGTERM: the old file, the exit code, no traceback, and a terminal as it was."""

from __future__ import annotations

import os
import pty
import signal
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import polars as pl
import pytest
from command_server import CommandServer

import suffice
from suffice.storage.file_update import update_file

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}
# Commands that read rows from standard input; MODEL is replaced by the name of the model and of the output.
READING = {
    "fit": "fit - --target y -o MODEL",
    "learn": "learn MODEL -",
    "forget": "forget MODEL -",
    "predict": "predict MODEL - -o MODEL",
    "evaluate": "evaluate MODEL -",
    "compare": "compare - --target y -o MODEL",
    "explain": "explain MODEL -",
    "report": "report MODEL --data - -o MODEL",
}


def interrupt(server: CommandServer, process: int, number: signal.Signals) -> int:
    """Send a signal each second until a process ends, as a user does; return the exit code.

    Python notices a signal that comes just before a system call after that call, and reading a pipe may take for ever.
    """
    has_ended = Event()

    def send() -> None:
        with suppress(ProcessLookupError):
            os.kill(process, number)
            while not has_ended.wait(1):
                os.kill(process, number)

    thread = Thread(target=send)
    thread.start()
    code = server.wait(process)
    has_ended.set()
    thread.join()
    return code


def table(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"x": rng.normal(size=rows), "k": rng.integers(0, 5, rows), "y": rng.integers(0, 2, rows)})


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


@pytest.fixture
def model(files: Path) -> Path:
    frame = table(50)
    fitted = suffice.BayesClassifier(structure="naive")
    fitted.fit_table(frame, "y")
    return fitted.save(files / "m.suffice")


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("command", READING)
def test_an_interrupted_command_changes_nothing(
    server: CommandServer, model: Path, tmp_path: Path, command: str, number: signal.Signals
) -> None:
    before, rows, errors = model.read_bytes(), tmp_path / "rows", tmp_path / "errors"
    os.mkfifo(rows)
    errors.touch()
    arguments = [str(model) if word == "MODEL" else word for word in READING[command].split()]
    process = server.start(arguments, files={0: rows, 2: errors})
    with rows.open("wb") as file:  # opens when the command opens it, and is not closed until the signal was sent
        file.write(b"x,k,y\n" + b"1.5,1,1\n" * 40_000)  # more than a pipe holds, so the command is reading
        file.flush()
        assert interrupt(server, process, number) == SIGNALS[number]
    assert model.read_bytes() == before
    assert list(model.parent.iterdir()) == [model]
    assert errors.read_text() == "suffice: interrupted: no file was changed\n"


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_waiting_for_a_lock_can_be_interrupted(
    server: CommandServer, model: Path, tmp_path: Path, number: signal.Signals
) -> None:
    errors = tmp_path / "errors"
    errors.touch()
    with update_file(model):
        process = server.start(["merge", model, model, "-o", model], files={2: errors})
        while "waiting for process" not in errors.read_text():
            pass
        assert interrupt(server, process, number) == SIGNALS[number]
    assert f"waiting for process {os.getpid()}, which is changing {model}" in errors.read_text()
    assert "Traceback" not in errors.read_text()


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_the_terminal_is_restored(server: CommandServer, model: Path, tmp_path: Path, number: signal.Signals) -> None:
    table(500_000).write_csv(tmp_path / "many.csv")
    terminal, inner = pty.openpty()
    process = server.start(["predict", model, tmp_path / "many.csv", "-o", model], files={2: os.ttyname(inner)})
    shown = b""
    while b"\x1b[?25l" not in shown:  # the cursor is hidden while rows are read
        shown += os.read(terminal, 1 << 12)
    assert interrupt(server, process, number) == SIGNALS[number]
    while b"no file was changed" not in shown:
        shown += os.read(terminal, 1 << 12)
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l")
    assert b"Traceback" not in shown
    os.close(terminal)
    os.close(inner)


def test_a_signal_after_the_file_is_written_comes_too_late(files: Path) -> None:
    """A caller that is told 130 runs the command again, which would count the rows twice."""
    from suffice.cli import output
    from suffice.cli.interrupts import Interrupts

    interrupts: Any = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        interrupts._handle(signal.SIGINT, None)
    assert interrupts.code(ValueError()) == 130
    output.write_file(str(files / "a"), b"1")
    output.interrupts._handle(signal.SIGTERM, None)
    assert output.interrupts.received is None
    output.interrupts.is_late = False
