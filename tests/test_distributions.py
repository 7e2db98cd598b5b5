"""Distributions: how they are shown, and what they say about input that they cannot take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suffice import Bernoulli, Categorical, Gaussian, Multinomial, Poisson


@pytest.mark.parametrize(
    ("distribution", "shown"),
    [
        (Bernoulli(0.6), "Bernoulli(p=0.6)"),
        (Categorical([0.25, 0.75]), "Categorical(p=[0.25, 0.75])"),
        (Multinomial([0.25, 0.75]), "Multinomial(p=[0.25, 0.75])"),
        (Poisson(2), "Poisson(rate=2.0)"),
        (Gaussian(1, 4), "Gaussian(mean=1.0, variance=4.0)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_repr_shows_the_parameters(distribution: Any, shown: str) -> None:
    assert repr(distribution) == shown


def test_repr_of_arrays_is_short_and_on_one_line() -> None:
    assert repr(Gaussian([0, 1], np.eye(2))) == "Gaussian(mean=[0., 1.], variance=[[1., 0.], [0., 1.]])"
    shown = repr(Categorical(np.full(1000, 0.001)))
    assert len(shown) < 100
    assert "..." in shown


ROWS = {
    Bernoulli: [1, 1, 0],
    Categorical: [0, 2, 2],
    Multinomial: [[1, 2], [0, 3]],
    Poisson: [2, 0, 4],
    Gaussian: [1.0, 2.0, 6.0],
}


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.__name__)
def test_maximum_likelihood_needs_no_prior(kind: Any) -> None:
    tally = kind.tally(ROWS[kind])
    assert repr(kind.estimate(tally, None, "mle")) == repr(kind.estimate(tally, rule="mle"))
    with pytest.raises(ValueError, match="not estimated from a tally with a prior"):
        kind.estimate(tally, None, "mle").interval()
    for call in (kind.estimate, kind.posterior, kind.log_evidence):
        with pytest.raises(ValueError, match='prior=None goes with rule="mle" only'):
            call(tally, None)


def test_maximum_likelihood_of_several_columns_needs_no_prior() -> None:
    tally = Gaussian.tally([[1.0, 2.0], [3.0, 7.0], [4.0, 1.0]])
    assert repr(Gaussian.estimate(tally, None, "mle", ddof=1)) == repr(Gaussian.estimate(tally, rule="mle", ddof=1))
    for call in (Gaussian.estimate, Gaussian.posterior, Gaussian.log_evidence):
        with pytest.raises(ValueError, match='prior=None goes with rule="mle" only'):
            call(tally, None)


def test_names_are_refused_with_advice() -> None:
    with pytest.raises(ValueError, match=r"Categorical takes numbers, not 'red'; code levels as 0, 1, 2, …"):
        Categorical.tally(["red", "blue"])
    with pytest.raises(ValueError, match="Bernoulli takes numbers, not 'yes'; code the two outcomes as 0 and 1"):
        Bernoulli.tally([1, "yes"])
    with pytest.raises(ValueError, match="Poisson takes numbers, not 'two'"):
        Poisson.tally(["1", "two"])
