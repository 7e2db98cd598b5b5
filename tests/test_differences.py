"""Differences from scikit-learn: each point of the list in docs/start/from_scikit_learn.md."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.naive_bayes as theirs

import suffice
from conftest import Case, each_of_five, example


def test_batches_do_not_drift() -> None:
    """Theirs takes its variance floor from the last batch."""
    rng = np.random.default_rng(0)
    X, y = np.c_[rng.normal(size=300), np.zeros(300)], rng.integers(0, 2, 300)
    X[:100] *= 100
    fitted = {}
    for kind in (suffice.GaussianNB, theirs.GaussianNB):
        model = kind(var_smoothing=0.1)
        for first in range(0, 300, 50):
            model.partial_fit(X[first : first + 50], y[first : first + 50], classes=[0, 1])
        fitted[kind] = np.abs(model.var_ / kind(var_smoothing=0.1).fit(X, y).var_ - 1).max()
    assert fitted[suffice.GaussianNB] < 1e-12
    assert fitted[theirs.GaussianNB] > 0.05


@each_of_five
def test_a_class_first_met_later_is_learned(case: Case) -> None:
    X, y = example(case)
    order = np.argsort(y)
    model = case.ours()
    for first in range(0, len(X), 60):
        model.partial_fit(X[order[first : first + 60]], y[order[first : first + 60]])
    assert model.tally_.isclose(case.ours().fit(X, y).tally_, 1e-12)
    model.partial_fit(X[:1], [99])
    assert model.classes_.tolist() == [0, 1, 2, 99]
    declared = case.ours().partial_fit(X, y, classes=[0, 1, 2, 3])
    assert declared.classes_.tolist() == [0, 1, 2, 3]
    assert declared.predict_proba(X)[:, 3].max() == 0 or case.name == "ComplementNB"
    assert declared.partial_fit(X[:1], [4]).classes_.tolist() == [0, 1, 2, 3, 4]
    assert declared.partial_fit(X[:1], [5], classes=range(6)).classes_.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_level_never_met_has_a_probability() -> None:
    """α / (n + α·(L + 1)): what the level would have had, had it been declared."""
    X, y = np.array([[0, 1], [1, 2], [1, 0], [0, 0]]), np.array([0, 0, 1, 1])
    with pytest.raises(IndexError):
        theirs.CategoricalNB().fit(X, y).predict([[7, 0]])
    ours = suffice.CategoricalNB(alpha=0.5).fit(X, y)
    declared = theirs.CategoricalNB(alpha=0.5, min_categories=[3, 3]).fit(X, y)
    expected = declared.feature_log_prob_[0][:, 2] + ours.feature_log_prob_[1][:, 0] + ours.class_log_prior_
    np.testing.assert_allclose(ours.predict_joint_log_proba([[7, 0]])[0], expected)
    assert np.isfinite(ours.predict_log_proba([[100, 100], [7, 2**40]])).all()


def test_levels_of_all_batches_count() -> None:
    """Theirs takes the number of levels from the last batch."""
    model = suffice.CategoricalNB().partial_fit([[4]], [0]).partial_fit([[1]], [1])
    assert model.n_categories_.tolist() == [5]
    assert theirs.CategoricalNB().partial_fit([[4]], [0], classes=[0, 1]).partial_fit([[1]], [1]).n_categories_ == [2]


@each_of_five
def test_a_batch_of_one_row(case: Case) -> None:
    X, y = example(case, rows=30)
    model = case.ours()
    for row in range(30):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        assert not np.isnan(model.predict_proba(X)).any()
    assert model.tally_.isclose(case.ours().fit(X, y).tally_, 1e-12)


def test_a_pseudo_count_for_each_column_of_bits() -> None:
    """Theirs cannot add a vector by column to counts by class."""
    X, y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]]), [0, 0, 1]
    with pytest.raises(ValueError, match="broadcast"):
        theirs.BernoulliNB(alpha=[1, 2, 3]).fit(X, y)
    p = np.exp(suffice.BernoulliNB(alpha=[1, 2, 3]).fit(X, y).feature_log_prob_)
    np.testing.assert_allclose(p, [[2 / 4, 2 / 6, 5 / 8], [2 / 3, 3 / 5, 3 / 7]])


def test_the_variance_floor_is_weighted() -> None:
    X, y = np.array([[0.0], [0.0], [10.0]]), [0, 0, 1]
    weighted = suffice.GaussianNB().fit(X, y, [1, 1, 5])
    repeated = suffice.GaussianNB().fit(np.repeat(X, [1, 1, 5], axis=0), np.repeat(y, [1, 1, 5]))
    np.testing.assert_allclose(weighted.epsilon_, repeated.epsilon_, rtol=1e-12)
    np.testing.assert_allclose(weighted.epsilon_, 1e-9 * np.var(np.repeat(X, [1, 1, 5])), rtol=1e-12)
