"""Explanations: contributions sum to the log joint, for every family, rule and structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import xlogy
from scipy.stats import norm, poisson
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import mutual_info_score

import suffice
from conftest import Case, every_case, example, expect_warning
from suffice import BayesClassifier, Chain, GaussianDiscriminant, Tree
from suffice.decision.calibration import MAPS
from suffice.score import Term
from suffice.structures.covariances import KINDS
from suffice.structures.pooled import Pooled
from suffice.structures.trees import Trees
from test_evaluation import mixed

WITHOUT_TREES = Pooled(("averaged", "full"))


def assert_sums(model: Any, X: Any) -> Any:
    found = model.explain(X)
    expected = model.predict_joint_log_proba(X)
    total = found.prior + found.contributions.sum(axis=-1)
    finite = np.isfinite(expected)
    assert (np.isfinite(total) == finite).all()
    np.testing.assert_allclose(total[finite], expected[finite], rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(found.log_joint, expected)
    return found


@every_case
@pytest.mark.parametrize("rule", ["mle", "map", "mean", "predictive"])
def test_families(case: Case, rule: str) -> None:
    X, y = example(case)
    model = case.ours(estimate=rule).fit(X, y)
    found = assert_sums(model, X[:40])
    assert found.features == [f"column {j}" for j in range(X.shape[1])]
    assert found.values[3] == X[3].tolist()
    if case.sparse:
        assert_sums(model, sp.csr_matrix(X[:40]))


@pytest.mark.parametrize(
    "structure",
    ["naive", "chain", Chain("learned"), "tree", Tree("per-class"), "averaged", "full", "joint", WITHOUT_TREES, "auto"],
    ids=str,
)
def test_structures_on_a_table_with_holes(structure: Any) -> None:
    X, y = mixed(200)
    X = X[["height", "town", "owner"]] if structure == "joint" else X
    # in a pool, an empty cell is a level unless it is skipped; trees have no cells to skip
    missing = "skip" if structure == WITHOUT_TREES else "auto"
    model = BayesClassifier(structure=structure, missing=missing).fit(X, y)
    found = assert_sums(model, X[:30])
    for row in range(30):
        p = model.predict_log_proba(X[row : row + 1])[0]
        first, second = np.sort(p)[::-1][:2]
        assert sum(nats for _, _, nats in found.log_odds(row)) == pytest.approx(first - second, abs=1e-9)
        assert repr(found.most_probable(row)) in found.sentence(row)
    empty = found.features.index("town")
    for row in np.flatnonzero(X["town"][:30].isna()):
        assert found.values[row][empty] is None
        assert (found.contributions[row, :, empty] == 0).all() == (structure != "auto")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimate", ["mle", "mean"])
@pytest.mark.parametrize("structure", ["auto", WITHOUT_TREES, Trees(20)], ids=["auto", "without trees", "trees"])
def test_pools_of_rows_that_a_member_excludes(structure: Any, estimate: str) -> None:
    X, y = mixed(200)
    model = BayesClassifier(structure=structure, estimate=estimate, unseen="ignore").fit(X, y)
    X = X.astype(object)[:60]
    X.iloc[0] = None
    X.loc[1:20, "town"] = "never seen"
    X.loc[10:, "height"] = 300.0
    found = assert_sums(model, X)
    assert np.isfinite(found.contributions).all()
    log_proba = model.predict_log_proba(X)
    np.testing.assert_allclose(
        found.log_joint - found.log_joint[:, :1], log_proba - log_proba[:, :1], rtol=1e-9, atol=1e-9
    )


def test_trees_are_explained_by_the_paths_of_rows() -> None:
    X, y = mixed(200)
    model = BayesClassifier(structure=Trees(25)).fit(X, y)
    pooled, found = model.estimate_model(), model.explain(X[:20])
    (member,), (weight,), (forest,) = pooled.members, pooled.weights, pooled.columns
    leaves = model.read_rows(X).blocks[0].array
    labels = np.eye(3)[np.unique(y, return_inverse=True)[1]]
    for row in range(20):
        base, changes = np.zeros(3), {name: np.zeros(3) for name in found.features}
        for place, tree in enumerate(forest.codings):
            # the nodes on the path of the row, from the root to its leaf
            path = [int(np.flatnonzero(tree.leaf == leaves[row, place])[0])]
            while path[0]:
                path.insert(0, int(tree.parent[path[0]]))
            above = labels.mean(axis=0)
            for depth, node in enumerate(path):
                inside = np.isin(leaves[:, place], tree.leaf[_below(tree, node)])
                share = (labels[inside].sum(axis=0) + above) / (inside.sum() + 1)
                if depth == 0:
                    base += share / 25
                else:
                    changes[tree.inputs[tree.column[path[depth - 1]]].name] += (share - above) / 25
                above = share
        p = base + sum(changes.values())
        np.testing.assert_allclose(np.log(p), member.log_posterior(model.read_rows(X[row : row + 1]).blocks)[0])
        for name, change in changes.items():
            expected = weight * change * np.log(p / base) / (p - base)
            np.testing.assert_allclose(found.contributions[row, :, found.features.index(name)], expected, atol=1e-9)


def _below(tree: Any, node: int) -> list[int]:
    if tree.column[node] < 0:
        return [node]
    first = int(tree.child[node])
    return _below(tree, first) + _below(tree, first + 1)


@pytest.mark.parametrize("covariance", KINDS)
def test_covariances(covariance: str) -> None:
    X, y = load_iris(return_X_y=True)
    assert_sums(GaussianDiscriminant(covariance=covariance).fit(X, y), X[::10])


@pytest.mark.parametrize("covariance", KINDS)
def test_mixtures_of_gaussians(covariance: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = suffice.MixtureClassifier(components=3, covariance=covariance)
    # an explanation needs no convergence
    with expect_warning("has not converged" if covariance == "tied-tridiagonal" else None, ConvergenceWarning):
        model.fit(X, y)
    found = assert_sums(model, X[::10])
    assert np.abs(found.contributions).sum(axis=(0, 1)).min() > 0


def test_mixtures_of_bits() -> None:
    X, y = load_iris(return_X_y=True)
    assert_sums(suffice.MixtureClassifier(family="bernoulli", binarize=3.0).fit(X, y), X[::10])


def test_gaussian_contributions_in_closed_form_equal_sequential_ones() -> None:
    X, y = load_iris(return_X_y=True)
    model = BayesClassifier(structure="full", numeric="gaussian").fit(X, y)
    holes = X[::10].copy()
    holes[::3, 1] = np.nan
    found = assert_sums(model, holes)
    (term,), block = model.estimate_model().scores[0], model.read_rows(holes).blocks[0]
    slowly = Term.contributions(term, block)
    np.testing.assert_allclose(found.contributions, slowly, atol=1e-9)


def test_contribution_of_a_parent_does_not_depend_on_its_children() -> None:
    X, y = mixed(300)
    X = X[["town", "owner"]]
    model = BayesClassifier(structure=Chain("given")).fit(X, y)
    naive = BayesClassifier(structure="naive").fit(X, y)
    there = X["town"].notna().to_numpy()
    first = model.explain(X[there]).contributions[:, :, 0]
    np.testing.assert_allclose(first, naive.explain(X[there]).contributions[:, :, 0], atol=1e-9)


def test_contributions_of_words() -> None:
    texts = [["win cash now"], ["lunch at noon"], ["win a prize now"], ["see you at lunch"]]
    model = BayesClassifier(families="text").fit(texts, ["spam", "ham", "spam", "ham"])
    found = model.explain([["win lunch"]])
    assert found.features == ["0: lunch", "0: win"]
    said = {name: nats for name, _, nats in found.log_odds(0, "spam", "ham")}
    assert said["0: win"] > 0 > said["0: lunch"]
    assert list(found.importance) == ["0: lunch", "0: win"] or list(found.importance) == ["0: win", "0: lunch"]
    with pytest.raises(ValueError, match="'eggs' is not a class"):
        found.log_odds(0, "eggs")


def test_information_is_the_mutual_information_of_the_counts() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    levels = np.column_stack([(y + rng.integers(0, 2, 400)) % 3, rng.integers(0, 4, 400)])
    expected = [mutual_info_score(column, y) for column in levels.T]
    for model in (suffice.CategoricalNB().fit(levels, y), BayesClassifier(families="categorical").fit(levels, y)):
        assert [model.information_[j] for j in (0, 1)] == pytest.approx(expected)
    bits = (levels > 1).astype(int)
    found = suffice.BernoulliNB().fit(bits, y).information_
    assert [found[j] for j in (0, 1)] == pytest.approx([mutual_info_score(column, y) for column in bits.T])
    numbers = rng.normal(size=(400, 2)) + np.column_stack([y, 0 * y])
    told = suffice.GaussianNB().fit(numbers, y).information_
    assert list(told) == [0, 1]
    assert told[0] > 0.1 > told[1] >= 0
    words = suffice.MultinomialNB().fit(rng.poisson(1 + levels), y).information_
    assert list(words) == [0, 1]
    table, labels = mixed(200)
    assert set(BayesClassifier().fit(table, labels).information_) == set(table.columns)


def test_impossible_values_give_no_nan() -> None:
    model = suffice.BernoulliNB(estimate="mle").fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    found = model.explain([[1, 1], [0, 0]])
    assert not np.isnan(found.contributions).any()
    assert not any(np.isnan(nats) for row in range(2) for _, _, nats in found.log_odds(row))
    assert "only class" in suffice.GaussianNB().fit([[1.0]], ["a"]).explain([[1.0]]).sentence()


def test_sentences_agree_with_the_probabilities() -> None:
    X, y = load_iris(return_X_y=True)
    plain, calibrated = (suffice.GaussianNB(calibrate=how).fit(X, y) for how in (None, "temperature"))
    assert "calibration" not in plain.explain(X[:1]).sentence()
    assert "before calibration" not in calibrated.explain(X[70:71]).sentence()
    assert (
        "'setosa' (> 99.9 %) compared with"
        in suffice.GaussianNB().fit(X, np.array(["setosa", "b", "c"])[y]).explain(X).sentence()
    )
    assert not any("100 %" in plain.explain(X[::7]).sentence(row) for row in range(20))
    silent = suffice.BernoulliNB().fit([[1], [0], [1], [0]], ["a", "a", "b", "b"]).explain([[1]])
    assert silent.sentence() == "'a' (50 %) compared with 'b'. No feature of this row favours either class."


@pytest.mark.parametrize("method", MAPS)
@pytest.mark.parametrize("structure", ["naive", "auto"])
def test_contributions_sum_to_the_calibrated_log_odds(method: str, structure: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = BayesClassifier(structure=structure, calibrate=method).fit(X[:, :2], y)
    found, log_proba = model.explain(X[::10, :2]), model.predict_log_proba(X[::10, :2])
    frame = found.to_frame(label=1, against=2)
    for row, line in enumerate(log_proba):
        for label, against in ((0, 1), (2, 0), (None, 2)):
            if label is None and line.argmax() == 2:
                continue
            parts = found.log_odds(row, label, against)
            expected = line[line.argmax() if label is None else label] - line[against]
            assert sum(nats for _, _, nats in parts) == pytest.approx(expected, abs=1e-6)
            # temperature scaling has one factor and nothing else
            assert method != "temperature" or "(calibration)" not in [name for name, _, _ in parts]
        own = frame[frame["row"] == row]["log_odds"]
        assert own.sum() == pytest.approx(line[1] - line[2], abs=1e-6)
        assert "before calibration" not in found.sentence(row)


def test_a_wrong_prediction_is_explained_against_the_true_class() -> None:
    X, y = load_iris(return_X_y=True)
    found = suffice.GaussianNB().fit(X, y).explain(X[:1])
    assert found.sentence(0, against=2).startswith("0 (> 99.9 %) compared with 2.")
    assert "compared with 1" in found.sentence(0)


def test_tables_for_notebooks() -> None:
    X, y = load_iris(return_X_y=True)
    model = suffice.GaussianNB().fit(X, y)
    frame = model.tally_.to_frame()
    assert len(frame) == 12
    np.testing.assert_allclose(frame["mean"].to_numpy().reshape(3, 4), model.theta_)
    assert model.explain(X[:5])._repr_html_().count("<table>") == 3
    words = BayesClassifier(families={"<b>": "text"}).fit(
        pd.DataFrame({"<b>": ["<i> one two", "three four five"]}), [0, 1]
    )
    for page in (words.explain(pd.DataFrame({"<b>": ["one five"]}))._repr_html_(), words.tally_._repr_html_()):
        assert "<b>" not in page
    assert words.tally_.to_frame()["total"].sum() > 0
    summary = suffice.LogisticRegression().fit(X, y == 1).summary()
    assert summary.to_frame()["feature"].tolist() == [line["feature"] for line in summary]
    assert "(intercept)" in summary._repr_html_()


def test_error_names_the_value_that_is_no_number() -> None:
    model = BayesClassifier(numeric="quantiles").fit(np.arange(60.0)[:, None] + [[0.0, 0.5]], [0, 1] * 30)
    with pytest.raises(ValueError, match="holds 'abc', which is not a number"):
        model.predict(np.array([["3.1", "1"], [None, "2"], ["abc", "3"]], object))
    with pytest.raises(ValueError, match=r"holds '3\.1', which is a text and not a number"):
        model.predict(np.array([["3.1", "1"]], object))


def test_sentence_of_a_row_that_no_class_can_produce() -> None:
    model = suffice.BernoulliNB(estimate="mle").fit([[1, 0], [1, 0], [0, 1]], ["a", "a", "b"])
    said = model.explain([[1, 1]]).sentence()
    assert "nan" not in said
    assert "No class can produce this row" in said


def test_sentence_of_a_chosen_label() -> None:
    found = suffice.BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"]).explain([[0, 1]])
    said = found.sentence(label="ham")
    assert said.startswith("'ham' (36 %) compared with 'spam'. Main reasons: class prior (+0.69).")


def test_information_of_counts_of_events_is_that_of_their_rates() -> None:
    alone = suffice.PoissonNB().fit([[0], [0], [9], [9]], [0, 0, 1, 1]).information_
    beside = suffice.PoissonNB().fit([[0, 3], [0, 3], [9, 3], [9, 3]], [0, 0, 1, 1]).information_
    x = np.arange(200)
    joint = 0.5 * np.stack([poisson(0).pmf(x), poisson(9).pmf(x)], axis=1)
    expected = xlogy(joint, joint / np.maximum(joint.sum(axis=1, keepdims=True) * 0.5, 1e-300)).sum()
    assert alone[0] == pytest.approx(expected, abs=1e-5)
    assert beside == pytest.approx({0: alone[0], 1: 0.0})
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    large = suffice.PoissonNB().fit(rng.poisson(np.where(y, 1e6, 1e6 + 2000))[:, None], y).information_
    distance = norm_distance(2000 / 1000)
    assert large[0] == pytest.approx(distance, abs=0.02)


def norm_distance(d: float) -> float:
    """Return the information of two equally likely normal classes whose means are d deviations apart."""
    x = np.linspace(-12, 12 + d, 20_001)
    p = 0.5 * np.stack([norm(0).pdf(x), norm(d).pdf(x)], axis=1) * (x[1] - x[0])
    return float(xlogy(p, p / (0.5 * p.sum(axis=1, keepdims=True))).sum())
