"""The multinomial distribution."""

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from suffice.distributions.categorical import Categorical
from suffice.distributions.distribution import check_weights
from suffice.families import FAMILIES
from suffice.priors import check_numbers
from suffice.schema import Array, Columns
from suffice.score import log_rising
from suffice.statistics import Counts


class Multinomial(Categorical):
    """Multinomial distribution: p(x) = N! / Πⱼ xⱼ!·Πⱼ pⱼ^xⱼ, of a vector of counts x with Σx = N.

    The conjugate prior is `Dirichlet`; a number c as a prior means Dirichlet(c). Estimated with rule="predictive" it
    is a Dirichlet-multinomial distribution.

    Parameters
    ----------
    p : array-like of shape (n_levels,)
        Probability of each level; they sum to 1.

    Attributes
    ----------
    p : ndarray of shape (n_levels,)
        Probability of each level.
    alpha : ndarray of shape (n_levels,) or None
        Parameters of the Dirichlet distribution over which p was averaged, if rule="predictive"; otherwise None.
    averaged : bool
        Whether it was estimated with rule="predictive".

    Examples
    --------
    >>> words = Multinomial.tally([[2, 1, 0], [1, 0, 0]])
    >>> Multinomial.estimate(words, prior=1.0)
    Multinomial(p=[0.571429, 0.285714, 0.142857])
    """

    family = FAMILIES["multinomial"]

    @property
    def alpha(self) -> Array | None:
        """Parameters of the Dirichlet distribution over which p was averaged, if rule="predictive"; otherwise None."""
        return self._hyperparameters()[0][0] if self.averaged else None

    @classmethod
    def tally(cls, x: Any, weights: Any = None, levels: int | None = None) -> Counts:
        """Return the total count of each level.

        Parameters
        ----------
        x : array-like of shape (n_observations, n_levels)
            Counts, 0 or more; one row per observation.
        weights : array-like of shape (n_observations,), default=None
            Weight of each observation, 0 or more; 1 by default.
        levels : None
            Not used: there is one level per column.

        Returns
        -------
        Counts
            Sums, which can be added (``+``), subtracted (``-``) and scaled (``*``).
        """
        rows = np.atleast_2d(check_numbers(x, "x"))
        if not rows.size or (rows < 0).any():
            raise ValueError("Multinomial takes rows of counts from 0 up, at least one")
        each = check_weights(weights, len(rows))
        return Counts(np.array([[each.sum()]]), (each[:, None] * rows).sum(axis=0)[None])

    @classmethod
    def _columns(cls, tally: Counts) -> Columns:
        return Columns("multinomial", tally.total.shape[1])

    def log_density(self, x: Any) -> Array:
        rows = np.atleast_2d(np.asarray(x, np.float64))
        lengths = rows.sum(axis=1)
        coefficients = gammaln(lengths + 1) - gammaln(rows + 1).sum(axis=1)
        if self.alpha is None:
            return np.asarray(coefficients + xlogy(rows, self.p).sum(axis=1))
        whole = np.asarray(self.alpha.sum())
        return np.asarray(coefficients + log_rising(self.alpha, rows).sum(axis=1) - log_rising(whole, lengths))

    def sample(self, size: int = 1, random_state: Any = None, *, length: int = 1) -> Array:
        """Return random vectors of counts.

        Parameters
        ----------
        size : int, default=1
            Number of vectors.
        random_state : int, numpy.random.Generator or None, default=None
            Seed or generator.
        length : int, default=1
            The total N of each vector.

        Returns
        -------
        ndarray of shape (size, n_levels)
            Counts.
        """
        rng = np.random.default_rng(random_state)
        shares = np.tile(self.p, (size, 1)) if self.alpha is None else rng.dirichlet(self.alpha, size)
        return np.array([rng.multinomial(length, p) for p in shares])
