"""The Poisson distribution."""

from typing import Any, Self

import numpy as np
from scipy import stats

from suffice.distributions.distribution import Distribution
from suffice.families import FAMILIES
from suffice.families.family import Hyperparameters
from suffice.priors import check_numbers
from suffice.schema import Array


class Poisson(Distribution):
    """Poisson distribution: p(x) = λ^x·e^(−λ) / x!, of the number x of events.

    The conjugate prior is `Gamma`. Estimated with rule="predictive" it is a negative binomial distribution.

    Parameters
    ----------
    rate : float
        The rate λ, 0 or more.

    Attributes
    ----------
    rate : float
        The rate λ, which is the mean.
    averaged : bool
        Whether it was estimated with rule="predictive".

    Examples
    --------
    >>> calls = Poisson.tally([2, 0, 4])
    >>> Poisson.estimate(calls, rule="mle").rate
    2.0
    """

    family = FAMILIES["poisson"]
    _shown = ("rate",)

    def __init__(self, rate: float) -> None:
        if np.ndim(rate) or check_numbers(rate, "rate") < 0:
            raise ValueError(f"rate must be a number from 0 up, not {rate!r}")
        self.rate = float(rate)

    @classmethod
    def _check_values(cls, values: Array) -> Array:
        if (values < 0).any():
            raise ValueError(f"Poisson takes counts from 0 up, not {values.min():g}")
        return values

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        return cls(parameters.rate.item())

    @classmethod
    def _posterior_of(cls, hyperparameters: Hyperparameters) -> Any:
        shape, rate = (each.item() for each in hyperparameters)
        if not (shape > 0 and rate > 0):
            raise ValueError(f"Gamma({shape:g}, {rate:g}) is not a distribution; use a prior of more than 0")
        return stats.gamma(shape, scale=1 / rate)

    @property
    def _distribution(self) -> Any:
        if not self.averaged:
            return stats.poisson(self.rate)
        shape, rate = (each.item() for each in self._hyperparameters())
        return stats.nbinom(shape, rate / (rate + 1))
