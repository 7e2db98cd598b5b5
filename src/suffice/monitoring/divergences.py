"""Divergences between two samples of a column, of which only counts or moments are known.

The Jensen-Shannon distance of p and q is √(½·KL(p ‖ m) + ½·KL(q ‖ m)) with m = (p + q) / 2 and logarithms to base 2: 0
if they are equal, 1 if they have nothing in common. The population stability index is Σ (p − q)·ln(p / q).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import rel_entr, xlogy
from scipy.stats import chi2, gamma, norm

from suffice.schema import Array

DRAWS, DRAWN_CELLS = 200, 1 << 21
MOST_PERMUTED = 10**9  # rows, the limit of NumPy
# The trapezoidal rule for the mean of a function of a standard normal variable.
NODES = np.linspace(-6.0, 6.0, 64)
WEIGHTS = norm.pdf(NODES) / norm.pdf(NODES).sum()
Z = 1.96
# A count of 0 has an infinite stability index; it is taken for half a row.
HALF_ROW = 0.5
# A variance of 0 is taken for this share of the squared numbers.
LEAST_VARIANCE = 1e-12


class TwoSamples(ABC):
    """The sums of a column before and after. Arrays may have an axis of draws in front."""

    @abstractmethod
    def divergences(self) -> Array:
        """Return the Jensen-Shannon divergence in bits and the population stability index, [..., 2]."""

    @abstractmethod
    def p_value(self) -> float:
        """Return the probability of a difference at least this large, if both are samples of one distribution."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, *, is_same: bool) -> "TwoSamples":
        """Return samples of the same sizes, from the estimated distributions; from one for both if ``is_same``."""


@dataclass(frozen=True)
class CountPair(TwoSamples):
    """The rows at each level, before and after."""

    before: Array
    after: Array

    def divergences(self) -> Array:
        p, q = (side / side.sum(axis=-1, keepdims=True) for side in (self.before, self.after))
        middle = (p + q) / 2
        bits = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1) / (2 * np.log(2))
        is_used = (self.before > 0) | (self.after > 0)
        p, q = (_without_zeros(side, is_used) for side in (self.before, self.after))
        index = (xlogy(p - q, p) - xlogy(p - q, q)).sum(axis=-1)
        return np.stack([np.clip(bits, 0.0, 1.0), np.maximum(index, 0.0)], axis=-1)

    def p_value(self) -> float:
        """Return the p-value of Pearson's test.

        Given both margins, the mean and the variance of the statistic are known exactly (Haldane 1940, Dawson 1954);
        a gamma distribution has the same. So levels with few rows do no harm.
        """
        levels = self.before + self.after
        levels, n, m = levels[levels > 0], self.before.sum(), self.after.sum()
        whole, k = n + m, len(levels)
        if k < 2 or whole <= k + 2:
            return 1.0
        has_rows = (self.before + self.after) > 0
        expected = levels * m / whole
        statistic = float(((self.after[has_rows] - expected) ** 2 / expected).sum() * whole / n)
        mean = whole * (k - 1) / (whole - 1)
        rest = [(2, np.array([n, m])), (k, levels)]
        v = [(size - 1) * (whole - size) / (whole - 1) for size, _ in rest]
        w = [((whole / sums).sum() - size**2) / (whole - 2) for size, sums in rest]
        variance = 2 * whole / (whole - 3) * (v[0] - w[0]) * (v[1] - w[1]) + whole**2 / (whole - 1) * w[0] * w[1]
        if variance <= 0:
            return 1.0
        return float(gamma.sf(statistic, mean**2 / variance, scale=variance / mean))

    def draw(self, rng: np.random.Generator, *, is_same: bool) -> "CountPair":
        draws = int(np.clip(DRAWN_CELLS // len(self.before), 20, DRAWS))
        before, after = (np.ceil(side).astype(np.int64) for side in (self.before, self.after))
        both = before + after
        if is_same and both.sum() < MOST_PERMUTED:  # the rows are divided anew, at random
            drawn = rng.multivariate_hypergeometric(both, int(after.sum()), size=draws, method="marginals")
            return CountPair((both - drawn).astype(np.float64), drawn.astype(np.float64))
        shares = [(both if is_same else side) / (both if is_same else side).sum() for side in (before, after)]
        sizes = (int(before.sum()), int(after.sum()))
        return CountPair(*(rng.multinomial(size, p, draws) * 1.0 for size, p in zip(sizes, shares, strict=True)))


def _without_zeros(counts: Array, is_used: Array) -> Array:
    """Return shares, in which a count of 0 is half a row if the level is used, else 0."""
    some = np.where((counts == 0) & is_used, HALF_ROW, counts)
    return np.asarray(some / some.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class MomentPair(TwoSamples):
    """The rows, mean and variance before and after; the distributions are taken for Gaussian."""

    n: Array
    mean: Array
    variance: Array

    @classmethod
    def of(cls, n: Any, mean: Any, variance: Any) -> "MomentPair":
        """Return the pair, with variances that are not 0."""
        means, variances = np.asarray(mean, np.float64), np.asarray(variance, np.float64)
        least = LEAST_VARIANCE * max(float((means**2 + variances).max()), 1e-290)
        return cls(np.asarray(n, np.float64), means, np.maximum(variances, least))

    @property
    def standardized_difference(self) -> float:
        """The difference of the means in standard deviations of the first sample."""
        return float((self.mean[1] - self.mean[0]) / np.sqrt(self.variance[0]))

    @property
    def variance_ratio(self) -> float:
        """The variance of the second sample over that of the first."""
        return float(self.variance[1] / self.variance[0])

    def divergences(self) -> Array:
        mean, variance = self.mean[..., None], self.variance[..., None]
        bits = np.zeros(self.mean.shape[:-1])
        for side in (0, 1):
            x = mean[..., side, :] + np.sqrt(variance[..., side, :]) * NODES
            log_p = [
                -0.5 * (np.log(variance[..., each, :]) + (x - mean[..., each, :]) ** 2 / variance[..., each, :])
                for each in (0, 1)
            ]
            bits += (1 + (log_p[side] - np.logaddexp(*log_p)) / np.log(2)) @ WEIGHTS / 2
        gap = (self.mean[..., 0] - self.mean[..., 1]) ** 2
        first, second = self.variance[..., 0], self.variance[..., 1]
        index = ((first + gap) / second + (second + gap) / first) / 2 - 1
        return np.stack([np.clip(bits, 0.0, 1.0), np.maximum(index, 0.0)], axis=-1)

    def p_value(self) -> float:
        """Return the p-value of the likelihood ratio test of two Gaussians against one."""
        if min(self.n) < 2:
            return 1.0
        _, pooled = self._pool()
        statistic = (self.n * (np.log(pooled) - np.log(self.variance))).sum()
        return float(chi2.sf(statistic, 2))

    def _pool(self) -> tuple[Array, Array]:
        shares = self.n / self.n.sum()
        mean = (shares * self.mean).sum()
        return mean, (shares * (self.variance + (self.mean - mean) ** 2)).sum()

    def draw(self, rng: np.random.Generator, *, is_same: bool) -> "MomentPair":
        mean, variance = np.broadcast_arrays(*self._pool(), self.n)[:2] if is_same else (self.mean, self.variance)
        degrees = np.maximum(self.n - 1, 1.0)
        means = mean + np.sqrt(variance / np.maximum(self.n, 1.0)) * rng.standard_normal((DRAWS, 2))
        return MomentPair(self.n, means, variance * rng.chisquare(degrees, (DRAWS, 2)) / degrees)


def measure_pair(pair: TwoSamples, rng: np.random.Generator) -> dict[str, float]:
    """Return the distance and the stability index of two samples, with their sampling errors.

    ``…_by_chance`` is the value that 95 % of pairs of samples of these sizes from one distribution do not exceed, by
    permutation. ``…_low`` and ``…_high`` are a 95 % interval, by the bootstrap. It is corrected for chance, because
    even two samples of one distribution have some distance: as (d − e) / (1 − e) with the divergence d and its mean e
    without drift, and d − e for the stability index, which has no maximum.
    """
    found, same, own = (
        each.divergences() for each in (pair, pair.draw(rng, is_same=True), pair.draw(rng, is_same=False))
    )
    expected = same.mean(axis=0)
    scale = np.array([max(1.0 - expected[0], 1e-12), 1.0])
    corrected = (found - expected) / scale
    half = Z * np.maximum(own.std(axis=0), same.std(axis=0)) / scale
    values = np.array([found, corrected - half, corrected + half, np.quantile(same, 0.95, axis=0)])
    values = np.maximum(values, 0.0)
    values[:, 0] = np.sqrt(np.minimum(values[:, 0], 1.0))
    keys = ("", "_low", "_high", "_by_chance")
    lines = {
        f"{name}{key}": float(values[i, j]) for j, name in enumerate(("distance", "psi")) for i, key in enumerate(keys)
    }
    return lines | {"p_value": pair.p_value()}
