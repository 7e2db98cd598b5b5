"""Gaussian discriminants with every kind of covariance, and mixtures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from conftest import expect_warning
from suffice import Flat, GaussianDiscriminant, GaussianNB, MixtureClassifier, NormalInverseWishart
from suffice.blocks import Gappy
from suffice.score import Term, TriangularSolve
from suffice.structures.covariances import KINDS, PAIRED, n_parameters

SETS = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
every_set = pytest.mark.parametrize("name", SETS)
every_kind = pytest.mark.parametrize("kind", KINDS)


def test_a_shared_covariance_is_scored_by_one_product_up_to_what_classes_share() -> None:
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(5, 5))
    term = TriangularSolve(rng.normal(size=(3, 5)), (mixed @ mixed.T + np.eye(5))[None])
    x = rng.normal(size=(4000, 5)) * 3
    x[rng.random(x.shape) < 0.001] = np.nan
    block = Gappy("example", None, x)

    def scores(which: Term, parts: int) -> Any:
        found = np.zeros((len(x), 3))
        for rows in np.array_split(np.arange(len(x)), parts):
            here = slice(int(rows[0]), int(rows[-1]) + 1)
            which.add(block, here, found[here])
        return found

    whole, relative = scores(term, 1), scores(term.relative, 1)
    assert term.relative is not term
    np.testing.assert_allclose(whole - whole[:, :1], relative - relative[:, :1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(relative, scores(term.relative, 37), rtol=1e-12, atol=1e-12)
    x[3000, 2] = np.inf
    with pytest.raises(ValueError, match="column 2 is inf in row 3000"):
        scores(term.relative, 1)
    far = TriangularSolve(term.mean * 1e4, term.covariance)
    assert far.relative is far  # rounding errors would show


@every_set
def test_full_is_qda_and_shared_is_lda(name: str) -> None:
    X, y = SETS[name]
    full = GaussianDiscriminant(estimate="mle").fit(X, y)
    np.testing.assert_allclose(
        full.predict_log_proba(X), QuadraticDiscriminantAnalysis().fit(X, y).predict_log_proba(X), rtol=1e-8, atol=1e-8
    )
    shared = GaussianDiscriminant(covariance="shared", estimate="mle").fit(X, y)
    for solver in ("svd", "lsqr", "eigen"):
        theirs = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
        np.testing.assert_allclose(shared.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-8, atol=1e-8)
        if solver != "lsqr":
            moved = theirs.transform(X)
            np.testing.assert_allclose(np.abs(shared.transform(X)), np.abs(moved - moved.mean(0)), rtol=1e-6, atol=1e-8)
            np.testing.assert_allclose(shared.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-6)
    drawn_in = GaussianDiscriminant(covariance="shared", estimate="mle", shrinkage=0.3).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3).fit(X, y)
    np.testing.assert_allclose(drawn_in.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", [(60, 300), (200, 20)])
def test_lda_without_a_covariance(shape: tuple[int, int]) -> None:
    """Lecture 002: by singular values the covariance need not be computed, not even where it is singular."""
    rng = np.random.default_rng(0)
    rows, columns = shape
    y = rng.integers(0, 3, rows)
    X = rng.normal(size=(rows, columns)) * rng.uniform(0.5, 2, columns) + 0.5 * y[:, None]
    ours = GaussianDiscriminant(covariance="shared", estimate="mle", solver="svd").fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-6, atol=1e-6)
    moved = theirs.transform(X)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(moved - moved.mean(0)), rtol=1e-5, atol=1e-6)
    weights = rng.integers(1, 4, rows)
    form = ours.as_linear()
    np.testing.assert_allclose(form.log_posterior(X), ours.predict_log_proba(X), rtol=1e-7, atol=1e-7)
    for settings in ({}, {"prior": 5.0}):
        by_svd = GaussianDiscriminant(covariance="shared", solver="svd", **settings).fit(X, y, weights)
        by_moments = GaussianDiscriminant(covariance="shared", **settings).fit(X, y, weights)
        np.testing.assert_allclose(by_svd.predict_joint_log_proba(X), by_moments.predict_joint_log_proba(X), rtol=1e-7)
    assert not hasattr(ours, "partial_fit")
    assert not hasattr(ours, "forget")
    with pytest.raises(AttributeError, match="partial_fit"):
        ours.partial_fit(X, y)
    with pytest.raises(ValueError, match="fit it again"):
        ours.set_params(ddof=1).predict(X)
    with pytest.raises(ValueError, match=r"for covariance=.shared."):
        GaussianDiscriminant(solver="svd").fit(X, y)


def test_oas_is_the_formula() -> None:
    from sklearn.covariance import oas

    X, _ = SETS["wine"]
    one = GaussianDiscriminant(estimate="mle", shrinkage="oas").fit(X, np.zeros(len(X)))
    np.testing.assert_allclose(one.covariance_[0], oas(X)[0], rtol=1e-9)


@every_kind
@every_set
def test_batches_threads_and_forgetting(name: str, kind: str) -> None:
    X, y = SETS[name]
    whole = GaussianDiscriminant(covariance=kind).fit(X, y)
    parts = GaussianDiscriminant(covariance=kind)
    order = np.random.default_rng(0).permutation(len(X))
    for rows in np.array_split(order, 7):
        parts.partial_fit(X[rows], y[rows])
    assert whole.tally_.isclose(parts.tally_, 1e-9)
    np.testing.assert_allclose(whole.predict_log_proba(X), parts.predict_log_proba(X), rtol=1e-6, atol=1e-9)
    twice = GaussianDiscriminant(covariance=kind).fit(np.vstack([X, X[:50] + 1]), np.append(y, y[:50]))
    twice.forget(X[:50] + 1, y[:50])
    np.testing.assert_allclose(twice.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-6, atol=1e-6)
    assert whole.score(X, y) > 0.7


@every_kind
def test_each_kind_is_what_it_says(kind: str) -> None:
    X, y = SETS["iris"]
    model = GaussianDiscriminant(covariance=kind, estimate="mle").fit(X, y)
    for k, sigma in enumerate(np.broadcast_to(model.covariance_, (3, 4, 4))):
        mine = np.cov(X[y == k].T, ddof=0)
        assert np.linalg.eigvalsh(sigma).min() > 0
        if kind == "full":
            np.testing.assert_allclose(sigma, mine)
        if kind == "shared":
            np.testing.assert_allclose(sigma, np.mean([np.cov(X[y == c].T, ddof=0) for c in range(3)], axis=0))
        if kind == "diagonal":
            np.testing.assert_allclose(sigma, np.diag(np.diag(mine)))
        if kind == "tied-diagonal":
            np.testing.assert_allclose(sigma, np.eye(4) * np.diag(mine).mean())
        if kind == "spherical":
            np.testing.assert_allclose(
                sigma, np.eye(4) * np.mean([np.diag(np.cov(X[y == c].T, ddof=0)).mean() for c in range(3)])
            )
        if kind == "chain":
            inverse = np.linalg.inv(sigma)
            np.testing.assert_allclose(np.triu(inverse, 2), 0, atol=1e-8)
            np.testing.assert_allclose(np.diag(sigma, 1), np.diag(mine, 1))
            np.testing.assert_allclose(np.diag(sigma), np.diag(mine))
        if "tridiagonal" in kind:
            np.testing.assert_allclose(np.triu(sigma, 2), 0)
            if "tied" in kind:
                assert len(set(np.diag(sigma).round(12))) == 1
        density = stats.multivariate_normal(X[y == k].mean(0), sigma)
        np.testing.assert_allclose(model.predict_joint_log_proba(X)[:, k], np.log(1 / 3) + density.logpdf(X), rtol=1e-8)


def test_three_diagonals_that_are_no_covariance_are_drawn_in() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1)) + 0.1 * rng.normal(size=(200, 6))  # all columns nearly alike
    model = GaussianDiscriminant(covariance="tridiagonal", estimate="mle").fit(X, np.arange(200) % 2)
    assert np.linalg.eigvalsh(np.tril(np.triu(np.cov(X.T), -1), 1)).min() < 0
    assert np.linalg.eigvalsh(model.covariance_).min() > 0


def test_diagonal_is_naive_bayes() -> None:
    X, y = SETS["wine"]
    ours = GaussianDiscriminant(covariance="diagonal", estimate="mle").fit(X, y)
    naive = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), naive.predict_log_proba(X), rtol=1e-9)


def test_numbers_of_parameters() -> None:
    """Lecture 001: 5150 for each class of 100 dependent columns, 200 if they are independent."""
    assert n_parameters("full", 1, 100) == 5150
    assert n_parameters("diagonal", 1, 100) == 200
    assert n_parameters("shared", 3, 4) == 12 + 10
    X, y = SETS["iris"]
    assert GaussianDiscriminant(covariance="chain").fit(X, y).n_parameters_ == 3 * (4 + 4 + 3)


def test_posterior_mean_mode_and_predictive() -> None:
    X, y = SETS["iris"]
    prior = NormalInverseWishart(X.mean(0), 2.0, 10.0, np.eye(4))
    mine, n = X[y == 1], 50
    pull = np.outer(mine.mean(0) - X.mean(0), mine.mean(0) - X.mean(0)) * 2 * n / (n + 2)
    scale = np.eye(4) + np.cov(mine.T, ddof=0) * n + pull
    mean = GaussianDiscriminant(estimate="mean", prior=prior).fit(X, y)
    np.testing.assert_allclose(mean.covariance_[1], scale / (10 + n - 5))
    mode = GaussianDiscriminant(estimate="map", prior=prior).fit(X, y)
    np.testing.assert_allclose(mode.covariance_[1], scale / (10 + n + 6))
    predictive = GaussianDiscriminant(estimate="predictive", prior=prior).fit(X, y)
    dof = 10 + n - 3
    centre = (2 * X.mean(0) + n * mine.mean(0)) / (n + 2)
    t = stats.multivariate_t(centre, scale * (n + 3) / ((n + 2) * dof), dof)
    np.testing.assert_allclose(predictive.predict_joint_log_proba(X)[:, 1], np.log(1 / 3) + t.logpdf(X), rtol=1e-9)
    flat = GaussianDiscriminant(estimate="map", prior=Flat()).fit(X, y)
    np.testing.assert_allclose(flat.covariance_[1], np.cov(mine.T, ddof=0))


@pytest.mark.parametrize("kind", PAIRED)
def test_an_estimate_that_does_not_exist_is_an_error_that_names_the_class(kind: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.repeat(["few", "many"], [4, 36])
    X[:, 3] = 1.0  # constant
    if kind == "full":
        with pytest.raises(
            ValueError, match=r"covariance matrix of class 'few' is not full rank .singular: 4 rows, 6 columns"
        ):
            GaussianDiscriminant(covariance=kind, estimate="mle").fit(X, y).predict(X)
    elif kind == "shared":
        with pytest.raises(ValueError, match="covariance matrix of the classes is not full rank"):
            GaussianDiscriminant(covariance=kind, estimate="mle").fit(X, y).predict(X)
    for settings in ({}, {"estimate": "mle", "shrinkage": 0.1}, {"estimate": "predictive"}):
        model = GaussianDiscriminant(covariance=kind, **settings).fit(X, y)
        with expect_warning(
            "class 'few' has 4 rows for 6 columns" if kind == "full" and "shrinkage" not in settings else None
        ):
            assert np.isfinite(model.predict_log_proba(X)).all()
    one = GaussianDiscriminant(covariance=kind).fit(X, np.repeat(["one", "rest"], [1, 39]))
    with expect_warning("class 'one' has 1 rows for 6 columns" if kind == "full" else None):
        assert np.isfinite(one.predict_log_proba(X)).all()


def test_kinds_are_chosen_after_the_fact() -> None:
    X, y = SETS["iris"]
    model = GaussianDiscriminant().fit(X, y)
    for kind in KINDS:
        fresh = GaussianDiscriminant(covariance=kind).fit(X, y)
        np.testing.assert_allclose(
            model.set_params(covariance=kind).predict_proba(X), fresh.predict_proba(X), atol=1e-9
        )
    simple = GaussianDiscriminant(covariance="diagonal").fit(X, y)
    with pytest.raises(ValueError, match="needs co-moments, but the model was fitted with covariance"):
        simple.set_params(covariance="full").predict(X)


def test_wide_rows_and_empty_cells_are_refused_or_scored_alike() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 1500)
    X = rng.normal(size=(1500, 140)) * rng.uniform(0.5, 2, 140) + y[:, None]
    wide = GaussianDiscriminant(estimate="mle").fit(X, y)  # beyond the columns that are stacked
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(wide.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-6, atol=1e-6)
    X[3, 5] = np.nan
    with pytest.raises(ValueError, match="column 5 is nan in row 3"):
        GaussianDiscriminant().fit(X, y)


@pytest.mark.filterwarnings("ignore:Skipping check check_array_api_input:sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "warning"),  # some checks have few rows
    [
        (GaussianDiscriminant(), "class .* rows for .* columns"),
        (GaussianDiscriminant(covariance="shared"), None),
        (MixtureClassifier(), "class .* too few for .* components"),
    ],
)
def test_scikit_learn_accepts_it(estimator: Any, warning: str | None) -> None:
    with np.errstate(all="ignore"), expect_warning(warning):
        checks = check_estimator(estimator, on_fail=None)
    assert [check["check_name"] for check in checks if check["status"] == "failed"] == []


def blobs(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = {0: [(-4, 0), (4, 0)], 1: [(0, -4), (0, 4), (0, 0)]}
    X = [rng.normal(c, 0.7, (120, 2)) for k in centres for c in centres[k]]
    return np.vstack(X), np.repeat([0, 1], [240, 360])


def test_a_mixture_climbs_and_finds_its_components() -> None:
    X, y = blobs()
    model = MixtureClassifier(components={0: 2, 1: 3}, n_init=3).fit(X, y)
    assert model.score(X, y) > 0.97
    assert model.converged_
    for trace in model.trace_.values():
        assert len(trace) > 1
    climbing = MixtureClassifier(components=3, estimate="mle", tol=0.0, max_iter=30)
    with pytest.warns(ConvergenceWarning, match="still changes"):
        climbing.fit(X, y)
    for trace in climbing.trace_.values():
        assert (np.diff(trace) > -1e-9).all()
    again = MixtureClassifier(components={0: 2, 1: 3}, n_init=3).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    drawn, labels = model.sample(3000, random_state=0)
    assert model.score(drawn, labels) > 0.95


@every_kind
def test_mixtures_of_every_kind(kind: str) -> None:
    X, y = blobs()
    model = MixtureClassifier(components=3, covariance=kind).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.score(X, y) > 0.9


def test_a_mixture_agrees_with_scikit_learn_at_its_optimum() -> None:
    X, y = blobs()
    ours = MixtureClassifier(components={0: 2, 1: 3}, estimate="mle", tol=1e-9, max_iter=500, n_init=4).fit(X, y)
    for label, components in ((0, 2), (1, 3)):
        theirs = GaussianMixture(components, tol=1e-9, max_iter=500, n_init=4, random_state=0, reg_covar=0).fit(
            X[y == label]
        )
        np.testing.assert_allclose(ours.trace_[label][-1], theirs.score(X[y == label]), rtol=1e-6)


def test_mixtures_of_bits() -> None:
    rng = np.random.default_rng(0)
    shapes = rng.random((4, 30)) < 0.5
    component = rng.integers(0, 4, 800)
    X = np.where(rng.random((800, 30)) < 0.1, ~shapes[component], shapes[component]).astype(float)
    y = component // 2
    model = MixtureClassifier(components=2, family="bernoulli", n_init=2).fit(X, y)
    assert model.score(X, y) > 0.99
    weights = rng.integers(1, 4, 800)
    rows = np.repeat(np.arange(800), weights)
    one = MixtureClassifier(components=1, family="bernoulli").fit(X, y, weights)
    other = MixtureClassifier(components=1, family="bernoulli").fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict_log_proba(X), other.predict_log_proba(X), rtol=1e-9)


def test_what_a_mixture_cannot_do() -> None:
    X, y = blobs()
    model = MixtureClassifier().fit(X, y)
    with pytest.raises(AttributeError, match="cannot learn in batches"):
        model.partial_fit(X, y)
    with pytest.raises(AttributeError, match="cannot forget"):
        model.forget(X, y)
    with pytest.raises(TypeError, match="cannot be merged"):
        model + model
    with pytest.warns(UserWarning, match="class 1 has only 2 rows, too few for 5 components: it gets 2"):
        few = MixtureClassifier(components=5).fit(X[:12], [0] * 10 + [1] * 2)
    assert np.isfinite(few.predict_log_proba(X)).all()
    with pytest.raises(ValueError, match="names 'z', which is not a class"):
        MixtureClassifier(components={"z": 2}).fit(X, y)
    with (
        pytest.warns(UserWarning, match="class 1 has only 1 rows, too few for 3 components"),
        pytest.raises(ValueError, match="has collapsed on so few rows"),
    ):
        MixtureClassifier(components=3, estimate="mle").fit(X[:4], [0, 0, 0, 1])


def test_in_a_pipeline() -> None:
    X, y = SETS["wine"]
    pipeline = make_pipeline(PCA(5), GaussianDiscriminant())
    assert pipeline.fit(X, y).score(X, y) > 0.9
    assert make_pipeline(GaussianDiscriminant(covariance="shared"), MixtureClassifier()).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"estimate": "map"}, "or \"mean\", not 'map'"),
        ({"estimate": "predictive"}, "not 'predictive'"),
        ({"shrinkage": np.float32(0.5)}, "no shrinkage"),
        ({"covariance": "full"}, 'for covariance="shared"'),
        ({"prior": Flat()}, "a number as prior"),
        ({"prior": -1.0}, "more than 0"),
    ],
)
def test_what_singular_values_cannot_do(changed: dict[str, Any], said: str) -> None:
    X, y = SETS["iris"]
    settings = {"covariance": "shared", "solver": "svd"}
    with pytest.raises(ValueError, match=said):
        GaussianDiscriminant(**settings | changed).fit(X, y)
    with pytest.raises(ValueError, match=said):
        GaussianDiscriminant(**settings).fit(X, y).set_params(**changed).predict(X)


def test_a_subspace_is_of_the_rows_that_were_fitted_last() -> None:
    X, y = SETS["iris"]
    model = GaussianDiscriminant(covariance="shared", solver="svd").fit(X, y)
    by_moments = GaussianDiscriminant(covariance="shared").fit(X, y)
    np.testing.assert_allclose(model.variances_, by_moments.variances_)
    model.set_params(solver="moments").fit(X + 1, y)
    with pytest.raises(ValueError, match="fit it again"):
        model.set_params(solver="svd").predict(X)


@pytest.mark.parametrize("kind", ["spherical", "tied-diagonal", "diagonal", "full", "svd"])
def test_no_more_is_taken_off_than_there_are_rows(kind: str) -> None:
    X, y = SETS["iris"]
    how = {"covariance": "shared", "solver": "svd"} if kind == "svd" else {"covariance": kind}
    with pytest.raises(ValueError, match="ddof=60 leaves nothing"):
        GaussianDiscriminant(**how, ddof=60, estimate="mle").fit(X, y).predict(X)


def test_a_class_of_one_row_is_learned_with_ddof() -> None:
    model = GaussianNB(ddof=1).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    assert model.predict([[0.4], [5.0]]).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="ddof=2 leaves nothing"):
        model.set_params(ddof=2).predict([[0.4]])


@pytest.mark.parametrize("count", [1.5, "2", None, True, 0])
def test_components_are_whole_numbers(count: Any) -> None:
    with pytest.raises(ValueError, match=r"gives class 0 .* components; it must be a whole number"):
        MixtureClassifier(components={0: count}).fit(*SETS["iris"])
