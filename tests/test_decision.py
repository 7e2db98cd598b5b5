"""Decisions: calibration, costs, rejection, and class priors that are replaced at prediction."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_array
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit

import suffice
from conftest import FIVE, Case, assert_same_scores, data, every_case, example
from suffice import BayesClassifier, GaussianNB, MixtureClassifier, cross_validate
from suffice.data.column_reader import ColumnReader
from suffice.data.reader import NumberReader
from suffice.data.row_keys import row_keys
from suffice.decision.calibration import MAPS, Calibration, Isotonic, Temperature, Vector
from suffice.decision.reliability import Reliability
from suffice.folds.hold_out import hold_out
from suffice.folds.splits import DealtRows, deal_rows
from suffice.structures.pooled import Pooled
from suffice.structures.trees import Trees

METHODS = tuple(MAPS)


def overconfident(rows: int = 3000, factor: float = 3.0, seed: int = 0) -> tuple[Any, Any]:
    """Log probabilities that are too sure by a factor, and the classes of their rows."""
    rng = np.random.default_rng(seed)
    honest = log_softmax(rng.normal(size=(rows, 3)) * 2, axis=1)
    codes = np.array([rng.choice(3, p=np.exp(line)) for line in honest])
    return log_softmax(factor * honest, axis=1), codes


def test_the_temperature_is_that_of_least_loss() -> None:
    said, codes = overconfident()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(codes))

    def loss(inverse: float) -> float:
        return float(-weights @ log_softmax(inverse * said, axis=1)[np.arange(len(codes)), codes])

    best = minimize_scalar(loss, bounds=(1e-3, 10), method="bounded", options={"xatol": 1e-10}).x
    assert Temperature.of(said, codes, weights).temperature == pytest.approx(1 / best, rel=1e-6)
    assert Temperature.of(said, codes, np.ones(len(codes))).temperature == pytest.approx(3, rel=0.1)


def test_the_vector_is_that_of_least_loss() -> None:
    said, codes = overconfident()

    def loss(both: Any) -> float:
        return float(-log_softmax(both[:3] * said + both[3:], axis=1)[np.arange(len(codes)), codes].mean())

    best = minimize(loss, np.append(np.ones(3), np.zeros(3))).fun
    found = Vector.of(said, codes, np.ones(len(codes)))
    assert loss(np.append(found.factors, found.shifts)) == pytest.approx(best, abs=1e-5)


def test_isotonic_shares_rise_and_are_never_0() -> None:
    said, codes = overconfident()
    found = Isotonic.of(said, codes, np.ones(len(codes)))
    for shares in found.shares:
        assert (np.diff(shares) >= 0).all()
        assert shares.min() > 0
        assert shares.max() < 1
    assert np.isfinite(found(said)).all()
    certain = np.log(np.array([[1.0, 1e-300, 1e-300]]))
    assert np.isfinite(found(certain)).all()


@pytest.mark.parametrize("method", METHODS)
def test_calibration_helps_where_it_is_needed(method: str) -> None:
    said, codes = overconfident()
    found = Calibration.of(method, np.arange(3), said, codes, np.arange(len(codes)) % 10, None)
    assert found.error["after"] < found.error["before"] / 2
    assert found.log_loss["after"] < 0.8 * found.log_loss["before"]
    assert method in repr(found)
    fresh, truth = overconfident(seed=1)
    assert log_loss(truth, np.exp(found(fresh))) < 0.8 * log_loss(truth, np.exp(fresh))
    np.testing.assert_allclose(np.exp(found(fresh)).sum(axis=1), 1)
    assert not np.isnan(found(np.array([[0.0, -np.inf, -np.inf]]))).any()


@pytest.mark.parametrize("method", METHODS)
@every_case
def test_every_classifier_can_be_calibrated(case: Case, method: str) -> None:
    X, y = example(case)
    model = case.ours(calibrate=method).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    raw = case.ours().fit(X, y)
    assert_same_scores(model.predict_joint_log_proba(X), raw.predict_joint_log_proba(X))
    np.testing.assert_allclose(p, np.exp(model.calibration_(raw.predict_log_proba(X))))
    if method == "temperature":
        np.testing.assert_array_equal(model.predict(X), raw.predict(X))
    assert model.calibration_.log_loss["after"] <= model.calibration_.log_loss["before"] + 0.1


def test_calibration_is_learned_from_rows_held_out() -> None:
    X, y = load_digits(return_X_y=True)
    model = suffice.MultinomialNB(calibrate="temperature").fit(X, y)
    dealt = deal_rows(row_keys(suffice.MultinomialNB().recipe().open(X)), y, None, 10)
    raw = cross_validate(suffice.MultinomialNB(), X, y, cv=PredefinedSplit(dealt.fold_of))
    honest = cross_validate(model, X, y, scoring="neg_log_loss")["test_score"].mean()
    assert honest > 0.5 * cross_validate(suffice.MultinomialNB(), X, y, scoring="neg_log_loss")["test_score"].mean()
    before = -np.maximum(raw["log_proba"][np.arange(len(y)), y], -1e300).mean()
    assert model.calibration_.log_loss["before"] == pytest.approx(before, rel=1e-9)
    assert MixtureClassifier(calibrate="temperature").fit(X[:300, 20:24], y[:300] % 2).calibration_.map.temperature > 0


def test_calibration_stays_until_classes_change() -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianNB(calibrate="vector").fit(X, y)
    model.partial_fit(X[:3], y[:3])
    model.predict_proba(X)
    model.forget(X[y == 2], y[y == 2])
    with pytest.raises(ValueError, match="fit again"):
        model.predict_proba(X)
    with pytest.raises(ValueError, match="learned by fit"):
        GaussianNB(calibrate="vector").partial_fit(X, y).predict(X)
    with pytest.raises(ValueError, match="learned by fit"):
        GaussianNB().fit(X, y).set_params(calibrate="isotonic").predict(X)
    with pytest.raises(ValueError, match="linear form"):
        GaussianNB(calibrate="vector").fit(X, y).as_linear()
    lower, upper = GaussianNB(calibrate="temperature", estimate="mean").fit(X, y).predict_interval(X[:5])
    assert (lower <= upper).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_class_of_one_row_is_left_out_of_the_calibration(method: str) -> None:
    X, y = load_iris(return_X_y=True)
    single = np.where(np.arange(150) == 0, 7, y)
    held = hold_out(GaussianNB().recipe(), GaussianNB().recipe(), X, single, None)
    assert np.bincount(held.codes).tolist() == [49, 50, 50]  # its row has no model that knows the class
    model = GaussianNB(calibrate=method, estimate="mean").fit(X, single)
    assert model.calibration_.classes == [0, 1, 2, 7]
    assert model.predict(X[:1]).tolist() in ([0], [7])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_hold_out_leaves_probabilities_as_they_are(method: str) -> None:
    for rows, labels in (([["a"], ["b"], ["c"]], [0, 1, 2]), ([["a"]], [5])):
        plain = BayesClassifier(structure="naive").fit(rows, labels)
        found = BayesClassifier(structure="naive", calibrate=method).fit(rows, labels)
        np.testing.assert_allclose(found.predict_proba(rows), plain.predict_proba(rows))


def test_a_calibration_that_is_not_known_is_an_error() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="calibrate"):
        GaussianNB(calibrate="platt").fit(X, y)


def test_a_pool_is_calibrated_by_its_own_held_out_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    settings: dict[str, Any] = {"structure": Pooled(("naive", "full", Trees(20)))}
    monkeypatch.setattr("suffice.folds.hold_out.hold_out", None)  # no fold is fitted again
    model, plain = BayesClassifier(calibrate="temperature", **settings).fit(X, y), BayesClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(model.calibration_.log_loss["before"], plain.pool_.log_loss["pool"])
    assert model.calibration_.map.temperature == pytest.approx(1, abs=0.25)  # the weights calibrate already
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=30),
    seed=st.integers(0, 9),
)
def test_folds_do_not_depend_on_order_zeros_or_whether_rows_are_repeated(
    rows: list[tuple[int, int, int]], seed: int
) -> None:
    cells, codes, weights = np.array(rows).T
    shuffled = np.random.default_rng(seed).permutation(len(rows))
    repeated = shuffled.repeat(weights[shuffled] if np.gcd.reduce(weights) == 1 else 1)
    one = deal_rows(cells, codes, weights.astype(float) if np.gcd.reduce(weights) == 1 else None, 4)
    other = deal_rows(cells[repeated], codes[repeated], None, 4)

    def content(dealt: DealtRows, cells: Any, codes: Any) -> Counter[tuple[int, int, int]]:
        found: Counter[tuple[int, int, int]] = Counter()
        sizes = np.ones(len(dealt.rows)) if dealt.weights is None else dealt.weights
        for row, fold, weight in zip(dealt.rows.tolist(), dealt.fold_of.tolist(), sizes.tolist(), strict=True):
            found[cells[row], codes[row], fold] += weight
        return found

    assert content(one, cells, codes) == content(other, cells[repeated], codes[repeated])


def test_a_common_factor_of_the_weights_splits_no_row() -> None:
    dealt = deal_rows(np.arange(12), np.arange(12) % 2, np.full(12, 3.0), 4)
    assert dealt.rows.tolist() == list(range(12))
    assert dealt.weights is not None
    assert dealt.weights.tolist() == [3.0] * 12
    for code in (0, 1):
        assert sorted(np.bincount(dealt.fold_of[np.arange(12) % 2 == code], minlength=4)) == [1, 1, 2, 2]


def test_keys_depend_on_cells_only() -> None:
    X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, 1.5, -0.0]])
    dense, sparse = (NumberReader("test", "gaussian").open(each) for each in (X, csr_array(X)))
    keys = row_keys(dense)
    assert keys[0] == keys[2] != keys[1]
    np.testing.assert_array_equal(keys, row_keys(sparse))
    frame = pd.DataFrame({"a": X[:, 0], "b": ["x", None, "x"], "c": [True, False, True]})
    keys = row_keys(ColumnReader("test", "auto").open(frame))
    assert keys[0] == keys[2] != keys[1]
    np.testing.assert_array_equal(row_keys(ColumnReader("test", "auto").open(frame[::-1])), keys[::-1])


@pytest.mark.parametrize("name", ["adult", "sms"])
def test_naive_bayes_gets_honest(name: str) -> None:
    import sys
    from pathlib import Path

    folder = data("README.md").parent
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
    from tables import read

    X, y = read(folder)[name]
    settings = {"structure": "naive"} | ({"numeric": "gaussian"} if name == "adult" else {})
    found = BayesClassifier(calibrate="temperature", **settings).fit(X, y).calibration_
    assert found.log_loss["after"] < 0.8 * found.log_loss["before"]


def test_costs_are_weighed() -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    costs = np.array([[0, 1, 1], [1, 0, 8], [1, 2, 0]])
    p = model.predict_proba(X)
    expected = [int(np.argmin([sum(line[t] * costs[t, s] for t in range(3)) for s in range(3)])) for line in p]
    np.testing.assert_array_equal(model.predict(X, costs=costs), expected)
    np.testing.assert_array_equal(model.predict(X, costs={(1, 2): 8, (2, 1): 2}), expected)
    np.testing.assert_array_equal(model.predict(X, costs=1 - np.eye(3)), model.predict(X))


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        (np.ones((2, 2)), "3 by 3"),
        (np.ones(3), "3 by 3"),
        ([[0, 1, np.nan]] * 3, "finite"),
        ({(0, 9): 1}, r"\(0, 9\)"),
        ({"a": 1}, "'a'"),
        ("expensive", "costs"),
    ],
)
def test_costs_that_are_none(costs: Any, said: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=said):
        GaussianNB().fit(X, y).predict(X, costs=costs)


def test_what_is_not_sure_may_be_left_unsaid() -> None:
    X, y = load_iris(return_X_y=True)
    for labels in (y, np.array(["setosa", "versicolor", "virginica"])[y]):
        model = GaussianNB().fit(X, labels)
        sure = model.predict_proba(X).max(axis=1) >= 0.8
        said = model.predict(X, reject_below=0.8)
        assert [label is None for label in said] == (~sure).tolist()
        assert said[sure].tolist() == model.predict(X)[sure].tolist()
    said = GaussianNB().fit(X, y).predict(X, reject_below=0.8, reject_label=-1)
    assert said.dtype.kind == "i"
    assert (said == -1).sum() == (~sure).sum()
    named = model.predict(X, reject_below=0.8, reject_label="ask somebody")
    assert (named == "ask somebody").sum() == (~sure).sum()
    for wrong in (1.5, -0.1, True):
        with pytest.raises(ValueError, match="reject_below"):
            model.predict(X, reject_below=wrong)


@pytest.mark.parametrize("case", [case for case in FIVE if case.name != "ComplementNB"], ids=str)
def test_a_replaced_prior_is_as_if_it_had_been_set(case: Case) -> None:
    X, y = example(case)
    prior = [0.7, 0.2, 0.1]
    model = case.ours().fit(X, y)
    other = clone(model).set_params(class_prior=prior).fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X, class_prior=prior), other.predict_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X, class_prior="uniform").sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X, class_prior=prior), other.predict(X))
    calibrated = case.ours(calibrate="temperature").fit(X, y)
    p = calibrated.predict_proba(X)
    shares = np.bincount(y) / len(y)
    shifted = p * prior / shares
    np.testing.assert_allclose(
        calibrated.predict_proba(X, class_prior=prior), shifted / shifted.sum(axis=1, keepdims=True), rtol=1e-9
    )
    with pytest.raises(ValueError, match="priors"):
        model.predict(X, class_prior=[0.5, 0.5])


def test_complements_have_no_prior() -> None:
    with pytest.raises(ValueError, match="does not use class probabilities"):
        suffice.ComplementNB().fit([[1, 2], [2, 1]], [0, 1]).predict([[1, 1]], class_prior="uniform")


def test_reliability_counts_every_row_once() -> None:
    rng = np.random.default_rng(0)
    sure, right, weights = rng.random(500), rng.integers(0, 2, 500).astype(float), rng.uniform(0.5, 2, 500)
    found = Reliability.of(sure, right, weights)
    assert found.share.sum() == pytest.approx(1)
    assert found.share @ found.accuracy == pytest.approx(np.average(right, weights=weights))
    assert found.share @ found.confidence == pytest.approx(np.average(sure, weights=weights))
    assert Reliability.of(np.ones(3), np.ones(3)).error == 0
