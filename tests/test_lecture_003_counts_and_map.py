"""Lecture 003: maximum likelihood, MAP and the naive Bayes of size, colour and shape."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OrdinalEncoder

from suffice import BayesClassifier, Bernoulli, Categorical, CategoricalNB, Gaussian, GaussianNB, MEstimate

SIZE, COLOUR, SHAPE = ["sm", "med", "lg"], ["red", "blue", "grn"], ["circ", "tri", "sqr"]
# As the lecture uses it: its counts, which its urns and its table of probabilities show (3/8, 5/8, 5/8
# against 2/8, 2/8, 2/8); the listing of rows is garbled in places.
ROWS = """
med red circ pos
sm blue tri pos
med red tri pos
lg grn circ pos
lg red circ pos
sm blue circ pos
sm red sqr pos
med red circ pos
lg red sqr neg
sm blue tri neg
med grn circ neg
med grn tri neg
lg red circ neg
sm blue sqr neg
sm blue tri neg
lg grn sqr neg
"""


def coded(rows: list[list[str]]) -> np.ndarray:
    return OrdinalEncoder(categories=[SIZE, COLOUR, SHAPE]).fit_transform(rows).astype(int)


@pytest.fixture
def table() -> tuple[np.ndarray, list[str]]:
    rows = [line.split() for line in ROWS.split("\n") if line]
    return coded([row[:3] for row in rows]), [row[3] for row in rows]


def test_the_sixteen_rows(table: tuple[np.ndarray, list[str]]) -> None:
    """P(positive)·P(medium|+)·P(red|+)·P(circle|+) = 0.5·3/8·5/8·5/8 = 0.073, and 0.5·(2/8)³ for negative."""
    model = CategoricalNB(estimate="mle").fit(*table)
    negative, positive = np.exp(model.predict_joint_log_proba(coded([["med", "red", "circ"]])))[0]
    assert positive == pytest.approx(0.5 * 3 / 8 * 5 / 8 * 5 / 8)
    assert round(positive, 3) == 0.073
    assert negative == pytest.approx(0.5 * 2 / 8 * 2 / 8 * 2 / 8)
    assert model.predict(coded([["med", "red", "circ"]])).tolist() == ["pos"]


def test_the_parameters_of_an_urn(table: tuple[np.ndarray, list[str]]) -> None:
    """P(size = small | pos) = 3/8 = 0.375."""
    model = CategoricalNB(estimate="mle").fit(*table)
    assert np.exp(model.feature_log_prob_[0][1, 0]) == pytest.approx(3 / 8)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.5, 0.5])


def test_the_zero_count() -> None:
    """No medium in four rows: both products are 0, and smoothing decides."""
    rows = [["sm", "red", "circ"], ["lg", "red", "circ"], ["sm", "red", "tri"], ["lg", "blue", "circ"]]
    y = ["pos", "pos", "neg", "neg"]
    model = CategoricalNB(estimate="mle", min_categories=3).fit(coded(rows), y)
    new = coded([["med", "red", "circ"]])
    assert np.exp(model.predict_joint_log_proba(new)).tolist() == [[0.0, 0.0]]
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0][1]), [0.5, 0.0, 0.5])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[1][0]), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(model.predict_proba(new), [[0.5, 0.5]])  # nothing said, so the prior stands
    smoothed = model.set_params(estimate="mean", prior=MEstimate(1))
    assert smoothed.predict(new).tolist() == ["pos"]


def test_the_m_estimate() -> None:
    """(4 + 1/3)/11 = 0.394, (0 + 1/3)/11 = 0.030, (6 + 1/3)/11 = 0.576 with m = 1, p = 1/3; they add up to 1."""
    tally = Categorical.tally([0] * 4 + [2] * 6)
    for prior in (MEstimate(1), MEstimate(1, 1 / 3), MEstimate(1, [1 / 3, 1 / 3, 1 / 3])):
        p = Categorical.estimate(tally, prior).p
        assert p.round(3).tolist() == [0.394, 0.03, 0.576]
        assert p.sum() == pytest.approx(1)
    model = CategoricalNB(prior=MEstimate(1), min_categories=3).fit([[0]] * 4 + [[2]] * 6, ["pos"] * 10)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0][0]), [13 / 33, 1 / 33, 19 / 33])


def test_the_m_estimate_of_two_values_has_p_one_half() -> None:
    assert Bernoulli.estimate(Bernoulli.tally([1, 1, 0]), MEstimate(2)).p == pytest.approx((2 + 1) / (3 + 2))


def test_the_joint_table() -> None:
    """P(positive | red ∧ circle) = 0.20 / 0.25 = 0.80, from the table of the whole joint."""
    cells = Categorical([0.20, 0.02, 0.02, 0.01, 0.05, 0.30, 0.20, 0.20])  # four of positive, four of negative
    red_circle = np.exp(cells.log_density([0, 4]))
    assert red_circle.sum() == pytest.approx(0.25)
    assert red_circle[0] / red_circle.sum() == pytest.approx(0.80)


def test_the_joint_table_of_five_examples() -> None:
    """P(positive | red ∧ circle) = (2/5) / (3/5) = 2/3: each combination of values is a level of its own."""
    combination, y = [[0], [1], [2], [0], [0]], ["pos", "neg", "pos", "neg", "pos"]
    model = CategoricalNB(estimate="mle").fit(combination, y)
    np.testing.assert_allclose(model.predict_proba([[0]])[0, 1], 2 / 3)


def test_the_binomial_maximum() -> None:
    """θ = N₁ / (N₀ + N₁)."""
    assert Bernoulli.estimate(Bernoulli.tally([1] * 7 + [0] * 3), rule="mle").p == pytest.approx(0.7)


def test_the_multinomial_maximum() -> None:
    """θⱼ = rⱼ / n."""
    np.testing.assert_allclose(
        Categorical.estimate(Categorical.tally([0, 0, 1, 2, 2, 2]), rule="mle").p, [2 / 6, 1 / 6, 3 / 6]
    )


def test_the_gaussian_maximum() -> None:
    """μ = Σx / N and σ² = Σ(x − μ)² / N."""
    grades = np.array([18.0, 21, 24, 27, 30])
    gaussian = Gaussian.estimate(Gaussian.tally(grades), rule="mle")
    assert gaussian.mean == pytest.approx(24)
    assert gaussian.variance == pytest.approx(18)


def test_the_maximum_likelihood_decision_is_the_one_without_prior() -> None:
    """argmax P(x | y) against argmax P(x | y)·P(y): the same row, decided either way."""
    X, y = np.array([[0.0], [1.0]] * 9 + [[2.0], [3.0]]), ["often"] * 18 + ["rare"] * 2
    model = GaussianNB(class_prior="uniform", var_smoothing=0).fit(X, y)
    new = [[1.6]]
    often, rare = (Gaussian.estimate(Gaussian.tally(X[rows, 0]), rule="mle") for rows in (slice(18), slice(18, 20)))
    assert rare.log_density(1.6) > often.log_density(1.6)
    assert model.predict(new).tolist() == ["rare"]
    assert often.log_density(1.6) + np.log(0.9) > rare.log_density(1.6) + np.log(0.1)
    assert model.set_params(class_prior="empirical").predict(new).tolist() == ["often"]


def test_a_table_of_labels_gives_the_figures_without_encoding() -> None:
    """0.073 against 0.008; 0.394, 0.030, 0.576; 2/3: `BayesClassifier(structure="naive")` on strings."""
    rows = pd.DataFrame([line.split() for line in ROWS.split("\n") if line], columns=["size", "colour", "shape", "y"])
    sixteen = BayesClassifier(structure="naive", estimate="mle").fit(rows.drop(columns="y"), rows["y"])
    joint = np.exp(sixteen.predict_joint_log_proba({"size": "med", "colour": "red", "shape": "circ"}))
    np.testing.assert_allclose(joint, [[0.5 * (2 / 8) ** 3, 0.5 * 3 / 8 * 5 / 8 * 5 / 8]])
    assert joint.round(3).tolist() == [[0.008, 0.073]]

    sizes = pd.DataFrame({"size": ["small"] * 4 + ["large"] * 6 + ["medium"]})
    smoothed = BayesClassifier(structure="naive", prior=MEstimate(1), unseen="ignore")
    smoothed.fit(sizes, ["positive"] * 10 + ["negative"])
    terms = smoothed.explain(pd.DataFrame({"size": ["small", "medium", "large"]})).contributions[:, 1, 0]
    assert np.exp(terms).round(3).tolist() == [0.394, 0.03, 0.576]

    five = pd.DataFrame(
        {"colour": ["red", "red", "blue", "red", "red"], "shape": ["circle", "square", "circle", "circle", "circle"]}
    )
    y = ["positive", "negative", "positive", "negative", "positive"]
    for structure in ("naive", "joint"):
        model = BayesClassifier(structure=structure, estimate="mle").fit(five, y)
        found = model.predict_proba({"colour": "red", "shape": "circle"})
        np.testing.assert_allclose(found, [[1 / 3, 2 / 3]])
