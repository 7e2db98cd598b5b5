"""Gaussian: the distribution of one real number, or of several together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import stats

from suffice.distributions.distribution import DRAWS, Distribution, one_column, weights_for
from suffice.estimation import RULES
from suffice.families import FAMILIES
from suffice.families.family import Beliefs
from suffice.families.gaussian import StudentT
from suffice.families.multivariate import Multivariate
from suffice.schema import Array, Columns
from suffice.tallies import CoMoments, Moments


class GaussianPosterior(NamedTuple):
    """What is believed of the mean (Student's t) and of the variance (inverse gamma, or Wishart)."""

    mean: Any
    variance: Any


class Gaussian(Distribution):
    """p(x) = N(x; mean, variance), of numbers; or of rows, with a vector of means and a covariance matrix.

    >>> scores = Gaussian.tally([85, 95, 100, 12])
    >>> Gaussian.estimate(scores, rule="mle")
    Gaussian(mean=73.0, variance=1269.5)
    >>> Gaussian.estimate(scores, rule="mle", ddof=1).variance.round(2)
    np.float64(1692.67)

    An affine map of a Gaussian is one, and so is the sum of two that are independent:

    >>> 2 * Gaussian(1, 4) + 3
    Gaussian(mean=5.0, variance=16.0)
    >>> Gaussian(1, 4) + Gaussian(2, 5)
    Gaussian(mean=3.0, variance=9.0)
    """

    family = FAMILIES["gaussian"]
    together = Multivariate()
    __array_ufunc__ = None  # lets matrix @ gaussian come here

    def __init__(self, mean: Any, variance: Any) -> None:
        self.mean: Any = np.asarray(mean, np.float64)[()]
        self.variance: Any = np.asarray(variance, np.float64)[()]
        if np.shape(self.variance) != np.shape(self.mean) * 2:
            raise ValueError("a mean of n numbers goes with an n × n covariance matrix, and one number with one")
        self._tail: Any = None

    def __repr__(self) -> str:
        if np.ndim(self.mean):
            return f"Gaussian(mean={self.mean.tolist()}, variance={self.variance.tolist()})"
        return f"Gaussian(mean={float(self.mean)}, variance={float(self.variance)})"

    @classmethod
    def tally(cls, x: Any, weights: Any = None) -> Moments | CoMoments:
        if np.ndim(x) == 2:
            rows = np.asarray(x, np.float64)
            if not np.isfinite(rows).all():
                row, column = np.argwhere(~np.isfinite(rows))[0]
                raise ValueError(f"column {column} is {rows[row, column]} in row {row}; Gaussian needs finite numbers")
            return CoMoments.of(rows, weights_for(weights, len(rows)))
        values = one_column(x, "Gaussian")
        return Moments.of(values[:, None], weights_for(weights, len(values)))

    @classmethod
    def estimate(cls, tally: Any, prior: Any = 1.0, rule: str = "mean", *, ddof: float = 0) -> Self:
        """Return the Gaussian that a prior and a rule make of a tally; ``ddof=1`` with "mle" is unbiased.

        The rule "predictive" makes it a Student's t, of which ``mean`` and ``variance`` are shown.
        """
        if isinstance(tally, CoMoments):
            return cls._estimated_together(tally, prior, rule, ddof)
        made = super().estimate(tally, prior, rule)
        if rule == "mle" and ddof:
            made.variance = made.variance * (tally.n.item() / (tally.n.item() - ddof))
        return made

    @classmethod
    def _estimated_together(cls, tally: CoMoments, prior: Any, rule: str, ddof: float) -> Self:
        if rule not in RULES:
            raise ValueError(f"rule={rule!r} is not known; it is one of {', '.join(map(repr, RULES))}")
        beliefs = cls.together.updated(cls.together.believed(prior, tally), tally)
        covariance = cls.together.covariance("mean" if rule == "predictive" else rule, beliefs, tally)
        if rule == "mle" and ddof:
            covariance = covariance * (tally.n.item() / (tally.n.item() - ddof))
        made = cls(tally.mean[0] if rule == "mle" else beliefs[0], covariance)
        made._beliefs = beliefs
        made._tail = cls.together.predictive(beliefs) if rule == "predictive" else None
        return made

    @classmethod
    def _columns(cls, tally: Moments) -> Columns:
        return Columns("gaussian", 1)

    @classmethod
    def _made(cls, parameters: Any) -> Self:
        made = cls(parameters.mean.item(), parameters.variance.item())
        if isinstance(parameters, StudentT):
            made._tail = stats.t(parameters.dof.item(), made.mean, np.sqrt(parameters.squared_scale.item()))
        return made

    @classmethod
    def posterior(cls, tally: Any, prior: Any = 1.0) -> GaussianPosterior:
        """Return what is believed of mean and variance after the data, each a distribution of scipy.stats."""
        if isinstance(tally, CoMoments):
            return cls._posterior(cls.together.updated(cls.together.believed(prior, tally), tally))
        posterior: GaussianPosterior = super().posterior(tally, prior)
        return posterior

    @classmethod
    def _posterior(cls, beliefs: Beliefs) -> GaussianPosterior:
        if len(beliefs) == 4:
            mean, kappa, dof, scale = beliefs
            df: Any = float(dof) - len(mean) + 1
            means = stats.multivariate_t(mean, scale / (kappa * df), df)
            return GaussianPosterior(means, stats.invwishart(float(dof), scale))
        mean, kappa, shape, scale, _ = (array.item() for array in beliefs)
        spread = np.sqrt(scale / (shape * kappa))
        return GaussianPosterior(stats.t(2 * shape, mean, spread), stats.invgamma(shape, scale=scale))

    @classmethod
    def log_evidence(cls, tally: Any, prior: Any = 1.0) -> float:
        """Return log p(data | prior), mean and variance averaged out."""
        if isinstance(tally, CoMoments):
            before = cls.together.believed(prior, tally)
            return cls.together.log_partition(cls.together.updated(before, tally)) - cls.together.log_partition(before)
        return super().log_evidence(tally, prior)

    def _interval(self, level: float) -> GaussianPosterior:
        self._believed()
        beliefs = self._beliefs
        assert beliefs is not None
        if len(beliefs) == 5:
            posterior = self._posterior(beliefs)
            return GaussianPosterior(posterior.mean.interval(level), posterior.variance.interval(level))
        mean, kappa, dof, scale = beliefs
        df, variances = float(dof) - len(mean) + 1, np.diag(scale)
        return GaussianPosterior(
            stats.t(df, mean, np.sqrt(variances / (kappa * df))).interval(level),
            stats.invgamma(df / 2, scale=variances / 2).interval(level),
        )

    def expect(self, f: Callable[[Any, Any], Any]) -> float:
        """Return E[f(mean, variance) | data], the average over 20,000 draws (seeded)."""
        self._believed()
        beliefs = self._beliefs
        assert beliefs is not None
        rng = np.random.default_rng(0)
        if len(beliefs) == 4:
            mean, kappa, dof, scale = beliefs
            covariances: Any = stats.invwishart(float(dof), scale).rvs(DRAWS // 10, random_state=rng)
            return float(np.mean([f(rng.multivariate_normal(mean, c / float(kappa)), c) for c in covariances]))
        mean, kappa, shape, scale, _ = (array.item() for array in beliefs)
        variances = scale / rng.standard_gamma(shape, DRAWS)
        means = mean + np.sqrt(variances / kappa) * rng.standard_normal(DRAWS)
        return float(np.mean([f(m, v) for m, v in zip(means, variances, strict=True)]))

    @property
    def _distribution(self) -> Any:
        if self._tail is not None:
            return self._tail
        if np.ndim(self.mean):
            return stats.multivariate_normal(self.mean, self.variance, allow_singular=True)
        return stats.norm(self.mean, np.sqrt(self.variance))

    def log_density(self, x: Any) -> Array:
        return np.asarray(self._distribution.logpdf(x))

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        return np.asarray(self._distribution.rvs(size, random_state=random_state))

    def __add__(self, other: Any) -> Gaussian:
        if isinstance(other, Gaussian):
            return Gaussian(self.mean + other.mean, self.variance + other.variance)
        return Gaussian(self.mean + np.asarray(other, np.float64), self.variance)

    __radd__ = __add__

    def __mul__(self, factor: float) -> Gaussian:
        return Gaussian(self.mean * factor, self.variance * factor**2)

    __rmul__ = __mul__

    def __neg__(self) -> Gaussian:
        return self * -1.0

    def __sub__(self, other: Any) -> Gaussian:
        return self + (-other if isinstance(other, Gaussian) else -np.asarray(other, np.float64))

    def __rsub__(self, other: Any) -> Gaussian:
        return (-self).__add__(other)

    def __rmatmul__(self, matrix: Any) -> Gaussian:
        matrix = np.asarray(matrix, np.float64)
        return Gaussian(matrix @ self.mean, matrix @ self.variance @ matrix.T)
