"""Tables, missing cells and plans: every classifier of numbers has `fit_table` and `plan=`, and most `missing=`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.naive_bayes as theirs
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, StratifiedKFold

import suffice
from conftest import CASES, REALS, Case, assert_same_model, assert_same_scores, example, expect_warning
from suffice.classifiers.tally_classifier import TallyClassifier

DISCRIMINANTS = [
    Case("GaussianDiscriminant", REALS, {"covariance": covariance}, sparse=False, exact=False, peer=False)
    for covariance in ("full", "diagonal")
]
EVERY = [*CASES, *DISCRIMINANTS]
SKIPPING = [case for case in EVERY if "missing" in case.ours().get_params()]
every_case = pytest.mark.parametrize("case", EVERY, ids=str)
every_skipping = pytest.mark.parametrize("case", SKIPPING, ids=str)
every_naive = pytest.mark.parametrize("case", [case for case in SKIPPING if case in CASES], ids=str)
NAMES = [f"column {j}" for j in range(4)]


def csv(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "frame": lambda frame, folder: frame,
    "csv": csv,
    "duckdb": lambda frame, folder: ibis.duckdb.connect().create_table("rows", frame),
    "sqlite": lambda frame, folder: ibis.sqlite.connect().create_table("rows", frame),
    "lazy": lambda frame, folder: pl.from_pandas(frame).lazy(),
    "batches": lambda frame, folder: (frame[first : first + 77] for first in range(0, len(frame), 77)),
}
every_source = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)


def table(case: Case, missing: float = 0.0, rows: int = 300) -> tuple[pd.DataFrame, Any]:
    X, y = example(case, rows=rows, columns=len(NAMES))
    frame = pd.DataFrame(X, columns=NAMES)
    return frame.mask(np.random.default_rng(1).random(frame.shape) < missing) if missing else frame, y


def test_every_tally_classifier_is_a_case() -> None:
    kinds = {name for name in suffice.__all__ if isinstance(getattr(suffice, name), type)}
    kinds = {name for name in kinds if issubclass(getattr(suffice, name), TallyClassifier)}
    assert {case.name for case in EVERY} == kinds - {"BayesClassifier", "MixtureClassifier"}
    assert {case.name for case in SKIPPING} == {case.name for case in EVERY} - {"MultinomialNB", "ComplementNB"}
    assert not hasattr(suffice.MixtureClassifier(), "fit_table")
    assert not hasattr(suffice.GaussianDiscriminant(solver="svd"), "fit_table")


@pytest.mark.usefixtures("engine_counts")
@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing cells"])
@every_source
@every_case
def test_a_table_anywhere_equals_rows_in_memory(case: Case, make: Any, missing: float, tmp_path: Path) -> None:
    X, y = table(case, missing)
    if case not in SKIPPING and missing:
        pytest.skip("has no missing cells")
    settings = {"missing": "skip"} if missing else {}
    weights = np.random.default_rng(2).integers(1, 4, len(y))
    far = case.ours(**settings).fit_table(make(X.assign(y=y, w=weights), tmp_path), "y", weight="w")
    near = case.ours(**settings).fit(X, y, weights)
    assert far.feature_names_in_.tolist() == NAMES
    assert (far.target_name_, far.weight_name_) == ("y", "w")
    assert far.plan_ == near.plan_
    assert_same_model(far, near, X)
    assert far.tally_ == near.tally_ or not case.exact
    scored = far.predict_table(X[NAMES[::-1]].assign(more="text"))
    assert_same_scores(scored[[f"p({label})" for label in far.classes_]], near.predict_proba(X))


@pytest.mark.usefixtures("engine_counts")
@every_case
def test_cells_that_only_the_engine_sees_are_an_error(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.classifiers.fit_table.SAMPLE", 10)
    monkeypatch.setattr("suffice.data.engines.batches.SAMPLE", 10)
    X, y = table(case)
    X = X.astype(float)
    X.loc[200, "column 2"] = np.nan
    for name in ("duckdb", "batches"):
        with pytest.raises(ValueError, match="contains NaN: column 'column 2' is empty in 1 rows") as raised:
            case.ours().fit_table(SOURCES[name](X.assign(y=y), tmp_path), "y")
        assert ('missing="skip"' in str(raised.value)) == (case in SKIPPING)


@every_source
@every_case
def test_a_column_that_is_not_of_numbers_is_named(case: Case, make: Any, tmp_path: Path) -> None:
    X, y = table(case)
    model = case.ours().fit(X, y)
    before = model.tally_
    with pytest.raises(ValueError, match=f"column 'town' .*{case.name} needs.*leave it out"):
        model.fit_table(make(X.assign(town="Rome", y=y), tmp_path), "y")
    assert model.tally_ is before


@every_naive
def test_missing_cells_are_skipped(case: Case) -> None:
    """Each column by itself, fitted on the rows in which it has a cell, adds its part to the log joint."""
    X, y = table(case, missing=0.2)
    x = X.to_numpy()
    settings = {"missing": "skip", **({"var_smoothing": 0.0} if case.name == "GaussianNB" else {})}
    model = case.ours(**settings).fit(X, y)
    prior = np.log(model.class_count_ / model.class_count_.sum())
    expected = np.tile(prior, (len(x), 1))
    for j in range(x.shape[1]):
        there = ~np.isnan(x[:, j])
        alone = case.ours(**{**settings, "missing": "error"}, class_prior="uniform").fit(x[there, j : j + 1], y[there])
        expected[there] += alone.predict_joint_log_proba(x[there, j : j + 1]) + np.log(3)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-9)
    unnamed = case.ours(**settings).fit(x.tolist(), y)
    np.testing.assert_allclose(unnamed.predict_joint_log_proba(x.tolist()), expected, rtol=1e-9)
    explained = model.explain(X[:20])
    np.testing.assert_allclose(explained.contributions.sum(axis=2) + prior, expected[:20], rtol=1e-9)
    assert np.isfinite(model.sample(50, random_state=0)[0]).all()


@pytest.mark.parametrize("name", ["GaussianNB", "GaussianDiscriminant", "PoissonNB", "BernoulliNB", "CategoricalNB"])
def test_parameters_are_those_of_the_present_cells(name: str) -> None:
    case = next(case for case in SKIPPING if case.name == name)
    X, y = table(case, missing=0.2)
    model = case.ours(missing="skip", estimate="mle").fit(X, y)
    by_class = [X[y == k].to_numpy() for k in range(3)]
    means = np.array([np.nanmean(rows, axis=0) for rows in by_class])
    variances = np.array([np.nanvar(rows, axis=0) for rows in by_class])
    if name == "GaussianNB":
        np.testing.assert_allclose(model.theta_, means, rtol=1e-9)
        np.testing.assert_allclose(model.var_, variances + model.epsilon_, rtol=1e-9)
    elif name == "GaussianDiscriminant":
        np.testing.assert_allclose(model.means_, means, rtol=1e-9)
        np.testing.assert_allclose(model.variances_, variances, rtol=1e-9)
    elif name == "PoissonNB":
        np.testing.assert_allclose(model.rate_, means, rtol=1e-12)
    elif name == "BernoulliNB":
        ones = [np.nanmean(np.where(np.isnan(rows), np.nan, rows > 4), axis=0) for rows in by_class]
        np.testing.assert_allclose(np.exp(model.feature_log_prob_), ones, rtol=1e-12)
    else:
        for j, counts in enumerate(model.category_count_):
            assert counts[1].tolist() == [(by_class[1][:, j] == level).sum() for level in range(counts.shape[1])]


@every_skipping
def test_the_laws_of_sums_hold_with_missing_cells(case: Case) -> None:
    X, y = table(case, missing=0.2)
    new = case.ours(missing="skip")
    whole, first, rest = (clone(new).fit(X[rows], y[rows]) for rows in (slice(None), slice(0, 170), slice(170, None)))
    assert_same_model(clone(new).partial_fit(X[:170], y[:170]).partial_fit(X[170:], y[170:]), whole, X)
    assert_same_model(first + rest, whole, X)
    assert_same_model(clone(whole).fit(X, y).forget(X[170:], y[170:]), first, X)
    assert clone(new).fit(X.to_numpy(), y).tally_.isclose(whole.tally_)
    assert_same_scores(whole.predict_proba(pl.from_pandas(X)), whole.predict_proba(X))
    scored = whole.predict_table(ibis.duckdb.connect().create_table("rows", X)).execute()
    assert_same_scores(scored[[f"p({label})" for label in whole.classes_]], whole.predict_proba(X))
    few, labels = X[:40], y[:40]
    has_few_rows = case.parameters.get("covariance") == "full"  # of 40 rows, few are complete
    with expect_warning("class .* rows for 4 columns" if has_few_rows else None):
        for cv in (4, "loo"):
            found = suffice.cross_validate(new, few, labels, cv=cv)
            splits = LeaveOneOut() if cv == "loo" else StratifiedKFold(cv)
            for train, test in splits.split(few, labels):
                refit = clone(new).fit(few.iloc[train], labels[train])
                assert_same_scores(np.exp(found["log_proba"][test]), refit.predict_proba(few.iloc[test]))


@every_skipping
def test_nan_is_an_error_unless_it_is_skipped(case: Case) -> None:
    X, y = table(case, missing=0.2)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        case.ours().fit(X, y)
    if case.peer:
        with pytest.raises(ValueError, match="Input X contains NaN"):
            case.theirs().fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match=r"'missing' parameter of .* must be a str among"):
        case.ours(missing="level").fit(X, y)
    complete, labels = table(case)
    assert case.ours(missing="skip").fit(complete, labels).tally_ == case.ours().fit(complete, labels).tally_
    for how in ("error", "skip"):
        assert case.ours(missing=how).__sklearn_tags__().input_tags.allow_nan == (how == "skip")
    X.loc[3, "column 1"] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*'column 1' is inf in row 3"):
        case.ours(missing="skip").fit(X, y)


@every_case
def test_a_plan_of_another_model(case: Case, tmp_path: Path) -> None:
    X, y = table(case)
    model = case.ours().fit(X, y)
    plain = {name: value for name, value in case.parameters.items() if name not in ("binarize",)}
    part = getattr(suffice, case.name)(plan=model.plan_, **plain).fit(X[:60], y[:60])
    assert_same_model(part.partial_fit(X[60:], y[60:]), model, X)
    assert part.plan_ == model.plan_
    assert suffice.load(part.save(tmp_path / "model.suffice")).plan == model.plan_
    unnamed = case.ours(plan=model.plan_).fit(X.to_numpy(), y)
    assert unnamed.tally_ == model.tally_
    with pytest.raises(ValueError, match="the plan is for other columns: the table has no column 'column 3'"):
        case.ours(plan=model.plan_).fit(X[NAMES[:3]], y)
    with pytest.raises(ValueError, match="another order"):
        case.ours(plan=model.plan_).fit(X[NAMES[::-1]], y)
    other = suffice.BernoulliNB() if case.name != "BernoulliNB" else suffice.GaussianNB()
    with pytest.raises(ValueError, match=f"and {type(other).__name__} counts .* columns; use the plan of another"):
        other.set_params(plan=model.plan_).fit(X, y)
    with pytest.raises(ValueError, match="use the plan of another BayesClassifier"):
        suffice.BayesClassifier(plan=model.plan_).fit(X, y)


def test_levels_of_a_plan_are_kept() -> None:
    X, y = np.array([[0, 4], [1, 2], [1, 0]]), [0, 1, 1]
    model = suffice.CategoricalNB().fit(X, y)
    part = suffice.CategoricalNB(plan=model.plan_).fit(X[1:], y[1:])
    assert part.n_categories_.tolist() == [2, 5]
    same = theirs.CategoricalNB(min_categories=[2, 5]).fit(X[1:], y[1:])
    assert_same_scores(part.feature_log_prob_[1], same.feature_log_prob_[1])
