"""Model files from strangers: whatever the bytes, `suffice.load` returns a model that predicts, or a `StoreError`."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice
from hostile.file_edits import EDITS, flip
from suffice.storage.file_bytes import pack, unpack


def object_of(kind: str, **fields: Any) -> dict[str, Any]:
    """Return an object in the header of a file."""
    return {"kind": kind, "of": fields}


def nested(depth: int) -> Any:
    """Return lists within lists."""
    return {"kind": "list", "of": [nested(depth - 1)]} if depth % 400 else 1


FOLDER = Path(__file__).resolve().parents[1] / "model_files"
SOURCES = json.loads((FOLDER / "expected.json").read_text())

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
def test_crafted_files(sources: dict[str, tuple[bytes, Any]], tmp_path: Path, case_count: Any, tell: Any) -> None:
    draw, outcomes, slow, slowest, largest = random.Random(0), Counter[str](), 0, 0.0, 0
    file, names = tmp_path / "crafted.suffice", list(sources)
    tracemalloc.start()
    for place in range(case_count(400, 2_000, 20_000)):
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
        seconds = time.perf_counter() - start
        slow, slowest = slow + (seconds > MOST_SECONDS), max(slowest, seconds)
        largest = max(largest, tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    tell(f"{sum(outcomes.values()):,} crafted files: {dict(sorted(outcomes.items()))}")
    tell(f"at most {slowest:.3f} s and {largest / 2**20:.1f} MB for one file; {slow} over {MOST_SECONDS:g} s")
    assert largest <= MOST_BYTES
    assert not [outcome for outcome in outcomes if "without" in outcome]


SMALL_FILES_WITH_LARGE_NUMBERS = {
    "columns": ("gaussian_format_2.suffice", ("tally_", "schema", "blocks", 0, "count"), 10**9),
    "levels": ("categorical_format_2.suffice", ("min_categories",), 10**9),
    "many levels": ("categorical_format_2.suffice", ("min_categories",), 10**7),
    "trees": ("default_format_2.suffice", ("structure", "components", 2, "count"), 10**6),
    "columns of a plan": (
        "gaussian_format_2.suffice",
        ("plan",),
        object_of("Plan", blocks={"kind": "tuple", "of": [object_of("Columns", family="gaussian", count=10**9)]}),
    ),
    "terms": (
        "default_format_2.suffice",
        ("families",),
        object_of("Text", ngram_range={"kind": "tuple", "of": [1, 10**9]}),
    ),
    "nesting": ("gaussian_format_2.suffice", ("prior",), nested(399)),
    "digits": ("gaussian_format_2.suffice", ("var_smoothing",), 10**4000),
    "features": ("logistic_format_2.suffice", ("n_features_in_",), 10**9),
}


@pytest.mark.parametrize("name", SMALL_FILES_WITH_LARGE_NUMBERS)
def test_a_large_number_asks_for_no_memory(name: str, sources: dict[str, tuple[bytes, Any]], tmp_path: Path) -> None:
    source, place, value = SMALL_FILES_WITH_LARGE_NUMBERS[name]
    header, arrays = unpack(bytearray(sources[source][0]))
    value_of = header["state"]
    for key in place[:-1]:
        value_of = value_of[key]["of"] if isinstance(value_of[key], dict) else value_of[key]
    value_of[place[-1]] = value
    file = tmp_path / "large.suffice"
    file.write_bytes(pack(header, arrays))
    tracemalloc.start()
    with pytest.raises(suffice.StoreError, match=r"large\.suffice is") if name != "trees" else nullcontext():
        use(suffice.load(file), sources[source][1])
    assert tracemalloc.get_traced_memory()[1] <= MOST_BYTES
    tracemalloc.stop()


def test_flipped_bits_are_found(
    sources: dict[str, tuple[bytes, Any]], tmp_path: Path, case_count: Any, tell: Any
) -> None:
    draw, file, contents = random.Random(1), tmp_path / "flipped.suffice", [each for each, _ in sources.values()]
    contents.sort(key=len)
    flips = case_count(1_000, 20_000, 100_000)
    for place in range(flips):
        file.write_bytes(flip(contents[place % len(contents)], draw))
        with pytest.raises(suffice.StoreError):
            suffice.load(file)
    tell(f"{flips:,} flipped bits: all are found")
