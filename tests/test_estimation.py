"""Estimation: the four rules, priors, evidence and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import gammaln

import suffice
from conftest import CASES, Case, example
from suffice import (
    Bernoulli,
    BernoulliNB,
    Beta,
    Categorical,
    CategoricalNB,
    Dirichlet,
    Flat,
    Gamma,
    Gaussian,
    GaussianNB,
    MEstimate,
    Multinomial,
    MultinomialNB,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    PoissonNB,
)
from suffice.estimation import RULES

POSITIVE = st.floats(0.1, 20)


# log p(x | data) = log Z(data + x) − log Z(data)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=20), st.integers(0, 1), POSITIVE, POSITIVE)
def test_predictive_is_a_ratio_of_evidences_bernoulli(data: list[int], x: int, a: float, b: float) -> None:
    prior = Beta(a, b)
    ratio = Bernoulli.log_evidence(Bernoulli.tally([*data, x]), prior) - Bernoulli.log_evidence(
        Bernoulli.tally(data), prior
    )
    predictive = Bernoulli.estimate(Bernoulli.tally(data), prior, "predictive")
    np.testing.assert_allclose(predictive.log_density(x), ratio, atol=1e-10)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=20), st.integers(0, 3), st.lists(POSITIVE, min_size=4, max_size=4)
)
def test_predictive_is_a_ratio_of_evidences_categorical(data: list[int], x: int, alpha: list[float]) -> None:
    prior = Dirichlet(alpha)
    before, after = Categorical.tally(data, levels=4), Categorical.tally([*data, x], levels=4)
    ratio = Categorical.log_evidence(after, prior) - Categorical.log_evidence(before, prior)
    np.testing.assert_allclose(Categorical.estimate(before, prior, "predictive").log_density([x]), ratio, atol=1e-10)


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=9),
    st.lists(st.integers(0, 5), min_size=3, max_size=3),
    st.lists(POSITIVE, min_size=3, max_size=3),
)
def test_predictive_is_a_ratio_of_evidences_multinomial(
    data: list[list[int]], x: list[int], alpha: list[float]
) -> None:
    prior = Dirichlet(alpha)
    before, after = Multinomial.tally(data), Multinomial.tally([*data, x])
    ratio = Multinomial.log_evidence(after, prior) - Multinomial.log_evidence(before, prior)
    coefficient = gammaln(sum(x) + 1) - gammaln(np.array(x) + 1).sum()  # no parameter touches it
    predictive = Multinomial.estimate(before, prior, "predictive")
    np.testing.assert_allclose(predictive.log_density([x]), ratio + coefficient, atol=1e-10)
    posterior = Multinomial.posterior(before, prior)
    if sum(x):
        theirs = stats.dirichlet_multinomial(posterior.alpha, sum(x)).logpmf(x)
        np.testing.assert_allclose(predictive.log_density([x]), theirs, atol=1e-10)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.integers(0, 30), POSITIVE, POSITIVE)
def test_predictive_is_a_ratio_of_evidences_poisson(data: list[int], x: int, shape: float, rate: float) -> None:
    prior = Gamma(shape, rate)
    ratio = Poisson.log_evidence(Poisson.tally([*data, x]), prior) - Poisson.log_evidence(Poisson.tally(data), prior)
    predictive = Poisson.estimate(Poisson.tally(data), prior, "predictive")
    np.testing.assert_allclose(predictive.log_density(x), ratio - gammaln(x + 1), atol=1e-10)


@given(
    st.lists(st.floats(-50, 50), min_size=1, max_size=20),
    st.floats(-50, 50),
    st.floats(-5, 5),
    POSITIVE,
    POSITIVE,
    POSITIVE,
)
def test_predictive_is_a_ratio_of_evidences_gaussian(
    data: list[float], x: float, mean: float, kappa: float, shape: float, scale: float
) -> None:
    prior = NormalInverseGamma(mean, kappa, shape, scale)
    ratio = Gaussian.log_evidence(Gaussian.tally([*data, x]), prior) - Gaussian.log_evidence(
        Gaussian.tally(data), prior
    )
    predictive = Gaussian.estimate(Gaussian.tally(data), prior, "predictive")
    np.testing.assert_allclose(predictive.log_density(x), ratio, atol=1e-10)


def test_predictive_is_a_ratio_of_evidences_multivariate() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 4):
        rows, x = rng.normal(size=(9, size)), rng.normal(size=size)
        scale = np.cov(rng.normal(size=(20, size)).T).reshape(size, size)
        prior = NormalInverseWishart(rng.normal(size=size), 0.7, size + 1.5, scale)
        before, after = Gaussian.tally(rows), Gaussian.tally(np.vstack([rows, x]))
        ratio = Gaussian.log_evidence(after, prior) - Gaussian.log_evidence(before, prior)
        predictive = Gaussian.estimate(before, prior, "predictive")
        np.testing.assert_allclose(predictive.log_density(x), ratio, atol=1e-10)


@pytest.mark.parametrize(
    ("model", "prior"),
    [(BernoulliNB(), Beta(0.7, 2)), (CategoricalNB(), 0.4), (MultinomialNB(), 2.5), (PoissonNB(), Gamma(2, 3))],
    ids=lambda v: type(v).__name__,
)
def test_the_law_holds_for_whole_classifiers(model: Any, prior: Any) -> None:
    """One more row of a class changes the log evidence by its predictive log likelihood."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 4)), np.arange(40) % 3
    X[:3] = 2
    model = model.set_params(prior=prior, estimate="predictive", class_prior="uniform").fit(X[:-1], y[:-1])
    said = model.predict_joint_log_proba(X[-1:])[0, y[-1]] - np.log(1 / 3)
    before = model.log_evidence_
    gained = model.partial_fit(X[-1:], y[-1:]).log_evidence_ - before
    base = gammaln(X[-1] + 1).sum() if isinstance(model, PoissonNB) else 0.0
    np.testing.assert_allclose(said, gained - base, atol=1e-9)


# maximum likelihood


def test_mle_equals_scipy() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.normal(rng.normal(), rng.uniform(0.1, 9), 50)
        fitted = Gaussian.estimate(Gaussian.tally(x), rule="mle")
        np.testing.assert_allclose((fitted.mean, np.sqrt(fitted.variance)), stats.norm.fit(x), rtol=1e-10)
        rows = rng.normal(size=(30, 3))
        mean, covariance = stats.multivariate_normal.fit(rows)
        together = Gaussian.estimate(Gaussian.tally(rows), rule="mle")
        np.testing.assert_allclose(together.mean, mean, atol=1e-12)
        np.testing.assert_allclose(together.variance, covariance, atol=1e-12)
        counts = rng.poisson(4, 60)
        best = stats.fit(stats.poisson, counts, {"mu": (0, 20)})
        np.testing.assert_allclose(Poisson.estimate(Poisson.tally(counts), rule="mle").rate, best.params.mu, rtol=1e-3)


# the mode of the posterior


def minimum(function: Any, start: Any) -> Any:
    return optimize.minimize(
        function, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 9999}
    ).x


def test_map_equals_a_numerical_optimum() -> None:
    flips = Bernoulli.tally([1, 1, 0, 1])
    posterior = Bernoulli.posterior(flips, Beta(2, 5))
    found = minimum(lambda t: -posterior.logpdf(1 / (1 + np.exp(-t[0]))), [0.0])
    np.testing.assert_allclose(Bernoulli.estimate(flips, Beta(2, 5), "map").p, 1 / (1 + np.exp(-found[0])), rtol=1e-5)

    levels, alpha = Categorical.tally([0, 0, 1, 2, 2]), [1.5, 2.0, 3.0]
    dirichlet = Categorical.posterior(levels, Dirichlet(alpha))

    def shares(t: Any) -> Any:
        e = np.exp(np.append(t, 0.0))
        return e / e.sum()

    found = minimum(lambda t: -dirichlet.logpdf(shares(t)), [0.0, 0.0])
    np.testing.assert_allclose(Categorical.estimate(levels, Dirichlet(alpha), "map").p, shares(found), rtol=1e-4)

    calls = Poisson.tally([2, 5, 3])
    gamma = Poisson.posterior(calls, Gamma(3, 2))
    found = minimum(lambda t: -gamma.logpdf(np.exp(t[0])), [0.0])
    np.testing.assert_allclose(Poisson.estimate(calls, Gamma(3, 2), "map").rate, np.exp(found[0]), rtol=1e-5)

    x, prior = np.array([1.0, 2.0, 4.0, 8.0]), NormalInverseGamma(1.0, 2.0, 3.0, 4.0)

    def log_joint(t: Any) -> float:
        mean, variance = t[0], np.exp(t[1])
        likelihood = stats.norm(mean, np.sqrt(variance)).logpdf(x).sum()
        return float(
            likelihood
            + stats.norm(1.0, np.sqrt(variance / 2.0)).logpdf(mean)
            + stats.invgamma(3.0, scale=4.0).logpdf(variance)
        )

    found = minimum(lambda t: -log_joint(t), [0.0, 0.0])
    fitted = Gaussian.estimate(Gaussian.tally(x), prior, "map")
    np.testing.assert_allclose((fitted.mean, fitted.variance), (found[0], np.exp(found[1])), rtol=1e-5)


def test_map_under_a_flat_prior_is_mle() -> None:
    for kind, data in (
        (Bernoulli, [1, 0, 1]),
        (Categorical, [0, 1, 1, 2]),
        (Poisson, [1, 4]),
        (Gaussian, [1.0, 2.0, 4.0]),
    ):
        tally = kind.tally(data)
        most_likely, mode = kind.estimate(tally, rule="mle"), kind.estimate(tally, Flat(), "map")
        for name in ("p", "rate", "mean", "variance"):
            if hasattr(mode, name):
                np.testing.assert_allclose(getattr(mode, name), getattr(most_likely, name), rtol=1e-12)


def test_the_mode_at_the_edge() -> None:
    """Where α is less than 1 the density is highest at the edge; where no value stands out, shares are equal."""
    assert Bernoulli.estimate(Bernoulli.tally([1, 1]), Beta(0.5, 0.5), "map").p == 1.0
    assert Bernoulli.estimate(Bernoulli.tally([0, 0]), Beta(0.5, 0.5), "map").p == 0.0
    assert Categorical.estimate(Categorical.tally([0, 0, 2]), 0.5, "map").p.round(6).tolist() == [0.75, 0.0, 0.25]
    nothing = suffice.Counts(n=[[0.0]], total=[[0.0]])
    assert Bernoulli.estimate(nothing, Beta(1, 1), "map").p == 0.5
    assert Poisson.estimate(Poisson.tally([0]), Gamma(0.5, 1), "map").rate == 0.0
    halves = suffice.Counts(n=[[0.6]], total=[[0.1 + 0.2]])  # the last bit does not decide
    for pseudo_count in (0.5, 0.7):
        assert Bernoulli.estimate(halves, pseudo_count, "map").p == 0.5
        thirds = suffice.Counts(n=[[0.9]], total=[[0.1 + 0.2, 0.3, 0.3]])
        np.testing.assert_allclose(Categorical.estimate(thirds, pseudo_count, "map").p, 1 / 3)


# intervals


def test_intervals_cover_at_their_level() -> None:
    rng = np.random.default_rng(0)
    hits = {"bernoulli": 0, "poisson": 0, "gaussian": 0, "variance": 0}
    for _ in range(400):  # parameters from the prior, data from them: then the level is exact
        p = rng.beta(2, 3)
        low, high = Bernoulli.estimate(Bernoulli.tally(rng.random(15) < p), Beta(2, 3)).interval(0.8)
        hits["bernoulli"] += low <= p <= high
        rate = rng.gamma(3, 1 / 2)
        low, high = Poisson.estimate(Poisson.tally(rng.poisson(rate, 6)), Gamma(3, 2)).interval(0.8)
        hits["poisson"] += low <= rate <= high
        variance = 4 / rng.gamma(3)
        mean = rng.normal(1, np.sqrt(variance / 2))
        data = rng.normal(mean, np.sqrt(variance), 7)
        interval = Gaussian.estimate(Gaussian.tally(data), NormalInverseGamma(1, 2, 3, 4)).interval(0.8)
        hits["gaussian"] += interval.mean[0] <= mean <= interval.mean[1]
        hits["variance"] += interval.variance[0] <= variance <= interval.variance[1]
    for name, count in hits.items():
        assert 0.74 <= count / 400 <= 0.86, name


def test_prediction_intervals_cover_at_their_level() -> None:
    rng = np.random.default_rng(1)
    hits = total = 0
    for seed in range(60):
        p = rng.beta(1, 1, (2, 3))
        y = np.arange(60) % 2
        X = (rng.random((60, 3)) < p[y]).astype(int)
        model = BernoulliNB(class_prior="uniform").fit(X, y)
        new = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
        likelihood = np.where(new[:, None] == 1, p, 1 - p).prod(axis=2)
        true = likelihood / likelihood.sum(axis=1, keepdims=True)
        lower, upper = model.predict_interval(new, 0.8, random_state=seed)
        hits += ((lower <= true) & (true <= upper)).sum()
        total += true.size
    assert 0.74 <= hits / total <= 0.86


@pytest.mark.parametrize(
    "case", [c for c in CASES if "binarize" not in c.parameters or c.parameters["binarize"]], ids=str
)
def test_prediction_intervals_hold_the_prediction_and_shrink(case: Case) -> None:
    X, y = example(case, rows=600)
    few, many = case.ours().fit(X[:60], y[:60]), case.ours().fit(X, y)
    widths = []
    for model in (few, many):
        lower, upper = model.predict_interval(X[:20], 0.99, draws=100)
        assert ((lower >= 0) & (upper <= 1) & (lower <= upper)).all()
        inside = (lower - 1e-6 <= model.predict_proba(X[:20])) & (model.predict_proba(X[:20]) <= upper + 1e-6)
        assert inside.mean() > 0.9
        widths.append((upper - lower).mean())
    assert widths[1] < widths[0]
    np.testing.assert_allclose(lower, many.predict_interval(X[:20], 0.99, draws=100)[0], rtol=1e-12)  # seeded


# rules and priors on classifiers


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rule_changed_on_a_fitted_model_needs_no_data(case: Case, rule: str) -> None:
    X, y = example(case)
    changed = case.ours().fit(X, y)
    learned = changed.tally_
    changed.set_params(estimate=rule)
    fresh = case.ours(estimate=rule).fit(X, y)
    np.testing.assert_allclose(changed.predict_joint_log_proba(X), fresh.predict_joint_log_proba(X), rtol=1e-12)
    assert changed.tally_ is learned
    assert not np.isnan(changed.predict_proba(X)).any()


def test_the_student_classifier() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    prior = NormalInverseGamma(0.0, 1.0, 2.0, 3.0)
    model = GaussianNB(estimate="predictive", prior=prior, var_smoothing=0, class_prior="uniform").fit(X, y)
    for k in (0, 1):
        parts = [
            Gaussian.estimate(Gaussian.tally(X[y == k, j]), prior, "predictive").log_density(X[:, j]) for j in (0, 1)
        ]
        np.testing.assert_allclose(model.predict_joint_log_proba(X)[:, k], np.log(0.5) + sum(parts), rtol=1e-10)


def test_poisson_classifier_equals_scipy(kernels: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson([2, 7, 0.5], (50, 3)), np.arange(50) % 2
    mle = PoissonNB(estimate="mle").fit(X, y)
    expected = np.log(0.5) + np.array([stats.poisson(X[y == k].mean(axis=0)).logpmf(X).sum(axis=1) for k in (0, 1)]).T
    np.testing.assert_allclose(mle.predict_joint_log_proba(X), expected, rtol=1e-10)
    averaged = PoissonNB(estimate="predictive", prior=Gamma(2, 3)).fit(X, y)
    for k in (0, 1):
        shape, rate = 2 + X[y == k].sum(axis=0), 3 + (y == k).sum()
        expected = np.log(0.5) + stats.nbinom(shape, rate / (rate + 1)).logpmf(X).sum(axis=1)
        np.testing.assert_allclose(averaged.predict_joint_log_proba(X)[:, k], expected, rtol=1e-9)


def test_one_prior_a_column() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (20, 2)), np.arange(20) % 2
    listed = BernoulliNB(prior=[Beta(1, 2), Beta(3, 4)]).fit(X, y)
    for j, prior in enumerate((Beta(1, 2), Beta(3, 4))):
        alone = BernoulliNB(prior=prior).fit(X[:, [j]], y)
        np.testing.assert_allclose(listed.feature_log_prob_[:, [j]], alone.feature_log_prob_)
    import pandas as pd

    named = BernoulliNB(prior={"b": Beta(3, 4), "a": Beta(1, 2)}).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    np.testing.assert_array_equal(named.feature_log_prob_, listed.feature_log_prob_)
    ragged = CategoricalNB(prior=[Dirichlet([1, 2]), Dirichlet([1, 2, 3])]).fit([[0, 2], [1, 1]], [0, 0])
    np.testing.assert_allclose(np.exp(ragged.feature_log_prob_[1][0]), [1 / 8, 3 / 8, 4 / 8])


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("empirical", [0.75, 0.25]),
        ("uniform", [0.5, 0.5]),
        ([0.1, 0.9], [0.1, 0.9]),
        ({"b": 0.9, "a": 0.1}, [0.1, 0.9]),
        (1, [4 / 6, 2 / 6]),
        (Dirichlet([2, 1]), [5 / 7, 2 / 7]),
        (MEstimate(4), [5 / 8, 3 / 8]),
        ([0.1, 0.9 + 1e-10], [0.1, 0.9]),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "PoissonNB"])
def test_class_priors(name: str, setting: Any, expected: list[float]) -> None:
    model = getattr(suffice, name)().fit([[0], [1], [1], [0]], ["a", "a", "a", "b"]).set_params(class_prior=setting)
    shares = model.class_prior_ if name == "GaussianNB" else np.exp(model.class_log_prior_)
    np.testing.assert_allclose(shares, expected, rtol=1e-8)


# the prior of most evidence


@pytest.mark.parametrize("case", [c for c in CASES if c.name != "ComplementNB"], ids=str)
def test_auto_finds_the_most_evidence(case: Case) -> None:
    X, y = example(case)
    model = case.ours(prior="auto").fit(X, y)
    best = model.log_evidence_
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert case.ours(prior=float(model.prior_ * factor)).fit(X, y).log_evidence_ <= best + 1e-6
    if case.name != "MultinomialNB":  # one column more or less is another distribution there
        by_column = case.ours(prior="auto-by-column").fit(X, y)
        assert by_column.prior_.shape == (X.shape[1],)
        assert by_column.log_evidence_ >= best - 1e-6
    rule = "mean" if case.name == "GaussianNB" else model.estimate
    same = case.ours(prior=float(model.prior_), estimate=rule).fit(X, y)
    np.testing.assert_allclose(same.predict_proba(X), model.set_params(estimate=rule).predict_proba(X), rtol=1e-9)
    other = case.ours(prior=float(model.prior_) * 100, estimate=rule).fit(X, y)
    assert not np.allclose(other.predict_proba(X), model.predict_proba(X), rtol=1e-9)


# what cannot be


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Beta(0, 1), r"Beta\(a=…\) must be finite and more than 0, not 0"),
        (lambda: Beta(1, -2), r"Beta\(b=…\) must be finite and more than 0, not -2"),
        (lambda: Dirichlet([1, -1]), r"Dirichlet\(alpha=…\) must be finite and more than 0, not -1"),
        (lambda: Gamma(np.nan, 1), r"Gamma\(shape=…\) must be finite"),
        (lambda: MEstimate(1, 1.5), r"MEstimate\(p=…\) is a probability"),
        (lambda: MEstimate("many"), r"MEstimate\(m=…\) must be a number"),
        (lambda: NormalInverseGamma(0, 1, 1, 0), r"NormalInverseGamma\(scale=…\) must be finite and more than 0"),
        (lambda: NormalInverseWishart([0, 0], 1, 0.5, np.eye(2)), "must be more than 1 for 2 columns"),
        (lambda: NormalInverseWishart([0, 0], 1, 3, [[1, 2], [2, 1]]), "symmetric positive definite"),
        (lambda: BernoulliNB(prior=Gamma(1, 1)).fit([[0], [1]], [0, 1]), "does not suit bernoulli columns; they take"),
        (
            lambda: GaussianNB(estimate="map", prior=Beta(1, 1)).fit([[0], [1]], [0, 1]),
            "does not suit gaussian columns",
        ),
        (lambda: PoissonNB(prior=Dirichlet(1)).fit([[0], [1]], [0, 1]), "does not suit poisson columns"),
        (lambda: MultinomialNB(prior=Beta(1, 1)).fit([[0], [1]], [0, 1]), "does not suit multinomial columns"),
        (
            lambda: CategoricalNB(prior=Dirichlet([1, 2, 3])).fit([[0], [1]], [0, 1]),
            "has 3 entries, and there are 2 levels",
        ),
        (
            lambda: CategoricalNB(prior=MEstimate(1, [0.5, 0.4])).fit([[0], [1]], [0, 1]),
            "must sum to 1, and sums to 0.9",
        ),
        (lambda: BernoulliNB(prior=-1.0).fit([[0], [1]], [0, 1]), "prior must be finite and 0 or more, not -1"),
        (lambda: BernoulliNB(prior="automatic").fit([[0], [1]], [0, 1]).predict([[0]]), "is not known; it is a number"),
        (lambda: BernoulliNB(estimate="best").fit([[0], [1]], [0, 1]), "'estimate' parameter of BernoulliNB must be"),
        (
            lambda: BernoulliNB(class_prior=[0.5, 0.4]).fit([[0], [1]], [0, 1]),
            "sum of the priors should be 1. It is 0.9",
        ),
        (lambda: BernoulliNB(class_prior="equal").fit([[0], [1]], [0, 1]), "class_prior='equal' is not known"),
        (
            lambda: BernoulliNB(class_prior={0: 1.0}).fit([[0], [1]], [0, 1]),
            "must name each class once: 1 is missing, or not a class",
        ),
        (lambda: BernoulliNB(prior=[Beta(1, 1)] * 3).fit([[0], [1]], [0, 1]), r"prior=\[…\] has 3 entries"),
        (
            lambda: GaussianNB(priors=[0.5, 0.5], class_prior="uniform").fit([[0], [1]], [0, 1]),
            "two names for the same setting",
        ),
        (lambda: GaussianNB(estimate="predictive", prior=Flat()).fit([[0], [1]], [0, 1]).predict([[0]]), "flat prior"),
        (lambda: Bernoulli.tally([0, 2]), "Bernoulli takes 0s and 1s, not 2"),
        (lambda: Poisson.tally([-1]), "Poisson takes counts from 0 up, not -1"),
        (lambda: Gaussian.tally([1.0, np.inf]), "observation 1 is inf"),
        (lambda: Categorical([0.5, 0.4]), "p must sum to 1, and sums to 0.9"),
        (lambda: Bernoulli(0.5).interval(), "was not estimated from a tally"),
        (lambda: Bernoulli.estimate(Bernoulli.tally([1]), rule="max"), "rule='max' is not known"),
        (lambda: BernoulliNB().fit([[0], [1]], [0, 1]).predict_interval([[0]], 1.5), "level must lie between 0 and 1"),
        (lambda: PoissonNB(prior=Flat()).fit([[0], [1]], [0, 1]).log_evidence_, "has no evidence"),
    ],
    ids=lambda v: v[:40] if isinstance(v, str) else "",
)
def test_what_cannot_be_is_said(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# single distributions return to themselves


def test_samples_return_to_the_parameters() -> None:
    assert Bernoulli.estimate(Bernoulli.tally(Bernoulli(0.3).sample(50_000, 0)), rule="mle").p == pytest.approx(
        0.3, abs=0.01
    )
    p = Categorical.estimate(Categorical.tally(Categorical([0.2, 0.5, 0.3]).sample(50_000, 0)), rule="mle").p
    np.testing.assert_allclose(p, [0.2, 0.5, 0.3], atol=0.01)
    assert Poisson.estimate(Poisson.tally(Poisson(4.0).sample(50_000, 0)), rule="mle").rate == pytest.approx(
        4, abs=0.05
    )
    plane = Gaussian([1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]])
    found = Gaussian.estimate(Gaussian.tally(plane.sample(50_000, 0)))
    np.testing.assert_allclose(found.mean, plane.mean, atol=0.03)
    np.testing.assert_allclose(found.variance, plane.variance, atol=0.05)
    counts = Multinomial([0.2, 0.8]).sample(5_000, 0, length=10)
    np.testing.assert_allclose(Multinomial.estimate(Multinomial.tally(counts)).p, [0.2, 0.8], atol=0.01)


def test_expectations_of_several_parameters() -> None:
    dirichlet = Categorical.estimate(Categorical.tally([0, 0, 1]), 1.0)
    assert dirichlet.expect(lambda theta: theta[0]) == pytest.approx(3 / 5, abs=0.01)
    gaussian = Gaussian.estimate(Gaussian.tally([1.0, 2.0, 3.0, 6.0]), NormalInverseGamma(0, 1, 3, 2))
    assert gaussian.expect(lambda mean, variance: mean) == pytest.approx(gaussian.mean, abs=0.05)
    assert gaussian.expect(lambda mean, variance: variance) == pytest.approx(gaussian.variance, rel=0.05)


def test_intervals_of_many_rows_are_those_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are taken a few at a time, and every few see the same draws."""
    from suffice.classifiers import tally_classifier

    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (50, 4)), np.arange(50) % 3
    import scipy.sparse as sp

    for rows in (X, sp.csr_array(X)):
        model = MultinomialNB().fit(rows, y)
        whole = model.predict_interval(rows, draws=50)
        monkeypatch.setattr(tally_classifier, "DRAWN_CELLS", 50 * 3 * 7)
        np.testing.assert_allclose(model.predict_interval(rows, draws=50), whole, rtol=1e-9)
        monkeypatch.undo()


def test_posteriors_of_whole_classifiers_are_those_of_their_columns() -> None:
    """One scipy.stats object for all parameters, [class, column]; its interval is the credible one."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (30, 3)), np.arange(30) % 2
    own = {
        BernoulliNB(prior=Beta(2, 3)): (Bernoulli, Beta(2, 3), "p"),
        PoissonNB(prior=Gamma(2, 3)): (Poisson, Gamma(2, 3), "rate"),
    }
    for model, (kind, prior, name) in own.items():
        interval = model.fit(X, y).posterior_[name].interval(0.9)
        for k in (0, 1):
            for j in range(3):
                alone = kind.posterior(kind.tally(X[y == k, j]), prior).interval(0.9)
                np.testing.assert_allclose((interval[0][k, j], interval[1][k, j]), alone)
    prior = NormalInverseGamma(0.0, 1.0, 2.0, 3.0)
    believed = GaussianNB(estimate="mean", prior=prior).fit(X, y).posterior_
    alone = Gaussian.posterior(Gaussian.tally(X[y == 1, 2]), prior)
    np.testing.assert_allclose(believed["mean"].mean()[1, 2], alone.mean.mean())
    np.testing.assert_allclose(believed["variance"].interval(0.8)[0][1, 2], alone.variance.interval(0.8)[0])
    for model in (CategoricalNB(), MultinomialNB()):
        shares = model.fit(X, y).posterior_["p"].mean()
        expected = (
            np.concatenate(model.feature_log_prob_, axis=1)
            if isinstance(model, CategoricalNB)
            else model.feature_log_prob_
        )
        np.testing.assert_allclose(shares, np.exp(expected))
    with pytest.raises(ValueError, match="there is no posterior distribution"):
        _ = BernoulliNB(alpha=0).fit(X * 0, y).posterior_
