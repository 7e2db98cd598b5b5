"""A family written in one file and registered in one line: everything else works without another change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import suffice
from conftest import assert_same_model
from half_normal import HalfNormal, log_density
from suffice import BayesClassifier, plots
from suffice.families import FAMILIES, register

mpl.use("Agg")
RULES = ("mle", "map", "mean", "predictive")
every_rule = pytest.mark.parametrize("rule", RULES)


@pytest.fixture(autouse=True, scope="module")
def family() -> Iterator[HalfNormal]:
    """Register the family, and remove it again after these tests."""
    yield register(HalfNormal())  # type: ignore[misc]
    del FAMILIES["half-normal"]


def model(**settings: Any) -> BayesClassifier:
    """Return a classifier whose columns are all of the family."""
    return BayesClassifier(**{"families": "half-normal", "structure": "naive"} | settings)


def example(rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return a table of one such column and one of numbers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return pd.DataFrame({"x": np.abs(rng.normal(0, np.where(y, 3.0, 1.0))), "z": rng.normal(y, 2.0)}), y


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
    settings = {"structure": "naive", "estimate": rule, "prior": suffice.Gamma(2.0, 3.0)}
    fitted = BayesClassifier(families={"x": "half-normal"}, **settings).fit(X, y)
    x, expected = np.linspace(0, 9, 30), []
    for k in (0, 1):
        mine = X["x"].to_numpy()[y == k]
        shape, rate = 2 + len(mine) / 2, 3 + (mine**2).sum() / 2
        if rule == "predictive":
            expected.append(np.log(2) + stats.t(2 * shape, scale=np.sqrt(rate / shape)).logpdf(x))
        else:
            tau = {"mle": len(mine) / (mine**2).sum(), "map": (shape - 1) / rate, "mean": shape / rate}[rule]
            expected.append(stats.halfnorm(scale=tau**-0.5).logpdf(x))
            np.testing.assert_allclose(log_density(x, tau), expected[-1], rtol=1e-9)
    found = fitted.predict_joint_log_proba(pd.DataFrame({"x": x})) - np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-9, atol=1e-9)


@every_rule
def test_explanations_sum_to_the_log_joint(rule: str) -> None:
    X, y = example()
    X.loc[::7, "x"] = np.nan
    fitted = BayesClassifier(families={"x": "half-normal"}, estimate=rule, structure="naive").fit(X, y)
    assert fitted.families_["x"] == "half-normal"
    found = fitted.explain(X[:50])
    np.testing.assert_allclose(found.prior + found.contributions.sum(axis=-1), found.log_joint, atol=1e-9)
    np.testing.assert_allclose(found.log_joint, fitted.predict_joint_log_proba(X[:50]), atol=1e-9)
    assert (found.contributions[::7, :, found.features.index("x")] == 0).all()


def test_information_is_that_of_the_distributions() -> None:
    X, y = example(4000)
    families = {"x": "half-normal", "z": "half-normal"}
    X["z"] = np.abs(np.random.default_rng(1).normal(size=len(X)))
    found = BayesClassifier(families=families).fit(X, y).information_
    tau = [(y == k).sum() / (X["x"][y == k] ** 2).sum() for k in (0, 1)]
    share, x = np.bincount(y) / len(y), np.linspace(0, 60, 200_001)
    joint = share * np.exp(np.stack([log_density(x, each) for each in tau], axis=1))
    terms = joint * np.log(np.maximum(joint, 1e-300) / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300) / share)
    assert found["x"] == pytest.approx(np.trapezoid(terms.sum(axis=1), x), rel=0.02)
    assert 0 <= found["z"] < 0.01


@every_rule
def test_rows_can_be_drawn(rule: str) -> None:
    X, y = example(2000)
    drawn, labels = (
        BayesClassifier(families={"x": "half-normal"}, estimate=rule, structure="naive")
        .fit(X, y)
        .sample(4000, random_state=0)
    )
    x = np.asarray(drawn)[:, 0].astype(float)
    for k in (0, 1):
        assert x[np.asarray(labels) == k].mean() == pytest.approx(X["x"][y == k].mean(), rel=0.1)


def test_leaving_one_row_out_equals_refitting() -> None:
    X, y = example(30)
    X = X[["x"]]
    settings: dict[str, Any] = {"families": {"x": "half-normal"}, "structure": "naive", "estimate": "predictive"}
    found = suffice.cross_validate(BayesClassifier(**settings), X, y, cv="loo")["log_proba"]
    for row in range(0, len(X), 5):
        rest = np.arange(len(X)) != row
        refitted = BayesClassifier(**settings).fit(X[rest], y[rest])
        np.testing.assert_allclose(found[row], refitted.predict_log_proba(X[row : row + 1])[0], atol=1e-9)


def test_a_negative_number_is_refused_with_its_place() -> None:
    X, y = example()
    fitted = BayesClassifier(families={"x": "half-normal"}, structure="naive").fit(X, y)
    X.loc[7, "x"] = -2.0
    for call in (lambda: fitted.predict(X), lambda: BayesClassifier(families={"x": "half-normal"}).fit(X, y)):
        with pytest.raises(
            ValueError, match=r"column 'x' is -2 in row 7, but half-normal takes numbers from 0 up; .*'gaussian'"
        ):
            call()


def test_model_files_keep_it(tmp_path: Path) -> None:
    X, y = example()
    fitted = BayesClassifier(families={"x": "half-normal"}).fit(X, y)
    loaded = suffice.load(fitted.save(tmp_path / "model.suffice"))
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


def test_priors_intervals_and_evidence() -> None:
    X, y = example()
    fitted = BayesClassifier(families={"x": "half-normal"}, prior={"x": suffice.Gamma(2, 3)}).fit(X, y)
    mine = X["x"][y == 1]
    expected = (2 + len(mine) / 2) / (3 + (mine**2).sum() / 2)
    assert fitted.posterior_["x"]["precision"].mean()[1] == pytest.approx(expected)
    lower, upper = fitted.predict_interval(X[:5], draws=50, random_state=0)
    assert (lower <= upper).all()
    assert np.isfinite(BayesClassifier(families={"x": "half-normal"}, structure="naive").fit(X, y).log_evidence_)


def test_plots_draw_it() -> None:
    X, y = example()
    fitted = BayesClassifier(families={"x": "half-normal"}, structure="naive").fit(X, y)
    assert plots.densities(fitted, X, y, column="x").lines
    assert plots.nomogram(fitted, label=1) is not None


def test_a_name_is_given_once() -> None:
    class Other(HalfNormal):
        name = "poisson"

    with pytest.raises(ValueError, match="there is a family named 'poisson' already"):
        register(Other())
