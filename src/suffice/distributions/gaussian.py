"""Gaussian: the distribution of one real number, or of several together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import stats

from suffice.distributions.distribution import DRAWS, Distribution, one_column, weights_for
from suffice.distributions.scaled import Scaled
from suffice.estimation import RULES
from suffice.families import FAMILIES, normal_inverse_wishart
from suffice.families.family import Hyperparameters
from suffice.families.gaussian import StudentT
from suffice.priors import LARGEST, numbers
from suffice.schema import Array, Columns
from suffice.statistics import CoMoments, Moments


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
    __array_ufunc__ = None  # lets matrix @ gaussian come here

    def __init__(self, mean: Any, variance: Any) -> None:
        self.mean: Any = numbers(mean, "mean")[()]
        self.variance: Any = numbers(variance, "variance")[()]
        if np.shape(self.variance) != np.shape(self.mean) * 2:
            raise ValueError("a mean of n numbers goes with an n × n covariance matrix, and one number with one")
        if (np.diag(self.variance) if np.ndim(self.mean) else self.variance).min() < 0:
            raise ValueError("a variance is 0 or more")
        if np.ndim(self.mean) and not np.allclose(self.variance, self.variance.T, rtol=1e-8, atol=0):
            raise ValueError("a covariance matrix is symmetric")
        self._tail: Any = None

    def __repr__(self) -> str:
        if np.ndim(self.mean):
            return f"Gaussian(mean={self.mean.tolist()}, variance={self.variance.tolist()})"
        return f"Gaussian(mean={float(self.mean)}, variance={float(self.variance)})"

    @classmethod
    def tally(cls, x: Any, weights: Any = None) -> Moments | CoMoments:
        if np.ndim(x) == 2:
            rows = np.asarray(x, np.float64)
            if not rows.size:
                raise ValueError("Gaussian takes at least one row of at least one column")
            if not (np.abs(rows) < LARGEST).all():
                row, column = np.argwhere(~(np.abs(rows) < LARGEST))[0]
                raise ValueError(
                    f"column {column} is {rows[row, column]} in row {row}; Gaussian takes numbers up to 1e100"
                )
            return CoMoments.of(rows, weights_for(weights, len(rows)))
        values = one_column(x, "Gaussian")
        if not (np.abs(values) < LARGEST).all():
            raise ValueError(
                f"Gaussian takes numbers up to 1e100, not {np.abs(values).max():g}: their squares overflow"
            )
        return Moments.of(values[:, None], weights_for(weights, len(values)))

    @classmethod
    def estimate(cls, tally: Any, prior: Any = 1.0, rule: str = "mean", *, ddof: float = 0) -> Self:
        """Return the Gaussian that a prior and a rule make of a tally; ``ddof=1`` with "mle" is unbiased.

        The rule "predictive" makes it a Student's t, of which ``mean`` and ``variance`` are shown.
        """
        if not 0 <= ddof < tally.n.item():
            raise ValueError(f"ddof={ddof} must be 0 or more, and less than the {tally.n.item():g} observations")
        if isinstance(tally, CoMoments):
            made = cls._estimated_together(tally, prior, rule)
        else:
            made = super().estimate(tally, prior, rule)
        if rule == "mle":
            made.variance = made.variance * (tally.n.item() / (tally.n.item() - ddof))
        return made

    @classmethod
    def _estimated_together(cls, tally: CoMoments, prior: Any, rule: str) -> Self:
        if rule not in RULES:
            raise ValueError(f"rule={rule!r} is not known; it is one of {', '.join(map(repr, RULES))}")
        beliefs = cls._after(prior, tally)
        if rule == "predictive":
            df, shape = normal_inverse_wishart.predictive_of_one(beliefs)
            made = cls(beliefs[0], shape * (df / (df - 2) if df > 2 else 1.0))
            made._tail = Scaled(stats.multivariate_t, beliefs[0], shape, df=df)
        else:
            made = cls(
                tally.mean[0] if rule == "mle" else beliefs[0],
                normal_inverse_wishart.covariance_of_one(rule, beliefs, tally),
            )
        made._beliefs = beliefs
        return made

    @staticmethod
    def _after(prior: Any, tally: CoMoments) -> Hyperparameters:
        before = normal_inverse_wishart.prior_of_one(prior, tally)
        return normal_inverse_wishart.posterior_of_one(before, tally)

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
            return cls._posterior(cls._after(prior, tally))
        posterior: GaussianPosterior = super().posterior(tally, prior)
        return posterior

    @classmethod
    def _posterior(cls, beliefs: Hyperparameters) -> GaussianPosterior:
        if len(beliefs) == 4:
            mean, kappa, dof, scale = beliefs
            df: Any = float(dof) - len(mean) + 1
            if not (kappa > 0 and df > 0):
                raise ValueError(
                    f"a flat prior and so few rows leave nothing to believe of {len(mean)} columns; use a prior"
                )
            try:
                means = stats.multivariate_t(mean, scale / (kappa * df), df)
            except np.linalg.LinAlgError:
                raise ValueError("the columns differ too much in scale for scipy.stats; standardise them") from None
            return GaussianPosterior(means, stats.invwishart(float(dof), scale))
        mean, kappa, shape, scale, _ = (array.item() for array in beliefs)
        if not (kappa > 0 and shape > 0 and scale > 0):
            raise ValueError(
                "under a flat prior more than 3 observations that differ are needed; use a prior, such as 1.0"
            )
        spread = np.sqrt(scale / (shape * kappa))
        return GaussianPosterior(stats.t(2 * shape, mean, spread), stats.invgamma(shape, scale=scale))

    @classmethod
    def log_evidence(cls, tally: Any, prior: Any = 1.0) -> float:
        """Return log p(data | prior), mean and variance averaged out."""
        if isinstance(tally, CoMoments):
            before = normal_inverse_wishart.prior_of_one(prior, tally)
            after = normal_inverse_wishart.posterior_of_one(before, tally)
            log_partition = normal_inverse_wishart.log_partition_of_one
            return log_partition(after) - log_partition(before)
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
            drawn = stats.invwishart(float(dof), scale).rvs(DRAWS // 10, random_state=rng)
            covariances = np.reshape(drawn, (-1, *scale.shape))
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
            return Scaled(stats.multivariate_normal, self.mean, self.variance, allow_singular=True)
        if self.variance == 0:
            raise ValueError("a variance of 0 has no density: all observations are the mean")
        return stats.norm(self.mean, np.sqrt(self.variance))

    def log_density(self, x: Any) -> Array:
        return np.asarray(self._distribution.logpdf(x))

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        drawn = np.asarray(self._distribution.rvs(size, random_state=random_state))
        return drawn.reshape(size, -1) if np.ndim(self.mean) else drawn

    def _gaussian(self) -> Self:
        if self._tail is not None:
            raise ValueError('estimated by the rule "predictive" it is a Student\'s t; maps and sums are of Gaussians')
        return self

    def __add__(self, other: Any) -> Gaussian:
        mine = self._gaussian()
        if isinstance(other, Gaussian):
            other = other._gaussian()
            return Gaussian(mine.mean + other.mean, mine.variance + other.variance)
        return Gaussian(mine.mean + numbers(other, "what is added"), mine.variance)

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Gaussian:
        mine, factor = self._gaussian(), numbers(factor, "the factor")
        if factor.ndim > 1 or factor.ndim > np.ndim(mine.mean):
            raise ValueError("a Gaussian is multiplied by a number, or by one a column; by a matrix with @")
        return Gaussian(mine.mean * factor, mine.variance * np.multiply.outer(factor, factor))

    __rmul__ = __mul__

    def __neg__(self) -> Gaussian:
        return self * -1.0

    def __sub__(self, other: Any) -> Gaussian:
        return self + (-other if isinstance(other, Gaussian) else -np.asarray(other, np.float64))

    def __rsub__(self, other: Any) -> Gaussian:
        return (-self).__add__(other)

    def __rmatmul__(self, matrix: Any) -> Gaussian:
        matrix, mine = numbers(matrix, "the matrix"), self._gaussian()
        covariance = matrix @ mine.variance @ matrix.T
        return Gaussian(matrix @ mine.mean, (covariance + covariance.T) / 2)
