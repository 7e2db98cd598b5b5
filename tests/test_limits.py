"""Limits: too many levels and too many pairs are errors before anything is allocated or learned."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pytest

import suffice.schema.codings as codings
import suffice.schema.columns as columns
from suffice import BayesClassifier
from suffice.data import Target


def levels(rows: int, first: int = 0, wide: str = "user") -> pd.DataFrame:
    place = np.arange(rows)
    return pd.DataFrame({wide: [f"u{first + i % (rows - 1)}" for i in place], "b": [f"b{i % 3}" for i in place]})


def unchanged(model: BayesClassifier, digest: str) -> None:
    assert model.tally_.digest() == digest


def test_the_limit_is_the_stated_one() -> None:
    rows = levels(100_002)
    with pytest.raises(ValueError, match=r"column 'user' has 100,001 levels, but the limit is 100,000; .*ignore.*text"):
        BayesClassifier(structure="naive").fit(rows, np.arange(len(rows)) % 2)
    fine = BayesClassifier(structure="naive").fit(pd.concat([rows[:-2], rows[:2]]), np.arange(len(rows)) % 2)
    assert fine.tally_.schema.blocks[0].width == 100_003


def test_levels_beyond_the_limit_are_refused_wherever_they_come_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(codings, "MOST_LEVELS", 60)
    first, more, y = levels(51), levels(51, first=50), np.arange(51) % 2
    model = BayesClassifier(structure="naive").fit(first, y)
    digest = model.tally_.digest()
    message = r"column 'user' has 100 levels, but the limit is 60; leave it out \(families=\{'user': 'ignore'\}"
    with pytest.raises(ValueError, match=message):
        model.partial_fit(more, y)
    with pytest.raises(ValueError, match=message):
        model + BayesClassifier(structure="naive").fit(more, y)
    unchanged(model, digest)
    both = pd.concat([first, more]).assign(y=[*y, *y])
    both.to_csv(tmp_path / "rows.csv", index=False)
    asked: Any = {"structure": "naive", "families": {"user": "categorical"}}
    sources: tuple[Any, ...] = (
        tmp_path / "rows.csv",
        ibis.duckdb.connect().create_table("rows", both),
        iter([first.assign(y=y), more.assign(y=y)]),
    )
    for source in sources:
        with pytest.raises(ValueError, match="column 'user' has 100 levels"):
            BayesClassifier(**asked).fit_table(source, "y")
    assert BayesClassifier(structure="naive", families={"user": "ignore"}).fit(both[["user", "b"]], both["y"])
    assert BayesClassifier(structure="naive", families={"user": "text"}).fit(both[["user", "b"]], both["y"])


@pytest.mark.usefixtures("count_with_engines")
def test_an_engine_that_finds_more_levels_than_its_sample_refuses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codings, "MOST_LEVELS", 60)
    monkeypatch.setattr("suffice.classifiers.fit_table.SAMPLE", 40)
    rows = pd.concat([levels(51), levels(51, first=50)]).assign(y=np.arange(102) % 2)
    source = ibis.duckdb.connect().create_table("rows", rows)
    with pytest.raises(ValueError, match="column 'user' has 100 levels"):
        BayesClassifier(structure="naive", families={"user": "categorical"}).fit_table(source, "y")


@pytest.fixture
def count_with_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.classifiers.fit_table.takes_sample_as_table", lambda source: False)


@pytest.mark.parametrize("structure", ["tree", "chain", "averaged", "full"])
def test_pairs_that_do_not_fit_are_refused_before_they_are_counted(structure: str) -> None:
    rows = levels(30_000)
    message = (
        r"the pair counts of 2 columns in 2 classes would take 13\.4 GiB, but the limit is 8 GiB; the widest is column "
        r"'user' with 29,999 levels: leave it out \(families=\{'user': 'ignore'\}\).*structure=\"naive\""
    )
    if structure == "full":  # it counts pairs of numbers only
        wide = np.zeros((2, 40_000))
        with pytest.raises(ValueError, match=r"the pair counts of 40000 columns in 2 classes would take 23\.8 GiB"):
            BayesClassifier(families="gaussian", structure=structure).fit(wide, [0, 1])
        return
    with pytest.raises(ValueError, match=message):
        BayesClassifier(structure=structure).fit(rows, np.arange(len(rows)) % 2)


def test_pairs_of_later_batches_merges_and_engines(monkeypatch: pytest.MonkeyPatch, count_with_engines: None) -> None:
    monkeypatch.setattr(columns, "MOST_PAIR_BYTES", 2 * 60**2 * 8)
    first, more, y = levels(51), levels(51, first=50), np.arange(51) % 2
    model = BayesClassifier(structure="tree").fit(first, y)
    digest = model.tally_.digest()
    message = "the widest is column 'user' with 100 levels"
    with pytest.raises(ValueError, match=message):
        model.partial_fit(more, y)
    with pytest.raises(ValueError, match=message):
        model + BayesClassifier(structure="tree").fit(more, y)
    unchanged(model, digest)
    both = pd.concat([first, more]).assign(y=[*y, *y])
    monkeypatch.setattr("suffice.classifiers.fit_table.SAMPLE", 40)
    with pytest.raises(ValueError, match=r"the widest is column 'user'"):
        BayesClassifier(structure="tree", families={"user": "categorical"}).fit_table(
            ibis.duckdb.connect().create_table("rows", both), "y"
        )


def test_a_column_of_another_kind_names_its_value() -> None:
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"x": rng.normal(size=60), "few": np.arange(60) % 3}), np.arange(60) % 2
    model = BayesClassifier().fit(X, y)
    digest = model.tally_.digest()
    with pytest.raises(
        ValueError, match=r"column 'x' was learned as numbers, but holds 'tall', .*turn it into numbers"
    ):
        model.partial_fit(X.assign(x="tall"), y)
    with pytest.raises(ValueError, match=r"column 'few' .* levels such as 0 and now holds 'many'.*make them all"):
        model.partial_fit(X.assign(few="many"), y)
    unchanged(model, digest)
    words = BayesClassifier(structure="naive").fit(X.assign(x=[f"w{i % 5}" for i in range(60)]), y)
    with pytest.raises(ValueError, match=r"column 'x' .* levels such as 'w0' and now holds .*make them all strings"):
        words.partial_fit(X, y)


@pytest.mark.parametrize(("structure", "family"), [("tree", "categorical"), ("full", "gaussian")])
def test_the_stated_size_of_pairs_is_what_is_allocated(
    monkeypatch: pytest.MonkeyPatch, structure: str, family: str
) -> None:
    """The figure is the size of the array of pairs; while it is computed, it and temporary arrays are there."""
    monkeypatch.setattr("suffice.data.column_reader.MUCH_PAIR_BYTES", 1 << 20)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (100, 700 if family == "gaussian" else 250)), np.arange(100) % 2
    recipe = BayesClassifier(structure=structure, families=family, prior=1.0)._make_recipe()
    opened, target = recipe.open(X), Target.of(len(X), y, None, None, "BayesClassifier")
    tracemalloc.start()
    with pytest.warns(
        UserWarning, match=r"the pair counts of .* GiB of memory.*structure=\"naive\" needs none"
    ) as said:
        tally = recipe.tally(opened, target)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    (statistic,) = tally.statistics
    size = max(array.nbytes for array in statistic.arrays().values())
    assert tally.schema.blocks[0].pair_bytes(2) == size
    assert f"take {size / 2**30:.2f} GiB" in str(said[0].message)
    assert size <= peak < 4 * size
