"""Distributions of counts with a probability of success."""

from typing import Any, ClassVar

import numpy as np
from scipy import stats

from suffice.distributions.distribution import Distribution
from suffice.families.family import Hyperparameters
from suffice.priors import check_numbers
from suffice.schema import Array


class BetaDistribution(Distribution):
    """A distribution whose parameter p is a probability, with the conjugate prior `Beta`."""

    p: float

    _takes: ClassVar[str]  # the observations, for an error

    @classmethod
    def _check_values(cls, values: Array) -> Array:
        wrong = cls.family.refuses(values)
        if wrong.any():
            place = int(wrong.argmax())
            raise ValueError(f"observation {place} is {values[place]:g}; {cls.__name__} takes {cls._takes}")
        return values

    @classmethod
    def _posterior_of(cls, hyperparameters: Hyperparameters) -> Any:
        a, b = (each.item() for each in hyperparameters[:2])
        if not (a > 0 and b > 0):
            raise ValueError(f"Beta({a:g}, {b:g}) is not a distribution; use a prior of more than 0")
        return stats.beta(a, b)


def check_probability(p: Any) -> float:
    """Return a probability from 0 to 1 as a float."""
    number = check_numbers(p, "p")
    if number.ndim or not 0 <= number <= 1:
        raise ValueError(f"p must be a probability, from 0 to 1, not {p!r}")
    return float(number)


def probability_of(log_p: Array, log_q: Array) -> float:
    """Return p from the logarithms of p and 1 − p, of which the smaller has more digits."""
    p, q = log_p.item(), log_q.item()
    return float(np.exp(p) if p < q else -np.expm1(q))
