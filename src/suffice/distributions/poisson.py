"""The Poisson distribution."""

from typing import Any

import numpy as np
from scipy import stats

from suffice.distributions.rate_distribution import RateDistribution
from suffice.families import FAMILIES
from suffice.priors import check_numbers


class Poisson(RateDistribution):
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
    _takes = "counts"

    def __init__(self, rate: float) -> None:
        if np.ndim(rate) or check_numbers(rate, "rate") < 0:
            raise ValueError(f"rate must be a number from 0 up, not {rate!r}")
        self.rate = float(rate)

    @property
    def _distribution(self) -> Any:
        if not self.averaged:
            return stats.poisson(self.rate)
        shape, rate = (each.item() for each in self._hyperparameters())
        return stats.nbinom(shape, rate / (rate + 1))
