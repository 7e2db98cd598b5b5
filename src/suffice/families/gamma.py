"""Gamma: positive numbers with a shape and a rate, such as waiting times and amounts of rain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from suffice.blocks import Function
from suffice.families.domain import POSITIVE
from suffice.families.family import NO_EVIDENCE, Hyperparameters, Parameters, check_proper
from suffice.families.pseudo_rows import PseudoRowFamily, match_gamma, with_unseen_pooled
from suffice.families.quadrature import Averages, average
from suffice.schema import Array, Columns
from suffice.score import Linear, OfFunction, Score

# The least difference of log(mean x) and mean log x. It belongs to a shape of 1e8, numbers that differ by 1e-4 of their
# mean; for a greater shape, the difference and the density would lose their digits.
LEAST_DIFFERENCE = 5e-9

# Stirling's series of log Γ has all digits from here on.
LARGE = 100.0


@dataclass(frozen=True)
class GammaParameters(Parameters):
    """p(x) = β^α / Γ(α)·x^(α − 1)·e^(−βx), with shape α and rate β [class, column]."""

    shape: Array
    rate: Array

    def score(self) -> Score:
        # α·log β − log Γ(α), of which the large parts cancel
        mean = self.shape / self.rate
        peak = 0.5 * np.log(self.shape / (2 * np.pi)) - remainder(self.shape)
        powers = Linear(self.shape - 1, peak + self.shape * (1 - np.log(mean)))
        return OfFunction(powers, "log") + Linear(-self.rate, np.zeros(self.rate.shape))

    @property
    def n_parameters(self) -> int:
        return 2 * self.shape.size

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        drawn = rng.gamma(self.shape[k], 1 / self.rate[k], (count, self.shape.shape[1]))
        return np.maximum(drawn, np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Gamma(PseudoRowFamily):
    """p(x | class) = Πⱼ βⱼ^αⱼ / Γ(αⱼ)·xⱼ^(αⱼ − 1)·e^(−βⱼ·xⱼ) of xⱼ > 0, with shape α and rate β.

    The statistics are n, Σx and Σlog x. The prior is that of pseudo-rows: p(α, β) ∝ the likelihood of ``rows`` rows
    with given means of x and of log x. A number c stands for c rows with the means of all classes pooled, and `Flat`
    for none.

    Maximum likelihood solves log α − ψ(α) = log(mean x) − mean log x by Newton's method, and the mode is the same with
    the pseudo-rows added. Given α, β has a Gamma(Nα + 1, Σx) posterior, so the mean and the evidence are integrals over
    α alone, which are computed by a trapezoidal rule. The predictive distribution has no form as a sum of terms.
    """

    name = "gamma"
    domain = POSITIVE
    functions = (None, Function("log"))

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> GammaParameters:
        return _at_mode(*hyperparameters)

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> GammaParameters:
        rows, total, _ = hyperparameters
        found = self._averages(hyperparameters)
        rate = (rows * found.nodes + 1) / np.where(total > 0, total, 1.0)
        return GammaParameters(found.mean(found.nodes), found.mean(rate))

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        check_proper((hyperparameters[0],), NO_EVIDENCE)
        rows, total, logs = hyperparameters
        rest = 0.5 * np.log(rows) + (1 - rows) * 0.5 * np.log(2 * np.pi) - np.log(total) - logs
        return np.asarray(self._averages(hyperparameters).log_integral + rest)

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        """Return Gamma distributions with the mean and the variance of the posteriors of shape and rate."""
        rows, total = check_proper(hyperparameters[:2])
        found = self._averages(hyperparameters)
        rate, square = (rows * found.nodes + 1) / total, (rows * found.nodes + 1) / total**2
        return {
            "shape": match_gamma(found, found.nodes, np.zeros(())),
            "rate": match_gamma(found, rate, square),
        }

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> GammaParameters:
        rows, total, _ = hyperparameters
        shape = self._averages(hyperparameters).draw(rng)
        return GammaParameters(shape, rng.standard_gamma(rows * shape + 1) / np.where(total > 0, total, 1.0))

    def location(self, statistic: Any) -> tuple[Array, Array]:
        its = _at_mode(*with_unseen_pooled(statistic))
        mean = its.shape / its.rate
        return mean, mean / np.sqrt(its.shape)

    def log_location(self, statistic: Any) -> tuple[Array, Array]:
        its = _at_mode(*with_unseen_pooled(statistic))
        return digamma(its.shape) - np.log(its.rate), np.sqrt(polygamma(1, its.shape))

    def _averages(self, hyperparameters: Hyperparameters) -> Averages:
        """Return averages over the posterior of the shape.

        With the difference D of log(mean x) and mean log x, and r the remainder of Stirling's formula, its logarithm is
        −αND + ½(N + 1)·log α − N·r(α) + r(Nα), up to a constant.
        """
        rows = np.where(hyperparameters[0] > 0, hyperparameters[0], 1.0)
        _, difference = _summaries(*hyperparameters)

        def log_density(shape: Array) -> Array:
            found = -shape * rows * difference + 0.5 * (rows + 1) * np.log(shape)
            return np.asarray(found - rows * remainder(shape) + remainder(rows * shape))

        return average(log_density, solve_shape(difference))


def remainder(z: Array) -> Array:
    """Return log Γ(z) − ((z − ½)·log z − z + ½·log 2π), the remainder of Stirling's formula.

    >>> float(remainder(np.array(1e9)) * 12e9)
    1.0
    """
    z = np.asarray(z, np.float64)
    small = np.minimum(z, LARGE)
    direct = gammaln(small) - ((small - 0.5) * np.log(small) - small + 0.5 * np.log(2 * np.pi))
    inverse = 1 / np.maximum(z, LARGE)
    series = inverse * (1 / 12 - inverse**2 * (1 / 360 - inverse**2 / 1260))
    return np.where(z < LARGE, direct, series)


def solve_shape(difference: Array) -> Array:
    """Return the shape α for which log α − ψ(α) is a given difference, by Newton's method for 1/α (Minka 2002).

    >>> alpha = np.array([1e-3, 1.0, 1e5])
    >>> bool(np.allclose(solve_shape(np.log(alpha) - digamma(alpha)), alpha, rtol=1e-9))
    True
    """
    s = difference
    shape = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(8):
        # from a large shape on, by the series 1/2α + 1/12α² of the difference, which loses no digits
        large = np.maximum(shape, LARGE)
        series = 1 / (2 * large) + 1 / (12 * large**2) - 1 / (120 * large**4)
        bend = -1 / (2 * large**2) - 1 / (6 * large**3) + 1 / (30 * large**5)
        is_large, small = shape > LARGE, np.minimum(shape, LARGE)
        value = np.where(is_large, series, np.log(small) - digamma(small))
        slope = np.where(is_large, bend, 1 / small - polygamma(1, small))
        shape = 1 / (1 / shape + (value - s) / (shape**2 * slope))
    return np.asarray(shape)


def _summaries(rows: Array, total: Array, logs: Array) -> tuple[Array, Array]:
    """Return the mean of x, and log(mean x) − mean log x."""
    n = np.where(rows > 0, rows, 1.0)
    mean = np.where((rows > 0) & (total > 0), total / n, 1.0)
    difference = np.where(rows > 0, np.log(mean) - logs / n, 0.5)
    return mean, np.maximum(difference, LEAST_DIFFERENCE)


def _at_mode(rows: Array, total: Array, logs: Array) -> GammaParameters:
    mean, difference = _summaries(rows, total, logs)
    shape = solve_shape(difference)
    return GammaParameters(shape, shape / mean)
