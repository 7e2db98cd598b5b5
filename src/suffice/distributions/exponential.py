"""The exponential distribution."""

from typing import Any

import numpy as np
from scipy import stats

from suffice.distributions.rate_distribution import RateDistribution
from suffice.families import FAMILIES
from suffice.priors import check_positive


class Exponential(RateDistribution):
    """Exponential distribution: p(x) = λ·e^(−λx) of a number x ≥ 0, such as the time until an event.

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

    def __init__(self, rate: float) -> None:
        if np.ndim(rate):
            raise ValueError(f"rate must be a number greater than 0, not {rate!r}")
        self.rate = float(check_positive(rate, "rate"))

    @property
    def _distribution(self) -> Any:
        if not self.averaged:
            return stats.expon(scale=1 / self.rate)
        shape, rate = (each.item() for each in self._hyperparameters())
        return stats.lomax(shape, scale=rate)
