"""How long something takes."""

from __future__ import annotations

import time
from collections.abc import Callable


def least(run: Callable[[], object], times: int = 3) -> float:
    """Return the least of so many times, in seconds: what others do on the machine only ever adds to it."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)
