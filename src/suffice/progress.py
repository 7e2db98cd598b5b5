"""A line that says how far long work has come; only on a terminal, and only after a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self


class Progress:
    """Say on one line of the terminal what is being done; silent where nobody looks on.

    >>> with Progress("mixtures", total=3) as progress:
    ...     progress.say(1, "class 'a'")
    """

    def __init__(self, what: str, total: int, shown: bool = True) -> None:
        self.what, self.total, self.started = what, total, time.monotonic()
        self.shown = shown and sys.stderr.isatty()
        self.written = 0

    def say(self, done: int, detail: str = "") -> None:
        """Show that so much is done."""
        if not self.shown or time.monotonic() - self.started < 1:
            return
        filled = int(24 * done / max(self.total, 1))
        line = f"{self.what} [{'#' * filled}{'.' * (24 - filled)}] {done}/{self.total} {detail}"[:110]
        sys.stderr.write("\r" + line.ljust(self.written))
        sys.stderr.flush()
        self.written = len(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.written:
            sys.stderr.write("\r" + " " * self.written + "\r")
            sys.stderr.flush()
