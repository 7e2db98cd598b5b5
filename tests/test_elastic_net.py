"""Absolute penalties, weights of classes and warm starts of LogisticRegression, against scikit-learn."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer

from suffice import LogisticRegression


def rows_of(classes: int, rows: int = 300, columns: int = 12, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    X[:, 1] = 0.9 * X[:, 0] + 0.1 * X[:, 1]  # nearly the same column
    lines = rng.normal(size=(columns, classes)) * (rng.random((columns, classes)) < 0.4)
    return X, (X @ lines + rng.gumbel(size=(rows, classes))).argmax(axis=1)


def peer(X: Any, y: Any, weights: Any = None, **settings: Any) -> Peer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Peer(solver="saga", max_iter=20_000, tol=1e-10, random_state=0, **settings).fit(X, y, weights)


# With an even number of classes, a pure lasso has many solutions: a constant can be added to the coefficients of a
# feature without changing their absolute sum. An odd number has one.
@pytest.mark.parametrize(
    ("classes", "C", "l1_ratio"), [(2, 1.0, 1.0), (2, 0.1, 0.5), (3, 1.0, 1.0), (3, 0.05, 0.9), (4, 0.3, 0.5)]
)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_coefficients_equal_saga(classes: int, C: float, l1_ratio: float, layout: Any) -> None:
    X, y = rows_of(classes)
    mine = LogisticRegression(C=C, l1_ratio=l1_ratio).fit(layout(X), y)
    theirs = peer(X, y, C=C, l1_ratio=l1_ratio)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-6)
    shift = mine.intercept_.mean() - theirs.intercept_.mean() if classes > 2 else 0.0
    np.testing.assert_allclose(mine.intercept_ - shift, theirs.intercept_, atol=1e-6)
    np.testing.assert_array_equal(mine.coef_ == 0, theirs.coef_ == 0)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_a_lasso_of_four_classes_has_the_objective_of_saga() -> None:
    X, y = rows_of(4)
    mine, theirs = LogisticRegression(C=0.1, l1_ratio=1.0).fit(X, y), peer(X, y, C=0.1, l1_ratio=1.0)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert np.abs(mine.coef_).sum() == pytest.approx(np.abs(theirs.coef_).sum(), rel=1e-6)


@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_columns_that_depend_on_others_cost_few_steps(l1_ratio: float) -> None:
    rng = np.random.default_rng(0)
    own = rng.normal(size=(4000, 20))
    X = np.hstack([own, own @ rng.normal(size=(20, 20)), rng.normal(size=(4000, 10))])
    y = own @ rng.normal(size=20) + rng.logistic(size=4000) > 0
    model = LogisticRegression(C=1.0, l1_ratio=l1_ratio).fit(X, y)
    assert model.n_iter_.item() <= 12
    # the conditions of the minimum, from the definition of the objective
    slope = X.T @ (model.predict_proba(X)[:, 1] - y) + (1 - l1_ratio) * model.coef_[0]
    is_zero = model.coef_[0] == 0
    assert 0 < is_zero.sum() < 25
    assert np.abs(slope[is_zero]).max() <= l1_ratio
    np.testing.assert_allclose(slope[~is_zero], -l1_ratio * np.sign(model.coef_[0][~is_zero]), atol=1e-3)


def test_a_strong_penalty_leaves_the_intercepts_only() -> None:
    X, y = rows_of(3)
    model = LogisticRegression(C=1e-4, l1_ratio=1.0).fit(X, y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / len(y), rtol=1e-9)


def test_few_parameters_are_changed_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows_of(3)
    whole = LogisticRegression(C=1.0, l1_ratio=0.7).fit(X, y)
    monkeypatch.setattr("suffice.logistic.proximal.MOST_CHANGED", 8)
    parts = LogisticRegression(C=1.0, l1_ratio=0.7, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-4)


def test_without_intercept_and_without_penalty() -> None:
    X, y = rows_of(2)
    mine = LogisticRegression(C=0.5, l1_ratio=0.5, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(mine.coef_, peer(X, y, C=0.5, l1_ratio=0.5, fit_intercept=False).coef_, atol=1e-6)
    free = LogisticRegression(C=None, l1_ratio=0.5).fit(X, y)
    np.testing.assert_allclose(free.coef_, LogisticRegression(C=None).fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}, {0: 0.5, 2: 1.5}])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_class_weights_equal_those_of_scikit_learn(class_weight: Any, l1_ratio: float) -> None:
    X, y = rows_of(3)
    weights = np.random.default_rng(1).random(len(y)) + 0.5
    mine = LogisticRegression(C=0.5, l1_ratio=l1_ratio, class_weight=class_weight).fit(X, y, weights)
    settings = {} if l1_ratio else {"solver": "lbfgs", "tol": 1e-10, "max_iter": 5000}
    theirs = Peer(**{"solver": "saga", "max_iter": 20_000, "tol": 1e-10, **settings}).set_params(
        C=0.5, l1_ratio=l1_ratio, class_weight=class_weight
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(X, y, weights)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=2e-6)


def test_a_class_weight_for_an_unknown_class() -> None:
    X, y = rows_of(2)
    model = LogisticRegression(class_weight={7: 2.0})
    with pytest.raises(ValueError, match="class_weight names 7, which is not a class; there are 0, 1"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="not negative"):
        LogisticRegression(class_weight={0: -1.0}).fit(X, y)
    with pytest.raises(ValueError, match="needs rows of every class"):
        LogisticRegression(class_weight="balanced").fit(X, y, np.where(y == 1, 0.0, 1.0))


@pytest.mark.parametrize("l1_ratio", [0.0, 0.6])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_warm_start_takes_fewer_steps_to_the_same_end(l1_ratio: float, classes: int) -> None:
    X, y = rows_of(classes)
    model = LogisticRegression(l1_ratio=l1_ratio, warm_start=True).fit(X, y)
    cold, coefficients = model.n_iter_, model.coef_
    warm = model.set_params(C=1.01).fit(X, y).n_iter_
    assert warm < cold
    assert model.set_params(C=1.0).fit(X, y).coef_ == pytest.approx(coefficients, abs=1e-8)
    fewer = model.fit(X[:, :5], y)  # other columns: a cold start
    assert fewer.coef_.shape[1] == 5


def test_absolute_penalties_have_no_standard_errors() -> None:
    X, y = rows_of(2)
    with pytest.raises(ValueError, match="set l1_ratio=0"):
        LogisticRegression(l1_ratio=0.5).fit(X, y).summary()


def test_errors_of_differences_to_a_reference_class() -> None:
    X, y = rows_of(3, columns=4)
    model = LogisticRegression(C=2.0).fit(X, y)
    lines = model.summary(reference=1)
    contrast = np.kron(np.array([[1.0, -1.0, 0.0], [0.0, -1.0, 1.0]]), np.eye(5))
    errors = np.sqrt(np.diagonal(contrast @ np.linalg.pinv(model._hessian) @ contrast.T))
    np.testing.assert_allclose([line["error"] for line in lines], errors, rtol=1e-6)
    first = lines[0]
    assert (first["class"], first["estimate"]) == (0, pytest.approx(model.coef_[0, 0] - model.coef_[1, 0]))
    with pytest.raises(ValueError, match="reference must be one of more than two classes, not 9"):
        model.summary(reference=9)


def test_the_errors_without_a_penalty_are_those_of_the_model_with_a_fixed_reference() -> None:
    X, y = rows_of(3, columns=3)
    model = LogisticRegression(C=None).fit(X, y)
    # with the scores of class 0 fixed at 0, the Hessian has the other classes only
    free = model._hessian.reshape(3, 4, 3, 4)[1:, :, 1:].reshape(8, 8)
    errors = np.sqrt(np.diagonal(np.linalg.inv(free)))
    np.testing.assert_allclose([line["error"] for line in model.summary(reference=0)], errors, rtol=1e-6)
