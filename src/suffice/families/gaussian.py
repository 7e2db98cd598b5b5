"""Gaussian: columns of real numbers with a mean and a variance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln

from suffice.blocks import Part
from suffice.families import description
from suffice.families.family import Family, Hyperparameters, Parameters, check_proper, fields_by_column
from suffice.families.gaussian_left_out import GaussianLeftOut
from suffice.priors import Flat, NormalInverseGamma, Prior, broadcast_to_columns, check_positive, unsupported_prior
from suffice.schema import Array, Columns
from suffice.score import LogQuadratic, Quadratic, Score, log_rising
from suffice.statistics import CoMoments, Moments, scan, two_sum

# The least variance: a variance of 0 has no density, and the inverse of this one is still a number.
LEAST_VARIANCE = 1e-306

# The rounding error of a mean is negligible if it is a smaller share of the standard deviation.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True)
class GaussianParameters(Parameters):
    """Mean and variance, [class, column], the floor added to the variance, and what the mean was rounded by."""

    mean: Array
    variance: Array
    floor: Array | float
    tail: Array | float = 0.0

    def score(self) -> Score:
        peak = -0.5 * np.log(2 * np.pi * self.variance)
        return Score((Quadratic(self.mean, 0.5 / self.variance, peak, _needed(self.tail, self.variance)),))

    @property
    def n_parameters(self) -> int:
        return 2 * self.mean.size

    def as_linear(self) -> tuple[str, Array, Array]:
        first, second = np.triu_indices(self.mean.shape[1])
        squares = np.zeros((len(self.mean), len(first)))
        squares[:, first == second] = -0.5 / self.variance
        slopes = self.mean / self.variance
        biases = -0.5 * (np.log(2 * np.pi * self.variance) + self.mean * slopes).sum(axis=1)
        return "quadratic", np.hstack([squares, slopes]), biases

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return rng.normal(self.mean[k], np.sqrt(self.variance[k]), (count, self.mean.shape[1]))


@dataclass(frozen=True)
class StudentT(Parameters):
    """Γ((ν+1)/2) / (Γ(ν/2)·√(πν)·s)·(1 + (x − m)² / νs²)^−(ν+1)/2: the Gaussian averaged over mean and variance."""

    dof: Array
    mean: Array
    squared_scale: Array
    floor: Array | float
    tail: Array | float = 0.0

    def score(self) -> Score:
        peak = log_rising(0.5 * self.dof, 0.5) - 0.5 * (np.log(np.pi * self.dof) + np.log(self.squared_scale))
        scale, tail = 1 / self.dof / self.squared_scale, _needed(self.tail, self.squared_scale)
        return Score((LogQuadratic(self.mean, scale, 0.5 * (self.dof + 1), peak, tail),))

    @property
    def n_parameters(self) -> int:
        return 2 * self.mean.size

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        drawn = rng.standard_t(self.dof[k], (count, self.mean.shape[1]))
        return np.asarray(self.mean[k] + np.sqrt(self.squared_scale[k]) * drawn)

    @property
    def variance(self) -> Array:
        """The variance if it exists (ν > 2), otherwise the squared scale."""
        exists = self.dof > 2
        return np.asarray(self.squared_scale * np.where(exists, self.dof / np.where(exists, self.dof - 2, 1.0), 1.0))


@dataclass(frozen=True)
class Gaussian(Family):
    """log p(x | class) = −½ Σⱼ log 2πσⱼ² + (xⱼ − μⱼ)² / σⱼ²; the conjugate prior is Normal-inverse-gamma.

    A number c stands for c rows with the mean and the variance of all classes pooled. The mode is that of (μ, σ²)
    jointly, scale / (shape + 3/2); the mean of σ² is scale / (shape − 1), or the mode if that does not exist.
    ``var_smoothing`` times the largest pooled variance of a column is added to every variance; ``ddof`` is subtracted
    from n in the maximum-likelihood variance.
    """

    var_smoothing: float = 0.0
    ddof: float = 0.0

    name = "gaussian"
    sql_sums = "moments"

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Moments | CoMoments]:
        if columns.fourths:
            return columns, scan.fourths(part)
        return columns, (scan.scatters if columns.pairs else scan.spreads)(part)

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Any) -> Hyperparameters:
        spread = _pooled_variance(statistic)
        floor = self.var_smoothing * _largest(spread)
        if isinstance(prior, Flat):
            zeros = np.zeros((1, columns.count))
            return zeros, zeros, zeros - 1.5, zeros, floor, zeros
        if isinstance(prior, NormalInverseGamma):
            return *fields_by_column(prior, columns.count), floor, np.zeros((1, columns.count))
        if isinstance(prior, Prior):
            raise unsupported_prior(prior, self.name, "a number, NormalInverseGamma or Flat")
        rows = broadcast_to_columns(check_positive(prior, "prior"), columns.count, "prior")[None]
        like = np.where(spread > 0, spread, np.maximum(_largest(spread), LEAST_VARIANCE))
        pooled = statistic.pooled()
        return pooled.mean, rows, rows / 2, np.maximum(rows / 2 * like, LEAST_VARIANCE), floor, pooled.tail

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Moments) -> Hyperparameters:
        prior_mean, kappa, shape, scale, floor, prior_tail = hyperparameters
        statistic = statistic.spreads
        n = statistic.n
        rows = kappa + n
        divisor = np.where(rows > 0, rows, 1.0)
        # the means may be close to each other relative to their size, so what they were rounded by matters
        distance = np.where(n > 0, (statistic.mean - prior_mean) + (statistic.tail - prior_tail), 0.0)
        # from the nearer of the two means: a small share of their distance has a small rounding error
        is_near = n > kappa
        start, rest = np.where(is_near, statistic.mean, prior_mean), np.where(is_near, statistic.tail, prior_tail)
        mean, tail = two_sum(start, rest + distance * (np.where(is_near, -kappa, n) / divisor))
        return (
            mean,
            np.broadcast_to(rows, distance.shape),
            np.broadcast_to(shape + n / 2, distance.shape),
            scale + statistic.m2 / 2 + distance**2 * (kappa * (n / divisor)) / 2,
            floor,
            tail,
        )

    def maximum_likelihood(self, columns: Columns, statistic: Moments) -> GaussianParameters:
        statistic = statistic.spreads
        spread = _pooled_variance(statistic)
        floor = self.var_smoothing * _largest(spread)
        rows = statistic.n - self.ddof
        # ddof up to 1 is accepted for a single row, whose squared deviations are 0
        if self.ddof > 1 and bool(np.any((rows <= 0) & (statistic.n > 0))):
            raise ddof_error(self.ddof)
        variance = statistic.m2 / np.where(rows > 0, rows, 1.0)
        # a class without rows has the mean and variance of all classes pooled
        unseen, mean, tail = statistic.n == 0, statistic.mean, statistic.tail
        if unseen.any():
            pooled = statistic.pooled()
            mean, tail = np.where(unseen, pooled.mean, mean), np.where(unseen, pooled.tail, tail)
            variance = np.where(unseen, spread, variance)
        return _normal(mean, variance, floor, tail)

    def left_out(self, columns: Columns, statistic: Any) -> GaussianLeftOut | None:
        is_known = isinstance(statistic, Moments) and bool(statistic.n.all()) and self.ddof <= 1
        return GaussianLeftOut(statistic, self.var_smoothing, self.ddof, LEAST_VARIANCE) if is_known else None

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> GaussianParameters:
        mean, _, shape, scale, floor, tail = hyperparameters
        return _normal(mean, _mode_of_variance(shape, scale), floor, tail)

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> GaussianParameters:
        mean, _, shape, scale, floor, tail = hyperparameters
        exists = shape > 1
        variance = np.where(exists, scale / np.where(exists, shape - 1, 1.0), _mode_of_variance(shape, scale))
        return _normal(mean, variance, floor, tail)

    def predictive(self, columns: Columns, hyperparameters: Hyperparameters) -> StudentT:
        mean, kappa, shape, scale, floor, tail = hyperparameters
        check_proper(
            (shape, kappa),
            "under a flat prior a class needs more than 3 rows for its predictive distribution; "
            "use a prior, such as prior=1.0 or NormalInverseGamma",
        )
        squared = scale / shape * ((kappa + 1) / kappa) + floor
        return StudentT(2 * shape, mean, np.maximum(squared, LEAST_VARIANCE), floor, tail)

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        _, kappa, shape, scale, *_ = hyperparameters
        check_proper((kappa,), "the flat prior of a mean has no evidence: it does not add up to 1; use a number")
        return np.asarray(gammaln(shape) - shape * (np.log(scale) + np.log(2 * np.pi)) - 0.5 * np.log(kappa))

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        mean, (kappa, shape, scale) = hyperparameters[0], check_proper(hyperparameters[1:4])
        spread = np.sqrt(scale / shape / kappa)
        return {"mean": stats.t(2 * shape, mean, spread), "variance": stats.invgamma(shape, scale=scale)}

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> GaussianParameters:
        mean, kappa, shape, scale, floor, _ = hyperparameters
        message = "under a flat prior a class needs more than 3 rows to draw from; use a prior, such as 1.0"
        check_proper((shape, kappa), message)
        variance = scale / np.maximum(rng.standard_gamma(shape), LEAST_VARIANCE)
        return _normal(mean + np.sqrt(variance / kappa) * rng.standard_normal(mean.shape), variance, floor)

    def location(self, statistic: Any) -> tuple[Array, Array]:
        moments = statistic.spreads
        return moments.mean, np.sqrt(moments.m2 / np.where(moments.n > 0, moments.n, 1.0))

    def summarize(self, columns: Columns, statistic: Any, j: int) -> dict[str, Any]:
        moments = statistic.spreads
        spread = np.sqrt(np.maximum(moments.m2[:, j], 0) / description.rows_of(statistic, j))
        return {"shows": "numbers", "mean": moments.mean[:, j].tolist(), "spread": spread.tolist()}

    def information(self, columns: Columns, statistic: Any) -> Array:
        """Return ½·log(variance / variance within the classes), the information if the class means are close."""
        moments = statistic.spreads
        within, whole = moments.m2.sum(axis=0), moments.pooled().m2[0]
        return np.where(within > 0, 0.5 * np.log(np.maximum(whole / np.where(within > 0, within, 1.0), 1.0)), 0.0)


def ddof_error(ddof: float) -> ValueError:
    """Return the error of a ddof that is not less than the number of rows."""
    return ValueError(f"ddof={ddof:g} leaves nothing of the rows of a class; it must be less than their number")


def _normal(mean: Array, variance: Array, floor: Array, tail: Array | float = 0.0) -> GaussianParameters:
    return GaussianParameters(mean, np.maximum(variance + floor, LEAST_VARIANCE), floor, tail)


def _needed(tail: Array | float, variance: Array) -> Array:
    """Return what means were rounded by; 0 where it is negligible."""
    return np.where(np.abs(tail) > NEGLIGIBLE * np.sqrt(variance), tail, 0.0)


def _largest(spread: Array) -> Array:
    return np.asarray(spread.max(axis=-1, keepdims=True))


def _mode_of_variance(shape: Array, scale: Array) -> Array:
    exponent = shape + 1.5
    return np.asarray(scale / np.where(exponent > 0, exponent, 1.0))


def _pooled_variance(moments: Moments) -> Array:
    """Return the variance of each column over all classes, [1, column]."""
    pooled = moments.pooled()
    return np.asarray(pooled.m2 / np.where(pooled.n > 0, pooled.n, 1.0))
