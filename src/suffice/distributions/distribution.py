"""What every single distribution can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from suffice.estimation import RULES, choose_prior
from suffice.estimation import log_evidence as evidence
from suffice.estimation import posterior_hyperparameters as believed_after
from suffice.families import Family
from suffice.families.family import Hyperparameters
from suffice.priors import numbers
from suffice.schema import Array, Columns
from suffice.statistics import Statistic

DRAWS = 20_000
TAIL = np.array([1e-15, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.15, 0.3])
QUANTILES = np.concatenate([TAIL, [0.5], 1 - TAIL[::-1]])


class Distribution(ABC):
    """A distribution whose parameters were read off a tally by a rule.

    ``tally``, ``estimate``, ``posterior`` and ``log_evidence`` are asked of the class; ``interval``,
    ``expect`` and ``sample`` of what ``estimate`` returns.
    """

    family: ClassVar[Family]
    _beliefs: Hyperparameters | None = None
    averaged = False  # over what is not known of the parameters: estimated by the rule "predictive"

    @classmethod
    @abstractmethod
    def tally(cls, x: Any, weights: Any = None) -> Statistic:
        """Return the sums of observations x, which is all that any estimate needs of them."""

    @classmethod
    @abstractmethod
    def _columns(cls, tally: Any) -> Columns: ...

    @classmethod
    @abstractmethod
    def _made(cls, parameters: Any) -> Self:
        """Return the distribution with these parameters."""

    @classmethod
    @abstractmethod
    def _posterior(cls, beliefs: Hyperparameters) -> Any: ...

    @classmethod
    def estimate(cls, tally: Any, prior: Any = 1.0, rule: str = "mean") -> Self:
        """Return the distribution that a prior and a rule ("mle", "map", "mean", "predictive") make of a tally."""
        if rule not in RULES:
            raise ValueError(f"rule={rule!r} is not known; it is one of {', '.join(map(repr, RULES))}")
        columns = cls._columns(tally)
        prior = choose_prior(prior, cls.family, columns, tally)
        made = cls._made(RULES[rule](cls.family, columns, tally, prior))
        made._beliefs = believed_after(cls.family, columns, tally, prior)
        made.averaged = rule == "predictive"
        return made

    @classmethod
    def posterior(cls, tally: Any, prior: Any = 1.0) -> Any:
        """Return what is believed of the parameters after the data, as a distribution of scipy.stats."""
        columns = cls._columns(tally)
        return cls._posterior(
            believed_after(cls.family, columns, tally, choose_prior(prior, cls.family, columns, tally))
        )

    @classmethod
    def log_evidence(cls, tally: Any, prior: Any = 1.0) -> float:
        """Return log p(data | prior), the parameters averaged out.

        Without multinomial coefficients and factorials of poisson counts, which no parameter touches.
        """
        columns = cls._columns(tally)
        return float(evidence(cls.family, columns, tally, choose_prior(prior, cls.family, columns, tally)).sum())

    def _believed(self) -> Any:
        if self._beliefs is None:
            raise ValueError(
                f"this {type(self).__name__} was not estimated from a tally, so nothing is uncertain about it"
            )
        return self._posterior(self._beliefs)

    def interval(self, level: float = 0.95) -> Any:
        """Return the bounds between which each parameter lies with probability ``level``."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not be {level!r}")
        return self._interval(level)

    def _interval(self, level: float) -> Any:
        return self._believed().interval(level)

    def expect(self, f: Callable[..., Any]) -> float:
        """Return E[f(θ) | data] = ∫ f(θ)·p(θ | data) dθ, by quadrature between quantiles of the posterior."""
        return integral(f, self._believed())

    @abstractmethod
    def log_density(self, x: Any) -> Array:
        """Return log p(x) of each observation."""

    @abstractmethod
    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        """Return observations drawn at random."""


def integral(f: Callable[[float], Any], distribution: Any) -> float:
    """Return ∫ f·p by Gauss's formula on stretches between quantiles, so that no peak is missed.

    >>> from scipy import stats
    >>> round(integral(lambda x: x, stats.gamma(3e7, scale=1e-5)), 6)
    300.0
    """
    edges = np.unique(distribution.ppf(QUANTILES))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    middles, halves = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    points = (middles[:, None] + halves[:, None] * nodes).ravel()
    mass = (halves[:, None] * weights).ravel() * distribution.pdf(points)
    return float(np.dot(mass, [f(point) for point in points]) / mass.sum())


def probability(value: Any, what: str) -> float:
    """Return a number from 0 to 1."""
    number = numbers(value, what)
    if number.ndim or not 0 <= number <= 1:
        raise ValueError(f"{what} must be a probability, from 0 to 1, not {value!r}")
    return float(number)


def one_column(x: Any, what: str) -> Array:
    """Return observations as a column of finite numbers."""
    values = np.asarray(x, np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{what} takes a list of observations, not an array of shape {values.shape}")
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"observation {place} is {values[place]}; {what} needs finite numbers")
    return values


def weights_for(weights: Any, count: int) -> Array:
    """Return one weight an observation."""
    if weights is None:
        return np.ones(count)
    values = np.asarray(weights, np.float64)
    if values.shape != (count,) or not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
        raise ValueError(f"weights must be {count} finite numbers from 0 up, and not all 0")
    return values
