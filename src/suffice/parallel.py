"""How many threads work at once, and the one way work is spread over them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from threading import Thread, local
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

_threads: int | None = None
_within: ContextVar[int | None] = ContextVar("_within")  # of a block: those of other threads are not touched
_here = local()


def get_threads() -> int:
    """Return how many threads suffice uses: as set, as in SUFFICE_THREADS, or one per core.

    >>> get_threads() >= 1
    True
    """
    count = _within.get(_threads)
    if count is not None:
        return count
    asked = os.environ.get("SUFFICE_THREADS", "").strip()
    if asked:
        return _checked(asked, "the environment variable SUFFICE_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_threads(count: int | None) -> None:
    """Use this many threads from now on, except within blocks of `threads`; None means one per core.

    Results do not depend on it.

    >>> set_threads(1)
    >>> get_threads()
    1
    >>> set_threads(None)
    """
    global _threads
    _threads = None if count is None else _checked(count, "count")


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Use this many threads within a ``with`` block, and for what is started from it alone.

    >>> with threads(2):
    ...     get_threads()
    2
    """
    before = _within.set(None if count is None else _checked(count, "count"))
    try:
        yield
    finally:
        _within.reset(before)


def spread(function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Return the function's result for each part, in order, worked out by several threads.

    What is spread from within a part is not spread again: it stays in its thread.

    >>> spread(abs, [-1, -2])
    [1, 2]
    """
    todo, results, errors = deque(enumerate(parts)), dict[int, Result](), dict[int, BaseException]()

    if len(parts) == 1 or getattr(_here, "inside", False):
        return [function(part) for part in parts]

    def work() -> None:
        _here.inside = True
        try:
            take_parts()
        finally:
            _here.inside = False

    def take_parts() -> None:
        while todo:
            try:
                place, part = todo.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[place] = function(part)
            except BaseException as error:
                errors[place] = error
                todo.clear()

    # a thread starts with no context: it is handed this one's, in which a block may have said how many there are
    helpers = [Thread(target=copy_context().run, args=(work,)) for _ in range(min(get_threads(), len(parts)) - 1)]
    # Threads for each call cost a tenth of a millisecond and leave nothing behind: none idle, and
    # nothing to break in a process that forks. Where none can be had any more, because the
    # interpreter shuts down, the calling thread does all the work.
    with suppress(RuntimeError):
        for helper in helpers:
            helper.start()
    work()
    for helper in helpers:
        if helper.ident is not None:
            helper.join()
    if errors:
        raise errors[min(errors)]
    return [results[place] for place in range(len(parts))]


def _checked(count: int | str, source: str) -> int:
    try:
        number = int(count)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise ValueError(f"{source} must be a whole number of threads, 1 or more, not {count!r}")
    return number
