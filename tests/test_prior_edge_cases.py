"""Edge cases of priors, rules and distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from suffice import (
    Bernoulli,
    BernoulliNB,
    Beta,
    Categorical,
    CategoricalNB,
    CoMoments,
    ComplementNB,
    Counts,
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
from suffice.statistics import OverdrawnError

X = np.random.default_rng(0).integers(0, 5, (30, 3))
Y = np.arange(30) % 2


def test_columns_of_very_different_scale() -> None:
    wide = Gaussian([0, 0], np.diag([1e12, 1.0]))
    expected = stats.norm(0, 1e6).logpdf(0) + stats.norm(0, 1).logpdf([0, 1])
    np.testing.assert_allclose(wide.log_density([[0, 0], [0, 1]]), expected)
    rows = np.random.default_rng(0).normal(size=(50, 2)) * [1e5, 1]
    scaled = Gaussian.estimate(Gaussian.tally(rows / [1e5, 1]), rule="predictive")
    averaged = Gaussian.estimate(Gaussian.tally(rows), rule="predictive")
    np.testing.assert_allclose(averaged.log_density(rows), scaled.log_density(rows / [1e5, 1]) - np.log(1e5), rtol=1e-9)


def test_expectations_find_narrow_peaks() -> None:
    poisson = Poisson.estimate(Poisson.tally([300] * 100_000))
    assert poisson.expect(lambda rate: rate) == pytest.approx(poisson.rate, rel=1e-9)
    rare = Bernoulli.estimate(Counts([[1e6]], [[20.0]]))
    assert rare.expect(lambda p: p) == pytest.approx(rare.p, rel=1e-9)
    many = Bernoulli.estimate(Counts([[1e8]], [[3e7]]))
    assert many.expect(lambda p: p) == pytest.approx(0.3, rel=1e-6)
    skewed = Bernoulli.estimate(Counts([[1.0]], [[0.0]]), Beta(0.5, 0.5))
    assert skewed.expect(lambda p: p) == pytest.approx(skewed.p, rel=1e-6)


@pytest.mark.parametrize("count", [1e7, 1e12, 1e16, 1e50])
@pytest.mark.parametrize("model", [MultinomialNB(), PoissonNB(), GaussianNB()], ids=lambda m: type(m).__name__)
def test_averages_under_a_certain_prior_are_the_mean(model: Any, count: float, kernels: str) -> None:
    """So many pseudo-rows leave nothing uncertain: the predictive rule gives what the mean does."""
    said = [
        model.set_params(estimate=rule, prior=count).fit(X, Y).predict_joint_log_proba(X)
        for rule in ("predictive", "mean")
    ]
    np.testing.assert_allclose(said[0], said[1], rtol=1e-4)


def test_a_vector_is_one_a_column_and_a_dirichlet_one_a_level() -> None:
    for columns in (1, 2, 3, 4):
        bits = np.zeros((4, columns), int)
        ones = np.exp(BernoulliNB(prior=Dirichlet([1, 50])).fit(bits, [0] * 4).feature_log_prob_)
        np.testing.assert_allclose(ones, 50 / 55)
        levels = CategoricalNB(prior=Dirichlet([1, 50]), min_categories=2).fit(bits, [0] * 4)
        np.testing.assert_allclose([np.exp(p[0, 1]) for p in levels.feature_log_prob_], 50 / 55)
    with pytest.raises(ValueError, match="prior has 2 entries, and there are 3 columns"):
        BernoulliNB(prior=[1.0, 50.0]).fit(np.zeros((2, 3)), [0, 1])
    each = np.exp(BernoulliNB(prior=[1.0, 50.0]).fit([[1, 1]], [0]).feature_log_prob_)
    np.testing.assert_allclose(each, [[2 / 3, 51 / 101]])
    listed = BernoulliNB(prior=[Dirichlet([1, 2]), Dirichlet([3, 4])]).fit([[1, 1]], [0])
    np.testing.assert_allclose(np.exp(listed.feature_log_prob_), [[3 / 4, 5 / 8]])
    share = BernoulliNB(prior=MEstimate(2, 0.3)).fit([[1]], [0])
    np.testing.assert_allclose(np.exp(share.feature_log_prob_), [[1.6 / 3]])


def test_scaling_each_column() -> None:
    scaled = Gaussian([1, 1], [[1, 0.5], [0.5, 1]]) * np.array([1, 2.0])
    assert scaled.variance.tolist() == [[1, 1], [1, 4]]


def test_a_student_is_no_gaussian() -> None:
    averaged = Gaussian.estimate(Gaussian.tally([1.0, 2, 4]), 1.0, "predictive")
    for use in (lambda: averaged + 0, lambda: 2 * averaged, lambda: Gaussian(0, 1) + averaged):
        with pytest.raises(ValueError, match="Student"):
            use()


def test_co_moments_cannot_be_overdrawn() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 2)) * [1e6, 1]
    with pytest.raises(OverdrawnError):
        CoMoments.of(rows[:10]) - CoMoments.of(rows[20:25] * 50)
    left = CoMoments.of(rows) - CoMoments.of(rows[1:])
    assert (np.diagonal(left.scatter, axis1=1, axis2=2) >= 0).all()
    np.testing.assert_allclose(left.mean, rows[:1], rtol=1e-6)
    both = CoMoments.of(rows[:10]) + CoMoments.of(rows[10:])
    np.testing.assert_allclose(both.scatter[0], np.cov(rows.T, ddof=0) * 30, rtol=1e-9)
    assert (both - CoMoments.of(rows[10:])).isclose(CoMoments.of(rows[:10]), 1e-9)


def test_complements_have_the_evidence_of_their_counts() -> None:
    assert ComplementNB().fit(X, Y).log_evidence_ == MultinomialNB().fit(X, Y).log_evidence_
    assert ComplementNB(prior="auto").fit(X, Y).prior_ == MultinomialNB(prior="auto").fit(X, Y).prior_


def test_draws_under_small_pseudo_counts_are_at_the_edges() -> None:
    model = BernoulliNB(prior=0.001, class_prior="uniform").partial_fit([[0], [1]], [0, 1], classes=[0, 1, 2])
    lower, upper = model.predict_interval([[1]], 0.5)
    assert lower[0, 2] < 0.01
    assert upper[0, 2] < 0.6


def test_levels_a_categorical_does_not_have() -> None:
    two = Categorical([0.2, 0.8])
    assert two.log_density([2]).tolist() == [-np.inf]
    np.testing.assert_allclose(two.log_density([1.0]), np.log(0.8))
    with pytest.raises(ValueError, match="whole numbers"):
        two.log_density([-1])


def test_a_class_without_rows_does_not_outscore_the_others() -> None:
    model = GaussianNB(class_prior="uniform").partial_fit([[0.0], [0.1], [5.0], [5.2]], [0, 0, 1, 1], classes=[0, 1, 2])
    assert model.predict([[0.0], [5.1]]).tolist() == [0, 1]


def test_the_mode_of_an_edge_prior() -> None:
    nothing = Counts([[0.0]], [[0.0]])
    assert Bernoulli.estimate(nothing, Beta(0.5, 1), "map").p == 0.0
    assert Bernoulli.estimate(nothing, Beta(1, 0.5), "map").p == 1.0
    assert Categorical.estimate(Counts([[0.0]], [[0.0, 0.0]]), Dirichlet([0.5, 1]), "map").p.tolist() == [0.0, 1.0]


def test_zeros_of_a_multinomial() -> None:
    fitted = Multinomial.estimate(Multinomial.tally([[2, 0, 1]]), rule="mle")
    np.testing.assert_allclose(fitted.log_density([[1, 0, 2]]), np.log(3 * (2 / 3) * (1 / 3) ** 2))
    assert fitted.log_density([[1, 1, 0]]).tolist() == [-np.inf]


def test_intervals_of_one_level_and_of_many_rows() -> None:
    lower, upper = Categorical.estimate(Categorical.tally([0, 0])).interval()
    assert (lower.tolist(), upper.tolist()) == ([1.0], [1.0])
    lower, upper = Categorical.estimate(Counts([[1e20]], [[1e20, 1.0]])).interval()
    assert not np.isnan(lower).any()


def test_samples_have_a_row_each() -> None:
    plane = Gaussian([0.0, 0.0], np.eye(2))
    assert plane.sample(1).shape == (1, 2)
    assert plane.sample(3).shape == (3, 2)
    one = Gaussian.estimate(Gaussian.tally([[1.0], [2.0], [4.0]]))
    assert one.expect(lambda mean, covariance: covariance[0, 0]) > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: MultinomialNB(alpha=0, estimate="predictive").fit([[0, 0], [2, 3]], [0, 1]).predict([[1, 0]]),
            "averages",
        ),
        (lambda: BernoulliNB(alpha=0).fit([[0], [1]], [0, 1]).log_evidence_, "a pseudo-count of 0 has no evidence"),
        (lambda: CategoricalNB(prior=0).fit([[0], [1]], [0, 1]).log_evidence_, "a pseudo-count of 0 has no evidence"),
        (lambda: Bernoulli.estimate(Bernoulli.tally([1, 1]), 0).interval(), "is not a distribution"),
        (
            lambda: GaussianNB(estimate="predictive", prior=1e300).fit(X, Y),
            "prior must lie between 1e-100 and 1e\\+100",
        ),
        (lambda: GaussianNB(estimate="mean", prior=0).fit(X, Y), "prior must be finite and more than 0, not 0"),
        (lambda: PoissonNB(prior=[1, 2]).fit(X, Y), "prior has 2 entries, and there are 3 columns"),
        (lambda: PoissonNB(prior=Gamma([1, 2], 1)).fit(X, Y), r"Gamma\(shape=…\) has 2 entries"),
        (lambda: BernoulliNB(prior=Beta([1, 2], 1)).fit(X, Y), r"Beta\(a=…\) has 2 entries"),
        (lambda: BernoulliNB(prior={0: 1.0, 1: 1.0, 2: 1.0, 9: 1.0}).fit(X, Y), "9 is on one side only"),
        (lambda: BernoulliNB(prior=object()).fit(X, Y), "prior must be a number"),
        (lambda: BernoulliNB(class_prior=object()).fit(X, Y), "Number of priors must match"),
        (lambda: Gaussian.estimate(Gaussian.tally([3.0]), rule="mle", ddof=1), "less than the 1 observations"),
        (lambda: Gaussian.estimate(Gaussian.tally([3.0, 4.0]), rule="mle", ddof=-5), "ddof=-5 must be 0 or more"),
        (lambda: Gaussian.posterior(Gaussian.tally([1.0, 2.0]), Flat()), "more than 3 observations"),
        (lambda: NormalInverseGamma(np.nan, 1, 1, 1), r"NormalInverseGamma\(mean=…\) must be finite"),
        (lambda: NormalInverseGamma("a", 1, 1, 1), "must be a number"),
        (lambda: Beta(None, 1), r"Beta\(a=…\) must be"),
        (lambda: NormalInverseWishart([0, 0], [1, 1], 4, np.eye(2)), "one kappa and one dof"),
        (lambda: NormalInverseWishart([0, 0], 1, 4, [[1e-9, 1e-9], [0, 1e-9]]), "symmetric positive definite"),
        (lambda: Categorical([np.nan, 0.5]), "p must be finite"),
        (lambda: Gaussian(0, -1), "a variance is 0 or more"),
        (lambda: Gaussian(np.nan, 1), "mean must be finite"),
        (lambda: Gaussian([0, 0], [[1, 2], [0, 1]]), "symmetric"),
        (lambda: (0 * Gaussian(1, 4)).log_density([1.0]), "a variance of 0 has no density"),
        (lambda: Bernoulli("a"), "p must be a number"),
        (lambda: Poisson("a"), "rate must be a number"),
        (lambda: Multinomial.tally([]), "at least one"),
        (lambda: Gaussian.estimate(Gaussian.tally([[1.0, 2.0], [2.0, 1.0]]), "auto"), "multivariate gaussian"),
        (lambda: Gaussian.tally([1e200]), "up to 1e100"),
        (lambda: Bernoulli.tally([1], [0]), "not all 0"),
    ],
    ids=lambda v: v[:40] if isinstance(v, str) else "",
)
def test_what_cannot_be_is_said(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_counts_beyond_counting_are_named(kernels: str) -> None:
    for model in (MultinomialNB(estimate="predictive"), PoissonNB(estimate="predictive")):
        with pytest.raises(ValueError, match=r"column 0 is 1e\+306 in row 0, which is not a count"):
            model.fit(X, Y).predict([[1e306, 0, 0]])
