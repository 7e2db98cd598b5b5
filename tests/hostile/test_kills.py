"""Killed and concurrent commands: every row is counted once, and no file is left behind."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from command_server import CommandServer

import suffice

SHARDS = 4


def write_rows(path: Path, seed: int, rows: int = 60, levels: int = 4000) -> Path:
    """Write rows whose columns are all levels, so that sums are exact; most levels occur once."""
    rng = np.random.default_rng(seed)
    town = rng.choice([f"town {i}" for i in range(levels)], rows)
    frame = pl.DataFrame(
        {"town": town, "shop": rng.choice(["a", "b", "c"], rows), "y": rng.choice(["no", "yes"], rows)}
    )
    frame.write_csv(path)
    return path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


@pytest.fixture
def rows(tmp_path: Path) -> list[Path]:
    return [write_rows(tmp_path / f"rows{seed}.csv", seed) for seed in range(SHARDS)]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "base.csv", 99, rows=3000)


FIT = ["--target", "y", "--structure", "naive", "--family", "town=categorical"]


def run_and_kill(
    server: CommandServer, command: list[Any], folder: Path, when: str, seconds: float, rng: np.random.Generator
) -> tuple[int, float]:
    """Start a command and kill it: at any moment, late, or while it writes. Return its exit code and its duration.

    It ends by itself if it is faster than expected. ``seconds`` is how long it is expected to take.
    """
    process, began = server.start(command), time.monotonic()
    last = began + seconds * {"any": rng.uniform(0, 1.2), "late": rng.uniform(0.5, 1.2)}.get(when, 100)
    while time.monotonic() < last and not is_ended(process):
        if when == "writing" and len(os.listdir(folder)) > 1:
            last = min(last, time.monotonic() + rng.uniform(0, 0.01))
        time.sleep(0.0005)
    took = time.monotonic() - began
    os.kill(process, signal.SIGKILL)  # its id is still its own, because nobody has waited for it
    return server.wait(process), took


def is_ended(process: int) -> bool:
    """Return whether a process has ended, and waits to be asked for its exit code."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_kill_loses_no_row_and_counts_none_twice(
    server: CommandServer,
    files: Path,
    tmp_path: Path,
    base: Path,
    rows: list[Path],
    case_count: Any,
    tell: Any,
) -> None:
    model, rng = files / "m.suffice", np.random.default_rng(0)
    assert server.run("fit", base, *FIT, "-o", model) == 0
    shards = [tmp_path / f"shard{i}.suffice" for i in range(SHARDS)]
    for path, shard in zip(rows, shards, strict=True):
        assert server.run("fit", path, *FIT, "--plan", model, "-o", shard) == 0
    start, parts = suffice.load(model).tally_, [suffice.load(shard).tally_ for shard in shards]
    began = time.monotonic()
    assert server.run("learn", model, rows[0]) == 0
    seconds = dict.fromkeys(("learn", "forget", "merge", "fit"), time.monotonic() - began)
    held, known, told, left = [1] + [0] * (SHARDS - 1), start + parts[0], Counter[str](), 0
    for turn in count():
        if told.total() - told["finished"] == case_count(20, 200, 1000):
            break
        shard = int(rng.integers(SHARDS))
        name = str(rng.choice(["learn", "merge", "fit", *(["forget"] * 3 if held[shard] else [])]))
        command: list[Any] = {
            "learn": ["learn", model, rows[shard]],
            "forget": ["forget", model, rows[shard]],
            "merge": ["merge", model, shards[shard], "-o", model],
            "fit": ["fit", base, *FIT, "-o", model],
        }[name]
        after = start if name == "fit" else known - parts[shard] if name == "forget" else known + parts[shard]
        code, took = run_and_kill(server, command, files, ("any", "late", "writing")[turn % 3], seconds[name], rng)
        assert code in (0, -signal.SIGKILL)
        # how long the command takes, as far as is known: it is longer if no command was left to finish
        seconds[name] = 0.7 * seconds[name] + 0.3 * took if code == 0 else 1.03 * seconds[name]
        found = suffice.load(model).tally_.digest()
        assert found in ((after.digest(),) if code == 0 else (known.digest(), after.digest())), name
        is_done = found == after.digest()
        told["finished" if code == 0 else f"{name} killed {'after' if is_done else 'before'} it was done"] += 1
        left = max(left, len([path for path in files.iterdir() if path != model]))
        if is_done:
            known = after
            held = [0] * SHARDS if name == "fit" else held
            held[shard] += {"forget": -1, "fit": 0}.get(name, 1)
    assert server.run("learn", model, rows[0]) == 0  # sweeps
    assert suffice.load(model).tally_.digest() == (known + parts[0]).digest()
    assert list(files.iterdir()) == [model]
    kills = told.total() - told["finished"]
    tell(f"{kills} kills, 0 rows lost or counted twice, 0 files left behind (at most {left} at a time)")
    tell(", ".join(f"{name}: {times}" for name, times in sorted(told.items())))


def test_a_killed_forget_with_a_receipt_can_be_repeated(
    server: CommandServer, files: Path, tmp_path: Path, base: Path, rows: list[Path], case_count: Any, tell: Any
) -> None:
    """Whether the kill came before or after the change: the same command, run again, forgets the rows once."""
    model, receipts, rng = files / "m.suffice", tmp_path / "receipts", np.random.default_rng(0)
    receipts.mkdir()
    assert server.run("fit", base, *FIT, "-o", model) == 0
    expected, seconds, done = suffice.load(model).tally_.digest(), 0.5, Counter[bool]()
    for turn in count():
        if done[False] + done[True] == case_count(3, 30, 100):
            break
        assert server.run("learn", model, rows[0]) == 0
        command = ["forget", model, rows[0], "--receipt", receipts / f"{turn}.json"]
        code, took = run_and_kill(server, command, files, ("late", "writing")[turn % 2], seconds, rng)
        assert code in (0, -signal.SIGKILL)
        seconds = 0.7 * seconds + 0.3 * took if code == 0 else 1.03 * seconds
        if code:
            done[suffice.load(model).tally_.digest() == expected] += 1
        assert server.run(*command) == 0
        assert suffice.load(model).tally_.digest() == expected
        assert list(files.iterdir()) == [model]
    tell(f"{done.total()} kills of forget --receipt, {done[True]} of them after the change: rows are forgotten once")


def test_concurrent_learners_lose_nothing(
    server: CommandServer,
    files: Path,
    base: Path,
    rows: list[Path],
    case_count: Any,
    tell: Any,
) -> None:
    model, (processes, learns) = files / "m.suffice", case_count((4, 4), (8, 50), (8, 50))
    assert server.run("fit", base, *FIT, "-o", model) == 0
    before = suffice.load(model)
    commands = [["learn", model, rows[i % SHARDS], "--wait", 600] for i in range(processes)]
    started = [server.start(*[command] * learns) for command in commands]
    assert [server.wait(process) for process in started] == [0] * processes
    expected = before
    for path in [rows[i % SHARDS] for i in range(processes)] * learns:
        table = pl.read_csv(path)
        expected.partial_fit(table.drop("y"), table["y"].to_list())
    found = suffice.load(model)
    assert found.class_count_.sum() == 3000 + 60 * processes * learns
    assert found.tally_.digest() == expected.tally_.digest()
    assert list(files.iterdir()) == [model]
    tell(f"{processes} processes x {learns} learns: all {int(found.class_count_.sum()) - 3000:,} rows are there")
