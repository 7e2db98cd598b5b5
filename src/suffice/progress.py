"""A progress line for long computations, shown on a terminal only and after one second."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Self

EVERY = 0.3  # seconds between two updates of `watched`


class Progress:
    """A progress bar on one line of standard error; nothing is written if that is not a terminal.

    It is plain text and not a bar of rich, which is installed for the command line only.

    Parameters
    ----------
    what : str
        What is being done.
    total : int
        Number of steps; 0 if unknown.
    shown : bool, default=True
        Whether to show the bar at all.

    Examples
    --------
    >>> with Progress("mixtures", total=3) as progress:
    ...     progress.say(1, "class 'a'")
    """

    def __init__(self, what: str, total: int, shown: bool = True) -> None:
        self.what, self.total, self.started = what, total, time.monotonic()
        self.shown = shown and sys.stderr.isatty()
        self.written = 0

    def say(self, done: int, detail: str = "") -> None:
        """Show the number of steps done, and details of the current one."""
        if not self.shown or time.monotonic() - self.started < 1:
            return
        filled = int(24 * done / max(self.total, 1))
        line = f"{self.what} [{'#' * filled}{'.' * (24 - filled)}] {done}/{self.total} {detail}"[:110]
        sys.stderr.write("\r" + line.ljust(self.written))
        sys.stderr.flush()
        self.written = len(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.written:
            sys.stderr.write("\r" + " " * self.written + "\r")
            sys.stderr.flush()


@contextmanager
def watched(what: str, share: Callable[[], float]) -> Iterator[None]:
    """Show the progress of work that runs elsewhere; ``share`` returns it in percent, or less than 0 if unknown.

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
    """Call ``look`` every so many seconds in a thread while the ``with`` block runs.

    >>> with meanwhile(60, lambda: print("one minute passed")):
    ...     pass
    """
    done = Event()

    def run() -> None:
        while not done.wait(every):
            look()

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
