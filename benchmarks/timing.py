"""Measuring time."""

from __future__ import annotations

import time
from collections.abc import Callable


def least(run: Callable[[], object], times: int = 3) -> float:
    """Return the smallest of several times, in seconds: other processes only make a call slower."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)
