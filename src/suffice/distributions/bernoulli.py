"""The Bernoulli distribution."""

from typing import Any, Self

import numpy as np
from scipy import stats

from suffice.distributions.beta_distribution import BetaDistribution, check_probability, probability_of
from suffice.families import FAMILIES
from suffice.schema import Array


class Bernoulli(BetaDistribution):
    """Bernoulli distribution: P(1) = p and P(0) = 1 − p.

    The conjugate prior is `Beta`; a number c as a prior means Beta(c, c).

    Parameters
    ----------
    p : float
        Probability of a 1, from 0 to 1.

    Attributes
    ----------
    p : float
        Probability of a 1.
    averaged : bool
        Whether it was estimated with rule="predictive". For a single trial this is the same as rule="mean".

    Examples
    --------
    >>> flips = Bernoulli.tally([1, 1, 0])
    >>> Bernoulli.estimate(flips, rule="mle").p, Bernoulli.estimate(flips, prior=1.0).p
    (0.6666666666666667, 0.6)
    >>> Bernoulli.posterior(flips).args
    (3.0, 2.0)
    """

    family = FAMILIES["bernoulli"]
    _shown = ("p",)
    _hint = "; code the two outcomes as 0 and 1"

    def __init__(self, p: float) -> None:
        self.p = check_probability(p)

    @classmethod
    def _check_values(cls, values: Array) -> Array:
        wrong = ~np.isin(values, (0, 1))
        if wrong.any():
            raise ValueError(f"Bernoulli takes 0s and 1s, not {values[wrong][0]:g}")
        return values

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        return cls(probability_of(parameters.log_p, parameters.log_q))

    def trials(self, n: int) -> Any:
        """Return the distribution of the number of 1s in n trials.

        Parameters
        ----------
        n : int
            Number of trials.

        Returns
        -------
        scipy.stats distribution
            Binomial; beta-binomial if the distribution was estimated with rule="predictive".

        Examples
        --------
        >>> flips = Bernoulli.tally([1, 1, 0])
        >>> Bernoulli.estimate(flips, 1.0, "predictive").trials(2).pmf([0, 1, 2]).round(3).tolist()
        [0.2, 0.4, 0.4]
        """
        if self.averaged:
            return stats.betabinom(n, *(each.item() for each in self._hyperparameters()))
        return stats.binom(n, self.p)

    @property
    def _distribution(self) -> Any:
        return stats.bernoulli(self.p)
