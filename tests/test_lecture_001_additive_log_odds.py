"""Lecture 001: independence, the number of parameters, and log-odds as a sum over features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from conftest import CASES, Case, example
from suffice import GaussianNB

INDEPENDENT = [c for c in CASES if c.name not in ("ComplementNB", "MultinomialNB")]


def test_the_parameters_of_a_hundred_independent_columns() -> None:
    """100 + 100 = 200 for each class: a mean and a variance a column."""
    rng = np.random.default_rng(0)
    model = GaussianNB().fit(rng.normal(size=(50, 100)), np.arange(50) % 2)
    assert model.theta_[0].size + model.var_[0].size == 200


@pytest.mark.parametrize("case", INDEPENDENT, ids=str)
def test_independence_is_a_product_of_columns(case: Case) -> None:
    """p(x | y) = Πᵢ p(xᵢ | y): the model of all columns is the sum of the models of each."""
    X, y = example(case)
    whole = case.ours(class_prior="uniform", **({"var_smoothing": 0} if case.name == "GaussianNB" else {})).fit(X, y)
    prior = np.log(1 / 3)
    columns = [
        case.ours(**whole.get_params()).fit(X[:, [j]], y).predict_joint_log_proba(X[:, [j]]) - prior
        for j in range(X.shape[1])
    ]
    np.testing.assert_allclose(whole.predict_joint_log_proba(X), prior + sum(columns), rtol=1e-9)


@pytest.mark.parametrize("case", INDEPENDENT, ids=str)
def test_the_log_odds_are_a_generalised_additive_model(case: Case) -> None:
    """log P(0 | x) / P(1 | x) = α₀ + Σᵢ αᵢ(xᵢ): to change one feature changes one term, whatever the others are."""
    X, y = example(case, classes=2)
    model = case.ours().fit(X, y)

    def log_odds(rows: np.ndarray) -> np.ndarray:
        log_posterior = model.predict_log_proba(rows)
        return log_posterior[:, 0] - log_posterior[:, 1]

    changed = X.copy()
    changed[:, 2] = X[0, 2]
    base = np.tile(X[0], (len(X), 1))
    base[:, 2] = X[:, 2]
    term = log_odds(base) - log_odds(np.tile(X[0], (len(X), 1)))
    np.testing.assert_allclose(log_odds(X) - log_odds(changed), term, atol=1e-8)


def test_the_decision_rule() -> None:
    """y* = argmax p(y)·Πᵢ p(xᵢ | y)."""
    X, y = load_digits(return_X_y=True)
    model = GaussianNB(var_smoothing=0.1).fit(X, y)
    assert (model.predict(X) == model.predict_joint_log_proba(X).argmax(axis=1)).all()
