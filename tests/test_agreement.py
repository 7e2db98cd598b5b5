"""Agreement with scikit-learn: attributes, methods and errors, and scikit-learn's own tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice
from conftest import Case, assert_same_scores, each_of_five, every_peer, example, tables

ATTRIBUTES = {
    "GaussianNB": ["theta_", "var_", "epsilon_", "class_prior_", "class_count_"],
    "BernoulliNB": ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"],
    "MultinomialNB": ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"],
    "ComplementNB": ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_", "feature_all_"],
    "CategoricalNB": ["class_count_", "class_log_prior_", "category_count_", "feature_log_prob_", "n_categories_"],
}
PREDICTIONS = ["predict_joint_log_proba", "predict_log_proba", "predict_proba", "predict"]


def assert_agreement(case: Case, ours: Any, theirs: Any, X: Any, rtol: float = 1e-9) -> None:
    for name in [*ATTRIBUTES[case.name], "classes_"]:
        left, right = getattr(ours, name), getattr(theirs, name)
        if isinstance(right, list):
            assert len(left) == len(right)
            for a, b in zip(left, right, strict=True):
                np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_allclose(left, right, rtol=rtol, atol=1e-12, err_msg=name)
    assert ours.n_features_in_ == theirs.n_features_in_
    for method in PREDICTIONS[:3]:
        np.testing.assert_allclose(
            getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-7, atol=1e-9, err_msg=method
        )
    joint = theirs.predict_joint_log_proba(X)
    chosen = joint[np.arange(len(joint)), np.searchsorted(ours.classes_, ours.predict(X))]
    np.testing.assert_allclose(chosen, joint.max(axis=1), rtol=1e-9, atol=1e-9)  # ties may fall differently


@every_peer
@given(data=st.data())
def test_any_small_table(case: Case, data: st.DataObject) -> None:
    X, y, weights = data.draw(tables(case))
    if case.name == "GaussianNB":
        X = X + np.linspace(0, 1, len(X))[:, None] * 100  # scikit-learn has NaN where a column is constant
        weights = None  # and takes its variance floor without weights
    if case.parameters.get("norm") and (X.shape[1] == 1 or len(np.unique(y)) == 1):
        return  # scikit-learn divides zero by zero
    ours, theirs = case.ours().fit(X, y, weights), case.theirs().fit(X, y, weights)
    assert_agreement(case, ours, theirs, X, rtol=1e-7)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@every_peer
def test_real_tables(case: Case, load: Any, kernels: str) -> None:
    X, y = load(return_X_y=True)
    if case.parameters.get("binarize", 0) is None:
        X = (np.median(X, axis=0) < X).astype(float)
    if case.name == "CategoricalNB":
        X = np.floor(X).clip(0, 20)
    assert_agreement(case, case.ours().fit(X, y), case.theirs().fit(X, y), X)


@pytest.mark.parametrize(
    "parameters",
    [{"alpha": 0.3}, {"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}, {"alpha": 1e-12, "force_alpha": True}],
    ids=str,
)
@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"])
def test_settings(name: str, parameters: dict[str, Any]) -> None:
    case = Case(name, st.integers(0, 9), {**parameters, **({"binarize": 4.0} if name == "BernoulliNB" else {})})
    X, y = example(case)
    assert_agreement(case, case.ours().fit(X, y), case.theirs().fit(X, y), X)


def test_settings_of_the_others() -> None:
    X, y = load_iris(return_X_y=True)
    for parameters in ({"priors": [0.2, 0.3, 0.5]}, {"var_smoothing": 0.1}):
        case = Case("GaussianNB", None, parameters)
        assert_agreement(case, case.ours().fit(X, y), case.theirs().fit(X, y), X)
    counts = np.floor(X)
    for name in ("MultinomialNB", "ComplementNB"):
        case = Case(name, None, {"alpha": [0.5, 1, 2, 3]})
        assert_agreement(case, case.ours().fit(counts, y), case.theirs().fit(counts, y), counts)
    for least in (12, [9, 10, 11, 12]):
        case = Case("CategoricalNB", None, {"min_categories": least})
        assert_agreement(case, case.ours().fit(counts, y), case.theirs().fit(counts, y), counts)


@each_of_five
def test_settings_changed_after_the_fit_count_at_once(case: Case) -> None:
    """scikit-learn would have to learn anew."""
    X, y = example(case)
    parameters = {"var_smoothing": 0.5} if case.name == "GaussianNB" else {"alpha": 7.0}
    changed = case.ours().fit(X, y).set_params(**parameters)
    assert_same_scores(changed.predict_proba(X), case.ours(**parameters).fit(X, y).predict_proba(X))


@pytest.mark.parametrize("labels", [["x", "y", "z"], [True, False, True], [-5, 0, 10**12], [2.0, 3.0, 4.0]], ids=str)
@each_of_five
def test_labels_of_any_kind(case: Case, labels: list[Any]) -> None:
    X, y = example(case)
    y = np.array(labels)[y]
    for target in (y, y.tolist(), pd.Series(y), y.astype(object)):
        ours = case.ours().fit(X, target)
        theirs = case.theirs().fit(X, y)
        assert ours.classes_.tolist() == theirs.classes_.tolist()
        assert ours.predict(X).tolist() == theirs.predict(X).tolist()


@each_of_five
def test_names_of_columns_are_kept_and_checked(case: Case) -> None:
    X, y = example(case)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = case.ours().fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.partial_fit(frame, y).feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"c0": "other"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    assert not hasattr(case.ours().fit(X, y), "feature_names_in_")
    with pytest.raises(TypeError, match="Feature names are only supported if all input features have string names"):
        case.ours().fit(frame.rename(columns={"c0": 0}), y)
    assert not hasattr(case.ours().fit(pd.DataFrame(X), y), "feature_names_in_")


@each_of_five
def test_in_scikit_learns_company(case: Case) -> None:
    X, y = example(case)
    assert cross_val_score(case.ours(), X, y, cv=3).mean() > 0.4
    name = "var_smoothing" if case.name == "GaussianNB" else "alpha"
    search = GridSearchCV(case.ours(), {name: [1e-3, 1.0]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_[name] in (1e-3, 1.0)
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()
    scaled = make_pipeline(MinMaxScaler((0, 9)), case.ours())
    if case.name == "CategoricalNB":
        with pytest.warns(UserWarning, match="takes levels as whole numbers"):
            scaled.fit(X, y)
    else:
        assert scaled.fit(X, y).score(X, y) > 0.4


@each_of_five
def test_weights_are_routed(case: Case) -> None:
    X, y = example(case)
    weights = np.arange(len(X)) % 2 + 0.0
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(case.ours().set_fit_request(sample_weight=True).set_partial_fit_request(classes=True))
        pipeline.fit(X, y, sample_weight=weights)
    assert pipeline[-1].tally_ == case.ours().fit(X, y, weights).tally_


# some checks pass fractions
@pytest.mark.filterwarnings("ignore:.*CategoricalNB takes levels as whole numbers:UserWarning")
@parametrize_with_checks(
    [
        *(getattr(suffice, name)() for name in (*ATTRIBUTES, "PoissonNB", "BayesClassifier")),
        suffice.BayesClassifier(prior="auto", calibrate="temperature"),
        suffice.BayesClassifier(structure="averaged", prior="auto", calibrate="isotonic"),
        suffice.GaussianNB(calibrate="temperature"),
    ]
)
def test_scikit_learns_checks_of_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_scikit_learns_own_tests() -> None:
    """scikit-learn's test file, with our classes in the place of its own."""
    script = Path(__file__).with_name("sklearn_naive_bayes_suite.py")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-2000:]
