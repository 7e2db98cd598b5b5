"""Lecture 000: the naive Bernoulli model, maximum likelihood, decisions and priors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import suffice
from conftest import assert_same_scores
from suffice import BernoulliNB, Gaussian, GaussianNB


@pytest.fixture
def pixels() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return (X > 7.5).astype(np.uint8), y


def test_equation_17_pixel_means(pixels: tuple[np.ndarray, np.ndarray]) -> None:
    """p[k, d] = Σ x[n, d]·1[y = k] / Σ 1[y = k]: the average image of a class."""
    X, y = pixels
    p = np.exp(BernoulliNB(estimate="mle").fit(X, y).feature_log_prob_)
    np.testing.assert_allclose(p, [X[y == k].mean(axis=0) for k in range(10)], rtol=1e-12)


def test_equation_23_class_frequencies(pixels: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = pixels
    np.testing.assert_allclose(np.exp(BernoulliNB().fit(X, y).class_log_prior_), np.bincount(y) / len(y))


def test_equation_24_the_decision_as_a_product(pixels: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = pixels
    model = BernoulliNB(estimate="mle").fit(X[:, 20:30], y)
    p = np.exp(model.feature_log_prob_)
    product = np.where(X[:, None, 20:30] == 1, p, 1 - p).prod(axis=2) * np.bincount(y) / len(y)
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(X[:, 20:30])), product, rtol=1e-9)
    decided = product.max(axis=1) > 0
    assert (model.predict(X[decided, 20:30]) == product[decided].argmax(axis=1)).all()


def test_equation_26_the_guard(pixels: tuple[np.ndarray, np.ndarray]) -> None:
    """Σ x·log(p + ε) + (1 − x)·log(1 − p + ε) + log P(y), with ε = 1e-8."""
    X, y = pixels
    model = BernoulliNB(estimate="mle", epsilon=1e-8).fit(X, y)
    p = np.array([X[y == k].mean(axis=0) for k in range(10)])
    score = X @ np.log(p + 1e-8).T + (1 - X.astype(float)) @ np.log(1 - p + 1e-8).T + np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(model.predict_joint_log_proba(X), score, rtol=1e-9)
    assert (model.predict(X) == score.argmax(axis=1)).all()


def test_exercise_1_5_a_balanced_test_set(pixels: tuple[np.ndarray, np.ndarray]) -> None:
    """Learned where 3s abound, tested where they do not: equal priors do better, and cost no second pass."""
    X, y = pixels
    rng = np.random.default_rng(0)
    three, eight = rng.permutation(np.flatnonzero(y == 3)), rng.permutation(np.flatnonzero(y == 8))
    train = np.concatenate([three[:90], eight[:4]])
    test = np.concatenate([three[90:170], eight[90:170]])
    model = BernoulliNB().fit(X[train], y[train])
    unbalanced = model.score(X[test], y[test])
    learned = model.tally_
    model.set_params(class_prior="uniform")
    assert model.score(X[test], y[test]) > unbalanced
    assert model.tally_ is learned
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.5, 0.5])
    for same in ([0.5, 0.5], {3: 0.5, 8: 0.5}):
        other = BernoulliNB(class_prior=same).fit(X[train], y[train])
        assert_same_scores(other.predict_proba(X[test]), model.predict_proba(X[test]))


def test_exercise_1_6_the_naive_gaussian_model() -> None:
    X, y = load_digits(return_X_y=True)
    model = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(model.theta_, [X[y == k].mean(axis=0) for k in range(10)], atol=1e-12)
    np.testing.assert_allclose(model.var_, [X[y == k].var(axis=0) for k in range(10)], atol=1e-12)


def test_equations_28_and_29_the_gaussian_with_covariance() -> None:
    X, _ = load_digits(return_X_y=True)
    rows = X[:, [20, 21, 22]]
    gaussian = Gaussian.estimate(Gaussian.tally(rows), rule="mle")
    np.testing.assert_allclose(gaussian.mean, rows.mean(axis=0))
    np.testing.assert_allclose(gaussian.variance, np.cov(rows.T, ddof=0))
    assert isinstance(Gaussian.tally(rows), suffice.CoMoments)
