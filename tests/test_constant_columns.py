"""Columns of which equal numbers are left: forgetting the others equals never having learned them, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import suffice
from conftest import assert_same_model, data, forgets
from suffice.choice.column_forms import NUMERIC


def never_learned(model: Any, *rows: Any) -> Any:
    """Return a classifier with the settings of a fitted one, and its plan if it has one, that has learned rows."""
    other = clone(model)
    if isinstance(model, suffice.BayesClassifier):
        other.set_params(plan=model.plan_)
    return other.fit(*rows)


def draw_rows(seed: int) -> tuple[pd.DataFrame, Any, float]:
    """Return rows and labels, and the number that most rows have in column "x": a whole number, or 0 beside fractions.

    In every fourth table cells are missing.
    """
    rng = np.random.default_rng(seed)
    rows, scale = int(rng.integers(40, 400)), 10.0 ** rng.integers(1, 6 if seed % 3 else 4)
    constant = 0.0 if seed % 3 else float(rng.integers(1, 2 * scale))
    x = np.round(rng.exponential(scale, rows)) + 1
    x = x / scale if seed % 3 == 1 else x
    x[rng.random(rows) < 0.6] = constant
    X = pd.DataFrame({"x": x, "z": rng.normal(size=rows)})
    return X.mask(rng.random(X.shape) < 0.1) if seed % 4 == 3 else X, rng.integers(0, 2, rows), constant


@pytest.mark.parametrize("numeric", NUMERIC)
@pytest.mark.parametrize("structure", ["naive", "averaged", "full"])
def test_cells_prove_that_a_column_is_constant(structure: Any, numeric: Any) -> None:
    for seed in range(6):
        X, y, constant = draw_rows(seed)
        gone = (X["x"] != constant).to_numpy() & X["x"].notna().to_numpy()
        model = suffice.BayesClassifier(structure=structure, numeric=numeric).fit(X, y)
        never = never_learned(model, X[~gone], y[~gone])
        model.forget(X[gone], y[gone])
        blocks = zip(model.tally_.schema.blocks, model.tally_.statistics, strict=True)
        (spreads,) = (its.spreads for block, its in blocks if block.family == "gaussian")
        assert (spreads.mean[:, 0] == constant).all()
        assert not spreads.m2[:, 0].any()
        for estimate in ("map", "mean", "predictive"):
            assert_same_model(model.set_params(estimate=estimate), never.set_params(estimate=estimate), X, rtol=1e-7)


SEEMINGLY = {
    "whole": lambda rng, rows: np.full(rows, 3.0),
    "tenths": lambda rng, rows: np.full(rows, 0.1),
    "far away": lambda rng, rows: np.full(rows, 1e9),
    "nearly constant": lambda rng, rows: rng.normal(size=rows) * 10.0 ** rng.integers(-12, 0),
    "rarely one": lambda rng, rows: (rng.random(rows) < 0.05).astype(float),
}


@pytest.mark.parametrize("is_weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("kind", SEEMINGLY)
def test_what_seems_constant_is_right_or_refused(kind: str, is_weighted: bool) -> None:
    accepted = 0
    models: list[Any] = [suffice.GaussianNB(**each) for each in ({}, {"var_smoothing": 0.0}, {"estimate": "mean"})]
    models += [suffice.GaussianDiscriminant(covariance="full"), suffice.BayesClassifier(structure="naive")]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(6, 60))
        x, gone = np.round(rng.normal(size=rows) * 10.0 ** rng.integers(0, 9)), rng.random(rows) < 0.5
        gone[:2] = False, True
        x[~gone] = SEEMINGLY[kind](rng, (~gone).sum())
        X, y = pd.DataFrame({"x": x, "z": rng.normal(size=rows)}), rng.integers(0, 2, rows)
        weights = rng.uniform(0.01, 3, rows) if is_weighted else np.ones(rows)
        for settings in models:
            model = clone(settings).fit(X, y, weights)
            if forgets(model, X[gone], y[gone], weights[gone]):
                never = never_learned(model, X[~gone], y[~gone], weights[~gone])
                np.testing.assert_allclose(model.predict_proba(X), never.predict_proba(X), atol=1e-3)
                accepted += 1
    assert accepted


@pytest.mark.parametrize("model", [suffice.GaussianNB(), suffice.BayesClassifier(structure="naive")], ids=str)
def test_adult_without_capital_gains(model: Any) -> None:
    X = pd.read_csv(data("tabular/adult-train.csv.gz"), header=None, skipinitialspace=True).rename(columns=str)
    y, gone = X.pop("14").to_numpy(), X["10"].to_numpy() > 0
    if isinstance(model, suffice.GaussianNB):
        X = X.select_dtypes("number")
    model = clone(model).fit(X, y)
    never = never_learned(model, X[~gone], y[~gone])
    model.forget(X[gone], y[gone])
    np.testing.assert_allclose(model.predict_proba(X[:500]), never.predict_proba(X[:500]), atol=1e-6)
