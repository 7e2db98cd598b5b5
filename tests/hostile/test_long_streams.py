"""A stream of learn, forget and predict keeps memory flat, and ends with the sums of a batch fit."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections import deque
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier
from suffice.kernels import compiler


def test_a_stream_keeps_memory_flat_and_the_sums_exact(
    case_count: Any, tell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "PATIENCE", 0)  # kernels are compiled before memory is measured
    rng = np.random.default_rng(0)

    def draw(rows: int) -> tuple[pd.DataFrame, list[str]]:
        town = rng.choice([f"t{i}" for i in range(40)], rows)
        frame = pd.DataFrame({"town": town, "flag": rng.random(rows) < 0.5, "kind": rng.choice(["a", "b", None], rows)})
        return frame, rng.choice(["no", "yes"], rows).tolist()

    first = draw(400)
    structure = case_count("naive", "averaged", "averaged")
    model = BayesClassifier(structure=structure).fit(*first)
    plan, held = model.plan_, deque([first])
    model.partial_fit(*first).forget(*first).predict_proba(first[0])
    end, steps, used = time.monotonic() + case_count(1.5, 60, 3600), 0, list[int]()
    tracemalloc.start()
    try:
        while time.monotonic() < end or steps < 60:
            held.append(draw(20))
            model.partial_fit(*held[-1])
            model.predict_proba(held[-1][0])
            if len(held) > 20:
                model.forget(*held.popleft())
            steps += 1
            if steps % 30 == 0:
                gc.collect()
                used.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    tell(f"{steps:,} steps of 20 rows; memory from {used[0]:,} to {used[-1]:,} bytes")
    assert used[-1] < used[0] + 300_000, used
    table = pd.concat([rows for rows, _ in held])
    batch = BayesClassifier(structure=structure, plan=plan).fit(
        table, [label for _, labels in held for label in labels]
    )
    assert model.tally_.digest() == batch.tally_.digest()
