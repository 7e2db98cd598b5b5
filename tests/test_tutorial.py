"""`suffice tutorial`: all steps run, through the real entry point and in a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from suffice.cli.tutorial_steps import STEPS

COMMAND = [sys.executable, "-m", "suffice", "tutorial"]


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *options], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_all_steps_run_without_a_terminal(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    # a line of Python that fails prints its traceback there
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("suffice: note: these are the rows that the model was fitted to")
    assert [f"\n{number}. {step.title}\n" in done.stdout for number, step in enumerate(STEPS, 1)] == [True] * len(STEPS)
    assert "(0.073, 0.008)" in done.stdout  # the lecture's product of three probabilities, and its counterpart
    assert "positive,0.0963855421686747" in done.stdout
    assert "[0.394, 0.03, 0.576]" in done.stdout  # the lecture's m-estimate
    forgotten, never_learned = re.findall(r"digest +(\w{64})", done.stdout)
    assert forgotten == never_learned
    assert "petal length   (missing)" in done.stdout
    assert (tmp_path / "suffice-tutorial" / "flowers.html").stat().st_size > 10_000
    assert run(tmp_path).returncode == 0  # again, with its own files there


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("mine")
    done = run(tmp_path, "--folder", ".")
    assert done.returncode == 1
    assert "new.csv exists" in done.stderr
    assert "--folder" in done.stderr
    assert (tmp_path / "new.csv").read_text() == "mine"
    assert run(tmp_path, "--folder", "new.csv").returncode == 1


def test_a_terminal_waits_for_enter(tmp_path: Path) -> None:
    main, other = pty.openpty()
    with subprocess.Popen(COMMAND, cwd=tmp_path, stdin=other, stdout=other, stderr=other) as process:
        os.close(other)
        os.write(main, b"\nq\n")
        shown = b""
        while chunk := _read(main):
            shown += chunk
        assert process.wait(60) == 0
    os.close(main)
    assert b"2. Predict" in shown
    assert b"3. Explain" not in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end was closed
        return b""
