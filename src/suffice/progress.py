"""A line that says how far long work has come; only on a terminal, and only after a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from types import TracebackType
from typing import Self

EVERY = 0.3  # seconds, between two looks at work that somebody else does


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


@contextmanager
def watched(what: str, share: Callable[[], float]) -> Iterator[None]:
    """Say from time to time how far somebody else's work has come, in hundredths; less than 0 is not known.

    >>> with watched("a query", lambda: 50.0):
    ...     pass
    """
    with Progress(what, total=100) as progress:
        if not progress.shown:
            yield
            return
        with meanwhile(EVERY, lambda: progress.say(min(max(int(share()), 0), 100), "%")):
            yield


@contextmanager
def meanwhile(every: float, look: Callable[[], None]) -> Iterator[None]:
    """Call a function every so many seconds while something else goes on.

    >>> with meanwhile(60, lambda: print("a minute is over")):
    ...     pass
    """
    done = Event()

    def looking() -> None:
        while not done.wait(every):
            look()

    thread = Thread(target=looking, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
