"""The number of threads, and the function that distributes work over them."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import chain, islice
from threading import Thread
from typing import Any, TypeVar, cast

Part = TypeVar("Part")
Result = TypeVar("Result")

_threads: int | None = None
# Of a `with threads(…)` block; a context variable does not affect other threads.
_threads_of_block: ContextVar[int | None] = ContextVar("_threads_of_block")
_is_worker: ContextVar[bool] = ContextVar("_is_worker", default=False)


def get_threads() -> int:
    """Return the number of threads that suffice uses.

    It is the number set by `threads` or `set_threads`, else the environment variable SUFFICE_THREADS, else the number
    of cores.

    Returns
    -------
    int
        Number of threads, at least 1.

    Examples
    --------
    >>> get_threads() >= 1
    True
    """
    count = _threads_of_block.get(_threads)
    if count is not None:
        return count
    setting = os.environ.get("SUFFICE_THREADS", "").strip()
    if setting:
        return _check_count(setting, "the environment variable SUFFICE_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_threads(count: int | None) -> None:
    """Set the number of threads for all later calls outside `threads` blocks. Results do not depend on it.

    Parameters
    ----------
    count : int or None
        Number of threads; None means one per core.

    Examples
    --------
    >>> set_threads(1)
    >>> get_threads()
    1
    >>> set_threads(None)
    """
    global _threads
    _threads = None if count is None else _check_count(count, "count")


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Set the number of threads within a ``with`` block. Other threads of the program are not affected.

    Parameters
    ----------
    count : int or None
        Number of threads; None means one per core.

    Examples
    --------
    >>> with threads(2):
    ...     get_threads()
    2
    """
    before = _threads_of_block.set(None if count is None else _check_count(count, "count"))
    try:
        yield
    finally:
        _threads_of_block.reset(before)


# With fewer cells than this, starting a thread costs more than it saves.
LEAST_WORK = 1 << 20


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which each matrix product of the process uses one thread.

    Threads of a BLAS library wait for the next product in a loop that keeps a core busy, so they would slow down the
    threads of `map_threads`.
    """
    return cast("AbstractContextManager[Any]", _blas_libraries("scipy.linalg" in sys.modules).limit(limits=1))


def limit_blas(cells: int) -> AbstractContextManager[Any]:
    """Return `one_blas_thread` for a table with few cells, and a context without effect for a larger one."""
    return one_blas_thread() if cells < LEAST_WORK else nullcontext()


@cache
def _blas_libraries(with_scipy: bool) -> Any:
    """Return the loaded BLAS libraries; SciPy has one of its own, which may be loaded after that of NumPy."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def map_threads(function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Return the function's result for each part, in order, computed by several threads.

    A nested call, from within a part, runs in the thread of that part.

    >>> map_threads(abs, [-1, -2])
    [1, 2]
    """
    if len(parts) == 1 or _is_worker.get():
        return [function(part) for part in parts]
    todo, results, errors = deque(enumerate(parts)), dict[int, Result](), dict[int, BaseException]()

    def work() -> None:
        _is_worker.set(True)
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

    # New threads for each call, not a ThreadPoolExecutor: a pool for each call takes twice as long with two threads,
    # and a lasting pool does not survive a fork. Each thread gets a copy of this context, and so its number of threads.
    count = min(get_threads(), len(parts)) - 1
    helpers = [Thread(target=copy_context().run, args=(work,), daemon=True) for _ in range(count)]
    try:
        with one_blas_thread():
            # When the interpreter shuts down no thread can be started: then the calling thread does all the work.
            with suppress(RuntimeError):
                for helper in helpers:
                    helper.start()
            copy_context().run(work)
            for helper in helpers:
                # Ctrl-C does not wait for the other threads
                if helper.ident is not None and all(isinstance(error, Exception) for error in list(errors.values())):
                    helper.join()
    except KeyboardInterrupt:
        todo.clear()
        raise
    if errors:
        raise errors[min(errors)]
    return [results[place] for place in range(len(parts))]


def stream_threads(function: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """Yield the function's result for each part, in order; several threads compute while the next parts are read.

    Parts are read in the calling thread, and at most one more than there are threads is held. A single part is computed
    in the calling thread, where the function may use threads itself.

    >>> list(stream_threads(abs, iter([-1, -2])))
    [1, 2]
    """
    from concurrent.futures import ThreadPoolExecutor

    parts, count = iter(parts), get_threads()
    first = list(islice(parts, 2))
    if count == 1 or len(first) < 2 or _is_worker.get():
        yield from map(function, chain(first, parts))
        return

    def work(part: Part) -> Result:
        _is_worker.set(True)
        return function(part)

    with one_blas_thread(), ThreadPoolExecutor(count) as pool:
        waiting = deque[Future[Result]]()
        try:
            for part in chain(first, parts):
                waiting.append(pool.submit(copy_context().run, work, part))
                if len(waiting) > count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()


def _check_count(count: int | str, source: str) -> int:
    """Return a number of threads; ``source`` names it in the error."""
    try:
        number = int(count)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise ValueError(f"{source} must be a whole number of threads, 1 or more, not {count!r}")
    return number
