"""Numerical precision: large offsets, merging and forgetting."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

import suffice
from conftest import data
from suffice.statistics import Moments
from suffice.statistics.cancellation import LostDigitsError
from suffice.statistics.moments import OTHER_OPERATIONS, ROUNDED


def exact_variance(column: Any, weights: Any = None) -> float:
    """Return the variance by exact fractions."""
    values = [Fraction(float(value)) for value in column]
    shares = [Fraction(float(w)) for w in (weights if weights is not None else np.ones(len(values)))]
    mean = sum(w * v for w, v in zip(shares, values, strict=True)) / sum(shares)
    return float(sum(w * (v - mean) ** 2 for w, v in zip(shares, values, strict=True)) / sum(shares))


@pytest.fixture
def far_away() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return rng.normal(1e9, 1, (600, 2)), rng.integers(0, 2, 600)


def variances(model: Any) -> Any:
    moments = model.tally_.statistics[0]
    return moments.m2 / moments.n


def expected(X: Any, y: Any, weights: Any = None) -> Any:
    return np.array(
        [[exact_variance(X[y == k, j], None if weights is None else weights[y == k]) for j in range(2)] for k in (0, 1)]
    )


def test_a_mean_of_a_billion(far_away: Any, kernels: str) -> None:
    X, y = far_away
    np.testing.assert_allclose(variances(suffice.GaussianNB().fit(X, y)), expected(X, y), rtol=1e-12)
    weights = np.random.default_rng(0).uniform(0.1, 3, len(X))
    np.testing.assert_allclose(variances(suffice.GaussianNB().fit(X, y, weights)), expected(X, y, weights), rtol=1e-12)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_mean_of_a_billion_in_batches(far_away: Any, size: int) -> None:
    X, y = far_away
    model = suffice.GaussianNB()
    for first in range(0, len(X), size):
        model.partial_fit(X[first : first + size], y[first : first + size])
    np.testing.assert_allclose(variances(model), expected(X, y), rtol=1e-11)


def test_a_mean_of_a_billion_after_forgetting(far_away: Any) -> None:
    X, y = far_away
    model = suffice.GaussianNB().fit(X, y)
    for first in range(300, 600, 50):
        model.forget(X[first : first + 50], y[first : first + 50])
    np.testing.assert_allclose(variances(model), expected(X[:300], y[:300]), rtol=1e-9)


def test_an_outlier_first(kernels: str) -> None:
    """The shift is the first row, and the first row may be far from all others."""
    rng = np.random.default_rng(0)
    X = np.concatenate([[[1e6, -1e6]], rng.normal(0, 1, (5000, 2))])
    model = suffice.GaussianNB().fit(X, np.zeros(len(X), int))
    np.testing.assert_allclose(variances(model)[0], [exact_variance(X[:, 0]), exact_variance(X[:, 1])], rtol=1e-12)


def test_single_precision_is_added_up_in_double() -> None:
    X = np.full((200_000, 1), 0.1, np.float32)
    model = suffice.MultinomialNB().fit(X, np.zeros(len(X), int))
    np.testing.assert_allclose(model.feature_count_, 200_000 * float(np.float32(0.1)), rtol=1e-12)


def test_logarithms_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 5000))
    y = rng.integers(0, 2, 200)
    model = suffice.BernoulliNB().fit(X, y)
    joint = model.predict_joint_log_proba(X)
    assert np.isfinite(joint).all()
    assert (joint < -1000).all()  # far below what a probability can hold
    np.testing.assert_allclose(logsumexp(model.predict_log_proba(X), axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"])
@pytest.mark.parametrize("sparse", [False, True])
def test_zero_counts_without_smoothing(name: str, sparse: bool, kernels: str) -> None:
    """What never occurred has probability 0, and 0 times −∞ is still 0; nothing is ever NaN."""
    import scipy.sparse as sp

    if sparse and name == "CategoricalNB":
        return
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (30, 6)) * np.array([1, 1, 1, 1, 0, 1])
    y = np.arange(30) % 3
    X[y == 0, 0] = 0
    X[y == 1, 1] = 1
    model = getattr(suffice, name)(alpha=0.0).fit(sp.csr_array(X) if sparse else X, y)
    every = np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1).T
    rows = sp.csr_array(every) if sparse else every
    joint, proba = model.predict_joint_log_proba(rows), model.predict_proba(rows)
    assert not np.isnan(joint).any()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(rows))
    if name == "BernoulliNB":  # a brute product of probabilities
        p = model.feature_count_ / model.class_count_[:, None]
        product = np.where(every[:, None, :] == 1, p, 1 - p).prod(axis=2) / 3
        np.testing.assert_allclose(np.exp(joint), product, atol=1e-15)


def test_a_row_impossible_everywhere_leaves_the_prior() -> None:
    model = suffice.CategoricalNB(alpha=0.0).fit([[0], [0], [1]], ["a", "a", "b"])
    np.testing.assert_allclose(model.predict_proba([[5]]), [[2 / 3, 1 / 3]])
    assert model.predict([[5]]).tolist() == ["a"]
    assert (model.predict_joint_log_proba([[5]]) == -np.inf).all()


@pytest.mark.parametrize("var_smoothing", [1e-9, 0.0])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 5.0]], [0]),
        ([[1.0, 5.0], [2.0, 5.0]], [0, 1]),
        ([[3.0, 3.0]] * 4, [0, 0, 1, 1]),
        ([[1.0, 2.0], [3.0, 4.0]], [7, 7]),
        ([[0.0, 1e200], [0.0, -1e-200]], [0, 1]),
    ],
    ids=["one row", "one row a class", "all constant", "one class", "enormous"],
)
def test_degenerate_tables_give_numbers(X: Any, y: Any, var_smoothing: float) -> None:
    if np.abs(X).max() > 1e150:
        X = np.array(X) / 1e60
    model = suffice.GaussianNB(var_smoothing=var_smoothing).fit(X, y)
    for rows in (X, np.array(X) + 1.0, np.array(X) * 1e3):
        assert not np.isnan(model.predict_joint_log_proba(rows)).any()
        np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1)
    assert (model.var_ > 0).all()
    for name in ("BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"):
        counts = np.minimum(np.abs(np.array(X)), 9).round()
        other = getattr(suffice, name)().fit(counts, y)
        np.testing.assert_allclose(other.predict_proba(counts).sum(axis=1), 1)


def test_numbers_too_large_to_square_are_named() -> None:
    with pytest.raises(ValueError, match="column 1 are so large that their squares overflow"):
        suffice.GaussianNB().fit([[0.0, 1e200], [0.0, -1e200]], [0, 0])


def test_outliers_are_forgotten_exactly_or_not_at_all() -> None:
    X, y = [[0.1], [0.7], [123456789.1], [-987654321.7]], [0, 1, 0, 1]
    for settings in ({}, {"estimate": "mean"}, {"estimate": "predictive"}, {"var_smoothing": 0.0}):
        model = suffice.GaussianNB(**settings).fit(X, y)
        before = model.tally_
        with pytest.raises(ValueError, match=r"so much of column 0 in class 0 was forgotten .* fit again"):
            model.forget(X[2:], y[2:])
        assert model.tally_ is before


@pytest.mark.parametrize("numeric", ["auto", "mdl", "gaussian"])
def test_forms_are_not_chosen_from_lost_digits(numeric: Any) -> None:
    """Without the outlier, the mean of class "a" would be its rounding error, and the column would have other bins."""
    X = pd.DataFrame({"size": [0.3, -1.2, 0.8, 2.1, -0.4, 1.7, 9e48]})
    y = np.array(["a", "b", "a", "b", "b", "a", "a"])
    for structure in ("joint", "naive", "averaged"):
        model = suffice.BayesClassifier(structure=structure, numeric=numeric).fit(X, y)
        before = model.tally_
        with pytest.raises(LostDigitsError, match=r"so much of column 'size' in class 'a' was forgotten .* fit again"):
            model.forget(X[6:], y[6:])
        assert model.tally_ is before


def test_ordinary_rows_are_forgotten() -> None:
    rng = np.random.default_rng(0)
    for seed in range(100):
        rows, scale = int(rng.integers(12, 200)), 10.0 ** rng.uniform(0, 6)
        X = pd.DataFrame({"x": rng.normal(rng.choice([0.0, scale]), scale, rows), "z": np.exp(rng.normal(0, 2, rows))})
        y, cut = rng.integers(0, 3, rows), int(rng.integers(1, rows - 10))
        kind = (suffice.GaussianNB, suffice.GaussianDiscriminant, suffice.BayesClassifier)[seed % 3]
        settings = {"structure": "naive"} if kind is suffice.BayesClassifier else {}
        kind(**settings).fit(X, y).forget(X[:cut], y[:cut])


@pytest.mark.parametrize("structure", ["naive", "averaged", "full"])
def test_titanic_forgets_high_fares_and_most_rows(structure: Any) -> None:
    X = pd.read_csv(data("tabular/titanic.csv")).drop(columns="alive")
    y = X.pop("survived").to_numpy()
    model = suffice.BayesClassifier(structure=structure).fit(X, y)
    for rows in (X["fare"] > 100, np.random.default_rng(0).random(len(X)) < 0.98):
        assert model.tally_without(X[rows], y[rows]).class_count.sum() == (~rows).sum()


def test_no_error_is_beyond_its_bound() -> None:
    """Errors of less than 1e-12 are those of any sum; the bound is for what is subtracted."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        x = rng.normal(size=30) * 10.0 ** rng.uniform(0, rng.choice([0, 6, 30]), 30) + rng.choice([0.0, 1e9])
        weights = rng.uniform(0.1, 3, 30) * 10.0 ** rng.choice([0, -30])
        parts = np.array_split(rng.permutation(30), 6)
        learned = [Moments.of(x[part, None], weights[part]) for part in parts]
        left = sum(learned[1:], learned[0])
        for gone in range(5):
            left = left - learned[gone]
            rest = np.concatenate(parts[gone + 1 :])
            values, shares = ([Fraction(float(v)) for v in each[rest]] for each in (x, weights))
            n = sum(shares)
            mean = sum(w * v for w, v in zip(shares, values, strict=True)) / n
            m2 = sum(w * (v - mean) ** 2 for w, v in zip(shares, values, strict=True))
            bound = left.error[0, 0]
            assert abs(Fraction(left.m2[0, 0]) - m2) <= max(Fraction(bound), m2 / 10**12)
            of_mean = np.sqrt(2 * OTHER_OPERATIONS * ROUNDED * bound / float(n)) + 1e-15 * abs(float(mean))
            assert abs(Fraction(left.mean[0, 0]) + Fraction(left.tail[0, 0]) - mean) <= of_mean


def test_digits_are_not_lost_step_by_step() -> None:
    """Each step leaves a millionth of the squares, which by itself would leave ten digits."""
    X = np.array([[1e9], [1e6], [1e3], [1.0], [0.5], [0.25]])
    y = np.zeros(len(X), int)
    model = suffice.GaussianNB(var_smoothing=0.0).fit(X, y)
    model.forget(X[:1], y[:1])
    with pytest.raises(ValueError, match="lost in rounding"):
        model.forget(X[1:3], y[1:3])


def test_a_setting_that_needs_lost_digits_is_refused_later() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 1)) * 1e-6, [[1e3]], rng.normal(size=(50, 1))])
    y = [0] * 51 + [1] * 50
    model = suffice.GaussianNB(estimate="mean").fit(X, y).forget(X[50:51], [0])  # the prior decides about the variance
    assert np.isfinite(model.predict_proba(X)).all()
    with pytest.raises(ValueError, match="column 0 in class 0 was forgotten"):
        model.set_params(estimate="mle", var_smoothing=0.0).predict(X)


def test_fractional_weights_of_all_but_one_row() -> None:
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(40):
        X, y, weights = rng.normal(size=(8, 2)) * 10.0 ** rng.integers(0, 2, (8, 1)), np.arange(8) % 2, rng.random(8)
        model, never = suffice.GaussianNB().fit(X, y, weights), suffice.GaussianNB().fit(X[:2], y[:2], weights[:2])
        try:
            model.forget(X[2:], y[2:], weights[2:])
        except ValueError:
            refused += 1
            continue
        np.testing.assert_allclose(model.predict_proba(X), never.predict_proba(X), atol=1e-6)
    assert refused < 20


def test_the_error_of_squares_travels_with_the_sums() -> None:
    far = Moments.of([[1e9], [1.0], [2.0]]) - Moments.of([[1e9]])
    assert far.error > 1.0
    assert (far * 0.5).error == far.error / 2
    assert (far + Moments.of([[3.0]])).error == far.error
    assert not Moments.of([[1e9], [1.0]]).error.any()
    assert not (far - Moments.of([[1.0], [2.0]])).error.any()  # no rows are left


@pytest.mark.parametrize(
    ("X", "problem"),
    [
        ([[0.0], [1e300], [1.0], [2.0]], "overflow"),
        ([[0.0], [1e-170], [1e-171], [2e-170]], "underflow"),
        ([[0.0], [1e-154], [1e-155], [2e-154]], "underflow"),
    ],
)
def test_squares_that_are_no_numbers_are_refused(X: Any, problem: str) -> None:
    for estimate in ("mle", "map", "mean", "predictive"):
        with pytest.raises(ValueError, match=f"column 0 are so .* that their squares {problem}; rescale it"):
            suffice.GaussianNB(estimate=estimate).fit(X, [0, 1, 2, 2])


def test_covariances_of_numbers_that_are_too_close_are_refused() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)) * 1e-3 + [1e12, 0.0], np.arange(20) % 2
    with pytest.raises(ValueError, match="column 0 are so close together"):
        suffice.GaussianDiscriminant().fit(X, y)
    suffice.GaussianDiscriminant().fit(X - [1e12, 0.0], y)


def test_counts_whose_factorial_overflows_are_named() -> None:
    with pytest.raises(ValueError, match=r"column 0 is 1e\+306 in row 0, which is not a count"):
        suffice.PoissonNB().fit([[1.0], [2.0]], [0, 1]).predict([[1e306]])
