"""Shrinkage of covariances: Ledoit and Wolf from fourth moments, reg_param, other estimators, and the scores."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.covariance import OAS, EmpiricalCovariance, LedoitWolf, ledoit_wolf
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice
from suffice import BayesClassifier, Full, GaussianDiscriminant, cross_validate
from suffice.statistics import CoMoments, FourthMoments

SETS = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
every_set = pytest.mark.parametrize("name", SETS)
every_share = pytest.mark.parametrize("shrinkage", ["ledoit-wolf", "auto"])


def brute_force(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return cubes and fourths by their definition."""
    centred = rows - weights @ rows / weights.sum()
    cubes = np.einsum("r,ri,rj->ij", weights, centred**2, centred)
    return cubes, np.einsum("r,ri,rj->ij", weights, centred**2, centred**2)


def test_fourth_moments_add_subtract_and_weigh() -> None:
    rng = np.random.default_rng(0)
    rows = rng.gamma(2.0, size=(90, 4)) * [1, 10, 0.1, 3] + [0, 50, 1, -20]
    weights = rng.uniform(0.5, 2, 90)
    whole = FourthMoments.of(rows, weights)
    cubes, fourths = brute_force(rows, weights)
    np.testing.assert_allclose(whole.cubes[0], cubes, rtol=1e-11)
    np.testing.assert_allclose(whole.fourths[0], fourths, rtol=1e-11)
    first, rest = FourthMoments.of(rows[:25] + 3, weights[:25]), FourthMoments.of(rows[25:], weights[25:])
    both = FourthMoments.of(np.vstack([rows[:25] + 3, rows[25:]]), weights)
    assert (first + rest).isclose(both, 1e-12)
    assert (both - first).isclose(rest, 1e-10)
    assert (both - first - rest).fourths.max() == 0
    assert (both * 3).isclose(both + both + both, 1e-12)
    assert (FourthMoments.zero(1, 4) + both).isclose(both, 1e-15)
    assert (both * 0).isclose(FourthMoments.zero(1, 4))
    moved = FourthMoments.of(np.vstack([rows[:25] + 4, rows[25:]]), weights)
    assert not both.isclose(moved)
    skewed = FourthMoments(**{**both.arrays(), "cubes": both.cubes * (1 + 1e-6)})
    assert not both.isclose(skewed)


def test_fourth_moments_far_from_zero_keep_their_digits() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1000, 3))
    near, far = FourthMoments.of(rows), FourthMoments.of(rows[:400] + 2**20) + FourthMoments.of(rows[400:] + 2**20)
    np.testing.assert_allclose(far.fourths, near.fourths, rtol=1e-8)


@every_set
@every_share
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_ledoit_wolf_is_that_of_scikit_learn(name: str, shrinkage: str, covariance: str) -> None:
    X, y = SETS[name]
    ours = GaussianDiscriminant(covariance=covariance, shrinkage=shrinkage, estimate="mle").fit(X, y)
    settings = {"shrinkage": "auto"} if shrinkage == "auto" else {"covariance_estimator": LedoitWolf()}
    if covariance == "full":
        theirs: Any = QuadraticDiscriminantAnalysis(solver="eigen", store_covariance=True, **settings)
    else:
        theirs = LinearDiscriminantAnalysis(solver="lsqr", **settings)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.covariance_, np.reshape(theirs.covariance_, ours.covariance_.shape), rtol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-9)
    if shrinkage == "ledoit-wolf" and covariance == "full":
        for k, sigma in enumerate(ours.covariance_):
            np.testing.assert_allclose(sigma, ledoit_wolf(X[y == k])[0], rtol=1e-9)


def test_a_constant_column_and_a_single_one() -> None:
    X, y = SETS["iris"]
    X = np.column_stack([X, np.ones(len(X))])
    ours = GaussianDiscriminant(shrinkage="auto", estimate="mle").fit(X, y)
    theirs = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto", store_covariance=True).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-15)
    one = GaussianDiscriminant(shrinkage="ledoit-wolf", estimate="mle").fit(X[:, :1], y)
    np.testing.assert_allclose(one.covariance_[0], ledoit_wolf(X[y == 0, :1])[0])


@every_share
@every_set
def test_batches_weights_shards_and_forgetting(name: str, shrinkage: str) -> None:
    X, y = SETS[name]
    settings = {"shrinkage": shrinkage}
    whole, parts = GaussianDiscriminant(**settings).fit(X, y), GaussianDiscriminant(**settings)
    assert isinstance(whole.tally_.statistics[0], FourthMoments)
    for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 7):
        parts.partial_fit(X[rows], y[rows])
    assert parts.tally_.isclose(whole.tally_, 1e-9)
    np.testing.assert_allclose(parts.covariance_, whole.covariance_, rtol=1e-9)
    shards = GaussianDiscriminant(**settings).fit(X[::2], y[::2]) + GaussianDiscriminant(**settings).fit(
        X[1::2], y[1::2]
    )
    np.testing.assert_allclose(shards.covariance_, whole.covariance_, rtol=1e-9)
    more = GaussianDiscriminant(**settings).fit(np.vstack([X, 1.5 * X[:40]]), np.append(y, y[:40]))
    more.forget(1.5 * X[:40], y[:40])
    assert more.tally_.isclose(whole.tally_, 1e-9)
    np.testing.assert_allclose(more.covariance_, whole.covariance_, rtol=1e-9)
    counts = np.random.default_rng(1).integers(1, 4, len(X))
    weighted = GaussianDiscriminant(**settings).fit(X, y, counts)
    repeated = GaussianDiscriminant(**settings).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-9)
    splits = list(StratifiedKFold(3).split(X, y))
    by_sums = cross_validate(whole, X, y, cv=splits)
    assert not by_sums["refitted"]
    for train, test in splits:
        refitted = GaussianDiscriminant(**settings).fit(X[train], y[train]).predict_log_proba(X[test])
        np.testing.assert_allclose(by_sums["log_proba"][test], refitted, rtol=1e-6, atol=1e-9)


def test_only_the_setting_takes_fourth_moments() -> None:
    X, y = SETS["iris"]
    plain = GaussianDiscriminant().fit(X, y)
    assert type(plain.tally_.statistics[0]) is CoMoments
    with pytest.raises(ValueError, match="fit it again"):
        plain.set_params(shrinkage="auto").predict(X)
    with pytest.raises(ValueError, match="fourth moments"):
        GaussianDiscriminant(shrinkage="auto").fit(X, y) + GaussianDiscriminant().fit(X, y)
    fitted = GaussianDiscriminant(shrinkage="auto").fit(X, y)
    fitted.set_params(shrinkage=None)  # settings are read when the model is estimated
    np.testing.assert_allclose(fitted.covariance_, GaussianDiscriminant().fit(X, y).covariance_, rtol=1e-12)
    fitted.partial_fit(X, y).forget(X, y)
    assert "fourth moments" in str(fitted.plan_)
    planned = GaussianDiscriminant(shrinkage="ledoit-wolf", plan=fitted.plan_).fit(X, y)
    assert planned.score(X, y) > 0.95


@every_share
def test_files_engines_and_missing_cells(shrinkage: str, tmp_path: Path) -> None:
    X, y = SETS["wine"]
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = GaussianDiscriminant(shrinkage=shrinkage).fit(table, y)
    loaded = suffice.load(model.save(tmp_path / "model.suffice"))
    np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    table.assign(label=y).to_parquet(tmp_path / "rows.parquet")
    by_file = GaussianDiscriminant(shrinkage=shrinkage).fit_table(tmp_path / "rows.parquet", "label")
    assert by_file.tally_.isclose(model.tally_, 1e-9)
    with_gaps = X.copy()
    with_gaps[::7, 2] = np.nan
    complete = ~np.isnan(with_gaps).any(axis=1)
    skipping = GaussianDiscriminant(shrinkage=shrinkage, missing="skip").fit(with_gaps, y)
    alone = GaussianDiscriminant(shrinkage=shrinkage).fit(X[complete], y[complete])
    np.testing.assert_allclose(
        skipping.tally_.statistics[0].arrays()["fourths"], alone.tally_.statistics[0].arrays()["fourths"], rtol=1e-9
    )
    in_table = BayesClassifier(structure=Full(shrinkage=shrinkage), numeric="gaussian", prior=1.0).fit(table, y)
    np.testing.assert_allclose(in_table.predict_proba(table), model.predict_proba(table), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-80, 1e80])
def test_numbers_whose_fourth_powers_have_no_digits(scale: float) -> None:
    X, y = SETS["iris"]
    with pytest.raises(ValueError, match=r"column 0 are so (large|small) that their fourth powers"):
        GaussianDiscriminant(shrinkage="auto").fit(X * scale, y)
    model = GaussianDiscriminant(shrinkage="auto", estimate="mle").fit(X * 1e-30, y)
    theirs = GaussianDiscriminant(shrinkage="auto", estimate="mle").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X * 1e-30), theirs.predict_proba(X), rtol=1e-6, atol=1e-9)


@every_set
def test_reg_param_is_that_of_qda(name: str) -> None:
    X, y = SETS[name]
    for r in (0.01, 0.1, 1.0):
        ours = GaussianDiscriminant(reg_param=r, estimate="mle").fit(X, y)
        theirs = QuadraticDiscriminantAnalysis(reg_param=r).fit(X, y)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-9)
    diagonal = GaussianDiscriminant(covariance="diagonal", reg_param=0.2, estimate="mle").fit(X, y)
    variances = np.array([X[y == k].var(0) for k in range(3)])
    np.testing.assert_allclose(diagonal.variances_, 0.8 * variances + 0.2)


@every_set
def test_a_shrunk_shared_covariance_is_that_of_lda(name: str) -> None:
    X, y = SETS[name]
    ours = GaussianDiscriminant(covariance="shared", shrinkage=0.3, estimate="mle").fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("estimator", [LedoitWolf(), OAS(), EmpiricalCovariance()])
def test_a_covariance_estimator(estimator: Any, covariance: str) -> None:
    X, y = SETS["wine"]
    X = StandardScaler().fit_transform(X)
    settings = {"covariance_estimator": clone(estimator)}
    ours = GaussianDiscriminant(covariance=covariance, estimate="mle", **settings).fit(X, y)
    assert not hasattr(ours.covariance_estimator, "covariance_")  # a copy is fitted
    their_kind = LinearDiscriminantAnalysis if covariance == "shared" else QuadraticDiscriminantAnalysis
    theirs = their_kind(solver="eigen", **settings).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-12)
    assert cross_validate(ours, X, y, cv=3)["refitted"]
    for name in ("partial_fit", "forget", "receipt", "fit_table", "predict_interval"):
        with pytest.raises(AttributeError, match=name) as caught:
            getattr(ours, name)
        assert "learns by fit only" in str(caught.value.__cause__)
    with pytest.raises(TypeError, match="cannot be merged"):
        ours + ours
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).predict_proba(X), ours.predict_proba(X))
    with pytest.raises(ValueError, match="cannot be saved"):
        ours.file_content()
    again = ours.set_params(covariance="full" if covariance == "shared" else "shared")
    assert again.score(X, y) > 0.95  # the estimates by class serve both
    with pytest.raises(ValueError, match="fit it again"):
        GaussianDiscriminant().fit(X, y).set_params(**settings).predict(X)


class WrongShape:
    def fit(self, X: Any) -> None:
        self.covariance_ = np.eye(2)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"shrinkage": 0.1, "reg_param": 0.1}, "set one of them"),
        ({"shrinkage": 1.5}, "shrinkage"),
        ({"shrinkage": -0.1}, "shrinkage"),
        ({"shrinkage": "ledoit"}, "shrinkage"),
        ({"reg_param": 2}, "reg_param"),
        ({"covariance": "diagonal", "shrinkage": "auto"}, "needs a covariance of pairs"),
        ({"covariance_estimator": object()}, "implementing 'fit'"),
        ({"covariance_estimator": KMeans(2)}, "does not have a covariance_"),
        ({"covariance_estimator": WrongShape()}, "of shape"),
        ({"covariance_estimator": OAS(), "shrinkage": 0.1}, "Only one of the two"),
        ({"covariance_estimator": OAS(), "reg_param": 0.1}, "reg_param"),
        ({"covariance_estimator": OAS(), "covariance": "diagonal"}, "diagonal"),
        ({"covariance_estimator": OAS(), "estimate": "predictive"}, "predictive"),
        ({"covariance_estimator": OAS(), "missing": "skip"}, "complete rows"),
        ({"covariance": "shared", "solver": "svd", "reg_param": 0.1}, "reg_param"),
        ({"covariance": "shared", "solver": "svd", "covariance_estimator": OAS()}, "covariance_estimator"),
        ({"n_components": 3}, "n_components cannot be larger"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_bad_settings_leave_the_model_as_it_was(settings: dict[str, Any], said: str) -> None:
    X, y = SETS["iris"]
    model = GaussianDiscriminant().fit(X, y)
    before, plain = model.predict_proba(X), model.get_params()
    with pytest.raises(ValueError, match=said):
        model.set_params(**settings).fit(X, y)
    np.testing.assert_array_equal(model.set_params(**plain).predict_proba(X), before)


def test_an_estimator_takes_no_weights() -> None:
    X, y = SETS["iris"]
    model = GaussianDiscriminant(covariance_estimator=OAS())
    with pytest.raises(ValueError, match="takes no weights"):
        model.fit(X, y, np.arange(1, 151))
    assert model.fit(X, y, np.full(150, 2.0)).score(X, y) > 0.9


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"covariance": "shared"}, {"covariance": "shared", "solver": "svd"}])
def test_scores_decide_as_probabilities_do(settings: dict[str, Any], classes: int) -> None:
    X, y = SETS["iris"]
    X, y = X[y < classes], y[y < classes]
    for extra in ({}, {"calibrate": "temperature"}):
        model = GaussianDiscriminant(**settings, **extra).fit(X, y)
        scores, log_proba = model.decision_function(X), model.predict_log_proba(X)
        if classes == 2:
            np.testing.assert_allclose(scores, log_proba[:, 1] - log_proba[:, 0], rtol=1e-9, atol=1e-9)
        else:
            assert scores.shape == (len(X), classes)
            np.testing.assert_allclose(scores - scores[:, :1], log_proba - log_proba[:, :1], rtol=1e-6, atol=1e-7)
    plain = GaussianDiscriminant(**settings).fit(X, y)
    assert hasattr(plain, "coef_") == (settings.get("covariance") == "shared")
    np.testing.assert_allclose(plain.priors_, np.full(classes, 1 / classes))
    np.testing.assert_allclose(plain.xbar_, X.mean(0))


def test_components_of_a_pipeline() -> None:
    X, y = SETS["wine"]
    axes = GaussianDiscriminant(covariance="shared", estimate="mle", n_components=1)
    moved = make_pipeline(StandardScaler(), axes).fit_transform(X, y)
    assert moved.shape == (len(X), 1)
    assert axes.get_feature_names_out().tolist() == ["gaussiandiscriminant0"]
    theirs = LinearDiscriminantAnalysis(n_components=1).fit_transform(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(np.abs(moved), np.abs(theirs), rtol=1e-7, atol=1e-9)
