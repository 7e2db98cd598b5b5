"""The exponential distribution."""

from typing import Any, Self

import numpy as np
from scipy import stats

from suffice.distributions.distribution import Distribution
from suffice.families import FAMILIES
from suffice.families.family import Hyperparameters
from suffice.priors import check_positive
from suffice.schema import Array


class Exponential(Distribution):
    """Exponential distribution: p(x) = λ·e^(−λx) of a number x from 0 up, such as the time until an event.

    The conjugate prior is `Gamma`. Estimated with rule="predictive" it is a Lomax distribution.

    Parameters
    ----------
    rate : float
        The rate λ, more than 0.

    Attributes
    ----------
    rate : float
        The rate λ; the mean is 1/λ.
    averaged : bool
        Whether it was estimated with rule="predictive".

    Examples
    --------
    >>> waits = Exponential.tally([1.0, 3.0, 2.0])
    >>> Exponential.estimate(waits, rule="mle").rate
    0.5
    """

    family = FAMILIES["exponential"]
    _shown = ("rate",)

    def __init__(self, rate: float) -> None:
        if np.ndim(rate):
            raise ValueError(f"rate must be a number greater than 0, not {rate!r}")
        self.rate = float(check_positive(rate, "rate"))

    @classmethod
    def _check_values(cls, values: Array) -> Array:
        if (values < 0).any():
            raise ValueError(f"Exponential takes numbers from 0 up, not {values.min():g}")
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
            return stats.expon(scale=1 / self.rate)
        shape, rate = (each.item() for each in self._hyperparameters())
        return stats.lomax(shape, scale=rate)
