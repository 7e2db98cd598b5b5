"""Commands in processes that start at once: a server has imported everything, and forks for each command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Self


class CommandServer:
    """Starts commands of `suffice` in forked processes, with temporary files below a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(folder), "NO_COLOR": "1", "SUFFICE_THREADS": "1"},
        )
        self._ask()  # until everything is imported

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.communicate(timeout=60)

    def start(self, *commands: list[Any], files: dict[int, Any] | None = None) -> int:
        """Start a process that runs commands one after another; return its id. ``files`` replace descriptors."""
        texts = [[*map(str, command)] for command in commands]
        return int(self._ask(commands=texts, files={number: str(path) for number, path in (files or {}).items()}))

    def wait(self, process: int) -> int:
        """Return the exit code of a process; it is negative if a signal has killed it."""
        return int(self._ask(wait=process))

    def run(self, *command: Any, **settings: Any) -> int:
        """Run a command; return its exit code."""
        return self.wait(self.start([*command], **settings))

    def _ask(self, **request: Any) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if request:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def serve() -> None:
    """Answer requests from standard input: start a process, or wait for one."""
    import duckdb  # noqa: F401
    import ibis.backends.duckdb  # noqa: F401
    import polars  # noqa: F401
    import pyarrow.dataset  # noqa: F401
    import rich.table  # noqa: F401
    from safetensors import numpy  # noqa: F401

    import suffice.cli.app
    import suffice.cli.model_rows
    import suffice.cli.model_summary
    import suffice.evaluation.comparison
    import suffice.report

    _ = suffice.load, suffice.BayesClassifier
    print("ready", flush=True)
    while line := sys.stdin.readline():
        request = json.loads(line)
        if "wait" in request:
            print(os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1]), flush=True)
            continue
        process = os.fork()
        if not process:
            _run_commands(request["commands"], request["files"])
        print(process, flush=True)


def _run_commands(commands: list[list[str]], files: dict[str, str]) -> None:
    """Run commands in this process, the last of them as a program would; exit with the code of the first that fails."""
    for number in range(3):
        os.dup2(os.open(files.get(str(number), os.devnull), os.O_RDWR if number else os.O_RDONLY), number)
    for command in commands[:-1]:
        process = os.fork()
        if not process:
            _run(command)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if code:
            os._exit(code)
    _run(commands[-1])


def _run(command: list[str]) -> None:
    from suffice.cli.entry import main

    sys.argv, code = ["suffice", *command], 0
    try:
        main()
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    except BaseException as error:
        sys.stderr.write(f"Traceback: {error!r}")
        code = 99
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
