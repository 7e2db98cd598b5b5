"""The categorical distribution."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import stats

from suffice.distributions.distribution import DRAWS, Distribution, check_column, check_weights
from suffice.families import FAMILIES
from suffice.families.family import Hyperparameters
from suffice.priors import check_numbers, check_sums_to_one
from suffice.schema import Array, Columns
from suffice.statistics import Counts


class Categorical(Distribution):
    """Categorical distribution: P(level j) = p[j], for levels that are coded as 0, 1, 2, ….

    The conjugate prior is `Dirichlet`; a number c as a prior means Dirichlet(c).

    Parameters
    ----------
    p : array-like of shape (n_levels,)
        Probability of each level; they sum to 1.

    Attributes
    ----------
    p : ndarray of shape (n_levels,)
        Probability of each level.
    averaged : bool
        Whether it was estimated with rule="predictive". For a single observation this is the same as rule="mean".

    Examples
    --------
    >>> sizes = Categorical.tally([0, 0, 0, 0, 2, 2, 2, 2, 2, 2])
    >>> from suffice import MEstimate
    >>> Categorical.estimate(sizes, MEstimate(1)).p.round(3).tolist()
    [0.394, 0.03, 0.576]

    Names are coded first:

    >>> names, codes = np.unique(["red", "blue", "red"], return_inverse=True)
    >>> Categorical.estimate(Categorical.tally(codes), rule="mle")
    Categorical(p=[0.333333, 0.666667])
    """

    family = FAMILIES["categorical"]
    _shown = ("p",)
    _hint = "; code levels as 0, 1, 2, …, for example with numpy.unique(x, return_inverse=True)[1]"

    def __init__(self, p: Any) -> None:
        shares = check_numbers(p, "p")
        if shares.ndim != 1 or (shares < 0).any():
            raise ValueError("p must be a list of probabilities, one per level")
        self.p: Array = shares / check_sums_to_one(shares.sum(), "p")

    @classmethod
    def tally(cls, x: Any, weights: Any = None, levels: int | None = None) -> Counts:
        """Return how often each level was observed.

        Parameters
        ----------
        x : array-like of shape (n_observations,)
            Levels, as whole numbers 0, 1, 2, ….
        weights : array-like of shape (n_observations,), default=None
            Weight of each observation, 0 or more; 1 by default.
        levels : int, default=None
            Smallest number of levels to count; by default as many as occur in ``x``.

        Returns
        -------
        Counts
            Sums, which can be added (``+``), subtracted (``-``) and scaled (``*``).
        """
        values = cls._check_values(check_column(x, "Categorical", cls._hint))
        each = check_weights(weights, len(values))
        counts = np.bincount(values.astype(np.intp), each, minlength=levels or 0)
        return Counts(np.array([[each.sum()]]), counts[None])

    @classmethod
    def _check_values(cls, values: Array) -> Array:
        wrong = (values < 0) | (values != np.floor(values))
        if wrong.any():
            raise ValueError(f"Categorical takes levels as whole numbers 0, 1, 2, …, not {values[wrong].flat[0]:g}")
        return values

    @classmethod
    def _columns(cls, tally: Counts) -> Columns:
        return Columns("categorical", 1, sizes=np.array([tally.total.shape[1]]))

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        return cls(np.exp(parameters.log_p[0]))

    @classmethod
    def _posterior_of(cls, hyperparameters: Hyperparameters) -> Any:
        if not (hyperparameters[0] > 0).all():
            raise ValueError("a Dirichlet with an α of 0 is not a distribution; use a prior of more than 0")
        return stats.dirichlet(hyperparameters[0][0])

    def _interval(self, level: float) -> tuple[Array, Array]:
        alpha = self._posterior_of(self._hyperparameters()).alpha
        if len(alpha) == 1:
            return np.ones(1), np.ones(1)
        others = np.array([np.delete(alpha, level).sum() for level in range(len(alpha))])
        lower, upper = stats.beta(alpha, others).interval(level)  # the marginals of a Dirichlet
        return np.asarray(lower), np.asarray(upper)

    def expect(self, f: Callable[[Array], Any]) -> float:
        posterior = self._posterior_of(self._hyperparameters())
        return float(np.mean([f(theta) for theta in posterior.rvs(DRAWS, random_state=0)]))

    def log_density(self, x: Any) -> Array:
        values = self._check_values(np.atleast_1d(check_numbers(x, "x")))
        codes = np.minimum(values, len(self.p)).astype(np.intp)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.append(self.p, 0.0))[codes])

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        return np.random.default_rng(random_state).choice(len(self.p), size, p=self.p)
