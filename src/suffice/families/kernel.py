"""Kernel: numbers counted in cells, whose shares are smoothed by a kernel over neighbouring cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.categorical import Categorical
from suffice.families.family import Hyperparameters, Parameters
from suffice.schema import Array, Columns, starts_of
from suffice.statistics import Counts

# The bandwidths among which each class and column has its own, in cells; 0 does not smooth.
BANDWIDTHS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)


@dataclass(frozen=True)
class Kernel(Categorical):
    """p(cell i | class) = Σⱼ K(i − j)·countⱼ / n, with a Gaussian kernel K over the cells of a number.

    Cells hold about as many rows each, so a distance in cells is one in quantiles: the kernel is wide where there are
    few rows. Within a cell the density is constant. The bandwidth of each class and column is the one of `BANDWIDTHS`
    with the best leave-one-out likelihood, which follows from the counts alone. A prior adds its pseudo-counts to the
    smoothed counts, as for `Categorical`; there is no evidence, because a kernel is no model of the counts.
    """

    name = "kernel"
    coded_as = "kernel"

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Any) -> Hyperparameters:
        assert columns.sizes is not None
        return (*super().prior_hyperparameters(prior, columns, statistic), columns.sizes[None].astype(np.float64))

    def posterior_hyperparameters(self, hyperparameters: Hyperparameters, statistic: Counts) -> Hyperparameters:
        alpha, unseen, sizes = hyperparameters
        return alpha + smooth_cells(statistic.total, sizes[0].astype(np.intp)), unseen, sizes

    def maximum_likelihood(self, columns: Columns, statistic: Counts) -> Parameters:
        assert columns.sizes is not None
        smoothed = smooth_cells(statistic.total, columns.sizes)
        return self._from_weights(columns, smoothed, np.zeros((1, columns.count)))

    def mode(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return super().mode(columns, hyperparameters[:2])

    def mean(self, columns: Columns, hyperparameters: Hyperparameters) -> Parameters:
        return super().mean(columns, hyperparameters[:2])

    def marginals(self, columns: Columns, hyperparameters: Hyperparameters) -> dict[str, Any]:
        return super().marginals(columns, hyperparameters[:2])

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> Parameters:
        return super().draw(columns, hyperparameters[:2], rng)

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        raise ValueError("kernel columns have no evidence; set another family for them, or a number as prior")


def smooth_cells(counts: Array, sizes: Array) -> Array:
    """Return counts [class, cell] smoothed within each column, with the bandwidth of the best likelihood.

    >>> smooth_cells(np.array([[0.0, 40.0, 40.0, 0.0]]), np.array([4])).round(1).tolist()
    [[0.0, 40.0, 40.0, 0.0]]
    >>> smooth_cells(np.array([[0.0, 1.0, 0.0, 1.0, 1.0, 0.0]]), np.array([6])).round(1).tolist()
    [[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]
    """
    parts = [_smooth(counts[..., a : a + m], m) for a, m in zip(starts_of(sizes), sizes.tolist(), strict=True)]
    return np.concatenate(parts, axis=-1) if parts else counts


def _smooth(counts: Array, size: int) -> Array:
    """Return the counts of one column, smoothed."""
    if size < 2:
        return counts
    away = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    n = counts.sum(axis=-1, keepdims=True)
    best, likelihood = counts, np.full(n.shape, -np.inf)
    for bandwidth in BANDWIDTHS:
        kernel = np.exp(-0.5 * (away / bandwidth) ** 2) if bandwidth else np.eye(size)
        kernel /= kernel.sum(axis=0)  # a row spreads over the cells with a total of 1
        smoothed = counts @ kernel.T
        # without a row of the cell; one pseudo-row is spread over all cells
        others = np.maximum(smoothed - np.minimum(counts, 1.0) * np.diag(kernel), 0.0) + 1 / size
        logs = np.log(others) - np.log(np.maximum(n - 1, 0.0) + 1)
        score = (counts * logs).sum(axis=-1, keepdims=True)
        is_better = score > likelihood
        best, likelihood = np.where(is_better, smoothed, best), np.maximum(score, likelihood)
    return best
