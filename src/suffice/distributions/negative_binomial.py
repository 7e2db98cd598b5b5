"""The negative binomial distribution."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import stats

from suffice.distributions.beta_distribution import BetaDistribution, check_probability, probability_of
from suffice.distributions.distribution import check_column, check_weights
from suffice.families import FAMILIES
from suffice.families.family import Parameters
from suffice.priors import check_positive
from suffice.schema import Array, Columns
from suffice.statistics import SquaredCounts


class NegativeBinomial(BetaDistribution):
    """Negative binomial distribution: P(x) = Γ(r + x) / Γ(r) x!·p^r·(1 − p)^x, of the failures before the r-th success.

    The mean is m = r·(1 − p) / p and the variance m + m² / r. Given r, the conjugate prior is `Beta`: the posterior is
    Beta(a + r·n, b + Σx). r is estimated by moments, m² / (s² − m) with the variance s² (divided by n − 1), or set by
    ``with_dispersion``.

    Parameters
    ----------
    dispersion : float
        The number r, more than 0.
    p : float
        Probability of success, from 0 to 1.

    Attributes
    ----------
    dispersion : float
        The number r.
    p : float
        Probability of success.
    averaged : bool
        Whether it was estimated with rule="predictive".

    Examples
    --------
    >>> visits = NegativeBinomial.tally([0, 0, 1, 7, 2])
    >>> round(NegativeBinomial.with_dispersion(2.0).estimate(visits, rule="mle").p, 6)
    0.5
    >>> round(NegativeBinomial.estimate(visits, rule="mle").dispersion, 3)
    0.615
    """

    family = FAMILIES["negative-binomial"]
    _shown = ("dispersion", "p")
    _takes = "counts 0, 1, 2, …"

    def __init__(self, dispersion: float, p: float) -> None:
        number = check_positive(dispersion, "dispersion")
        if number.ndim:
            raise ValueError(f"dispersion must be a number of more than 0, not {dispersion!r}")
        self.dispersion, self.p = float(number), check_probability(p)

    @classmethod
    def with_dispersion(cls, dispersion: float) -> type[Self]:
        """Return this class with a known dispersion r, which is then not estimated.

        Parameters
        ----------
        dispersion : float
            The number r, more than 0.

        Returns
        -------
        type
            A subclass, with the same methods.
        """
        family: Any = cls.family
        return type(cls.__name__, (cls,), {"family": replace(family, dispersion=float(dispersion))})

    @classmethod
    def tally(cls, x: Any, weights: Any = None) -> SquaredCounts:
        """Return the sums of counts and of their squares.

        Parameters
        ----------
        x : array-like
            Counts 0, 1, 2, ….
        weights : array-like of shape (n_observations,), default=None
            Weight of each observation, 0 or more; 1 by default.

        Returns
        -------
        SquaredCounts
            Sums, which can be added (``+``), subtracted (``-``) and scaled (``*``).
        """
        values = cls._check_values(check_column(x, cls.__name__))
        each = check_weights(weights, len(values))
        sums = (each.sum(), (each * values).sum(), (each * values**2).sum())
        return SquaredCounts(*(np.array([[total]]) for total in sums))

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        r = parameters.dispersion.item()
        if hasattr(parameters, "log_p"):
            return cls(r, probability_of(parameters.log_p, parameters.log_q))
        return cls(r, (parameters.a / (parameters.a + parameters.b)).item())

    @property
    def _distribution(self) -> Any:
        return stats.nbinom(self.dispersion, self.p)

    @property
    def _predictive(self) -> Parameters:
        """The predictive distribution; SciPy's takes whole numbers r only."""
        posterior = self._hyperparameters()
        return self.family.predictive(Columns(self.family.name, 1), posterior)

    def log_density(self, x: Any) -> Array:
        if not self.averaged:
            return super().log_density(x)
        values = np.asarray(x, np.float64)
        found = self._predictive.score().contributions_of(np.where(self.family.refuses(values), 0.0, values)[:, None])
        return np.where(self.family.refuses(values), -np.inf, found[:, 0, 0])

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        if not self.averaged:
            return super().sample(size, random_state)
        return self._predictive.sample(0, size, np.random.default_rng(random_state))[:, 0].astype(np.int64)
