"""The binomial distribution."""

from typing import Any, Self

import numpy as np
from scipy import stats

from suffice.distributions.beta_distribution import BetaDistribution, check_probability, probability_of
from suffice.distributions.distribution import RuleName, check_column, check_weights
from suffice.families import FAMILIES
from suffice.priors import check_numbers
from suffice.statistics import Counts


class Binomial(BetaDistribution):
    """Binomial distribution: P(x) = C(n, x)·p^x·(1 − p)^(n − x), of the number x of successes in n trials.

    The conjugate prior is `Beta`: the posterior is Beta(a + Σx, b + Σ(n − x)). Estimated with rule="predictive" it is a
    beta-binomial distribution.

    Parameters
    ----------
    trials : int
        The number n of trials, 1 or more.
    p : float
        Probability of success, from 0 to 1.

    Attributes
    ----------
    trials : int
        Number of trials.
    p : float
        Probability of success.
    averaged : bool
        Whether it was estimated with rule="predictive".

    Examples
    --------
    >>> hits = Binomial.tally([3, 5, 4], trials=10)
    >>> round(Binomial.estimate(hits, rule="mle", trials=10).p, 6)
    0.4

    The number of trials may differ between observations:

    >>> round(Binomial.estimate(Binomial.tally([3, 1], trials=[10, 5]), trials=8).p, 4)
    0.2941
    """

    family = FAMILIES["bernoulli"]  # n trials are n rows
    _shown = ("trials", "p")
    _takes = "numbers of successes, from 0 to the number of trials"

    def __init__(self, trials: int, p: float) -> None:
        self.trials, self.p = _check_trials(trials), check_probability(p)

    def __repr__(self) -> str:
        return f"Binomial(trials={self.trials}, p={self.p!r})"

    @classmethod
    def tally(cls, x: Any, weights: Any = None, trials: Any = None) -> Counts:
        """Return the numbers of trials and of successes.

        Parameters
        ----------
        x : array-like
            Number of successes of each observation.
        weights : array-like of shape (n_observations,), default=None
            Weight of each observation, 0 or more; 1 by default.
        trials : int or array-like of shape (n_observations,)
            Number of trials of all observations, or of each.

        Returns
        -------
        Counts
            ``n`` is the number of trials, and ``total`` the number of successes.
        """
        values = check_column(x, "Binomial")
        numbers = check_numbers(np.nan if trials is None else trials, "trials")
        if numbers.ndim and numbers.shape != values.shape:
            raise ValueError(f"trials has {numbers.size} entries, and there are {len(values)} observations")
        most = np.broadcast_to(numbers, values.shape)
        wrong = (values < 0) | (values > most) | (values != np.floor(values)) | (most != np.floor(most))
        if wrong.any():
            place = int(wrong.argmax())
            raise ValueError(
                f"observation {place} is {values[place]:g} of {most[place]:g} trials; {cls.__name__} takes {cls._takes}"
            )
        each = check_weights(weights, len(values))
        return Counts(np.array([[(each * most).sum()]]), np.array([[(each * values).sum()]]))

    @classmethod
    def estimate(cls, tally: Any, prior: Any = 1.0, rule: RuleName = "mean", trials: int | None = None) -> Self:
        """Return the distribution that is estimated from a tally.

        Parameters
        ----------
        tally : Counts
            Numbers of trials and of successes, as ``tally`` returns them.
        prior : float, Prior, "auto" or None, default=1.0
            Pseudo-count, prior distribution of p, or "auto" for the pseudo-count with the largest evidence. None is
            allowed with rule="mle".
        rule : {"mle", "map", "mean", "predictive"}, default="mean"
            Maximum likelihood, mode of the posterior, mean of the posterior, or P(x) averaged over the posterior.
        trials : int
            Number of trials of the distribution that is returned.

        Returns
        -------
        Binomial
            The distribution.
        """
        found = super().estimate(tally, prior, rule)
        found.trials = _check_trials(trials)
        return found

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        return cls(1, probability_of(parameters.log_p, parameters.log_q))

    @property
    def _distribution(self) -> Any:
        if not self.averaged:
            return stats.binom(self.trials, self.p)
        return stats.betabinom(self.trials, *(each.item() for each in self._hyperparameters()))


def _check_trials(trials: Any) -> int:
    """Return a number of trials as an integer."""
    if trials is None or np.ndim(trials) or not (trials >= 1 and trials == int(trials)):
        raise ValueError(f"trials must be a whole number of 1 or more, not {trials!r}")
    return int(trials)
