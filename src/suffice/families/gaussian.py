"""Gaussian: real numbers about a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln

from suffice.blocks import Part
from suffice.families.family import Beliefs, Family, Parameters, proper
from suffice.priors import Flat, NormalInverseGamma, Prior, per_column, positive, refused
from suffice.schema import Array, Columns
from suffice.score import LogQuadratic, Quadratic, Score, log_rising
from suffice.statistics import CoMoments, Moments, scan

# A variance of zero has no density. This one is as good as zero, and its inverse is still a number.
LEAST_VARIANCE = 1e-300
ROUNDED = 4e-16


@dataclass(frozen=True)
class GaussianParameters(Parameters):
    """Mean and variance, [class, column], and the floor that was added to the variance."""

    mean: Array
    variance: Array
    floor: Array | float

    def score(self) -> Score:
        return Score((Quadratic(self.mean, 0.5 / self.variance, -0.5 * np.log(2 * np.pi * self.variance)),))

    @property
    def n_parameters(self) -> int:
        return 2 * self.mean.size

    def as_linear(self) -> tuple[str, Array, Array]:
        size = self.mean.shape[1]
        first, second = np.triu_indices(size)
        squares = np.zeros((len(self.mean), len(first)))
        squares[:, first == second] = -0.5 / self.variance
        slopes = self.mean / self.variance
        return (
            "quadratic",
            np.hstack([squares, slopes]),
            -0.5 * np.log(2 * np.pi * self.variance).sum(axis=1) - 0.5 * (self.mean * slopes).sum(axis=1),
        )

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        return rng.normal(self.mean[k], np.sqrt(self.variance[k]), (count, self.mean.shape[1]))


@dataclass(frozen=True)
class StudentT(Parameters):
    """Γ((ν+1)/2) / (Γ(ν/2)·√(πν)·s)·(1 + (x − m)² / νs²)^−(ν+1)/2: mean and variance not known exactly."""

    dof: Array
    mean: Array
    squared_scale: Array
    floor: Array | float

    def score(self) -> Score:
        peaks = log_rising(0.5 * self.dof, 0.5) - 0.5 * np.log(np.pi * self.dof * self.squared_scale)
        return Score((LogQuadratic(self.mean, 1 / (self.dof * self.squared_scale), 0.5 * (self.dof + 1), peaks),))

    @property
    def n_parameters(self) -> int:
        return 2 * self.mean.size

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        drawn = rng.standard_t(self.dof[k], (count, self.mean.shape[1]))
        return np.asarray(self.mean[k] + np.sqrt(self.squared_scale[k]) * drawn)

    @property
    def variance(self) -> Array:
        """The variance, where there is one (ν > 2), else the squared scale."""
        heavy = self.dof > 2
        return np.asarray(self.squared_scale * np.where(heavy, self.dof / np.where(heavy, self.dof - 2, 1.0), 1.0))


@dataclass(frozen=True)
class Gaussian(Family):
    """log p(x given class) = −½ Σⱼ log 2πσⱼ² + (xⱼ − μⱼ)² / σⱼ²; beliefs are Normal-inverse-gamma.

    A number c stands for c rows like those of all classes together: their mean, and their variance.
    The mode is that of (μ, σ²) jointly, scale / (shape + 3/2); the mean of σ² is scale / (shape − 1),
    and the mode stands in where that does not exist. ``var_smoothing`` times the largest variance of a
    column over all classes is added to every variance; ``ddof`` is taken off n in the most likely one.
    """

    var_smoothing: float = 0.0
    ddof: float = 0.0

    name = "gaussian"
    statistic = Moments

    def spreads_itself(self, columns: Columns) -> bool:
        return columns.pairs

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Moments | CoMoments]:
        return columns, (scan.scatters if columns.pairs else scan.spreads)(part)

    def believed(self, prior: Any, columns: Columns, statistic: Any) -> Beliefs:
        spread = _pooled_variance(statistic)
        floor = self.var_smoothing * _largest(spread)
        if isinstance(prior, Flat):
            nothing = np.zeros((1, columns.count))
            return nothing, nothing, nothing - 1.5, nothing, floor
        if isinstance(prior, Prior) and not isinstance(prior, NormalInverseGamma):
            raise refused(prior, self.name, "a number, NormalInverseGamma or Flat")
        if not isinstance(prior, NormalInverseGamma):
            rows = per_column(positive(prior, "prior"), columns.count, "prior")[None]
            like = np.where(spread > 0, spread, np.maximum(_largest(spread), LEAST_VARIANCE))
            return statistic.pooled().mean, rows, rows / 2, np.maximum(rows / 2 * like, LEAST_VARIANCE), floor
        mean, kappa, shape, scale = (
            per_column(getattr(prior, name), columns.count, f"NormalInverseGamma({name}=…)")[None]
            for name in ("mean", "kappa", "shape", "scale")
        )
        return mean, kappa, shape, scale, floor

    def updated(self, beliefs: Beliefs, statistic: Moments) -> Beliefs:
        mean, kappa, shape, scale, floor = beliefs
        statistic = statistic.spreads
        n = statistic.n
        rows = kappa + n
        held = np.where(rows > 0, rows, 1.0)
        distance = np.where(n > 0, (statistic.mean - mean) + statistic.tail, 0.0)
        # what is less than the last digit of the mean is rounding, and no distance
        distance = np.where(np.abs(distance) <= ROUNDED * np.abs(mean), 0.0, distance)
        return (
            mean + distance * (n / held),
            np.broadcast_to(rows, distance.shape),
            np.broadcast_to(shape + n / 2, distance.shape),
            scale + statistic.m2 / 2 + distance**2 * (kappa * n / held) / 2,
            floor,
        )

    def most_likely(self, columns: Columns, statistic: Moments) -> GaussianParameters:
        statistic = statistic.spreads
        spread = _pooled_variance(statistic)
        floor = self.var_smoothing * _largest(spread)
        rows = statistic.n - self.ddof
        # up to 1 is let pass: a row by itself has no spread, whatever it is divided by
        if self.ddof > 1 and bool(np.any((rows <= 0) & (statistic.n > 0))):
            raise nothing_left(self.ddof)
        variance = statistic.m2 / np.where(rows > 0, rows, 1.0)
        # of a class that has no rows yet no more is known than of all classes together
        unmet = statistic.n == 0
        mean = np.where(unmet, statistic.pooled().mean, statistic.mean) if unmet.any() else statistic.mean
        return _normal(mean, np.where(unmet, spread, variance), floor)

    def mode(self, columns: Columns, beliefs: Beliefs) -> GaussianParameters:
        mean, _, shape, scale, floor = beliefs
        return _normal(mean, _mode_of_variance(shape, scale), floor)

    def mean(self, columns: Columns, beliefs: Beliefs) -> GaussianParameters:
        mean, _, shape, scale, floor = beliefs
        exists = shape > 1
        variance = np.where(exists, scale / np.where(exists, shape - 1, 1.0), _mode_of_variance(shape, scale))
        return _normal(mean, variance, floor)

    def predictive(self, columns: Columns, beliefs: Beliefs) -> StudentT:
        mean, kappa, shape, scale, floor = beliefs
        if not ((shape > 0).all() and (kappa > 0).all()):
            raise ValueError(
                "under a flat prior a class needs more than 3 rows for its predictive distribution; "
                "use a prior, such as prior=1.0 or NormalInverseGamma"
            )
        squared = scale * (kappa + 1) / (shape * kappa) + floor
        return StudentT(2 * shape, mean, np.maximum(squared, LEAST_VARIANCE), floor)

    def log_partition(self, columns: Columns, beliefs: Beliefs) -> Array:
        _, kappa, shape, scale, _ = beliefs
        if not (np.asarray(kappa) > 0).all():
            raise ValueError("the flat prior of a mean has no evidence: it does not add up to 1; use a number")
        return np.asarray(gammaln(shape) - shape * (np.log(scale) + np.log(2 * np.pi)) - 0.5 * np.log(kappa))

    def marginals(self, columns: Columns, beliefs: Beliefs) -> dict[str, Any]:
        mean, (kappa, shape, scale) = beliefs[0], proper(beliefs[1:4])
        spread = np.sqrt(scale / (shape * kappa))
        return {"mean": stats.t(2 * shape, mean, spread), "variance": stats.invgamma(shape, scale=scale)}

    def draw(self, columns: Columns, beliefs: Beliefs, rng: np.random.Generator) -> GaussianParameters:
        mean, kappa, shape, scale, floor = beliefs
        if not ((shape > 0).all() and (kappa > 0).all()):
            raise ValueError("under a flat prior a class needs more than 3 rows to draw from; use a prior, such as 1.0")
        variance = scale / np.maximum(rng.standard_gamma(shape), LEAST_VARIANCE)
        return _normal(mean + np.sqrt(variance / kappa) * rng.standard_normal(mean.shape), variance, floor)


def nothing_left(ddof: float) -> ValueError:
    """Return what to say where as much is taken off a number of rows as there is."""
    return ValueError(f"ddof={ddof:g} leaves nothing of the rows of a class; it must be less than their number")


def _normal(mean: Array, variance: Array, floor: Array) -> GaussianParameters:
    return GaussianParameters(mean, np.maximum(variance + floor, LEAST_VARIANCE), floor)


def _largest(spread: Array) -> Array:
    return np.asarray(spread.max(axis=-1, keepdims=True))


def _mode_of_variance(shape: Array, scale: Array) -> Array:
    exponent = shape + 1.5
    return np.asarray(scale / np.where(exponent > 0, exponent, 1.0))


def _pooled_variance(moments: Moments) -> Array:
    """Return the variance of each column over all classes, [1, column]."""
    with np.errstate(over="ignore", invalid="ignore"):
        pooled = moments.pooled()
        spread = pooled.m2 / np.where(pooled.n > 0, pooled.n, 1.0)
    # columns so far apart that their pooled squares overflow have a variance all the same
    return np.where(np.isfinite(spread), spread, np.finfo(np.float64).max)
