"""Logistic regression: derivatives, optima, and the conversion of generative models."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.utils.estimator_checks import check_estimator

import suffice
from suffice import GaussianDiscriminant, LogisticRegression
from suffice.logistic.forms import LinearForm, lift_rows
from suffice.logistic.loss import Problem
from suffice.logistic.solver import newton


def problem(classes: int, sparse: bool = False, penalty: float = 0.3, rows: int = 120) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 4)) * (rng.random((rows, 4)) < 0.6)
    codes = rng.integers(0, classes, rows)
    weights = rng.uniform(0.5, 2, rows)
    return Problem(sp.csr_array(X) if sparse else X, codes, weights, classes, penalty, True)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_gradient_and_hessian_are_the_differences(classes: int, sparse: bool) -> None:
    its = problem(classes, sparse)
    at = np.random.default_rng(1).normal(size=its.shape)

    def value(flat: np.ndarray) -> float:
        parameters = flat.reshape(its.shape)
        return its.value(parameters, its.probabilities(its.linear(parameters))[1])

    def gradient(flat: np.ndarray) -> np.ndarray:
        parameters = flat.reshape(its.shape)
        return its.evaluate(parameters)[2].ravel()

    np.testing.assert_allclose(gradient(at.ravel()), approx_fprime(at.ravel(), value, 1e-7), rtol=1e-4, atol=1e-4)
    p = its.probabilities(its.linear(at))[0]
    whole = its.hessian(p)
    for place in range(at.size):
        unit = np.zeros(at.size)
        unit[place] = 1e-5
        change = (gradient(at.ravel() + unit) - gradient(at.ravel() - unit)) / 2e-5
        by_product = its.hessian_product(p, (unit / 1e-5).reshape(its.shape))
        np.testing.assert_allclose(by_product.ravel(), change, rtol=1e-5, atol=1e-5)
        line, score = divmod(place, its.shape[1])
        np.testing.assert_allclose(whole[score * its.shape[0] + line], by_product.T.ravel(), rtol=1e-9, atol=1e-9)


SETS = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_the_optimum_is_that_of_scikit_learn(name: str, C: float) -> None:
    X, y = SETS[name](return_X_y=True)
    X = (X - X.mean(0)) / np.maximum(X.std(0), 1e-9)
    ours = LogisticRegression(C=C).fit(X, y)
    theirs = Theirs(C=C, solver="newton-cholesky", tol=1e-10, max_iter=500).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=2e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    two = y < 2
    ours = LogisticRegression(C=C).fit(X[two], y[two])
    theirs = Theirs(C=C, solver="newton-cholesky", tol=1e-10).fit(X[two], y[two])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_both_ways_to_solve_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import suffice.logistic.solver as solver

    X, y = load_digits(return_X_y=True)
    found = []
    for factored in (10**9, 0):
        monkeypatch.setattr(solver, "FACTORED", factored)
        found.append(LogisticRegression(C=0.01).fit(X / 16, y).coef_)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_many_sparse_features() -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((400, 6000), density=0.01, rng=rng, format="csr")
    y = (np.asarray(X[:, :50].sum(axis=1)).ravel() > np.median(np.asarray(X[:, :50].sum(axis=1)))).astype(int)
    ours = LogisticRegression().fit(X, y)
    theirs = Theirs(tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    three = LogisticRegression().fit(X, rng.integers(0, 3, 400))
    assert np.isfinite(three.coef_).all()


def test_convergence_is_quadratic() -> None:
    """Lecture 002: near the optimum the number of right digits doubles with each step."""
    its = problem(2, penalty=0.0, rows=400)
    gradients = [step["gradient"] for step in newton(its, np.zeros(its.shape), steps=30, tolerance=1e-13).trace]
    last = [g for g in gradients if 1e-9 < g < 1.0]
    assert len(gradients) < 10
    for before, after in pairwise(last):
        assert after < 10 * before**1.7


def test_weights_are_repetitions_and_sparse_is_dense() -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    one = LogisticRegression().fit(X, y, weights)
    np.testing.assert_allclose(one.coef_, LogisticRegression().fit(X[rows], y[rows]).coef_, atol=1e-7)
    np.testing.assert_allclose(one.coef_, LogisticRegression().fit(sp.csr_array(X), y, weights).coef_, atol=1e-7)
    for lift in ("linear", "quadratic"):
        dense = LogisticRegression(lift=lift).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(
            LogisticRegression(lift=lift).fit(sp.csr_array(X), y).predict_proba(X), dense, atol=1e-7
        )


def models() -> list[tuple[Any, Any, Any]]:
    """Models with a linear form, their rows, and the features that the form multiplies."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    counts = rng.poisson(1 + y[:, None] * rng.random(5)).clip(0, 4)
    numbers = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) + y[:, None]
    one_hot = np.concatenate([np.eye(c.max() + 1)[c] for c in counts.T], axis=1)
    return [
        (suffice.BernoulliNB().fit(counts, y), counts, (counts > 0).astype(float)),
        (suffice.MultinomialNB().fit(counts, y), counts, counts),
        (suffice.PoissonNB().fit(counts, y), counts, counts),
        (suffice.CategoricalNB().fit(counts, y), counts, one_hot),
        (suffice.GaussianNB().fit(numbers, y), numbers, numbers),
        (GaussianDiscriminant().fit(numbers, y), numbers, numbers),
        (GaussianDiscriminant(covariance="shared").fit(numbers, y), numbers, numbers),
        (GaussianDiscriminant(covariance="chain").fit(numbers, y), numbers, numbers),
    ]


@pytest.mark.parametrize("place", range(8))
def test_a_generative_model_is_a_softmax(place: int) -> None:
    model, X, features = models()[place]
    form = model.as_linear()
    np.testing.assert_allclose(form.log_posterior(features), model.predict_log_proba(X), rtol=1e-10, atol=1e-10)
    regression = LogisticRegression.from_generative(model, max_iter=1, C=1e6)
    y = np.random.default_rng(0).integers(0, 3, 200)
    with pytest.warns(ConvergenceWarning):
        regression.fit(features, y)
    plain = LogisticRegression(lift=regression.lift, start="zero", C=1e6).fit(features, y)
    assert regression.trace_[0]["objective"] < plain.trace_[0]["objective"]


def additive_part(form: LinearForm, column: int, values: np.ndarray) -> np.ndarray:
    """Return what one column adds to the score of each class, [value, class]."""
    x = values[:, None]
    if form.lift != "quadratic":
        return x * form.coefficients[:, column]
    first, second = np.triu_indices(int((np.sqrt(9 + 8 * form.coefficients.shape[1]) - 3) / 2))
    assert not form.coefficients[:, : len(first)][:, first != second].any()
    square = form.coefficients[:, np.flatnonzero((first == column) & (second == column))[0]]
    return x**2 * square + x * form.coefficients[:, len(first) + column]


def test_the_log_odds_are_an_additive_model() -> None:
    """Lecture 001: α₀ + Σ αᵢ(xᵢ)."""
    X, y = load_iris(return_X_y=True)
    for model in (suffice.GaussianNB(), GaussianDiscriminant(covariance="shared")):
        form = model.fit(X, y).as_linear()
        total = form.intercepts + sum(additive_part(form, j, X[:, j]) for j in range(4))
        said = model.predict_log_proba(X)
        np.testing.assert_allclose(total[:, 1] - total[:, 0], said[:, 1] - said[:, 0], rtol=1e-8)


def test_what_has_no_linear_form_says_so() -> None:
    X, y = load_iris(return_X_y=True)
    for model in (suffice.GaussianNB(estimate="predictive"), suffice.BayesClassifier(), suffice.MixtureClassifier()):
        with pytest.raises(ValueError, match="linear"):
            model.fit(X, y).as_linear()


def test_the_generative_start_saves_steps() -> None:
    X, y = make_classification(4000, 20, n_informative=10, n_classes=4, random_state=0)
    near = LogisticRegression().fit(X, y)
    far = LogisticRegression(start="zero").fit(X, y)
    np.testing.assert_allclose(near.coef_, far.coef_, atol=1e-6)
    assert near.n_iter_.item() < far.n_iter_.item()


def test_lifts() -> None:
    X = np.array([[2.0, 3.0], [0.0, 5.0]])
    np.testing.assert_array_equal(lift_rows(X, "quadratic"), [[4, 6, 9, 2, 3], [0, 0, 25, 0, 5]])
    np.testing.assert_array_equal(lift_rows(sp.csr_array(X), "quadratic").toarray(), lift_rows(X, "quadratic"))
    rng = np.random.default_rng(0)
    ring = rng.normal(size=(400, 2))
    y = (ring**2).sum(1) > 1.2
    assert (
        LogisticRegression(C=None, lift="quadratic", max_iter=20)
        .fit(ring[::2], y[::2] ^ (rng.random(200) < 0.02))
        .score(ring, y)
        > 0.92
    )
    assert LogisticRegression().fit(ring, y).score(ring, y) < 0.8


def test_the_summary_is_the_inverse_of_the_information() -> None:
    its = problem(2, penalty=0.0, rows=300)
    model = LogisticRegression(C=None).fit(its.X, its.codes, its.weights)
    lines = model.summary()
    assert [line["feature"] for line in lines] == ["x0", "x1", "x2", "x3", "(intercept)"]
    design = np.column_stack([its.X, np.ones(300)])
    p = model.predict_proba(its.X)[:, 1]
    covariance = np.linalg.inv(design.T @ (design * (its.weights * p * (1 - p))[:, None]))
    np.testing.assert_allclose([line["error"] for line in lines], np.sqrt(np.diag(covariance)), rtol=1e-8)
    for one, other in zip(lines, model.summary(X=its.X, sample_weight=its.weights), strict=True):
        np.testing.assert_allclose(one["error"], other["error"], rtol=1e-9)
    model._hessian = None
    with pytest.raises(ValueError, match="pass summary"):
        model.summary()
    for line in lines:
        assert line["lower"] < line["estimate"] < line["upper"]
        assert 0 <= line["p"] <= 1


def test_separated_classes_are_said_to_be() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="separated perfectly"):
        model = LogisticRegression(C=None).fit(X, y == 0)
    assert model.score(X, y == 0) == 1.0
    assert np.isfinite(model.coef_).all()


def test_bad_input() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="at least 2 classes"):
        LogisticRegression().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LogisticRegression().fit(X, y[:100])
    with pytest.raises(ValueError, match="'C' parameter"):
        LogisticRegression(C=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="the largest entry of the gradient is"):
        LogisticRegression(max_iter=1, start="zero").fit(X, y)
    wrong = X.copy()
    wrong[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN: column 2 is nan in row 3"):
        LogisticRegression().fit(wrong, y)
    with pytest.raises(ValueError, match="NaN: column 'c' is nan in row 3"):
        LogisticRegression().fit(pd.DataFrame(wrong, columns=list("abcd")), y)
    with pytest.raises(ValueError, match="start has 4 features"):
        LogisticRegression(start=GaussianDiscriminant(covariance="shared").fit(X, y).as_linear()).fit(X[:, :2], y)


def test_a_probability_of_zero_has_no_coefficient() -> None:
    X, y = np.array([[1, 0], [1, 1], [1, 0], [1, 1]]), [0, 1, 0, 1]
    for name in ("BernoulliNB", "CategoricalNB", "MultinomialNB", "PoissonNB"):
        with pytest.raises(ValueError, match="contains a probability of 0"):
            getattr(suffice, name)(estimate="mle").fit(X, y).as_linear()


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X[:, :3], y)
    before = model.predict_proba(X[:, :3])
    for wrong in ((X, np.zeros(150)), (X, y[:10]), (np.where(X > 7, np.nan, X), y)):
        with pytest.raises(ValueError, match=r"."):
            model.fit(*wrong)
    np.testing.assert_array_equal(model.predict_proba(X[:, :3]), before)


@pytest.mark.parametrize("classes", [2, 3])
def test_units_of_columns_do_not_matter(classes: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.argmax(X @ rng.normal(size=(3, classes)) + rng.gumbel(size=(300, classes)), axis=1)
    units = np.array([1e-6, 1.0, 1e6])
    one, other = LogisticRegression(C=None).fit(X, y), LogisticRegression(C=None).fit(X * units, y)
    np.testing.assert_allclose(one.coef_, other.coef_ * units, rtol=1e-5)
    for mine, theirs in zip(one.summary(), other.summary(), strict=True):
        np.testing.assert_allclose(mine["z"], theirs["z"], rtol=1e-4)
    still = LogisticRegression(C=None).fit(np.column_stack([X, np.zeros(300)]), y)
    assert still.summary()[3]["error"] == np.inf
    assert still.summary()[3]["p"] == 1.0


def test_columns_that_say_the_same_on_the_large_path() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 450))
    X[:, 449] = X[:, 0]
    y = (X[:, 0] + rng.logistic(size=3000) > 0).astype(int)
    model = LogisticRegression(C=None).fit(X, y)
    assert np.abs(model.coef_).max() < 100


def test_what_drifts_is_said_to() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    flag = (np.arange(200) % 7 == 0).astype(float)
    with pytest.warns(ConvergenceWarning, match="would grow without end"):
        LogisticRegression(C=None).fit(np.column_stack([X, flag]), np.where(flag > 0, 1, y))
    x = np.repeat([-1.0, 1.0], 500)[:, None]
    labels, weights = (x[:, 0] > 0).astype(int), np.ones(1000)
    labels[0], weights[0] = 1, 0
    with pytest.warns(ConvergenceWarning, match="separated perfectly"):
        model = LogisticRegression(C=None).fit(x, labels, weights)
    assert np.isfinite(model.coef_).all()


def test_numbers_too_large_are_an_error() -> None:
    X, y = load_iris(return_X_y=True)
    for start in ("zero", "generative"):
        with pytest.raises(ValueError, match="rescale the columns"):
            LogisticRegression(start=start).fit(X * 1e300, y)


@pytest.mark.filterwarnings("ignore:Skipping check check_array_api_input:sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_accepts_it() -> None:
    with pytest.warns(ConvergenceWarning, match="grow nearly without end"):  # a check gives a class no weight
        checks = check_estimator(LogisticRegression(), on_fail=None)
    assert [check["check_name"] for check in checks if check["status"] == "failed"] == []


@pytest.mark.parametrize("classes", [2, 3])
def test_what_rows_do_not_tell_has_no_end(classes: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % classes
    plain = [line["error"] for line in LogisticRegression(C=None).fit(X, y).summary()]
    assert np.isfinite(plain).all()
    for column, untold in ((X[:, 0], {"x0", "x2"}), (np.full(90, 7.0), {"x2", "(intercept)"}), (0 * y, {"x2"})):
        lines = LogisticRegression(C=None).fit(np.c_[X, column], y).summary()
        assert {line["feature"] for line in lines if np.isinf(line["error"])} == untold
        known = [line["error"] for line in lines if line["feature"] == "x1"]
        np.testing.assert_allclose(known, plain[1::3], rtol=1e-6)


def test_a_class_of_no_weight_is_no_want_of_a_penalty() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="all rows of a class have weight 0.*lower C"):
        LogisticRegression(C=1.0).fit(X, y, sample_weight=(y > 0) * 1.0)


def test_settings_that_take_effect_in_fitting() -> None:
    X, y = load_iris(return_X_y=True)
    for changed in ({"lift": "quadratic"}, {"fit_intercept": False}):
        model = LogisticRegression().fit(X, y).set_params(**changed)
        for ask in (lambda its: its.predict(X), lambda its: its.summary(), lambda its: its.as_linear()):
            with pytest.raises(ValueError, match="fit it again"):
                ask(model)
    assert LogisticRegression().fit(X, y).set_params(C=5.0).score(X, y) > 0.9


@pytest.mark.filterwarnings("error")
def test_a_warning_that_is_an_error_leaves_the_model_as_it_was() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    before = dict(model.__dict__)
    with pytest.raises(ConvergenceWarning):
        model.set_params(max_iter=1).fit(X[:, :2], y)
    assert model.__dict__ == before | {"max_iter": 1}


def test_dates_are_named() -> None:
    frame = pd.DataFrame({"day": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"]), "n": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"column 'day' holds datetime64.* needs numbers; turn it into numbers"):
        LogisticRegression().fit(frame, [0, 1, 0])
    with pytest.raises(ValueError, match="X holds datetime64"):
        LogisticRegression().fit(frame[["day"]].to_numpy(), [0, 1, 0])


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("settings", [{}, {"l1_ratio": 0.5, "C": 0.1}, {"lift": "quadratic"}])
def test_single_precision_is_kept_and_solved_in_double(classes: int, settings: dict[str, Any], tmp_path: Path) -> None:
    X, y = make_classification(400, 8, n_informative=6, n_redundant=0, n_classes=classes, random_state=0)
    X = X.astype(np.float32)
    narrow, wide = LogisticRegression(**settings).fit(X, y), LogisticRegression(**settings).fit(X.astype(np.float64), y)
    assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
    assert wide.coef_.dtype == wide.predict_proba(X[:1]).dtype == np.float64
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=2e-7, atol=1e-7)
    assert narrow.n_iter_ == wide.n_iter_
    sparse = LogisticRegression(**settings).fit(sp.csr_matrix(X), y)
    assert sparse.coef_.dtype == np.float32
    np.testing.assert_allclose(sparse.coef_, narrow.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(narrow.predict_proba(X), wide.predict_proba(X), atol=1e-5)
    loaded: Any = suffice.load(narrow.save(tmp_path / "narrow.suffice"))
    np.testing.assert_array_equal(loaded.coef_, narrow.coef_)


def test_single_precision_is_not_copied() -> None:
    """No array of doubles has as many cells as X."""
    import tracemalloc

    rng = np.random.default_rng(0)
    X, y = rng.random((120_000, 50), np.float32), rng.integers(0, 2, 120_000)
    LogisticRegression().fit(X[:2000], y[:2000])
    tracemalloc.start()
    LogisticRegression().fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2 * X.nbytes  # a copy in doubles takes 2 * X.nbytes by itself


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_blocks_are_those_of_the_whole(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.logistic.loss.BLOCK", 1)  # blocks of 64 rows
    rng = np.random.default_rng(0)
    X, W, weights = rng.random((500, 50)).astype(dtype), rng.normal(size=(51, 1)), rng.random(500)
    ours, x = Problem(X, rng.integers(0, 2, 500), None, 2, 1.0, True), np.hstack([X, np.ones((500, 1))]).astype(float)
    for found, expected in (
        (ours.linear(W), x @ W),
        (ours.transposed_product(weights[:, None]), x.T @ weights[:, None]),
        (ours.gram(weights), x.T @ (x * weights[:, None])),
        (ours.squares(weights), (x**2).T @ weights),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_coefficients_do_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30_000, 40)), rng.integers(0, 2, 30_000)
    found = []
    for count in (1, 2, 3):
        with suffice.threads(count):
            found.append([LogisticRegression(l1_ratio=ratio, C=0.01).fit(X, y).coef_ for ratio in (0.0, 0.5)])
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_an_infinite_c_is_no_penalty() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:, :2], y == 1
    free, infinite = LogisticRegression(C=None).fit(X, y), LogisticRegression(C=np.inf, l1_ratio=0.5).fit(X, y)
    np.testing.assert_allclose(infinite.coef_, free.coef_, rtol=1e-8)
    assert infinite.summary()[0]["error"] > 0


def test_scores_of_classes_sum_to_zero() -> None:
    X, y = load_iris(return_X_y=True)
    for settings in ({}, {"C": 1e3}, {"start": "zero"}):
        model = LogisticRegression(**settings).fit(X, y)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-12)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix, pd.DataFrame])
@pytest.mark.parametrize("lift", ["linear", "quadratic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_explanation_adds_up_to_the_log_odds(layout: Any, lift: Any, classes: int) -> None:
    X, y = load_iris(return_X_y=True)
    rows, y = layout(X[y < classes]), np.array(["a", "b", "c"])[y[y < classes]]
    model = LogisticRegression(lift=lift, C=0.1).fit(rows, y)
    few = rows[:7]
    explained, log_proba = model.explain(few), model.predict_log_proba(few)
    assert len(explained) == 7
    for row in range(7):
        parts = explained.log_odds(row, "a", "b")
        assert sum(nats for *_, nats in parts) == pytest.approx(log_proba[row, 0] - log_proba[row, 1], abs=1e-9)
        assert explained.most_probable(row) == model.predict(few)[row]
    np.testing.assert_allclose(explained.prior + explained.contributions.sum(-1), explained.log_joint)
    means = layout(np.asarray(rows.todense() if hasattr(rows, "todense") else rows).mean(0, keepdims=True))
    np.testing.assert_allclose(model.explain(means).contributions, 0, atol=1e-9)
    assert ("column 0²" in explained.features or "0²" in explained.features) == (lift == "quadratic")
    assert "Main reasons" in explained.sentence()


def test_moments_of_columns_are_by_class_and_weighted() -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    for layout in (np.asarray, sp.csr_matrix):
        moments = LogisticRegression().fit(layout(X), y, weights).column_moments_
        repeated = LogisticRegression().fit(np.repeat(X, weights, 0), np.repeat(y, weights)).column_moments_
        assert moments.isclose(repeated, 1e-9)
