"""Pools and decision trees: laws under one plan, weights and leaves computed by hand, and tables that leave little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.model_selection import StratifiedKFold

import suffice
from suffice import BayesClassifier, Pooled, Trees, cross_validate
from suffice.data import Target
from suffice.data.cells import shortest_between
from suffice.decision.pooling import FLOOR, FLOOR_ALONE, RIDGE, Pool
from suffice.folds import fit_pool, pool_predictions
from suffice.folds.fold_tallies import fold_tallies
from suffice.folds.splits import FoldSplit
from suffice.schema import Partition, Plan
from suffice.statistics import PairCounts


def table(rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table whose classes depend on two numbers together, with a category and missing cells."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.normal(size=rows), "z": rng.normal(size=rows), "c": rng.choice(list("abc"), rows)})
    y = np.where(X["x"] * X["z"] + 0.3 * rng.normal(size=rows) > 0, "same", "other")
    y = np.where((X["c"] == "a") & (X["x"] > 1), "third", y)
    return X.mask(rng.random(X.shape) < 0.05), y


X, Y = table()
POOLED = BayesClassifier(structure=Pooled(("averaged", "full", Trees(30)))).fit(X, Y)


def reach_leaf(tree: Partition, row: pd.Series) -> list[int]:
    """The nodes on the path of a row, from the root."""
    path = [0]
    while tree.column[path[-1]] >= 0:
        node = path[-1]
        given = tree.inputs[tree.column[node]]
        value = row[given.name]
        if given.levels is None:
            is_first = not pd.isna(value) and value < tree.threshold[node]
        else:
            position = -1 if pd.isna(value) else given.levels.index(value)
            is_first = position == tree.threshold[node]
        path.append(int(tree.child[node]) + (0 if is_first else 1))
    return path


def tree_shares(tree: Partition, row: pd.Series, X: pd.DataFrame, y: np.ndarray, classes: list[Any]) -> np.ndarray:
    """P(class | leaf) of a row by a tree whose leaves count X, y."""
    paths = [reach_leaf(tree, X.iloc[i]) for i in range(len(X))]
    p = np.array([(y == label).mean() for label in classes])
    for node in reach_leaf(tree, row):
        counts = np.array(
            [sum(node in path for path, own in zip(paths, y == label, strict=True) if own) for label in classes]
        )
        p = (counts + p) / (counts.sum() + 1)
    return p


def test_trees_predict_the_mean_of_shares_that_back_off_along_the_path(kernels: str) -> None:
    X, y = table(60)
    model = BayesClassifier(structure=Trees(3)).fit(X, y)
    forest = model.tally_.schema.forest
    assert forest is not None
    classes = model.classes_.tolist()
    # a single component has a weight and biases, too: those of a pool of one
    for i in range(0, 60, 7):
        p = np.mean([tree_shares(tree, X.iloc[i], X, y, classes) for tree in forest.codings or ()], axis=0)
        pooled = model.pool_.weights[0] * np.maximum(np.log(p), FLOOR_ALONE) + model.pool_.biases
        np.testing.assert_allclose(model.predict_log_proba(X.iloc[[i]])[0], log_softmax(pooled), atol=1e-9)


def test_held_out_predictions_of_trees_are_those_without_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(50, seed=2)
    seen: dict[str, Any] = {}

    def remember(planned: Any, *rest: Any) -> Any:
        seen["planned"], seen["found"] = planned, pool_predictions.count_trees(planned, *rest)
        return seen["found"]

    monkeypatch.setattr(fit_pool, "count_trees", remember)
    model = BayesClassifier(structure=Trees(8)).fit(X, y)
    planned, (_, log_proba), classes = seen["planned"], seen["found"], model.classes_.tolist()
    for i in range(0, 50, 6):
        unused = [tree for tree, used in zip(planned.trees, planned.is_used[:, i], strict=True) if not used]
        if not unused:
            continue
        rest = np.arange(50) != i
        shares = []
        for tree in unused:
            # the shares above the root are those of all rows
            p = np.array([(y == label).mean() for label in classes])
            paths = [reach_leaf(tree, X.iloc[j]) for j in np.flatnonzero(rest)]
            for node in reach_leaf(tree, X.iloc[i]):
                here = np.array([node in path for path in paths])
                counts = np.array([(here & (y[rest] == label)).sum() for label in classes])
                p = (counts + p) / (counts.sum() + 1)
            shares.append(p)
        np.testing.assert_allclose(np.exp(log_proba[i]), np.mean(shares, axis=0), atol=1e-12)


def test_the_same_trees_grow_compiled_or_not_and_in_any_number_of_threads(kernels: str) -> None:
    X, y = table(80, seed=3)
    one = BayesClassifier(structure=Trees(4)).fit(X, y)
    with suffice.threads(1):
        other = BayesClassifier(structure=Trees(4)).fit(X, y)
    assert one.plan_ == other.plan_
    column = one.tally_.schema.forest.codings[0].column
    assert column[:5].tolist() == EXPECTED_COLUMNS


# The first columns on which the first tree splits, the same for both ways to run a kernel.
EXPECTED_COLUMNS = [1, 0, 0, -1, 0]


@given(order=st.permutations(range(120)))
@settings(max_examples=5)
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    X, y = table(60, seed=6)
    X, y = pd.concat([X, X.round(0)], ignore_index=True), np.append(y, y)  # some rows are equal
    model = Pooled(("averaged", "full", Trees(5)))
    one = BayesClassifier(structure=model).fit(X, y)
    other = BayesClassifier(structure=model).fit(X.iloc[order], y[order])
    assert one.plan_ == other.plan_
    assert other.tally_.isclose(one.tally_)
    levels = X.astype(object).where(X.isna(), "level" + X.astype(str))
    one, other = (
        BayesClassifier(structure=model).fit(levels.iloc[rows], y[rows]) for rows in (list(range(120)), order)
    )
    assert one.plan_ == other.plan_
    assert one.tally_.digest() == other.tally_.digest()


def test_without_a_few_rows_the_pool_predicts_nearly_the_same() -> None:
    X, y = table(3000, seed=7)
    gone = np.arange(3000) % 100 == 7
    left = BayesClassifier().fit(X, y).forget(X[gone], y[gone])
    never = BayesClassifier().fit(X[~gone], y[~gone])
    apart = np.abs(left.predict_proba(X) - never.predict_proba(X))
    assert 0 < apart.mean() < 0.01
    forests = [model.tally_.schema.forest.codings for model in (left, never)]
    same = [np.array_equal(a.column[:7], b.column[:7]) for a, b in zip(*forests, strict=True)]
    assert np.mean(same) > 0.5  # by chance, hardly any would start with the same columns


@given(low=st.floats(-1e300, 1e300), high=st.floats(-1e300, 1e300))
def test_a_threshold_lies_between_two_numbers(low: float, high: float) -> None:
    low, high = sorted((low, high))
    if low == high:
        return
    (found,) = shortest_between(np.array([low]), np.array([high]))
    assert low < found <= high


def test_a_plan_holds_few_numbers_of_rows() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=500)})
    model = BayesClassifier(structure=Trees(20)).fit(X, (X["x"] > 0.3).to_numpy())
    thresholds = {t for tree in model.tally_.schema.forest.codings for t in tree.threshold[tree.column >= 0].tolist()}
    assert thresholds
    assert not thresholds & set(X["x"])


@pytest.mark.parametrize("classes", [2, 4])
def test_weights_have_the_least_penalised_log_loss(classes: int) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, classes, 400)
    truth = np.eye(classes)[codes]
    log_proba = np.array(
        [log_softmax(scale * truth + rng.normal(size=truth.shape), axis=1) for scale in (2, 0.5, -0.5)]
    )
    weights = rng.uniform(0.5, 2, 400)
    pool = Pool.fit(POOLED.pool_.components, list(range(classes)), log_proba, codes, weights)
    raised, start = np.maximum(log_proba, FLOOR), np.append(np.full(3, 1 / 3), np.zeros(classes))

    def loss(parameters: np.ndarray) -> float:
        scores = np.tensordot(parameters[:3], raised, 1) + parameters[3:]
        log_p = log_softmax(scores, axis=1)[np.arange(400), codes]
        return float(-weights @ log_p + RIDGE / 2 * ((parameters - start) ** 2).sum())

    bounds = [(0, None)] * 3 + [(None, None)] * classes
    found = minimize(loss, start, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    np.testing.assert_allclose(np.append(pool.weights, pool.biases), found.x, atol=2e-4)
    assert loss(np.append(pool.weights, pool.biases)) <= found.fun + 1e-6
    assert pool.weights.min() == 0.0  # the third predicts the wrong classes


def test_the_pool_is_the_weighted_sum_of_its_components() -> None:
    total = np.tile(POOLED.pool_.biases, (len(X), 1))
    model = POOLED.estimate_model()
    for weight, (own, blocks) in zip(POOLED.pool_.weights, split_blocks(model), strict=True):
        total += weight * np.maximum(own.log_posterior(blocks), FLOOR)
    np.testing.assert_allclose(POOLED.predict_log_proba(X), log_softmax(total, axis=1), atol=1e-9)


def split_blocks(model: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    blocks, found = POOLED.read_rows(X).blocks, []
    for member in model.members:
        found.append((member, blocks[: len(member.columns)]))
        blocks = blocks[len(member.columns) :]
    return found


def test_explanations_add_up_to_the_scores() -> None:
    explanation = POOLED.explain(X.iloc[:20])
    total = explanation.prior + explanation.contributions.sum(axis=-1)
    np.testing.assert_allclose(total, POOLED.predict_joint_log_proba(X.iloc[:20]), atol=1e-9)
    np.testing.assert_allclose(log_softmax(total, axis=1), POOLED.predict_log_proba(X.iloc[:20]), atol=1e-9)
    assert list(explanation.features) == ["x", "z", "c"]


def test_cross_validation_plans_within_each_fold() -> None:
    model = BayesClassifier(structure=Pooled(("averaged", Trees(10))))
    found = cross_validate(model, X, Y, cv=StratifiedKFold(3))
    assert found["refitted"]
    for train, test in StratifiedKFold(3).split(X, Y):
        fitted = BayesClassifier(structure=Pooled(("averaged", Trees(10)))).fit(X.iloc[train], Y[train])
        np.testing.assert_array_equal(found["log_proba"][test], fitted.predict_log_proba(X.iloc[test]))


def test_under_the_plan_of_a_pool_folds_are_sums() -> None:
    model = BayesClassifier(structure=POOLED.structure, plan=POOLED.plan_)
    found = cross_validate(model, X, Y, cv=StratifiedKFold(3))
    assert not found["refitted"]
    for train, test in StratifiedKFold(3).split(X, Y):
        fitted = BayesClassifier(structure=POOLED.structure, plan=POOLED.plan_).fit(X.iloc[train], Y[train])
        np.testing.assert_allclose(found["log_proba"][test], fitted.predict_log_proba(X.iloc[test]), atol=1e-9)


def test_decay_weights_the_leaves_down() -> None:
    decayed = BayesClassifier(structure=POOLED.structure, plan=POOLED.plan_).fit(X[:150], Y[:150])
    decayed.partial_fit(X[150:], Y[150:], decay=0.5)
    weights = np.where(np.arange(len(X)) < 150, 0.5, 1.0)
    weighted = BayesClassifier(structure=POOLED.structure, plan=POOLED.plan_).fit(X, Y, weights)
    assert decayed.tally_.isclose(weighted.tally_)
    np.testing.assert_allclose(decayed.predict_proba(X), weighted.predict_proba(X), atol=1e-9)


def test_a_model_file_has_the_trees_and_the_weights(tmp_path: Path) -> None:
    loaded = suffice.load(POOLED.save(tmp_path / "pool.suffice"))
    assert loaded.plan_ == POOLED.plan_
    assert loaded.tally_.digest() == POOLED.tally_.digest()
    np.testing.assert_array_equal(loaded.predict_proba(X), POOLED.predict_proba(X))
    more, _ = table(40, seed=5)
    labels = np.resize(Y, 40)
    np.testing.assert_array_equal(
        loaded.partial_fit(more, labels).predict_proba(X),
        suffice.load(tmp_path / "pool.suffice").partial_fit(more, labels).predict_proba(X),
    )


def test_the_first_batch_plans_trees_if_they_are_asked_for_and_not_by_default() -> None:
    asked = BayesClassifier(structure=Trees(10)).partial_fit(X[:200], Y[:200])
    plan = asked.plan_
    asked.partial_fit(X[200:], Y[200:])
    assert asked.plan_ == plan
    whole = BayesClassifier(structure=Trees(10), plan=plan).fit(X, Y)
    assert asked.tally_.isclose(whole.tally_)
    assert asked.tally_.statistics[-1] == whole.tally_.statistics[-1]
    default = BayesClassifier().partial_fit(X, Y)
    assert default.tally_.schema.forest is None
    assert not hasattr(default, "pool_")


def test_a_plan_without_a_pool_is_refused_by_a_pool_and_kept_by_the_default() -> None:
    plan = BayesClassifier(structure="averaged").fit(X, Y).plan_
    with pytest.raises(ValueError, match=r"needs trees and weights .* but the plan has none"):
        BayesClassifier(structure="pooled", plan=plan).fit(X, Y)
    default = BayesClassifier(plan=plan).fit(X, Y)
    assert default.plan_ == plan


def test_the_default_finds_what_one_column_alone_does_not_tell() -> None:
    X, y = table(900, seed=4)
    for structure, least, most in (("naive", 0.0, 0.65), ("auto", 0.7, 1.0)):
        model = BayesClassifier(structure=structure).fit(X[:600], y[:600])
        assert least <= model.score(X[600:], y[600:]) <= most


def one_row_classes(rows: int) -> np.ndarray:
    return np.where(np.arange(rows) < 40, np.arange(rows).astype(str), "rest")


@pytest.mark.parametrize("structure", ["auto", "pooled", "trees"])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        pytest.param(X, np.repeat("one", len(X)), id="one class"),
        pytest.param(X[["x"]], Y, id="one column"),
        pytest.param(X.assign(x=1.0, z=2.0, c="a"), Y, id="constant columns"),
        pytest.param(X, np.where(np.arange(len(X)) == 3, "single", Y), id="a class of one row"),
        pytest.param(X, one_row_classes(len(X)), id="many classes of one row"),
        pytest.param(X.assign(x=np.nan, z=np.nan, c=None), Y, id="all cells missing"),
        pytest.param(X[:3], np.array(["a", "b", "a"]), id="three rows"),
        pytest.param(X[:100], np.arange(100), id="as many classes as rows"),
    ],
)
def test_a_pool_falls_back_to_what_can_be_estimated(structure: str, X: pd.DataFrame, y: np.ndarray) -> None:
    model = BayesClassifier(structure=structure).fit(X, y)  # no warning: they are errors in tests
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert "structure" in repr(model)
    if hasattr(model, "pool_"):
        assert f"pool of {model.pool_}" in repr(model)


def test_a_class_of_one_row_may_have_a_fractional_weight() -> None:
    table = pd.DataFrame({"w": [True, False, True, True, True, True], "x": list("vwvvuu"), "z": list("uwwwwv")})
    model = BayesClassifier(structure="pooled").fit(table, list("bcbaab"), np.full(6, 1.5))
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)


@pytest.mark.parametrize("weights", [None, np.append(1e-7, np.random.default_rng(0).gamma(1, 1, 199))])
def test_pairs_without_a_fold_are_those_of_the_other_rows(weights: Any) -> None:
    """A level of one row, missing cells and a class of one row: what the others lack is not in the sums."""
    X, y = table(200)
    X.loc[0, ["c", "x"]], y[1] = ("only here", np.nan), "single"
    recipe = BayesClassifier(structure="averaged", numeric="mdl", missing="level").additive_recipe()
    assert recipe is not None
    opened = recipe.open(X)
    target = Target.of(len(X), y, weights, None, recipe.owner)
    tally = recipe.tally(opened, target)
    single = tuple(replace(each, pairs=each.pairs and each.codings is None) for each in tally.schema.blocks)
    folds = np.arange(len(X)) % 4
    splits = [FoldSplit(folds, fold) for fold in range(4)]
    plans = [Plan(blocks, tally.schema.features, is_marked=True) for blocks in (tally.schema.blocks, single)]
    counted, without = (list(fold_tallies(replace(recipe, given_plan=plan), opened, target, splits)) for plan in plans)
    for expected, fold in zip(counted, without, strict=True):
        found = pool_predictions.lay_out_pairs(recipe, fold, target, tally)
        assert any(isinstance(each, PairCounts) for each in found.statistics)
        assert found.schema == recipe.lay_out(expected.tally).schema
        if weights is None:
            assert found == recipe.lay_out(expected.tally)
        for mine, its in zip(found.statistics, recipe.lay_out(expected.tally).statistics, strict=True):
            for name, array in mine.arrays().items():
                np.testing.assert_allclose(array, its.arrays()[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Trees(0), "count is the number of trees, 1 or more, not 0"),
        (lambda: Trees(2.5), "count is the number of trees"),
        (lambda: Pooled("averaged"), "components are a tuple of structures"),
        (lambda: Pooled(("averaged", "joint")), "'joint' cannot be a component of a pool; components are naive,"),
        (lambda: Pooled(()), "components are a tuple of structures"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong()
