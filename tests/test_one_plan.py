"""Under one plan everything is exact: batches, shards, forgetting, files and databases, for the default settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import suffice
from suffice import BayesClassifier, Plan
from suffice.structures import STRUCTURES

ROWS = 300


def table(rows: int = ROWS, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, skewed numbers, counts, categories, booleans, texts, and empty cells that tell something."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "perhaps", "yes"], rows, p=[0.5, 0.3, 0.2])
    shift = np.select([y == "no", y == "yes"], [0.0, 2.0], 1.0)
    words = np.array(["apple", "pear", "plum", "fig", "quince", "cherry", "medlar"])
    frame = pd.DataFrame(
        {
            "height": rng.normal(170, 10, rows) + 4 * shift,
            "income": np.round(np.exp(rng.normal(7, 1, rows) + shift / 3), 2),
            "visits": rng.poisson(1 + shift).astype(float),
            "town": rng.choice(["Oslo", "Rome", "Kyiv", "Bonn"], rows),
            "owner": rng.random(rows) < 0.3 + 0.2 * shift,
            "note": [" ".join(rng.choice(words, 9)) for _ in range(rows)],
        }
    )
    frame["owner"] = frame["owner"].astype(object)
    for name in frame.columns:
        frame[name] = frame[name].where(rng.random(rows) > 0.1 + 0.1 * (y == "yes"))
    return frame, y


X, Y = table()
PLANNED = BayesClassifier().fit(X, Y)


def assert_same(one: Any, other: Any, rows: pd.DataFrame = X) -> None:
    """Counts are equal to the bit, and probabilities to 1e-9."""
    for mine, theirs in zip(one.tally_.statistics, other.tally_.statistics, strict=True):
        arrays = theirs.arrays()
        for name, array in mine.arrays().items():
            if name in ("total", "pairs", "n", "alone_n"):
                np.testing.assert_array_equal(*np.broadcast_arrays(array, arrays[name]))
    assert one.tally_.isclose(other.tally_)
    assert one.families_ == other.families_
    np.testing.assert_allclose(one.predict_proba(rows), other.predict_proba(rows), atol=1e-9)


@settings(max_examples=15)
@given(cuts=st.sets(st.integers(1, ROWS - 1), max_size=5), order=st.permutations(range(6)))
def test_batches_and_shards_give_the_whole(cuts: set[int], order: list[int]) -> None:
    parts = np.split(np.arange(ROWS), sorted(cuts))
    parts = [parts[place] for place in order if place < len(parts)]
    stream = BayesClassifier(plan=PLANNED.plan_)
    shards = []
    for rows in parts:
        stream.partial_fit(X.iloc[rows], Y[rows])
        shards.append(BayesClassifier(plan=PLANNED.plan_).fit(X.iloc[rows], Y[rows]))
    assert_same(stream, PLANNED)
    assert_same(sum(shards), PLANNED)


@settings(max_examples=15)
@given(gone=st.sets(st.integers(0, ROWS - 1), min_size=1, max_size=ROWS // 2))
def test_forgetting_is_never_having_learned(gone: set[int]) -> None:
    out = np.isin(np.arange(ROWS), list(gone))
    left = BayesClassifier().fit(X, Y).forget(X[out], Y[out])
    assert_same(left, BayesClassifier(plan=PLANNED.plan_).fit(X[~out], Y[~out]))


@pytest.mark.parametrize("kind", ["csv", "parquet", "batches", "duckdb", "sqlite"])
def test_a_file_or_a_database_gives_what_memory_gives(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a table that fits into the sample is counted in memory; here the engine has to count it
    monkeypatch.setattr("suffice.classifiers.fit_table.takes_sample_as_table", lambda source: False)
    frame = X.assign(label=Y)
    if kind in ("csv", "parquet"):
        source: Any = tmp_path / f"table.{kind}"
        getattr(frame, f"to_{kind}")(source, index=False)
    elif kind == "batches":
        source = [frame.iloc[start : start + 70] for start in range(0, ROWS, 70)]
    else:
        ibis = pytest.importorskip("ibis")
        connection = getattr(ibis, kind).connect()
        source = connection.create_table("rows", frame)
    model = BayesClassifier(plan=PLANNED.plan_).fit_table(source, target="label")
    assert_same(model, PLANNED)


def test_two_halves_that_were_fitted_apart_merge() -> None:
    rows, labels = table(6000, seed=1)
    averaged, first = BayesClassifier(structure="averaged"), np.arange(6000) < 3000
    whole = clone(averaged).fit(rows, labels)
    merged = clone(averaged).fit(rows[first], labels[first]) + clone(averaged).fit(rows[~first], labels[~first])
    apart = np.abs(merged.predict_proba(rows) - whole.predict_proba(rows))
    assert apart.mean() < 0.02
    gone = np.arange(6000) % 100 == 7
    left = clone(averaged).fit(rows, labels).forget(rows[gone], labels[gone])
    never = clone(averaged).fit(rows[~gone], labels[~gone])
    apart = np.abs(left.predict_proba(rows) - never.predict_proba(rows))
    assert apart.mean() < 0.005
    assert apart.max() < 0.05


def test_pools_that_were_fitted_apart_merge_with_their_trees() -> None:
    rows, labels = table(6000, seed=1)
    first = np.arange(6000) < 3000
    halves = [BayesClassifier(structure="pooled").fit(rows[own], labels[own]) for own in (first, ~first)]
    merged = halves[0] + halves[1]
    assert merged.tally_.schema.forest is not None
    assert merged.class_count_.sum() == 6000
    whole = BayesClassifier(structure="pooled").fit(rows, labels)
    assert np.abs(merged.predict_proba(rows) - whole.predict_proba(rows)).mean() < 0.02
    # under one plan, the sum is the whole
    parts = [
        BayesClassifier(structure="pooled", plan=whole.plan_).fit(rows[own], labels[own]) for own in (first, ~first)
    ]
    np.testing.assert_allclose((parts[0] + parts[1]).predict_proba(rows), whole.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("structure", [name for name in STRUCTURES if name != "joint"])
@pytest.mark.parametrize("missing", ["skip", "level", "auto"])
@pytest.mark.parametrize("numeric", ["gaussian", "quantiles", "mdl", "auto"])
def test_settings_of_a_fitted_model_need_no_pass(structure: str, missing: str, numeric: str) -> None:
    """The model that was counted for "auto" gives what a fit with other settings gives under its plan."""
    asked = {"structure": structure, "missing": missing, "numeric": numeric}
    changed = BayesClassifier(plan=PLANNED.plan_).fit(X, Y).set_params(**asked)
    fitted = BayesClassifier(plan=PLANNED.plan_, **asked).fit(X, Y)
    np.testing.assert_allclose(changed.predict_proba(X), fitted.predict_proba(X), atol=1e-12)


def test_a_plan_is_printed_compared_saved_and_says_what_it_holds(tmp_path: Path) -> None:
    plan = PLANNED.plan_
    assert isinstance(plan, Plan)
    for part in ("height", "cells from", "and moments", "4 levels: 'Bonn', 'Kyiv'", "56 words", "pairs of all"):
        assert part in str(plan)
    assert set(plan.values) == {"town", "owner", "note", "visits"}
    assert not {*plan.edges["income"]} & {*X["income"]}
    assert plan == BayesClassifier().fit(X, Y).plan_
    assert plan != BayesClassifier().fit(X[["height", "town"]], Y).plan_
    path = BayesClassifier(plan=plan).fit(X, Y).save(tmp_path / "model.suffice")
    loaded = suffice.load(path)
    assert loaded.plan == plan == loaded.plan_
    forgotten = BayesClassifier().fit(X, Y)
    rome = (X["town"] == "Rome").to_numpy()
    assert forgotten.forget(X[rome], Y[rome]).plan_.values["town"] == ("Bonn", "Kyiv", "Oslo")


def test_a_plan_for_other_columns_is_refused_and_nothing_is_learned() -> None:
    with pytest.raises(ValueError, match="the table has no column 'town' and the plan has no column 'city'"):
        BayesClassifier(plan=PLANNED.plan_).fit(X.rename(columns={"town": "city"}), Y)
    model = BayesClassifier(plan=PLANNED.plan_).fit(X, Y)
    digest = model.tally_.digest()
    with pytest.raises(ValueError, match=r"column 'height' .* holds 'tall', which is not a number"):
        model.partial_fit(X[:1].assign(height="tall"), Y[:1])
    assert model.tally_.digest() == digest
    with pytest.raises(ValueError, match="plan"):
        BayesClassifier(plan="model.suffice").fit(X, Y)


def test_a_missing_cell_is_evidence_where_it_tells_something() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    told = pd.Series(rng.choice(["a", "b", "c"], 2000)).where(rng.random(2000) > 0.6 * y)
    random = pd.Series(rng.choice(["a", "b", "c"], 2000)).where(rng.random(2000) > 0.3)
    frame = pd.DataFrame({"told": told, "random": random, "number": rng.normal(size=2000)})
    model = BayesClassifier(structure="naive").fit(frame, y)
    forms = model.recipe().choose(model.tally_)
    assert forms["told"].missing
    assert "random" not in forms
    assert (
        model.score(frame, y) > BayesClassifier(structure="naive", missing="skip").fit(frame, y).score(frame, y) + 0.1
    )
    told_empty = model.explain(frame[told.isna()][:1])
    place = told_empty.features.index("told")
    assert told_empty.contributions[0, 1, place] > told_empty.contributions[0, 0, place] + 1
