"""A family written in one file and registered in one line: everything else works without another change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import suffice
from conftest import assert_same_model
from negative_binomial import NegativeBinomial, log_density
from suffice import BayesClassifier, plots
from suffice.families import FAMILIES, register

mpl.use("Agg")
RULES = ("mle", "map", "mean", "predictive")
every_rule = pytest.mark.parametrize("rule", RULES)


@pytest.fixture(autouse=True, scope="module")
def family() -> Iterator[NegativeBinomial]:
    """Register the family, and remove it again after these tests."""
    yield register(NegativeBinomial(dispersion=3.0))  # type: ignore[misc]
    del FAMILIES["negative-binomial"]


def model(**settings: Any) -> BayesClassifier:
    """Return a classifier whose columns are all of the family."""
    return BayesClassifier(**{"families": "negative-binomial", "structure": "naive"} | settings)


def example(rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return a table of one such column and one of numbers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return pd.DataFrame({"x": rng.negative_binomial(3, np.where(y, 0.2, 0.5)), "z": rng.normal(y, 2.0)}), y


@st.composite
def tables(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Rows, labels and whole-number weights."""
    rows, columns = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.int64, (rows, columns), elements=st.integers(0, 9)))
    y = draw(hnp.arrays(np.int64, rows, elements=st.integers(0, 2)))
    return X, y, draw(hnp.arrays(np.int64, rows, elements=st.integers(1, 3)))


@given(tables())
def test_batches_and_merged_models_equal_the_whole(table: tuple[Any, Any, Any]) -> None:
    X, y, _ = table
    cut = len(X) // 2
    whole = model().fit(X, y)
    batches = model().partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    assert_same_model(batches, whole, X, 1e-12)
    merged = model().partial_fit(X[:cut], y[:cut]) + model().partial_fit(X[cut:], y[cut:])
    assert_same_model(merged, whole, X, 1e-12)
    assert merged.tally_ == whole.tally_


@given(tables())
def test_forgotten_is_never_learned(table: tuple[Any, Any, Any]) -> None:
    X, y, weights = table
    cut = len(X) // 2
    forgotten = model().fit(X, y, weights).forget(X[cut:], y[cut:], weights[cut:])
    assert forgotten.tally_ == model().fit(X[:cut], y[:cut], weights[:cut]).tally_


@given(tables())
def test_a_weight_is_a_repetition(table: tuple[Any, Any, Any]) -> None:
    X, y, weights = table
    weighted = model().fit(X, y, weights)
    assert_same_model(weighted, model().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)), X, 1e-10)
    assert model().fit(X, y, 2 * weights).tally_.isclose(weighted.tally_ * 2, 1e-12)


@every_rule
def test_probabilities_are_those_of_the_formula(rule: str) -> None:
    X, y = example()
    X = X[["x"]]
    settings = {"structure": "naive", "estimate": rule, "prior": 2.0}
    fitted = BayesClassifier(families={"x": "negative-binomial"}, **settings).fit(X, y)
    x, expected = np.arange(30), []
    for k in (0, 1):
        mine = X["x"].to_numpy()[y == k]
        events, others = mine.sum(), 3.0 * len(mine)
        if rule == "predictive":
            expected.append(stats.betanbinom(3, others + 2, events + 2).logpmf(x))
        else:
            extra = {"mle": 0.0, "map": 1.0, "mean": 2.0}[rule]
            expected.append(log_density(x, (events + extra) / (events + others + 2 * extra), 3.0))
    found = fitted.predict_joint_log_proba(pd.DataFrame({"x": x})) - np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-9, atol=1e-9)


@every_rule
def test_explanations_sum_to_the_log_joint(rule: str) -> None:
    X, y = example()
    X.loc[::7, "x"] = np.nan
    fitted = BayesClassifier(families={"x": "negative-binomial"}, estimate=rule, structure="naive").fit(X, y)
    assert fitted.families_["x"] == "negative-binomial"
    found = fitted.explain(X[:50])
    np.testing.assert_allclose(found.prior + found.contributions.sum(axis=-1), found.log_joint, atol=1e-9)
    np.testing.assert_allclose(found.log_joint, fitted.predict_joint_log_proba(X[:50]), atol=1e-9)
    assert (found.contributions[::7, :, found.features.index("x")] == 0).all()


def test_information_is_that_of_the_distributions() -> None:
    X, y = example(4000)
    X["constant"] = 5
    families = {"x": "negative-binomial", "z": "negative-binomial", "constant": "negative-binomial"}
    X["z"] = np.random.default_rng(1).negative_binomial(3, 0.4, len(X))
    found = BayesClassifier(families=families).fit(X, y).information_
    p = [X["x"][y == k].sum() / (X["x"][y == k].sum() + 3.0 * (y == k).sum()) for k in (0, 1)]
    share, x = np.bincount(y) / len(y), np.arange(400)
    joint = share * np.exp(np.stack([log_density(x, each, 3.0) for each in p], axis=1))
    expected = (joint * np.log(joint / joint.sum(axis=1, keepdims=True) / share)).sum()
    assert found["x"] == pytest.approx(expected, abs=1e-5)
    assert found["constant"] == pytest.approx(0.0, abs=1e-9)
    assert 0 <= found["z"] < 0.01


@every_rule
def test_rows_can_be_drawn(rule: str) -> None:
    X, y = example(2000)
    drawn, labels = (
        BayesClassifier(families={"x": "negative-binomial"}, estimate=rule, structure="naive")
        .fit(X, y)
        .sample(4000, random_state=0)
    )
    x = np.asarray(drawn)[:, 0].astype(float)
    for k in (0, 1):
        assert x[np.asarray(labels) == k].mean() == pytest.approx(X["x"][y == k].mean(), rel=0.1)


def test_leaving_one_row_out_equals_refitting() -> None:
    X, y = example(30)
    X = X[["x"]]
    settings: dict[str, Any] = {"families": {"x": "negative-binomial"}, "structure": "naive", "estimate": "predictive"}
    found = suffice.cross_validate(BayesClassifier(**settings), X, y, cv="loo")["log_proba"]
    for row in range(0, len(X), 5):
        rest = np.arange(len(X)) != row
        refitted = BayesClassifier(**settings).fit(X[rest], y[rest])
        np.testing.assert_allclose(found[row], refitted.predict_log_proba(X[row : row + 1])[0], atol=1e-9)


def test_a_sparse_matrix_equals_a_dense_one() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.negative_binomial(3, 0.6, (200, 5)) * (rng.random((200, 5)) < 0.4)
    for rule in RULES:
        dense, sparse = model(estimate=rule).fit(X, y), model(estimate=rule).fit(sp.csr_array(X), y)
        np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), atol=1e-12)


def test_model_files_keep_it(tmp_path: Path) -> None:
    X, y = example()
    fitted = BayesClassifier(families={"x": "negative-binomial"}).fit(X, y)
    loaded = suffice.load(fitted.save(tmp_path / "model.suffice"))
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


def test_priors_intervals_and_evidence() -> None:
    X, y = example()
    fitted = BayesClassifier(families={"x": "negative-binomial"}, prior={"x": suffice.Beta(2, 3)}).fit(X, y)
    events = X["x"][y == 1].sum()
    assert fitted.posterior_["x"]["p"].mean()[1] == pytest.approx((events + 2) / (events + 5 + 3.0 * (y == 1).sum()))
    lower, upper = fitted.predict_interval(X[:5], draws=50, random_state=0)
    assert (lower <= upper).all()
    assert np.isfinite(BayesClassifier(families={"x": "negative-binomial"}, structure="naive").fit(X, y).log_evidence_)


def test_plots_draw_it() -> None:
    X, y = example()
    fitted = BayesClassifier(families={"x": "negative-binomial"}, structure="naive").fit(X, y)
    assert plots.densities(fitted, X, y, column="x").lines
    assert plots.nomogram(fitted, label=1) is not None


def test_a_name_is_given_once() -> None:
    class Other(NegativeBinomial):
        name = "poisson"

    with pytest.raises(ValueError, match="there is a family named 'poisson' already"):
        register(Other())
