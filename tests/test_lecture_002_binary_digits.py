"""Lecture 002: the estimators of naive Bayes on binary images."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from suffice import BernoulliNB


def test_estimators_are_ratios_of_counts() -> None:
    """π[k] = N[k] / N and θ[d, k] = N[d, k] / N[k]."""
    X, y = load_digits(return_X_y=True)
    model = BernoulliNB(binarize=7.5, estimate="mle").fit(X, y)
    ones = np.array([(X[y == k] > 7.5).sum(axis=0) for k in range(10)])
    np.testing.assert_array_equal(model.feature_count_, ones)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), ones / np.bincount(y)[:, None], rtol=1e-12)


def test_the_posterior_is_normalised() -> None:
    X, y = load_digits(return_X_y=True)
    model = BernoulliNB(binarize=7.5).fit(X, y)
    joint = np.exp(model.predict_joint_log_proba(X))
    np.testing.assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)
