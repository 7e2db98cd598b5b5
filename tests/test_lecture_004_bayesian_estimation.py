"""Lecture 004: Bayesian estimation, Beta and Gaussian."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from suffice import Bernoulli, BernoulliNB, Beta, CategoricalNB, Gaussian

HEADS, TAILS = 3, 2
FLIPS = [1] * HEADS + [0] * TAILS


def test_the_posterior_of_a_beta_is_a_beta() -> None:
    """Beta(β_H, β_T) and α_H heads, α_T tails give Beta(α_H + β_H, α_T + β_T)."""
    posterior = Bernoulli.posterior(Bernoulli.tally(FLIPS), Beta(2, 3))
    assert posterior.args == (HEADS + 2, TAILS + 3)
    assert posterior.dist.name == "beta"
    theta = np.linspace(0.01, 0.99, 50)
    product = theta**HEADS * (1 - theta) ** TAILS * stats.beta(2, 3).pdf(theta)
    ratio = posterior.pdf(theta) / product
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)  # proportional: the evidence is one number


def test_the_mode_of_the_posterior() -> None:
    """θ = (α_H + β_H − 1) / (α_H + β_H + α_T + β_T − 2)."""
    estimated = Bernoulli.estimate(Bernoulli.tally(FLIPS), Beta(2, 3), "map")
    assert estimated.p == pytest.approx((HEADS + 2 - 1) / (HEADS + 2 + TAILS + 3 - 2))


def test_an_expected_value_under_the_posterior() -> None:
    """E[f(θ)] = ∫ f(θ)·P(θ | D) dθ; the MAP approximation is f at the mode."""
    estimated = Bernoulli.estimate(Bernoulli.tally(FLIPS), Beta(2, 3))
    a, b = HEADS + 2, TAILS + 3
    assert estimated.expect(lambda theta: theta) == pytest.approx(a / (a + b))
    assert estimated.expect(lambda theta: theta**2) == pytest.approx(a * (a + 1) / ((a + b) * (a + b + 1)))


def test_the_prior_is_forgotten() -> None:
    """As N → ∞, the prior is forgotten; for a small sample it matters."""
    few, many = Bernoulli.tally([1, 0]), Bernoulli.tally([1] * 30_000 + [0] * 30_000)
    assert abs(Bernoulli.estimate(few, Beta(50, 1)).p - 0.5) > 0.4
    assert abs(Bernoulli.estimate(many, Beta(50, 1)).p - 0.5) < 1e-3


def test_affine_maps_and_sums_of_gaussians() -> None:
    """aX + b ~ N(aμ + b, a²σ²), and X + Y ~ N(μ_X + μ_Y, σ_X² + σ_Y²)."""
    x, y = Gaussian(1.0, 4.0), Gaussian(-2.0, 9.0)
    mapped = 3 * x + 5
    assert (mapped.mean, mapped.variance) == (8.0, 36.0)
    total, difference = x + y, x - y
    assert (total.mean, total.variance) == (-1.0, 13.0)
    assert (difference.mean, difference.variance) == (3.0, 13.0)
    draws = 3 * x.sample(200_000, random_state=0) + 5 + y.sample(200_000, random_state=1)
    both = mapped + y
    assert draws.mean() == pytest.approx(both.mean, abs=0.1)
    assert draws.var() == pytest.approx(both.variance, rel=0.02)
    plane = np.array([[1.0, 2.0], [0.0, 1.0]]) @ Gaussian([1.0, 1.0], [[1.0, 0.5], [0.5, 2.0]]) + [1.0, 0.0]
    assert plane.mean.tolist() == [4.0, 1.0]
    assert plane.variance.tolist() == [[11.0, 4.5], [4.5, 2.0]]


def test_biased_and_unbiased_variance() -> None:
    """Σ(x − μ)² / N on average falls short of the variance; divided by N − 1 it does not."""
    scores = np.random.default_rng(0).normal(70, 10, (4000, 5))
    biased = np.mean([Gaussian.estimate(Gaussian.tally(row), rule="mle").variance for row in scores])
    unbiased = np.mean([Gaussian.estimate(Gaussian.tally(row), rule="mle", ddof=1).variance for row in scores])
    assert biased == pytest.approx(80, rel=0.03)
    assert unbiased == pytest.approx(100, rel=0.03)


def test_the_bayes_classifier_of_two_digits() -> None:
    """P(Y = 5 | x) = P(x | 5)·P(5) / (P(x | 5)·P(5) + P(x | 6)·P(6))."""
    X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0], [0, 1]]), [5, 5, 6, 6, 6]
    model = BernoulliNB().fit(X, y)
    five, six = np.exp(model.predict_joint_log_proba([[1, 0]]))[0]
    np.testing.assert_allclose(model.predict_proba([[1, 0]]), [[five / (five + six), six / (five + six)]])


def test_smoothing_is_a_dirichlet_prior() -> None:
    """(Count + a) / (Σ Count + |X|·a)."""
    X, y = [[0], [0], [1], [2]], [0, 0, 0, 0]
    for model in (CategoricalNB(alpha=0.5), CategoricalNB(prior=0.5)):
        np.testing.assert_allclose(np.exp(model.fit(X, y).feature_log_prob_[0][0]), [2.5 / 5.5, 1.5 / 5.5, 1.5 / 5.5])
