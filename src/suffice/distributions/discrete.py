"""Bernoulli, Categorical, Multinomial and Poisson: distributions of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import stats
from scipy.special import gammaln, xlogy

from suffice.distributions.distribution import DRAWS, Distribution, one_column, probability, weights_for
from suffice.families import FAMILIES
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.family import Hyperparameters
from suffice.priors import checked_sums, numbers
from suffice.schema import Array, Columns
from suffice.score import log_rising
from suffice.statistics import Counts


class Bernoulli(Distribution):
    """P(1) = p and P(0) = 1 − p.

    >>> flips = Bernoulli.tally([1, 1, 0])
    >>> Bernoulli.estimate(flips, rule="mle").p, Bernoulli.estimate(flips, prior=1.0).p
    (0.6666666666666667, 0.6)
    >>> Bernoulli.posterior(flips).args
    (3.0, 2.0)
    """

    family = FAMILIES["bernoulli"]

    def __init__(self, p: float) -> None:
        self.p = probability(p, "p")

    @classmethod
    def tally(cls, x: Any, weights: Any = None) -> Counts:
        values = one_column(x, "Bernoulli")
        if not np.isin(values, (0, 1)).all():
            raise ValueError(f"Bernoulli takes 0s and 1s, not {values[~np.isin(values, (0, 1))][0]:g}")
        each = weights_for(weights, len(values))
        return Counts(np.array([[each.sum()]]), np.array([[(each * values).sum()]]))

    @classmethod
    def _columns(cls, tally: Counts) -> Columns:
        return Columns("bernoulli", 1)

    @classmethod
    def _made(cls, parameters: BernoulliParameters) -> Self:
        # of the two logarithms, the one of the smaller probability has more digits
        log_p, log_q = parameters.log_p.item(), parameters.log_q.item()
        return cls(np.exp(log_p) if log_p < log_q else -np.expm1(log_q))

    @classmethod
    def _posterior(cls, beliefs: Hyperparameters) -> Any:
        a, b = beliefs[0].item(), beliefs[1].item()
        if not (a > 0 and b > 0):
            raise ValueError(f"Beta({a:g}, {b:g}) is no distribution; use a prior of more than 0")
        return stats.beta(a, b)

    def trials(self, n: int) -> Any:
        """Return the distribution of the number of 1s in n trials: binomial, or beta-binomial under "predictive".

        >>> flips = Bernoulli.tally([1, 1, 0])
        >>> Bernoulli.estimate(flips, 1.0, "predictive").trials(2).pmf([0, 1, 2]).round(3).tolist()
        [0.2, 0.4, 0.4]
        """
        if self.averaged and self._beliefs is not None:
            return stats.betabinom(n, self._beliefs[0].item(), self._beliefs[1].item())
        return stats.binom(n, self.p)

    def log_density(self, x: Any) -> Array:
        return np.asarray(stats.bernoulli(self.p).logpmf(x))

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        return np.asarray(stats.bernoulli(self.p).rvs(size, random_state=random_state))


class Categorical(Distribution):
    """P(level) = p[level], for levels that are coded by whole numbers.

    >>> sizes = Categorical.tally([0, 0, 0, 0, 2, 2, 2, 2, 2, 2])
    >>> from suffice import MEstimate
    >>> Categorical.estimate(sizes, MEstimate(1)).p.round(3).tolist()
    [0.394, 0.03, 0.576]
    """

    family = FAMILIES["categorical"]

    def __init__(self, p: Any) -> None:
        shares = numbers(p, "p")
        if shares.ndim != 1 or (shares < 0).any():
            raise ValueError("p must be a list of probabilities, one a level")
        self.p: Array = shares / checked_sums(shares.sum(), "p")

    @classmethod
    def tally(cls, x: Any, weights: Any = None, levels: int | None = None) -> Counts:
        values = one_column(x, "Categorical")
        if (values < 0).any() or (values != np.floor(values)).any():
            raise ValueError("Categorical takes levels as whole numbers 0, 1, 2, …")
        each = weights_for(weights, len(values))
        counts = np.bincount(values.astype(np.intp), each, minlength=levels or 0)
        return Counts(np.array([[each.sum()]]), counts[None])

    @classmethod
    def _columns(cls, tally: Counts) -> Columns:
        return Columns("categorical", 1, sizes=np.array([tally.total.shape[1]]))

    @classmethod
    def _made(cls, parameters: CategoricalParameters) -> Self:
        return cls(np.exp(parameters.log_p[0]))

    @classmethod
    def _posterior(cls, beliefs: Hyperparameters) -> Any:
        if not (beliefs[0] > 0).all():
            raise ValueError("a Dirichlet with an α of 0 is no distribution; use a prior of more than 0")
        return stats.dirichlet(beliefs[0][0])

    def _interval(self, level: float) -> tuple[Array, Array]:
        alpha = self._believed().alpha
        if len(alpha) == 1:
            return np.ones(1), np.ones(1)
        others = np.array([np.delete(alpha, level).sum() for level in range(len(alpha))])
        lower, upper = stats.beta(alpha, others).interval(level)
        return np.asarray(lower), np.asarray(upper)

    def expect(self, f: Callable[[Array], Any]) -> float:
        """Return E[f(θ) | data], the average over 20,000 draws of θ (seeded)."""
        return float(np.mean([f(theta) for theta in self._believed().rvs(DRAWS, random_state=0)]))

    def log_density(self, x: Any) -> Array:
        levels = np.atleast_1d(numbers(x, "x"))
        if (levels < 0).any() or (levels != np.floor(levels)).any():
            raise ValueError("Categorical takes levels as whole numbers 0, 1, 2, …")
        known = np.minimum(levels, len(self.p)).astype(np.intp)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.append(self.p, 0.0))[known])

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        return np.random.default_rng(random_state).choice(len(self.p), size, p=self.p)


class Multinomial(Categorical):
    """p(x) = N! / Πⱼ xⱼ!·Πⱼ pⱼ^xⱼ of counts x with Σx = N.

    >>> words = Multinomial.tally([[2, 1, 0], [1, 0, 0]])
    >>> Multinomial.estimate(words, prior=1.0).p.round(3).tolist()
    [0.571, 0.286, 0.143]
    """

    family = FAMILIES["multinomial"]

    @property
    def alpha(self) -> Array | None:
        """The α over which the shares are averaged, if they are."""
        return self._beliefs[0][0] if self.averaged and self._beliefs is not None else None

    @classmethod
    def tally(cls, x: Any, weights: Any = None, levels: int | None = None) -> Counts:
        rows = np.atleast_2d(numbers(x, "x"))
        if not rows.size or (rows < 0).any():
            raise ValueError("Multinomial takes rows of counts from 0 up, at least one")
        each = weights_for(weights, len(rows))
        return Counts(np.array([[each.sum()]]), (each[:, None] * rows).sum(axis=0)[None])

    @classmethod
    def _columns(cls, tally: Counts) -> Columns:
        return Columns("multinomial", tally.total.shape[1])

    @classmethod
    def _made(cls, parameters: Any) -> Self:
        return cls(np.exp(parameters.log_p[0]))

    def log_density(self, x: Any) -> Array:
        rows = np.atleast_2d(np.asarray(x, np.float64))
        lengths = rows.sum(axis=1)
        coefficients = gammaln(lengths + 1) - gammaln(rows + 1).sum(axis=1)
        if self.alpha is None:
            return np.asarray(coefficients + xlogy(rows, self.p).sum(axis=1))
        whole = np.asarray(self.alpha.sum())
        return np.asarray(coefficients + log_rising(self.alpha, rows).sum(axis=1) - log_rising(whole, lengths))

    def sample(self, size: int = 1, random_state: Any = None, *, length: int = 1) -> Array:
        rng = np.random.default_rng(random_state)
        shares = np.tile(self.p, (size, 1)) if self.alpha is None else rng.dirichlet(self.alpha, size)
        return np.array([rng.multinomial(length, p) for p in shares])


class Poisson(Distribution):
    """p(x) = λ^x·e^−λ / x!, for x events at the rate λ.

    >>> calls = Poisson.tally([2, 0, 4])
    >>> Poisson.estimate(calls, rule="mle").rate
    2.0
    """

    family = FAMILIES["poisson"]

    def __init__(self, rate: float) -> None:
        if np.ndim(rate) or numbers(rate, "rate") < 0:
            raise ValueError(f"rate must be a number from 0 up, not {rate!r}")
        self.rate = float(rate)

    @classmethod
    def tally(cls, x: Any, weights: Any = None) -> Counts:
        values = one_column(x, "Poisson")
        if (values < 0).any():
            raise ValueError(f"Poisson takes counts from 0 up, not {values.min():g}")
        each = weights_for(weights, len(values))
        return Counts(np.array([[each.sum()]]), np.array([[(each * values).sum()]]))

    @classmethod
    def _columns(cls, tally: Counts) -> Columns:
        return Columns("poisson", 1)

    @classmethod
    def _made(cls, parameters: Any) -> Self:
        return cls(parameters.rate.item())

    @classmethod
    def _posterior(cls, beliefs: Hyperparameters) -> Any:
        shape, rate = beliefs[0].item(), beliefs[1].item()
        if not (shape > 0 and rate > 0):
            raise ValueError(f"Gamma({shape:g}, {rate:g}) is no distribution; use a prior of more than 0")
        return stats.gamma(shape, scale=1 / rate)

    @property
    def _distribution(self) -> Any:
        if not self.averaged or self._beliefs is None:
            return stats.poisson(self.rate)
        shape, rate = (belief.item() for belief in self._beliefs)
        return stats.nbinom(shape, rate / (rate + 1))

    def log_density(self, x: Any) -> Array:
        return np.asarray(self._distribution.logpmf(x))

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        return np.asarray(self._distribution.rvs(size, random_state=random_state))
