"""Calls of a Spark cluster: cancelled when all workers are lost, with errors in one line."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import Any
from uuid import uuid4

from suffice.data.engines.source import SourceError
from suffice.progress import meanwhile

# Seconds to wait for a new worker after the last one is lost, and between two checks.
PATIENCE, EVERY = 90, 2.0


def call_spark(session: Any, call: Callable[[], Any]) -> Any:
    """Return the result of a call of Spark; raise its error, or that of a worker, as one line."""
    gone = Event()
    try:
        with _cancelled_without_workers(session, gone):
            return call()
    except SourceError:
        raise
    except Exception as error:
        if gone.is_set():
            raise SourceError(f"Spark has lost all its workers, and got no other in {PATIENCE} s") from error
        raise _explain_error(error) from error


def is_connect(session: Any) -> bool:
    """Return whether a session is one of Spark Connect, which has no access to the JVM."""
    return type(session).__module__.startswith("pyspark.sql.connect")


@contextmanager
def _cancelled_without_workers(session: Any, gone: Event) -> Iterator[None]:
    """Cancel the jobs of a cluster that has no worker left: Spark itself waits for one without limit."""
    context = None if is_connect(session) else session.sparkContext
    if context is None or context._jsc is None or _workers(context) == 0:
        yield
        return
    group, last = f"suffice {uuid4().hex}", [monotonic()]
    context.setJobGroup(group, "suffice", interruptOnCancel=True)

    def look() -> None:
        if _workers(context):
            last[0] = monotonic()
        elif monotonic() - last[0] >= PATIENCE:
            gone.set()
            context.cancelJobGroup(group)

    try:
        with meanwhile(EVERY, look):
            yield
    finally:
        for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
            context.setLocalProperty(name, None)


def _workers(context: Any) -> int:
    """Return the number of executors, without the driver."""
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1


def _explain_error(error: Exception) -> Exception:
    """Return the error of a worker if there is one, or else that of Spark, as one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [re.match(r"(?:[\w.]*\.)?(\w*Error): (.*)", line) for line in lines]
    kind, message = next(((its[1], its[2]) for its in reversed(raised) if its), ("", ""))
    if kind in ("ValueError", "TypeError", "SourceError"):
        return TypeError(message) if kind == "TypeError" else SourceError(message)
    if kind == "ModuleNotFoundError":
        return SourceError(
            f"Spark's workers cannot count: {message}; install suffice where they run, and set their interpreter "
            "(PYSPARK_PYTHON)"
        )
    spark_message = next((line for line in lines if not line.startswith(("at ", "File "))), type(error).__name__)
    reason = f"{kind}: {message[:600]}" if kind else spark_message[:600]
    return SourceError(f"Spark could not count the rows: {reason}")
