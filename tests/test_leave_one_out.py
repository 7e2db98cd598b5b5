"""Leave-one-out in closed form equals as many fits, where removing a row changes much: floors, small classes, gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from suffice import BayesClassifier, GaussianNB, cross_validate

RNG = np.random.default_rng(0)
ROWS = 48
LABELS = RNG.integers(0, 3, ROWS)
NUMBERS = RNG.normal(size=(ROWS, 5)) + 0.5 * LABELS[:, None]
WEIGHTS = np.where(np.arange(ROWS) % 7, RNG.uniform(0.5, 2, ROWS), 0.0)
GAPS = np.where(RNG.random(NUMBERS.shape) < 0.2, np.nan, NUMBERS)
SCALES = np.array([1.0, 1e2, 1e4, 1e6, 1e8])


def put(place: Any, value: float) -> Any:
    """Return the numbers with another value at a place."""
    numbers = NUMBERS.copy()
    numbers[place] = value
    return numbers


def assert_equals_refits(model: Any, X: Any, y: Any, weights: Any = None) -> None:
    found = cross_validate(model, X, y, cv="loo", sample_weight=weights)
    assert not found["refitted"]
    for row in range(len(y)):
        rest = np.arange(len(y)) != row
        again = clone(model).fit(X[rest], y[rest], None if weights is None else weights[rest])
        expected = np.full(len(found["classes"]), -np.inf)
        expected[np.searchsorted(found["classes"], again.classes_)] = again.predict_log_proba(X[row : row + 1])[0]
        np.testing.assert_allclose(found["log_proba"][row], expected, rtol=1e-9, atol=1e-9)


TABLES = {
    "plain": NUMBERS,
    "the largest variance in one column": NUMBERS * SCALES,
    "an outlier decides about the floor": put((5, 2), 1e3),
    "no digits are left without the outlier": put((5, 2), 1e8),
    "a constant column": put((slice(None), 1), 3.3),
    "a column that is constant in a class": put((LABELS == 1, 2), 0.1),
    "far from 0": NUMBERS + 1e9,
    "small": NUMBERS * 1e-140,
    "large": NUMBERS * 1e140,
    "variances whose product is no number": np.tile(NUMBERS, (1, 40)) * np.geomspace(1e-9, 1e9, 200),
}


@pytest.mark.parametrize("settings", [{}, {"var_smoothing": 0.0}, {"var_smoothing": 0.1, "ddof": 1}], ids=str)
@pytest.mark.parametrize("name", TABLES)
def test_gaussians_without_a_row_equal_a_refit(name: str, settings: dict[str, Any], kernels: str) -> None:
    assert_equals_refits(GaussianNB(**settings), TABLES[name], LABELS)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_a_row_of_a_small_class_may_take_it_away(weights: Any, kernels: str) -> None:
    labels = LABELS.copy()
    labels[:1], labels[1:3], labels[3:6] = 7, 8, 9
    for settings in ({}, {"ddof": 1}, {"priors": np.full(6, 1 / 6)}):
        if "priors" in settings:  # they name each class, so none may disappear
            labels = np.where(labels == 7, 8, labels)
            settings = {"priors": np.full(5, 0.2)}
        assert_equals_refits(GaussianNB(**settings), NUMBERS * SCALES, labels, weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("family", ["gaussian", "log-normal"])
def test_a_missing_cell_is_not_removed(family: str, weights: Any, kernels: str) -> None:
    model = BayesClassifier(families=family, structure="naive", estimate="mle", missing="skip")
    numbers = np.exp(GAPS) if family == "log-normal" else GAPS
    assert_equals_refits(model, numbers, LABELS, weights)


def test_numbers_of_any_type_and_order(kernels: str) -> None:
    numbers = np.abs(NUMBERS * 40).astype(np.uint8)
    for X in (numbers, np.asfortranarray(NUMBERS.astype(np.float32)), NUMBERS[::-1]):
        assert_equals_refits(GaussianNB(), X, LABELS)


def test_columns_with_and_without_a_closed_form_are_scored_together() -> None:
    table = pd.DataFrame(NUMBERS * SCALES, columns=list("abcde"))
    table["count"], table["level"] = RNG.poisson(2 + LABELS), RNG.choice(["x", "y"], ROWS)
    table["duration"] = np.exp(NUMBERS[:, 0])
    families = {"count": "poisson", "level": "categorical", "duration": "log-normal"} | dict.fromkeys("abc", "gaussian")
    families |= dict.fromkeys("de", "exponential")
    table[["d", "e"]] = table[["d", "e"]].abs()
    for rule in ("mle", {"a": "mle", "gaussian": "mean"}):
        model = BayesClassifier(families=families, structure="naive", estimate=rule)
        plan = clone(model).fit(table, LABELS).plan_
        found = cross_validate(model, table, LABELS, cv="loo")
        for row in range(0, ROWS, 5):
            again = clone(model).set_params(plan=plan).fit(table.drop(row), np.delete(LABELS, row))
            expected = again.predict_log_proba(table.iloc[[row]])[0]
            np.testing.assert_allclose(found["log_proba"][row], expected, rtol=1e-9, atol=1e-9)
