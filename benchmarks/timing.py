"""Measuring time and memory: calls in turn, so that other work on the machine slows down all of them alike."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Call = Callable[[], object]

# A call is repeated in a round until its runs take this many seconds, at most so many times.
SHORT, MOST_RUNS = 0.05, 5


@dataclass
class Timing:
    """The seconds of each run of a call, its processor time, and the memory that one run took at most.

    Processor time is that of all threads and of finished child processes; it hardly depends on what else runs on the
    machine. Memory is in MB above what was there.
    """

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    peak: float | None = None

    @property
    def best(self) -> float:
        """The smallest time: other processes only make a call slower."""
        return min(self.seconds)


def time_in_turn(calls: Mapping[str, Call], rounds: int, seconds: float) -> dict[str, Timing]:
    """Return the timing of each call; all are run in each round, of which there are fewer if they last ``seconds``.

    A first run of each call is not timed: it compiles and fills caches. Its memory is measured. A call of milliseconds
    is run several times in a round, and the fastest counts: the first one finds the caches as another call left them.
    """
    found = {name: Timing(peak=measure_peak(call)) for name, call in calls.items()}
    started = time.perf_counter()
    for number in range(rounds):
        if number and time.perf_counter() - started > seconds:
            break
        for name, call in calls.items():
            taken = [time_once(call)]
            while len(taken) < MOST_RUNS and sum(wall for wall, _ in taken) < SHORT:
                taken.append(time_once(call))
            found[name].seconds.append(min(wall for wall, _ in taken))
            found[name].processor.append(min(processor for _, processor in taken))
    return found


def time_once(call: Call) -> tuple[float, float]:
    """Return the seconds and the processor time of a call."""
    start, busy = time.perf_counter(), processor_time()
    call()
    return time.perf_counter() - start, processor_time() - busy


def processor_time() -> float:
    """Return the processor time of this process and its finished children so far, in seconds."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure_peak(call: Call) -> float | None:
    """Run a call; return how many MB the process grew at most, and None where the system does not tell."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        before = read_status("VmRSS")
    except OSError:
        call()
        return None
    call()
    return max(read_status("VmHWM") - before, 0.0)


def read_status(name: str) -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


def run_python(statement: str) -> str:
    """Run a statement in a new process, and return what it prints; only the first such process compiles modules."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", statement]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def least(run: Call, times: int = 3) -> float:
    """Return the smallest of several times, in seconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)
