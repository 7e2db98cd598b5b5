"""Kernel: numbers counted in cells, whose shares are smoothed by a kernel over neighbouring cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.categorical import Categorical
from suffice.families.family import Hyperparameters, Parameters
from suffice.schema import Array, Columns, starts_of
from suffice.statistics import Counts

# The bandwidths among which each class and column has its own, in cells of equal weight; 0 does not smooth.
BANDWIDTHS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)

# The weight of a cell without rows, among all classes.
EMPTY = 0.5


@dataclass(frozen=True)
class Kernel(Categorical):
    """p(cell i | class) = Σⱼ K(i, j)·countⱼ / n, with K(i, j) ∝ shareᵢ·exp(−½·((quantileᵢ − quantileⱼ) / h)²).

    Shares and quantiles are those of the cells among the rows of all classes: the ratio of the density of a class to
    that of all rows is smoothed, and the kernel is wide where there are few rows. Within a cell the density is
    constant. The bandwidth h of each class and column is the one of `BANDWIDTHS` with the best leave-one-out
    likelihood, which follows from the counts alone. A prior adds its pseudo-counts to the
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
    """Return counts [class, cell] smoothed within each column.

    >>> smooth_cells(np.array([[0.0, 9.0, 1.0, 8.0], [0.0, 8.0, 9.0, 0.0]]), np.array([4])).round(1).tolist()
    [[0.0, 8.9, 2.0, 7.0], [0.0, 8.0, 9.0, 0.0]]
    """
    parts = [_smooth_column(counts[..., a : a + m]) for a, m in zip(starts_of(sizes), sizes.tolist(), strict=True)]
    return np.concatenate(parts, axis=-1) if parts else counts


def _smooth_column(counts: Array) -> Array:
    """Return the counts of one column, smoothed over the shares of the rows of all classes."""
    if counts.ndim > 2:
        return np.stack([_smooth_column(each) for each in counts])
    pooled = counts.sum(axis=0) + EMPTY
    shares = pooled / max(float(pooled.sum()), EMPTY)
    places = np.cumsum(shares) - shares / 2
    return smooth_counts(counts, places, shares, np.array(BANDWIDTHS) / max(len(shares), 1))


def smooth_counts(counts: Array, places: Array, weights: Array, bandwidths: Array) -> Array:
    """Return counts [class, cell] smoothed with the bandwidth of the best leave-one-out likelihood of each class.

    A row of cell j is spread over the cells i in proportion to weightᵢ·exp(−½·((placeᵢ − placeⱼ) / bandwidth)²).

    Parameters
    ----------
    counts : array [class, cell]
        The weight of the rows of each cell.
    places, weights : arrays [cell]
        Where the cells are, and their widths, which sum to 1.
    bandwidths : array
        The bandwidths; 0 does not smooth.
    """
    n, away = counts.sum(axis=-1, keepdims=True), np.subtract.outer(places, places)
    best, likelihood = counts, np.full(n.shape, -np.inf)
    for bandwidth in bandwidths.tolist():
        kernel = weights[:, None] * np.exp(-0.5 * (away / bandwidth) ** 2) if bandwidth else np.eye(len(places))
        kernel /= np.maximum(kernel.sum(axis=0), 1e-300)  # a row spreads over the cells with a total of 1
        smoothed = counts @ kernel.T
        # without a row of the cell; one pseudo-row is spread over all cells
        others = np.maximum(smoothed - np.minimum(counts, 1.0) * np.diag(kernel), 0.0) + weights
        logs = np.log(np.maximum(others, 1e-300)) - np.log(np.maximum(n - 1, 0.0) + 1)
        score = (counts * logs).sum(axis=-1, keepdims=True)
        best, likelihood = np.where(score > likelihood, smoothed, best), np.maximum(score, likelihood)
    return best
