"""Edge cases of evaluation: cross-validation, comparison, calibration, streams and digests."""

from __future__ import annotations

import pickle
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice
from conftest import assert_same_scores
from suffice import BayesClassifier, BernoulliNB, CategoricalNB, GaussianNB, Window, batches, compare, cross_validate
from suffice.decision.calibration import MAPS
from suffice.folds.hold_out import hold_out
from suffice.parallel import map_threads

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("method", MAPS)
@pytest.mark.parametrize("model", [BernoulliNB(estimate="mle"), CategoricalNB(estimate="mle"), GaussianNB()], ids=repr)
def test_a_perfect_model_stays_perfect(model: Any, method: str) -> None:
    rows, labels = np.array([[0], [1]] * 10), np.array([0, 1] * 10)
    found = model.set_params(calibrate=method).fit(rows, labels)
    assert found.score(rows, labels) == 1
    assert found.calibration_.log_loss["after"] < 0.5
    assert not np.isnan(found.predict_proba(rows)).any()


def test_temperatures_of_any_size_are_found() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 30
    rows = np.c_[labels % 7, (labels // 3) % 6, rng.integers(0, 5, 120)] + rng.normal(size=(120, 3)) * 0.01
    weights = rng.integers(0, 3, 120).astype(float)
    weights[:60] = np.maximum(weights[:60], 1)  # two of each class have weight
    found = GaussianNB(calibrate="temperature").fit(rows, labels, sample_weight=weights).calibration_
    recipe = GaussianNB().recipe()
    held = hold_out(recipe, recipe, rows, labels, weights)
    assert held.log_proba.min() < -1e9
    assert -held.weights @ found(held.log_proba)[np.arange(len(held.codes)), held.codes] < 4 * held.weights.sum()


@pytest.mark.parametrize("method", MAPS)
def test_rows_of_no_weight_have_no_fold(method: str) -> None:
    weights = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    with_them = GaussianNB(calibrate=method).fit(X, y, weights)
    without = GaussianNB(calibrate=method).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(with_them.predict_proba(X), without.predict_proba(X), atol=1e-9)


def test_a_fold_of_no_weight_is_named() -> None:
    weights = np.r_[np.zeros(4), np.ones(16)]
    for function in (cross_validate, lambda model, *given, **named: compare(*given, [model], **named)):
        with pytest.raises(ValueError, match="split 0 predicts only rows of weight 0"):
            function(GaussianNB(), X[::7][:20], np.arange(20) % 2, cv=KFold(5), sample_weight=weights)


def test_more_folds_than_rows_of_a_class() -> None:
    labels = np.where(np.arange(150) < 3, "rare", y.astype(str))
    with pytest.warns(UserWarning, match=r"a class has fewer rows than cv=10 folds: 'rare' \(3\)"):
        assert np.isfinite(cross_validate(GaussianNB(), X, labels, scoring="neg_log_loss")["test_score"]).all()
    alone = np.where(np.arange(150) < 1, "alone", labels)
    with pytest.warns(UserWarning, match=r"2 classes have fewer rows.*'alone' \(1\), 'rare' \(2\)"):
        found = compare(X, alone, {"ours": BayesClassifier(structure="tree"), "theirs": theirs.GaussianNB()}, cv=5)
    assert all(np.isfinite(line["log_loss"]) for line in found.table)
    with pytest.warns(UserWarning, match="fewer rows"), pytest.warns(UserWarning, match="so it has no score"):
        assert np.isnan(cross_validate(GaussianNB(), X, alone, cv=5, scoring="roc_auc_ovr")["test_score"]).any()
    with pytest.raises(ValueError, match=r"no class has as many rows.*the largest has 3, so use cv=3"):
        cross_validate(GaussianNB(), X[:6], [0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="at least 2"):
        cross_validate(GaussianNB(), X, y, cv=1)
    with pytest.raises(ValueError, match="not known"):
        compare(X, y, cv="loo")
    with pytest.raises(ValueError, match="150 rows and y has 149"):
        cross_validate(GaussianNB(), X, y[1:])
    with pytest.raises(ValueError, match="150 rows to learn from and 0 to predict"):
        cross_validate(GaussianNB(), X, y, cv=[(np.arange(150), np.arange(0))])


def test_scorers_of_single_rows() -> None:
    one = cross_validate(GaussianNB(), X, y, cv=LeaveOneOut(), scoring=["accuracy", "neg_log_loss"])
    all_at_once = cross_validate(GaussianNB(), X, y, cv="loo", scoring=["accuracy", "neg_log_loss"])
    for name in ("test_accuracy", "test_neg_log_loss"):
        np.testing.assert_allclose(one[name], all_at_once[name], atol=1e-9)
    assert cross_validate(GaussianNB(), X, y, cv="loo", scoring="f1_macro")["test_score"].shape == (1,)
    with pytest.raises(ValueError, match="fits no models"):
        cross_validate(GaussianNB(), X, y, cv="loo", return_estimator=True)


def test_models_that_are_called_alike() -> None:
    with pytest.raises(ValueError, match="equal as text"):
        compare(X, y, {1: GaussianNB(), "1": theirs.GaussianNB()})
    found = compare(X, y, [GaussianNB(), theirs.GaussianNB(), GaussianNB()], cv=3)
    assert {line["model"] for line in found.table} == {
        "suffice.GaussianNB() #1",
        "suffice.GaussianNB() #2",
        "sklearn.GaussianNB()",
    }
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    assert len(compare(X, y, (model for model in (pipeline, GaussianNB())), cv=3).table) == 2
    assert len(compare(X, y, GaussianNB(), cv=3).table) == 1
    for wrong in ([GaussianNB], {"a": 3}, []):
        with pytest.raises(ValueError, match=r"not a classifier|nothing to compare"):
            compare(X, y, wrong, cv=3)


def test_what_a_fit_has_chosen_survives_sums_and_pickles() -> None:
    model = GaussianNB(calibrate="temperature").fit(X, y)
    np.testing.assert_allclose((model + model).calibration_(model.predict_log_proba(X)).shape, (150, 3))
    (model + model).predict_proba(X)
    assert_same_scores(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    chosen = BayesClassifier(prior="auto").fit(X, y)
    assert (chosen + chosen).chosen_ == chosen.chosen_
    chosen.set_params(prior=1.0).fit(X, y)
    assert not hasattr(chosen, "chosen_")
    search = GridSearchCV(GaussianNB(), {"calibrate": [None, "temperature", "isotonic"]}, scoring="neg_log_loss")
    assert search.fit(X, y).best_score_ > -0.2


def test_the_last_rows_must_be_those_that_were_learned() -> None:
    model = GaussianNB().fit(X, y)
    before = model.tally_
    with pytest.raises(ValueError, match="never learned"):
        model.forget(X * 100 + 7, y)
    with pytest.raises(ValueError, match="never learned"):
        model.forget(X[::-1], y)
    assert model.tally_ is before
    model.forget(X, y)


def test_a_window_of_rows_without_weight_and_of_a_buffer() -> None:
    window = Window(GaussianNB(), 2)
    window.learn([[1.0], [2.0]], ["a", "b"], [0.0, 1.0])
    window.learn([[3.0]], ["a"], [1.0])
    assert len(window) == 2
    assert window.model.theta_.tolist() == [[3.0], [2.0]]
    buffer, window = np.empty((5, 4)), Window(GaussianNB(), 20)
    for first in range(0, 150, 5):
        buffer[:] = X[first : first + 5]
        window.learn(buffer, y[first : first + 5])
    assert len(window) == 20


def test_models_that_do_not_stream() -> None:
    for model in (suffice.LogisticRegression(), suffice.MixtureClassifier()):
        with pytest.raises(ValueError, match="cannot learn in batches"):
            suffice.prequential(model, batches(X, y, 20))
    model = GaussianNB(calibrate="temperature")
    with pytest.raises(ValueError, match="learned by fit"):
        suffice.prequential(model, batches(X, y, 20))
    assert not hasattr(model, "tally_")
    order = np.random.default_rng(0).permutation(150)
    found = [
        suffice.prequential(kind().partial_fit(X, y, [0, 1, 2]), batches(X[order], y[order], 10))
        for kind in (GaussianNB, theirs.GaussianNB)
    ]
    np.testing.assert_allclose(found[0].accuracy, found[1].accuracy)
    for size in (1.5, "3", 0, True):
        with pytest.raises(ValueError, match="size"):
            list(batches(X, y, size))
    with pytest.raises(ValueError, match="the same length"):
        list(batches(X, y[:100], 20))


def test_words_about_decisions() -> None:
    model = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="reject_below"):
        model.predict(X, reject_below="a")
    with pytest.raises(ValueError, match="not a number"):
        model.predict(X, costs={(0, 1): "x"})
    with pytest.raises(ValueError, match="not a probability"):
        model.predict(X, class_prior=True)
    assert model.predict(X, reject_below=1.0, reject_label=("ask", "again")).tolist().count(("ask", "again")) > 0


def test_digests_of_frames() -> None:
    frame, labels = pd.DataFrame({"a": [0, 1, 2, 0], "b": [0, 1, 0, 1]}), [0, 1, 0, 1]
    for kind in (CategoricalNB, BernoulliNB, GaussianNB):
        named, plain = kind().fit(frame, labels).tally_, kind().fit(frame.to_numpy(), labels).tally_
        assert named == plain
        assert named.digest() == plain.digest()
        turned = kind().fit(frame[["b", "a"]], labels).tally_
        assert turned == named
        assert (turned + named).isclose(named * 2)


def test_what_is_impossible_is_so_for_fractions_of_a_word_too() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.random((60, 6)) * 0.2
    X[y == 0, :2] = 0
    X[y == 1, 2:4] = 0
    models = {rule: suffice.MultinomialNB(estimate=rule, alpha=1.0) for rule in ("mle", "mean")}
    with np.errstate(divide="ignore"):
        found = {line["model"]: line["accuracy"] for line in compare(X, y, models, cv=5).table}
        for name, model in models.items():
            assert found[name] == pytest.approx(cross_validate(model, X, y, cv=5)["test_score"].mean()), name
    assert found["mle"] == 1.0


def test_functions_that_score() -> None:
    def right(model: Any, rows: Any, labels: Any) -> float:
        return float(model.score(rows, labels))

    def weighed(model: Any, rows: Any, labels: Any, sample_weight: Any = None) -> float:
        return float(model.score(rows, labels, sample_weight))

    plain = cross_validate(GaussianNB(), X, y, cv=3)["test_score"]
    np.testing.assert_allclose(cross_validate(GaussianNB(), X, y, cv=3, scoring=right)["test_score"], plain)
    weights = np.arange(len(y)) % 3 + 1.0
    expected = cross_validate(GaussianNB(), X, y, cv=3, sample_weight=weights)["test_score"]
    found = cross_validate(GaussianNB(), X, y, cv=3, scoring=weighed, sample_weight=weights, return_train_score=True)
    np.testing.assert_allclose(found["test_score"], expected)

    def anything(model: Any, rows: Any, labels: Any, **more: Any) -> float:
        return weighed(model, rows, labels, **more)

    found = cross_validate(GaussianNB(), X, y, cv=3, scoring=anything, sample_weight=weights)
    np.testing.assert_allclose(found["test_score"], expected)
    with pytest.raises(ValueError, match="right takes no sample_weight"):
        cross_validate(GaussianNB(), X, y, cv=3, scoring=right, sample_weight=weights)
    with pytest.raises(ValueError, match="right needs a fitted model for each row"):
        cross_validate(GaussianNB(), X, y, cv="loo", scoring=right)
    with pytest.raises(ValueError, match="none is left to learn from"):
        cross_validate(GaussianNB(), X[:1], y[:1], cv="loo")


def test_rows_counted_from_the_last() -> None:
    rows = np.arange(len(y))
    plain, turned = (
        cross_validate(GaussianNB(), X, y, cv=[(rows[20:], test)]) for test in (rows[:20], rows[:20] - len(y))
    )
    np.testing.assert_allclose(plain["log_proba"], turned["log_proba"])
    with pytest.raises(ValueError, match="cv names row 150, but there are 150 rows"):
        cross_validate(GaussianNB(), X, y, cv=[(rows[20:], [150])])


def test_a_fit_forgets_what_an_earlier_one_has_chosen() -> None:
    model = GaussianNB(calibrate="temperature").fit(X, y)
    model.set_params(calibrate=None).fit(X[::2], y[::2]).set_params(calibrate="temperature")
    with pytest.raises(ValueError, match="is learned by fit"):
        model.predict_proba(X)
    table = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(y=y)
    named = BayesClassifier().fit_table(table, "y", weight="b")
    assert (named.target_name_, named.weight_name_) == ("y", "b")
    named.fit(table[["a"]], y)
    assert not hasattr(named, "target_name_")
    assert not hasattr(named, "weight_name_")


def test_what_is_no_split_no_score_and_no_model() -> None:
    with pytest.raises(ValueError, match="cv yields no splits"):
        cross_validate(GaussianNB(), X, y, cv=[])
    with pytest.raises(ValueError, match=r"scoring=several returns {'a': 1}, which is not a number"):

        def several(model: Any, rows: Any, labels: Any) -> dict[str, int]:
            return {"a": 1}

        cross_validate(GaussianNB(), X, y, scoring=several)
    with pytest.raises(TypeError, match=r"GaussianNB is a class; pass an instance: GaussianNB\(\)"):
        cross_validate(GaussianNB, X, y)


def test_ddof_of_classes_with_few_rows() -> None:
    rows, labels = np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]), np.array([0, 0, 1, 1, 1])
    for ddof in (0, 1):
        assert np.isfinite(cross_validate(GaussianNB(ddof=ddof), rows, labels, cv="loo")["test_score"]).all()
        model = GaussianNB(ddof=ddof)
        for row, label in zip(rows, labels, strict=True):
            model.partial_fit(row[None], [label]).predict(rows)
    with pytest.raises(ValueError, match="ddof=60 leaves nothing"):
        GaussianNB(ddof=60).fit(X, y).predict(X)


def test_blocks_of_threads_do_not_meddle() -> None:
    first, second = threading.Event(), threading.Event()

    def early() -> None:
        with suffice.threads(5):
            first.set()
            second.wait(10)

    def late() -> None:
        first.wait(10)
        with suffice.threads(3):
            second.set()
            started[0].join()

    before, started = suffice.get_threads(), [threading.Thread(target=each) for each in (early, late)]
    for each in started:
        each.start()
    for each in started:
        each.join()
    assert suffice.get_threads() == before
    with suffice.threads(7):
        assert set(map_threads(lambda _: suffice.get_threads(), range(20))) == {7}


def test_columns_of_empty_cells_have_no_parameters() -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v", "v", "u"] * 5})
    model = BayesClassifier(structure="averaged").fit(frame, [0, 1] * 10)
    parameters = model.estimate_model().parameters[0]
    assert replace(parameters, term=replace(parameters.term, sizes=np.array([0, 2]))).n_parameters == 2
