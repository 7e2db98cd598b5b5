"""A fit of a file that is larger than the memory: `python benchmarks/beyond_memory.py`.

    python benchmarks/beyond_memory.py [--rows N] [--limit MB] [--file PATH]

A Parquet file of 20 columns is written, and a process whose memory a control group limits, with the pages of the file
that the system keeps, fits a model to it. It needs Linux and the right to make control groups (root).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import data
from timing import processor_time, read_status

GROUPS = Path("/sys/fs/cgroup")
# File of the limit in the first and in the second version of control groups.
LIMITS = {GROUPS / "memory": "memory.limit_in_bytes", GROUPS: "memory.max"}


@contextmanager
def limited(mb: int) -> Iterator[Path]:
    """Make a control group with so much memory; yield the file that takes the number of a process."""
    parent = GROUPS / "memory" if (GROUPS / "memory").exists() else GROUPS
    group = parent / f"suffice-{os.getpid()}"
    group.mkdir()
    try:
        (group / LIMITS[parent]).write_text(str(mb << 20))
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def drop_pages(path: Path) -> None:
    """Let the system forget the pages of a file, so that they are read again, within the limit."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def fit(path: str, structure: str, processes: str) -> None:
    """Enter a control group, fit a model to the file, and print its seconds and memory."""
    Path(processes).write_text("0")  # this process
    import suffice

    start, busy = time.perf_counter(), processor_time()
    model = suffice.BayesClassifier(structure=structure).fit_table(path, "y")
    record = {
        "rows": float(model.class_count_.sum()),
        "seconds": time.perf_counter() - start,
        "processor": processor_time() - busy,
        "process_mb": read_status("VmHWM"),
    }
    print(json.dumps(record))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--limit", type=int, default=1024, help="MB of memory")
    parser.add_argument("--file", type=Path, help="a file that is written if it does not exist, and kept")
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.fit:
        fit(*asked.fit)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = asked.file or Path(folder) / "rows.parquet"
        if not path.exists():
            data.write_parquet(asked.rows, path)
        print(f"a file of {path.stat().st_size / 1e6:,.0f} MB, a process of at most {asked.limit:,} MB")
        for structure in ("naive", "auto"):
            drop_pages(path)
            with limited(asked.limit) as processes:
                command = [sys.executable, __file__, "--fit", str(path), structure, str(processes)]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            print(structure, done.stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
