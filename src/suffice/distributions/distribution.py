"""The base class of all distributions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np

from suffice import estimation
from suffice.families import Family
from suffice.families.family import Hyperparameters
from suffice.schema import Array, Columns
from suffice.statistics import Counts, Statistic

RuleName = Literal["mle", "map", "mean", "predictive"]

DRAWS = 20_000
TAIL = np.array([1e-15, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.15, 0.3])
QUANTILES = np.concatenate([TAIL, [0.5], 1 - TAIL[::-1]])


class Distribution(ABC):
    """A distribution p(x | θ) whose parameters θ are estimated from sufficient statistics.

    ``tally``, ``estimate``, ``posterior`` and ``log_evidence`` are class methods. ``interval``, ``expect``,
    ``log_density`` and ``sample`` are methods of the distribution that ``estimate`` returns.

    Attributes
    ----------
    averaged : bool
        Whether the parameters were averaged out: the distribution was estimated with rule="predictive".
    """

    family: ClassVar[Family]
    _hint: ClassVar[str] = ""  # ends the error about observations that are not numbers
    averaged: bool = False
    _shown: ClassVar[tuple[str, ...]]  # the parameters in the repr
    _posterior_hyperparameters: Hyperparameters | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(getattr(self, name))}' for name in self._shown)})"

    @classmethod
    def tally(cls, x: Any, weights: Any = None) -> Statistic:
        """Return the sufficient statistics of observations.

        Parameters
        ----------
        x : array-like
            Observations.
        weights : array-like of shape (n_observations,), default=None
            Weight of each observation, 0 or more; 1 by default.

        Returns
        -------
        Counts, Moments or CoMoments
            Sums, which can be added (``+``), subtracted (``-``) and scaled (``*``).
        """
        values = cls._check_values(check_column(x, cls.__name__, cls._hint))
        return cls._sums(values, check_weights(weights, len(values)))

    @classmethod
    def _sums(cls, values: Array, weights: Array) -> Statistic:
        """Return the sums of checked observations."""
        return Counts(np.array([[weights.sum()]]), np.array([[(weights * values).sum()]]))

    @classmethod
    def _check_values(cls, values: Array) -> Array:
        """Return the values of observations; raise if one of them is not possible."""
        return values

    @classmethod
    def _columns(cls, tally: Any) -> Columns:
        """Return the columns that a tally describes, as the family needs them."""
        return Columns(cls.family.name, 1)

    @classmethod
    @abstractmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        """Return the distribution with the parameters that the family estimated."""

    @classmethod
    @abstractmethod
    def _posterior_of(cls, hyperparameters: Hyperparameters) -> Any:
        """Return the posterior with these hyperparameters as a distribution of scipy.stats."""

    @classmethod
    def estimate(cls, tally: Any, prior: Any = 1.0, rule: RuleName = "mean") -> Self:
        """Return the distribution that is estimated from a tally.

        Parameters
        ----------
        tally : Counts, Moments or CoMoments
            Sufficient statistics, as ``tally`` returns them.
        prior : float, Prior, "auto" or None, default=1.0
            Pseudo-count, prior distribution of the parameters, or "auto" for the pseudo-count with the largest
            evidence. None is allowed with rule="mle"; the result then has no ``interval`` and no ``expect``.
        rule : {"mle", "map", "mean", "predictive"}, default="mean"
            Maximum likelihood, mode of the posterior, mean of the posterior, or p(x) averaged over the posterior.

        Returns
        -------
        Distribution
            An instance of this class.
        """
        if rule not in estimation.RULES:
            raise ValueError(f"rule={rule!r} is not known; it is one of {', '.join(map(repr, estimation.RULES))}")
        has_prior = prior is not None or rule != "mle"
        prior = cls._choose_prior(tally, prior) if has_prior else None
        made = cls._estimate(tally, prior, rule)
        made._posterior_hyperparameters = cls._update(tally, prior) if has_prior else None
        made.averaged = rule == "predictive"
        return made

    @classmethod
    def _estimate(cls, tally: Any, prior: Any, rule: RuleName) -> Self:
        """Return the distribution with the parameters that a rule estimates."""
        return cls._from_parameters(estimation.RULES[rule](cls.family, cls._columns(tally), tally, prior))

    @classmethod
    def _choose_prior(cls, tally: Any, prior: Any) -> Any:
        """Return the prior, chosen by the evidence if it is "auto"; raise if it is None."""
        if prior is None:
            raise ValueError(
                'prior=None goes with rule="mle" only; pass a number, such as 1.0, or a Prior, such as Flat()'
            )
        return estimation.choose_prior(prior, cls.family, cls._columns(tally), tally)

    @classmethod
    def _update(cls, tally: Any, prior: Any) -> Hyperparameters:
        """Return the hyperparameters of the posterior."""
        return estimation.posterior_hyperparameters(cls.family, cls._columns(tally), tally, prior)

    @classmethod
    def posterior(cls, tally: Any, prior: Any = 1.0) -> Any:
        """Return the posterior p(θ | data) of the parameters.

        Parameters
        ----------
        tally : Counts, Moments or CoMoments
            Sufficient statistics, as ``tally`` returns them.
        prior : float, Prior or "auto", default=1.0
            Pseudo-count or prior distribution of the parameters.

        Returns
        -------
        scipy.stats distribution
            A frozen distribution, with ``mean``, ``pdf``, ``interval``, ``rvs`` and so on. For a Gaussian, a named
            tuple of the marginal distributions of ``mean`` and ``variance``.
        """
        return cls._posterior_of(cls._update(tally, cls._choose_prior(tally, prior)))

    @classmethod
    def log_evidence(cls, tally: Any, prior: Any = 1.0) -> float:
        """Return log p(data | prior) = log ∫ p(data | θ)·p(θ | prior) dθ.

        Factors of the likelihood that do not depend on θ (multinomial coefficients, factorials of Poisson counts)
        are left out, because they are the same for every prior.

        Parameters
        ----------
        tally : Counts, Moments or CoMoments
            Sufficient statistics, as ``tally`` returns them.
        prior : float, Prior or "auto", default=1.0
            Pseudo-count or prior distribution of the parameters.

        Returns
        -------
        float
            Logarithm of the evidence, in nats.
        """
        prior = cls._choose_prior(tally, prior)
        return float(estimation.log_evidence(cls.family, cls._columns(tally), tally, prior).sum())

    def _hyperparameters(self) -> Hyperparameters:
        """Return the hyperparameters of the posterior; raise if there is none."""
        if self._posterior_hyperparameters is None:
            raise ValueError(
                f"this {type(self).__name__} was not estimated from a tally with a prior, so it has no posterior"
            )
        return self._posterior_hyperparameters

    def interval(self, level: float = 0.95) -> Any:
        """Return the equal-tailed credible interval of each parameter.

        Parameters
        ----------
        level : float, default=0.95
            Probability that the parameter lies in the interval, between 0 and 1.

        Returns
        -------
        tuple
            Lower and upper bounds; for a Gaussian one such pair for the mean and one for the variance.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not be {level!r}")
        return self._interval(level)

    def _interval(self, level: float) -> Any:
        return self._posterior_of(self._hyperparameters()).interval(level)

    def expect(self, f: Callable[..., Any]) -> float:
        """Return the posterior expectation E[f(θ) | data] = ∫ f(θ)·p(θ | data) dθ.

        For one parameter, it is computed by quadrature. For several parameters, it is the mean over random draws with a
        fixed seed (Categorical, Multinomial, Gaussian).

        Parameters
        ----------
        f : callable
            Function of the parameter; of the vector p for Categorical and Multinomial, of mean and variance for
            Gaussian.

        Returns
        -------
        float
            The expectation.
        """
        return integrate(f, self._posterior_of(self._hyperparameters()))

    @property
    def _distribution(self) -> Any:
        """The distribution as one of scipy.stats."""
        raise NotImplementedError

    def log_density(self, x: Any) -> Array:
        """Return log p(x) of each observation.

        Parameters
        ----------
        x : array-like
            Observations.

        Returns
        -------
        ndarray of shape (n_observations,)
            Log probability or log density.
        """
        distribution = self._distribution
        return np.asarray((distribution.logpmf if hasattr(distribution, "logpmf") else distribution.logpdf)(x))

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        """Return random observations.

        Parameters
        ----------
        size : int, default=1
            Number of observations.
        random_state : int, numpy.random.Generator or None, default=None
            Seed or generator.

        Returns
        -------
        ndarray
            One observation per row.
        """
        return np.asarray(self._distribution.rvs(size, random_state=random_state))


def _shown(value: Any) -> str:
    """Return a parameter as text on one line; long arrays are abbreviated."""
    if np.ndim(value) == 0:
        return repr(float(value))
    return " ".join(np.array2string(np.asarray(value), separator=", ", threshold=20, precision=6).split())


def integrate(f: Callable[[float], Any], distribution: Any) -> float:
    """Return ∫ f·p by Gauss-Legendre quadrature on intervals between quantiles of p, so that no peak is missed.

    >>> from scipy import stats
    >>> round(integrate(lambda x: x, stats.gamma(3e7, scale=1e-5)), 6)
    300.0
    """
    edges = np.unique(distribution.ppf(QUANTILES))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    middles, halves = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    points = (middles[:, None] + halves[:, None] * nodes).ravel()
    mass = (halves[:, None] * weights).ravel() * distribution.pdf(points)
    return float(np.dot(mass, [f(point) for point in points]) / mass.sum())


def check_column(x: Any, what: str, hint: str = "") -> Array:
    """Return observations of one variable as an array of finite numbers; ``hint`` ends the error about other types."""
    try:
        values = np.asarray(x, np.float64)
    except (TypeError, ValueError):
        odd = next((value for value in np.ravel(np.asarray(x, object)) if not _is_number(value)), x)
        raise ValueError(f"{what} takes numbers, not {odd!r}{hint}") from None
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{what} takes a list of observations, not an array of shape {values.shape}")
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"observation {place} is {values[place]}; {what} needs finite numbers")
    return values


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def check_weights(weights: Any, count: int) -> Array:
    """Return one weight per observation."""
    if weights is None:
        return np.ones(count)
    values = np.asarray(weights, np.float64)
    if values.shape != (count,) or not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
        raise ValueError(f"weights must be {count} finite numbers from 0 up, and not all 0")
    return values
