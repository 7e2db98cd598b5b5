"""Sums of models whose decision trees were planned apart: the laws of tallies, and what reads such a model."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice
from suffice import BayesClassifier, Pooled, Trees
from suffice.schema import forests

ROWS, PARTS = 480, 4
STRUCTURE = Pooled(("averaged", Trees(6)))


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of levels only, so that sums are exact, in which each part of the rows has a level and a class."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(list("abcd"), ROWS) for name in ("one", "two", "three")})
    y = np.where((X["one"] == X["two"]) ^ (rng.random(ROWS) < 0.1), "same", "other")
    X.loc[:2, "three"], X.loc[ROWS - 3 :, "three"] = "A", "z"
    y[:4] = "first part only"
    return X.mask(rng.random(X.shape) < 0.05), y


X, Y = table()
PART = np.arange(ROWS) * PARTS // ROWS
MODELS = [BayesClassifier(structure=STRUCTURE).fit(X[part == PART], Y[part == PART]) for part in range(PARTS)]
MERGED = reduce(add, MODELS)


def tree_rows(model: Any) -> list[list[float]]:
    """The rows of each class that each tree has counted, from its leaves."""
    forest, counts = model.tally_.schema.forest, model.tally_.statistics[-1].total
    return np.add.reduceat(counts, forest.starts, axis=1).T.tolist()


def test_a_sum_has_the_trees_of_all_and_each_counts_its_own_rows() -> None:
    assert MERGED.tally_.schema.forest.count == PARTS * STRUCTURE.components[1].count
    parts = [model.class_count_.sum() for model in MODELS]
    assert sorted(map(sum, tree_rows(MERGED))) == sorted(np.repeat(parts, 6).tolist())
    more = (MODELS[0] + MODELS[1]).partial_fit(X[PART == 2], Y[PART == 2])
    assert sorted(map(sum, tree_rows(more))) == sorted(
        np.repeat([parts[0] + parts[2], parts[1] + parts[2]], 6).tolist()
    )


@settings(max_examples=10)
@given(order=st.permutations(range(PARTS)), split=st.integers(1, PARTS - 1))
def test_the_order_of_sums_does_not_matter(order: list[int], split: int) -> None:
    models = [MODELS[place] for place in order]
    other = reduce(add, models[:split]) + reduce(add, models[split:])
    assert other.tally_ == MERGED.tally_
    assert other.tally_.digest() == MERGED.tally_.digest()
    np.testing.assert_allclose(other.predict_proba(X), MERGED.predict_proba(X), atol=1e-12)


@given(order=st.permutations(range(PARTS)))
@settings(max_examples=10)
def test_the_order_of_sums_does_not_matter_if_there_are_too_many_trees(order: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forests, "MOST_TREES", 9)
        one = reduce(add, MODELS)
        other = reduce(lambda sums, place: MODELS[place] + sums, order[1:], MODELS[order[0]])
    assert one.tally_.schema.forest.count == 9
    assert one.tally_.digest() == other.tally_.digest()


@pytest.mark.parametrize("part", range(PARTS))
def test_a_sum_without_a_part_is_the_sum_of_the_others(part: int) -> None:
    others = reduce(add, [model for place, model in enumerate(MODELS) if place != part])
    left = MERGED.tally_ - MODELS[part].tally_
    assert left == others.tally_
    assert left.digest() == others.tally_.digest()
    assert (MODELS[0] + MODELS[part]).tally_ - MODELS[part].tally_ == MODELS[0].tally_


def test_trees_that_have_counted_rows_do_not_forget_the_sums_of_other_trees() -> None:
    learned = BayesClassifier(structure=STRUCTURE, plan=MODELS[0].plan_).fit(X[PART < 2], Y[PART < 2])
    with pytest.raises(ValueError, match="decision trees of this side have counted"):
        learned.tally_ - MODELS[1].tally_


def test_the_mean_weighs_trees_by_their_rows() -> None:
    few = BayesClassifier(structure=Trees(3)).fit(X[:40], Y[:40])
    many = BayesClassifier(structure=Trees(3)).fit(X[40:], Y[40:])
    both = few + many
    shares = []
    for model in (few, many, both):
        (member,), rows = model.estimate_model().members, model.read_rows(X)
        shares.append(np.exp(member.log_posterior(rows.blocks)))
        shares[-1] = pd.DataFrame(shares[-1], columns=model.classes_).reindex(columns=both.classes_, fill_value=0.0)
    expected = (40 * shares[0] + (ROWS - 40) * shares[1]) / ROWS
    np.testing.assert_allclose(shares[2], expected, atol=0.02)  # the shares above the roots are those of all rows


def test_a_sum_forgets_with_its_trees_dropped() -> None:
    model = reduce(add, MODELS)
    with pytest.warns(UserWarning, match="cannot tell which of its trees have counted the rows"):
        model.forget(X[:50], Y[:50])
    assert model.tally_.schema.forest is None
    without = reduce(add, MODELS).tally_.split_trees()[0]
    rows = BayesClassifier(structure="averaged", plan=MODELS[0].plan_).fit(X[:50], Y[:50]).tally_.split_trees()[0]
    assert model.tally_ == without - rows
    assert np.isfinite(model.predict_proba(X)).all()
    # the way out: forget before the models are added
    first = BayesClassifier(structure=STRUCTURE).fit(X[PART == 0], Y[PART == 0]).forget(X[:50], Y[:50])
    assert reduce(add, [first, *MODELS[1:]]).tally_.schema.forest.count == 24


def test_a_model_without_trees_adds_to_one_that_has_them() -> None:
    plain = BayesClassifier(structure="averaged", plan=BayesClassifier(structure="averaged").fit(X, Y).plan_)
    plain.fit(X[PART > 0], Y[PART > 0])
    both = MODELS[0].tally_ + plain.tally_
    assert both == plain.tally_ + MODELS[0].tally_
    assert both - plain.tally_ == MODELS[0].tally_


def test_pools_of_different_components_merge_in_any_order() -> None:
    structures = ("averaged", "naive", Trees(3)), ("naive", "averaged"), ("averaged", Trees(3)), (Trees(3), "averaged")
    models = [
        BayesClassifier(structure=Pooled(structures[place])).fit(X[place == PART], Y[place == PART])
        for place in range(PARTS)
    ]
    pools = [sum(models).pool_, sum(reversed(models)).pool_]
    for one, other in ((pools[0], pools[1]), (pools[0].reduced, pools[1].reduced)):
        assert one.names == other.names
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-12)
        np.testing.assert_allclose(one.biases, other.biases, atol=1e-12)
    assert pools[0].names == ["averaged", "naive", "trees"]
    assert pools[0].reduced.names == ["averaged", "naive"]


def test_files_explanations_plans_and_predictions_of_a_sum(tmp_path: Path) -> None:
    loaded = suffice.load(MERGED.save(tmp_path / "merged.suffice"))
    assert loaded.tally_.digest() == MERGED.tally_.digest()
    assert loaded.plan_ == MERGED.plan_
    np.testing.assert_allclose(loaded.predict_proba(X), MERGED.predict_proba(X), atol=1e-12)
    explanation = MERGED.explain(X[:20])
    total = explanation.prior + explanation.contributions.sum(axis=-1)
    np.testing.assert_allclose(total, MERGED.predict_joint_log_proba(X[:20]), atol=1e-9)
    whole = BayesClassifier(structure=STRUCTURE, plan=MERGED.plan_).fit(X, Y)
    assert not whole.tally_.has_partial_trees
    assert whole.tally_.schema.forest.count == 24
    assert "24 trees" in str(MERGED.plan_)


@pytest.mark.parametrize("kind", ["csv", "duckdb"])
def test_engines_count_by_the_plan_of_a_sum(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.classifiers.fit_table.takes_sample_as_table", lambda source: False)
    frame = X.assign(label=Y)
    source: Any = tmp_path / "table.csv"
    frame.to_csv(source, index=False)
    if kind == "duckdb":
        source = pytest.importorskip("ibis").duckdb.connect().create_table("rows", frame)
    near = BayesClassifier(structure=STRUCTURE, plan=MERGED.plan_).fit(X, Y)
    far = BayesClassifier(structure=STRUCTURE, plan=MERGED.plan_).fit_table(source, target="label")
    assert far.tally_ == near.tally_


@given(st.data())
@settings(max_examples=15)
def test_a_tree_over_more_levels_sends_rows_to_the_same_leaves(data: st.DataObject) -> None:
    tree = data.draw(st.sampled_from(list(MODELS[0].tally_.schema.forest.codings)))
    wider = forests.unite_inputs([*tree.inputs, *MERGED.tally_.schema.forest.codings[0].inputs])
    other = tree.on(wider)
    assert other.key == tree.key
    for one, its in zip(tree.column, other.column, strict=True):
        assert (one < 0) == (its < 0)
        assert one < 0 or tree.inputs[one].name == wider[its].name
    levels = [
        "missing" if at < 0 else inputs[j].levels[int(at)]
        for inputs, each in ((tree.inputs, tree), (wider, other))
        for j, at in zip(each.column, each.threshold, strict=True)
        if j >= 0
    ]
    assert levels[: len(levels) // 2] == levels[len(levels) // 2 :]
