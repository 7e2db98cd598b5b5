"""The Gaussian distribution of one number, and the multivariate Gaussian distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import stats

from suffice.distributions.distribution import DRAWS, Distribution, RuleName, check_column, check_weights
from suffice.distributions.standardized import Standardized
from suffice.families import FAMILIES, normal_inverse_wishart
from suffice.families.family import Hyperparameters
from suffice.families.gaussian import StudentT
from suffice.priors import LARGEST, check_numbers
from suffice.schema import Array
from suffice.statistics import CoMoments, Moments


class GaussianPosterior(NamedTuple):
    """Posterior distributions, or credible intervals, of the parameters of a Gaussian.

    Attributes
    ----------
    mean : scipy.stats distribution
        Of the mean: Student's t, or the multivariate t.
    variance : scipy.stats distribution
        Of the variance: inverse gamma; of the covariance matrix: inverse Wishart.
    """

    mean: Any
    variance: Any


class Gaussian(Distribution):
    """Gaussian distribution, p(x) = e^(−(x − mean)² / (2·variance)) / √(2π·variance).

    For rows of d numbers, p(x) = e^(−(x − mean)ᵀ·variance⁻¹·(x − mean) / 2) / √((2π)^d·|variance|) with a mean vector
    and a covariance matrix. The conjugate prior is `NormalInverseGamma` for one number and `NormalInverseWishart` for
    several. Estimated with rule="predictive", it is a Student's t distribution with this mean and variance.

    A Gaussian can be shifted, scaled, added to an independent Gaussian and multiplied by a matrix (``A @ gaussian``).

    Parameters
    ----------
    mean : float or array-like of shape (d,)
        Mean.
    variance : float or array-like of shape (d, d)
        Variance, or covariance matrix.

    Attributes
    ----------
    mean : float or ndarray of shape (d,)
        Mean.
    variance : float or ndarray of shape (d, d)
        Variance, or covariance matrix.
    averaged : bool
        Whether it was estimated with rule="predictive".

    Examples
    --------
    >>> scores = Gaussian.tally([85, 95, 100, 12])
    >>> Gaussian.estimate(scores, rule="mle")
    Gaussian(mean=73.0, variance=1269.5)
    >>> Gaussian.estimate(scores, rule="mle", ddof=1).variance.round(2)
    np.float64(1692.67)

    The posterior has two parts:

    >>> posterior = Gaussian.posterior(Gaussian.tally([1.0, 2.0, 6.0]))
    >>> float(posterior.mean.mean()), round(float(posterior.variance.mean()), 3)
    (3.0, 9.333)

    An affine map of a Gaussian is Gaussian, and so is the sum of two that are independent:

    >>> 2 * Gaussian(1, 4) + 3
    Gaussian(mean=5.0, variance=16.0)
    >>> Gaussian(1, 4) + Gaussian(2, 5)
    Gaussian(mean=3.0, variance=9.0)
    """

    family = FAMILIES["gaussian"]
    _shown = ("mean", "variance")
    __array_ufunc__ = None  # makes numpy leave matrix @ gaussian to __rmatmul__

    def __init__(self, mean: Any, variance: Any) -> None:
        self.mean: Any = check_numbers(mean, "mean")[()]
        self.variance: Any = check_numbers(variance, "variance")[()]
        if np.shape(self.variance) != np.shape(self.mean) * 2:
            raise ValueError("a mean of n numbers goes with an n × n covariance matrix, and one number with one")
        if (np.diag(self.variance) if np.ndim(self.mean) else self.variance).min() < 0:
            raise ValueError("a variance is 0 or more")
        if np.ndim(self.mean) and not np.allclose(self.variance, self.variance.T, rtol=1e-8, atol=0):
            raise ValueError("a covariance matrix is symmetric")
        self._student_t: Any = None

    @classmethod
    def tally(cls, x: Any, weights: Any = None) -> Moments | CoMoments:
        """Return the sufficient statistics of numbers, or of rows of numbers.

        Parameters
        ----------
        x : array-like of shape (n_observations,) or (n_observations, d)
            Observations.
        weights : array-like of shape (n_observations,), default=None
            Weight of each observation, 0 or more; 1 by default.

        Returns
        -------
        Moments or CoMoments
            Number of observations, mean, and sum of squared deviations or scatter matrix.
        """
        has_rows = np.ndim(x) == 2
        rows = np.asarray(x, np.float64) if has_rows else check_column(x, "Gaussian")[:, None]
        if not rows.size:
            raise ValueError("Gaussian takes at least one row of at least one column")
        too_large = np.argwhere(~(np.abs(rows) < LARGEST))
        if len(too_large):
            row, column = too_large[0]
            raise ValueError(
                f"column {column} is {rows[row, column]} in row {row}; Gaussian takes numbers up to 1e100, because "
                "their squares would overflow"
            )
        each = check_weights(weights, len(rows))
        return CoMoments.of(rows, each) if has_rows else Moments.of(rows, each)

    @classmethod
    def estimate(cls, tally: Any, prior: Any = 1.0, rule: RuleName = "mean", *, ddof: float = 0) -> Self:
        """Return the Gaussian that is estimated from a tally.

        Parameters
        ----------
        tally : Moments or CoMoments
            Sufficient statistics, as ``tally`` returns them.
        prior : float, Prior, "auto" or None, default=1.0
            Number of pseudo-rows with the mean and variance of the data, or a prior distribution. None is allowed with
            rule="mle"; the result then has no ``interval`` and no ``expect``.
        rule : {"mle", "map", "mean", "predictive"}, default="mean"
            Maximum likelihood, mode of the posterior, mean of the posterior, or p(x) averaged over the posterior,
            which is Student's t.
        ddof : float, default=0
            With rule="mle" the sum of squares is divided by n − ddof; ddof=1 makes the variance unbiased.

        Returns
        -------
        Gaussian
            The estimate.
        """
        if not 0 <= ddof < tally.n.item():
            raise ValueError(f"ddof={ddof} must be 0 or more, and less than the {tally.n.item():g} observations")
        made = super().estimate(tally, prior, rule)
        if rule == "mle":
            made.variance = made.variance * (tally.n.item() / (tally.n.item() - ddof))
        return made

    @classmethod
    def _estimate(cls, tally: Any, prior: Any, rule: RuleName) -> Self:
        if not isinstance(tally, CoMoments):
            return super()._estimate(tally, prior, rule)
        if rule == "mle":
            return cls(tally.mean[0], tally.scatter[0] / tally.n.item())
        after = cls._update(tally, prior)
        if rule != "predictive":
            return cls(after[0], normal_inverse_wishart.covariance_of_one(rule, after, tally))
        df, shape = normal_inverse_wishart.predictive_of_one(after)
        made = cls(after[0], shape * (df / (df - 2) if df > 2 else 1.0))
        made._student_t = Standardized(stats.multivariate_t, after[0], shape, df=df)
        return made

    @classmethod
    def _choose_prior(cls, tally: Any, prior: Any) -> Any:
        is_given = isinstance(tally, CoMoments) and prior is not None
        return prior if is_given else super()._choose_prior(tally, prior)

    @classmethod
    def _update(cls, tally: Any, prior: Any) -> Hyperparameters:
        if not isinstance(tally, CoMoments):
            return super()._update(tally, prior)
        return normal_inverse_wishart.posterior_of_one(normal_inverse_wishart.prior_of_one(prior, tally), tally)

    @classmethod
    def _from_parameters(cls, parameters: Any) -> Self:
        made = cls(parameters.mean.item(), parameters.variance.item())
        if isinstance(parameters, StudentT):
            made._student_t = stats.t(parameters.dof.item(), made.mean, np.sqrt(parameters.squared_scale.item()))
        return made

    @classmethod
    def _posterior_of(cls, hyperparameters: Hyperparameters) -> GaussianPosterior:
        if len(hyperparameters) == 4:
            mean, kappa, dof, scale = hyperparameters
            df: Any = float(dof) - len(mean) + 1
            if not (kappa > 0 and df > 0):
                raise ValueError(
                    f"under a flat prior and with so few rows there is no posterior of {len(mean)} columns; use a prior"
                )
            try:
                means = stats.multivariate_t(mean, scale / (kappa * df), df)
            except np.linalg.LinAlgError:
                raise ValueError("the columns differ too much in scale for scipy.stats; standardise them") from None
            return GaussianPosterior(means, stats.invwishart(float(dof), scale))
        mean, kappa, shape, scale, *_ = (array.item() for array in hyperparameters)
        if not (kappa > 0 and shape > 0 and scale > 0):
            raise ValueError(
                "under a flat prior more than 3 observations that differ are needed; use a prior, such as 1.0"
            )
        spread = np.sqrt(scale / (shape * kappa))
        return GaussianPosterior(stats.t(2 * shape, mean, spread), stats.invgamma(shape, scale=scale))

    @classmethod
    def log_evidence(cls, tally: Any, prior: Any = 1.0) -> float:
        if isinstance(tally, CoMoments):
            before = normal_inverse_wishart.prior_of_one(cls._choose_prior(tally, prior), tally)
            log_partition = normal_inverse_wishart.log_partition_of_one
            return log_partition(cls._update(tally, prior)) - log_partition(before)
        return super().log_evidence(tally, prior)

    def _interval(self, level: float) -> GaussianPosterior:
        hyperparameters = self._hyperparameters()
        if len(hyperparameters) != 4:
            posterior = self._posterior_of(hyperparameters)
            return GaussianPosterior(posterior.mean.interval(level), posterior.variance.interval(level))
        mean, kappa, dof, scale = hyperparameters
        df, variances = float(dof) - len(mean) + 1, np.diag(scale)
        return GaussianPosterior(
            stats.t(df, mean, np.sqrt(variances / (kappa * df))).interval(level),
            stats.invgamma(df / 2, scale=variances / 2).interval(level),
        )

    def expect(self, f: Callable[[Any, Any], Any]) -> float:
        hyperparameters = self._hyperparameters()
        rng = np.random.default_rng(0)
        if len(hyperparameters) == 4:
            mean, kappa, dof, scale = hyperparameters
            drawn = stats.invwishart(float(dof), scale).rvs(DRAWS // 10, random_state=rng)
            covariances = np.reshape(drawn, (-1, *scale.shape))
            return float(np.mean([f(rng.multivariate_normal(mean, c / float(kappa)), c) for c in covariances]))
        mean, kappa, shape, scale, *_ = (array.item() for array in hyperparameters)
        variances = scale / rng.standard_gamma(shape, DRAWS)
        means = mean + np.sqrt(variances / kappa) * rng.standard_normal(DRAWS)
        return float(np.mean([f(m, v) for m, v in zip(means, variances, strict=True)]))

    @property
    def _distribution(self) -> Any:
        if self._student_t is not None:
            return self._student_t
        if np.ndim(self.mean):
            return Standardized(stats.multivariate_normal, self.mean, self.variance, allow_singular=True)
        if self.variance == 0:
            raise ValueError("a variance of 0 has no density: all observations are the mean")
        return stats.norm(self.mean, np.sqrt(self.variance))

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        drawn = super().sample(size, random_state)
        return drawn.reshape(size, -1) if np.ndim(self.mean) else drawn

    def _check_gaussian(self) -> Self:
        """Return the distribution itself; raise if it is a Student's t."""
        if self._student_t is not None:
            raise ValueError(
                'a distribution estimated with rule="predictive" is a Student\'s t, which has no sums and maps'
            )
        return self

    def __add__(self, other: Any) -> Gaussian:
        mine = self._check_gaussian()
        if not isinstance(other, Gaussian):
            return Gaussian(mine.mean + check_numbers(other, "what is added"), mine.variance)
        return Gaussian(mine.mean + other._check_gaussian().mean, mine.variance + other.variance)

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Gaussian:
        mine, factor = self._check_gaussian(), check_numbers(factor, "the factor")
        if factor.ndim > 1 or factor.ndim > np.ndim(mine.mean):
            raise ValueError("a Gaussian is multiplied by a number, or by one per column; by a matrix with @")
        return Gaussian(mine.mean * factor, mine.variance * np.multiply.outer(factor, factor))

    __rmul__ = __mul__

    def __neg__(self) -> Gaussian:
        return self * -1.0

    def __sub__(self, other: Any) -> Gaussian:
        return self + (-other if isinstance(other, Gaussian) else -np.asarray(other, np.float64))

    def __rsub__(self, other: Any) -> Gaussian:
        return (-self).__add__(other)

    def __rmatmul__(self, matrix: Any) -> Gaussian:
        matrix, mine = check_numbers(matrix, "the matrix"), self._check_gaussian()
        covariance = matrix @ mine.variance @ matrix.T
        return Gaussian(matrix @ mine.mean, (covariance + covariance.T) / 2)
