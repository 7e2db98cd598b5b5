"""Model files from strangers: whatever the bytes, `suffice.load` returns a model that predicts, or a `StoreError`."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice
from hostile.file_edits import EDITS, flip

FOLDER = Path(__file__).resolve().parents[1] / "model_files"
SOURCES = json.loads((FOLDER / "expected.json").read_text())

# Files in `make test` and in `make hostile`.
FEW, MANY = 400, 20_000
FEW_FLIPS, MANY_FLIPS = 1_000, 100_000
MOST_SECONDS, MOST_BYTES = 1.0, 200 << 20


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, Any]]:
    """The model files of the tests in the present format, and rows for each; their models have predicted once."""
    found = {}
    folder = tmp_path_factory.mktemp("sources")
    for name, expected in SOURCES.items():
        rows = pd.DataFrame(expected["rows"]) if isinstance(expected["rows"], dict) else np.array(expected["rows"])
        model = suffice.load(FOLDER / name)
        use(model, rows)
        found[name] = (model.save(folder / name).read_bytes(), rows)
    return found


def use(model: Any, rows: Any) -> None:
    """Predict rows without values, or zeros, and other rows, which may not suit the columns of an altered model."""
    is_table = isinstance(model, suffice.BayesClassifier)
    names = getattr(model, "feature_names_in_", range(model.n_features_in_))
    empty = pd.DataFrame({name: [None] for name in names}, dtype=object) if is_table else None
    empty = np.zeros((1, model.n_features_in_)) if empty is None else empty
    for X in (empty, rows):
        try:
            probabilities = model.predict_proba(X)
        except ValueError:
            assert X is rows
            continue
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
        assert set(model.predict(X)) <= set(model.classes_)
    assert repr(model)


@pytest.mark.filterwarnings("ignore")
def test_crafted_files(sources: dict[str, tuple[bytes, Any]], tmp_path: Path, request: Any, capsys: Any) -> None:
    draw, outcomes, slowest, largest = random.Random(0), Counter[str](), 0.0, 0
    file, names = tmp_path / "crafted.suffice", list(sources)
    tracemalloc.start()
    for place in range(MANY if request.config.getoption("--hostile") else FEW):
        name, kind = names[place % len(names)], draw.choice(list(EDITS))
        content, rows = sources[name]
        file.write_bytes(EDITS[kind](content, draw))
        tracemalloc.reset_peak()
        before, start = tracemalloc.get_traced_memory()[0], time.perf_counter()
        try:
            model = suffice.load(file)
        except suffice.StoreError as error:
            outcomes[f"{kind}: {'refused' if str(file) in str(error) else 'refused without the path'}"] += 1
        else:
            outcomes[f"{kind}: loaded"] += 1
            use(model, rows)
        slowest = max(slowest, time.perf_counter() - start)
        largest = max(largest, tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    with capsys.disabled():
        print(f"\n{sum(outcomes.values())} crafted files: {dict(sorted(outcomes.items()))}")
        print(f"at most {slowest:.3f} s and {largest / 2**20:.1f} MB for one file")
    assert largest <= MOST_BYTES
    assert not [outcome for outcome in outcomes if "without" in outcome]


def test_flipped_bits_are_found(sources: dict[str, tuple[bytes, Any]], tmp_path: Path, request: Any) -> None:
    draw, file, contents = random.Random(1), tmp_path / "flipped.suffice", [each for each, _ in sources.values()]
    contents.sort(key=len)
    for place in range(MANY_FLIPS if request.config.getoption("--hostile") else FEW_FLIPS):
        file.write_bytes(flip(contents[place % len(contents)], draw))
        with pytest.raises(suffice.StoreError):
            suffice.load(file)
