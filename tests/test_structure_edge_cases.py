"""Edge cases of structures, covariances and mixtures."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

from conftest import assert_same_scores
from suffice import (
    Averaged,
    BayesClassifier,
    Chain,
    Dirichlet,
    Flat,
    Full,
    Gamma,
    GaussianDiscriminant,
    GaussianNB,
    MEstimate,
    MixtureClassifier,
    NormalInverseGamma,
    NormalInverseWishart,
    Tree,
)


def test_full_with_one_number() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"u": rng.choice(list("abc"), 200), "x": rng.normal(size=200)})
    y = np.arange(200) % 2
    for structure in (Full(0.1), "full", "averaged", "tree"):
        assert np.isfinite(BayesClassifier(structure=structure).fit(X, y).predict_proba(X)).all()


@pytest.mark.parametrize(
    "structure", ["naive", "chain", "tree", Tree("per-class"), "averaged", "full", "joint"], ids=str
)
def test_intervals_are_those_of_the_structure(structure: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    a = rng.normal(size=400)
    u = rng.integers(0, 2, 400)
    X = pd.DataFrame(
        {
            "a": a,
            "b": np.where(y == 0, a, -a) + rng.normal(size=400) * 0.3,
            "u": u.astype(bool),
            "v": np.where(rng.random(400) < 0.1, 1 - u, u ^ y).astype(bool),
        }
    )
    model = BayesClassifier(structure=structure, families={"a": "gaussian", "b": "gaussian"}).fit(X, y)
    lower, upper = model.predict_interval(X, 0.98, draws=100)
    said = model.predict_proba(X)
    assert ((lower - 0.02 <= said) & (said <= upper + 0.02)).mean() > 0.9


@pytest.mark.parametrize("kind", ["diagonal", "chain", "tridiagonal", "full", "shared"])
def test_intervals_are_those_of_the_covariance(kind: str) -> None:
    rng = np.random.default_rng(0)
    a, y = rng.normal(size=300), np.arange(300) % 2
    X = np.c_[a, np.where(y == 0, a, -a) + rng.normal(size=300) * 0.5]
    model = GaussianDiscriminant(covariance=kind).fit(X, y)
    lower, upper = model.predict_interval(X, 0.98)
    said = model.predict_proba(X)
    assert ((lower - 0.02 <= said) & (said <= upper + 0.02)).mean() > 0.9


def joint(**settings: Any) -> BayesClassifier:
    return BayesClassifier(**{"structure": "joint", "families": "categorical", **settings})


def test_joint_models_merge_whatever_the_order_of_columns() -> None:
    X, y = pd.DataFrame({"u": list("aabb"), "v": list("cdcd")}), [0, 1, 1, 0]
    merged = joint().fit(X[:2], y[:2]) + joint().fit(X[["v", "u"]][2:], y[2:])
    np.testing.assert_allclose(merged.predict_proba(X), joint().fit(X, y).predict_proba(X))
    drawn, labels = merged.sample(2000, random_state=0)
    assert merged.predict(pd.DataFrame(drawn, columns=["u", "v"])).shape == labels.shape


def test_combinations_are_no_column_of_other_structures() -> None:
    X, y = pd.DataFrame({"u": list("aabbb"), "v": list("cdcdd")}), [0, 1, 1, 0, 1]
    model, naive = joint().fit(X, y), joint(structure="naive").fit(X, y)
    model.set_params(structure="naive")
    np.testing.assert_allclose(model.predict_proba(X), naive.predict_proba(X))
    np.testing.assert_allclose(model.log_evidence_, naive.log_evidence_)
    assert set(model.posterior_) == {"u", "v"}
    with pytest.raises(ValueError, match="needs pairs"):
        model.set_params(structure="tree").predict(X)


def test_joint_shares_are_no_more_than_the_whole() -> None:
    X = pd.DataFrame({"u": list("aabba"), "v": list("cdcdc"), "w": list("efeff")})
    model = joint().fit(X, [0, 0, 1, 1, 0])
    every = pd.DataFrame(itertools.product("ab", "cd", "ef"), columns=["u", "v", "w"])
    with pytest.warns(UserWarning, match="3 of 8 rows have a combination of levels"):
        assert np.exp(model.score_samples(every)).sum() < 1


def test_a_class_without_a_complete_row_is_learned_from_its_cells() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200) + 2 * y})
    X.loc[(rng.random(200) < 0.4) | (y == 1), "a"] = np.nan
    naive = BayesClassifier(families="gaussian", structure="naive").fit(X, y)
    for structure in ("full", "chain", "tree", "averaged"):
        model = BayesClassifier(families="gaussian", structure=structure).fit(X, y)
        assert model.score(X, y) > 0.8
        model.set_params(structure="naive")
        np.testing.assert_allclose(model.predict_log_proba(X), naive.predict_log_proba(X), rtol=1e-9, atol=1e-9)
        batches = BayesClassifier(families="gaussian", structure=structure)
        for rows in np.array_split(np.arange(200), 6):
            batches.partial_fit(X.iloc[rows], y[rows])
        assert batches.tally_.isclose(model.tally_, 1e-9)
        batches.forget(X.iloc[50:], y[50:])
        assert batches.tally_.isclose(
            BayesClassifier(families="gaussian", structure=structure).fit(X.iloc[:50], y[:50]).tally_, 1e-8
        )


def test_predictive_of_a_shared_covariance_knows_each_class_by_its_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], [27, 3])
    X[y == 1] += 2
    prior = NormalInverseWishart(np.zeros(2), 1.0, 6.0, np.eye(2))
    model = GaussianDiscriminant(covariance="shared", estimate="predictive", prior=prior).fit(X, y)
    scale, dof = np.eye(2), 6 + 30 - 1
    for k, n in ((0, 27), (1, 3)):
        mean = X[y == k].mean(0)
        scale = scale + np.cov(X[y == k].T, ddof=0) * n + np.outer(mean, mean) * n / (n + 1)
    for k, n in ((0, 27), (1, 3)):
        centre = X[y == k].sum(0) / (n + 1)
        t = stats.multivariate_t(centre, scale * (n + 2) / ((n + 1) * dof), dof)
        by_hand = np.log(n / 30) + t.logpdf(X)
        np.testing.assert_allclose(model.predict_joint_log_proba(X)[:, k], by_hand, rtol=1e-9)
    flat = GaussianDiscriminant(covariance="shared", estimate="map", prior=Flat()).fit(X, y)
    mle = GaussianDiscriminant(covariance="shared", estimate="mle").fit(X, y)
    np.testing.assert_allclose(flat.covariance_, mle.covariance_)


@pytest.mark.parametrize("estimate", ["mle", "map", "mean"])
def test_bits_that_are_all_alike(estimate: str) -> None:
    X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0.0]]), [0, 0, 1, 1]
    model = MixtureClassifier(family="bernoulli", estimate=estimate, components=1).fit(X, y)
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize("kind", ["chain", "tied-tridiagonal", "full", "shared", "diagonal"])
@pytest.mark.parametrize("scale", [1.0, 1e-150])
def test_rows_that_are_all_alike(kind: str, scale: float) -> None:
    y = np.arange(30) % 2
    X = np.random.default_rng(0).normal(size=(2, 3))[y] * scale
    model = MixtureClassifier(components=2, covariance=kind).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_singular_covariances_are_named_in_tables_too() -> None:
    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [1.0, 2, 3, 4]})
    with pytest.raises(ValueError, match=r"the covariance of class 'p' is singular.*structure=\"naive\""):
        BayesClassifier(families="gaussian", structure="full", estimate="mle").fit(X, list("pqpq")).predict(X)


@pytest.mark.parametrize("kind", ["diagonal", "chain", "full", "shared"])
def test_shrinkage_at_any_scale(kind: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    for scale in (1e-120, 1.0, 1e150):
        for shrinkage in ("oas", 0.1):
            model = GaussianDiscriminant(covariance=kind, shrinkage=shrinkage).fit(X * scale, y)
            assert np.isfinite(model.predict_log_proba(X * scale)).all()
    with pytest.raises(ValueError, match="rescale"):
        GaussianDiscriminant(covariance=kind).fit(X * 1e306, y)


def test_settings_that_are_none() -> None:
    X, y = pd.DataFrame({"u": list("abab"), "v": list("ccdd"), "w": list("efef")}), [0, 1, 0, 1]
    for wrong, message in (
        (lambda: Chain(backoff=-1), "backoff"),
        (lambda: Chain(["u", "v", "v"]), "names 'v' twice"),
        (lambda: Averaged(frequency=-1), "frequency"),
        (lambda: Averaged(numbers="foo"), "numbers is a structure"),  # type: ignore[arg-type]
        (lambda: Full(covariance="foo"), "covariance is one of"),
        (lambda: Full(ddof=-1), "ddof"),
        (lambda: BayesClassifier(structure=Chain(["u", "zz"])).fit(X, y), "names 'zz', which is not a column"),
        (lambda: BayesClassifier(structure=["tree"]).fit(X, y), "is not known"),
        (
            lambda: MixtureClassifier(components={0: 0}).fit([[0.0], [1.0], [2.0]], [0, 0, 1]),
            "component",
        ),
        (
            lambda: GaussianDiscriminant(ddof=9, estimate="mle").fit(np.eye(4), y).predict(np.eye(4)),
            "ddof=9 leaves nothing",
        ),
        (lambda: GaussianDiscriminant(prior="auto").fit(np.eye(4), y), "is for covariance"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()


def test_a_mixture_is_fitted_again_when_settings_change() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    model = MixtureClassifier().fit(X, y)
    for settings in ({"family": "bernoulli"}, {"estimate": "mle"}, {"covariance": "diagonal"}):
        with pytest.raises(ValueError, match="fit it again"):
            model.set_params(**settings).predict(X)
    for name in ("posterior_", "log_evidence_"):
        with pytest.raises(AttributeError, match="mixture"):
            getattr(model, name)
    with pytest.raises(AttributeError, match="mixture"):
        model.predict_interval(X)
    full = GaussianDiscriminant().fit(X, y)
    for name in ("posterior_", "log_evidence_"):
        with pytest.raises(AttributeError, match="diagonal"):
            getattr(full, name)
        assert getattr(GaussianDiscriminant(covariance="diagonal").fit(X, y), name)


def test_equal_means_have_no_axes_but_no_nan() -> None:
    ratio = GaussianDiscriminant().fit(np.ones((6, 2)), [0, 1] * 3).explained_variance_ratio_
    assert np.isfinite(ratio).all()


def test_a_tree_sums_to_one_over_all_rows() -> None:
    X = pd.DataFrame({"u": list("aabba"), "v": list("cdcdc"), "w": list("efeff")})
    every = pd.DataFrame(itertools.product(["a", "b", "?"], ["c", "d", "?"], ["e", "f", "?"]), columns=["u", "v", "w"])
    for structure in ("naive", "chain", "tree"):  # in averaged, what is averaged depends on the row
        model = BayesClassifier(structure=structure, families="categorical").fit(X, [0, 0, 1, 1, 0])
        np.testing.assert_allclose(logsumexp(model.score_samples(every)), 0.0, atol=1e-9)


def test_combinations_beyond_the_range_of_their_codes() -> None:
    # 40 bins and more than 87 combinations: their places together do not fit into the eight bits of a code
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    model = BayesClassifier(structure="joint", numeric="quantiles").fit(X, y)
    narrow, wide = model.read_rows(X).blocks, []
    wide = [replace(block, array=block.array.astype(np.int64)) for block in narrow]
    assert_same_scores(model.estimate_model().log_joint(narrow), model.estimate_model().log_joint(tuple(wide)))


def test_a_structure_that_is_gone_is_not_taken_for_another() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (60, 4)), columns=list("abcd")).astype(str)
    model = BayesClassifier(structure=Tree(backoff=0.01)).fit(frame, rng.integers(0, 2, 60))
    for _ in range(20):
        model.structure = Tree(backoff=0.01)
        sharp = model.predict_proba(frame)
        model.structure = "naive"
        model.structure = Tree(backoff=500.0)
        assert np.abs(model.predict_proba(frame) - sharp).max() > 0.01


def test_sums_with_pairs_and_without_are_not_alike() -> None:
    rng = np.random.default_rng(0)
    frame, y = pd.DataFrame(rng.integers(0, 3, (60, 3)).astype(str), columns=list("abc")), rng.integers(0, 2, 60)
    alone, paired = (BayesClassifier(structure=structure).fit(frame, y).tally_ for structure in ("naive", "tree"))
    assert alone != paired
    assert alone.digest() != paired.digest()
    for both in ((alone, paired), (paired, alone)):
        for operation in ("__add__", "__sub__", "isclose"):
            with pytest.raises(ValueError, match="pairs of columns"):
                getattr(both[0], operation)(both[1])


@pytest.mark.parametrize("tree", ["shared", "per-class"])
def test_the_order_of_columns_has_no_say_in_a_tree(tree: str) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 3, (80, 5)), columns=list("abcde"))
    frame["e"] = (frame["a"] + frame["b"]) % 3
    frame, y = frame.astype(str).assign(n=rng.normal(size=80), m=rng.normal(size=80)), rng.integers(0, 2, 80)
    model = BayesClassifier(structure=Tree(tree), numeric="gaussian").fit(frame, y)
    turned = BayesClassifier(structure=Tree(tree), numeric="gaussian").fit(frame[frame.columns[::-1]], y)
    assert_same_scores(turned.predict_proba(frame), model.predict_proba(frame))


def test_each_structure_takes_the_priors_that_it_estimates_with() -> None:
    rng = np.random.default_rng(0)
    frame, y = pd.DataFrame(rng.normal(size=(60, 2)), columns=["g", "h"]), np.arange(60) % 2
    alone = NormalInverseGamma(0.0, 1.0, 2.0, 2.0)
    together = NormalInverseWishart(np.zeros(2), 1.0, 5.0, np.eye(2))
    for structure in ("naive", "auto", "averaged", "full", "chain", "tree"):
        fitting, strange = (alone, together) if structure == "naive" else (together, alone)
        settings: dict[str, Any] = {"structure": structure, "numeric": "gaussian"}
        model = BayesClassifier(**settings, prior={"gaussian": fitting}).fit(frame, y)
        assert np.isfinite(model.predict_log_proba(frame)).all()
        with pytest.raises(ValueError, match="does not suit"):
            BayesClassifier(**settings, prior={"gaussian": strange}).fit(frame, y)


def test_a_prior_for_one_column_stands_beside_others() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["g", "h"])
    frame = frame.assign(u=rng.poisson(3, 60), v=rng.poisson(2, 60), a=rng.choice(list("xyz"), 60), b=list("pq") * 30)
    y = np.arange(60) % 3 // 2
    families = {"u": "poisson", "v": "poisson"}
    settings: dict[str, Any] = {"structure": "naive", "numeric": "gaussian", "families": families}
    priors = {
        "g": NormalInverseGamma(0.0, 1.0, 2.0, 2.0),
        "u": Gamma(2, 1),
        "a": Dirichlet([1, 2, 3]),
        "b": MEstimate(2, 0.3),
    }
    whole = BayesClassifier(**settings, prior=priors).fit(frame, y)
    evidence, shares = 0.0, np.log(np.bincount(y) / 60)
    for name in frame.columns:  # columns are independent, so each can be learned by itself
        prior = {name: priors[name]} if name in priors else 0.5
        one = BayesClassifier(**{**settings, "families": {name: families.get(name, "auto")}}, prior=prior)
        evidence = evidence + one.fit(frame[[name]], y).predict_joint_log_proba(frame[[name]]) - shares
    np.testing.assert_allclose(whole.predict_joint_log_proba(frame) - shares, evidence, rtol=1e-9)
    with pytest.raises(ValueError, match=r"column 'a': .* 2 entries, and there are 3 levels"):
        BayesClassifier(**settings, prior={"a": Dirichlet([1, 2])}).fit(frame, y)
    with pytest.raises(ValueError, match="'auto' for column 'a'"):
        BayesClassifier(**settings, prior={"a": "auto"}).fit(frame, y)


def test_what_would_be_lost_in_rounding_is_not_forgotten() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.arange(100) % 2
    far = np.array([[1e9, 0.0]])
    for model in (GaussianNB(), GaussianDiscriminant(), BayesClassifier(families="gaussian", structure="naive")):
        model.fit(X, y).partial_fit(far, [0])
        before = model.tally_
        with pytest.raises(ValueError, match="so much of column 0 in class 0 was forgotten"):
            model.forget(far, [0])
        assert model.tally_ is before
    X[:, 1] = np.arange(100) % 5 == 1
    X[0::2, 1] = 0
    X[4, 1] = 1
    GaussianNB().fit(X, y).forget(X[4:5], y[4:5])  # the only 1 of a class: the floor is larger than any rounding error


def test_what_is_chosen_is_chosen_by_fit() -> None:
    rng = np.random.default_rng(0)
    frame, y = pd.DataFrame(rng.integers(0, 3, (60, 3)).astype(str), columns=list("abc")), rng.integers(0, 2, 60)
    assert BayesClassifier(prior="auto").fit(frame, y, sample_weight=2.0).prior_ > 0
    with pytest.raises(ValueError, match="2D array"):
        BayesClassifier(prior="auto").fit([1, 2, 3], [0, 1, 0])
    late = BayesClassifier().fit(frame, y).set_params(prior="auto")
    assert "60 rows" in repr(late)
    with pytest.raises(ValueError, match="chosen by fit"):
        late.predict(frame)
