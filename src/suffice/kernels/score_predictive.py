"""Log likelihoods averaged over what is not known exactly, and log factorials, added to ``scores``.

log Γ(a + x) − log Γ(a) is the difference of two numbers that are alike where a is large; there it is taken
by Stirling's formula, in which they cancel on paper.
"""

from __future__ import annotations

import math
from typing import Any

from suffice.kernels.compiler import Scorer

LARGE = 1e6
MOST_COUNTED = 1e15  # beyond this a double cannot tell a count from the next one


def log_rising(a: float, x: float, log_gamma: float) -> float:
    """Return log Γ(a + x) − log Γ(a); ``log_gamma`` is the latter."""
    if a < LARGE:
        return math.lgamma(a + x) - log_gamma
    return (a + x - 0.5) * math.log1p(x / a) + x * math.log(a) - x


@Scorer
def add_student(x: Any, means: Any, inverses: Any, halves: Any, peaks: Any, gaps: Any, scores: Any) -> float:
    """Add Σⱼ peak − (ν + 1)/2·log(1 + (x − m)² / νs²); with ``gaps``, over the cells that are not empty."""
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        for k in range(means.shape[0]):
            total = 0.0
            for j in range(columns):
                if gaps is None or x[row, j] == x[row, j]:
                    deviation = x[row, j] - means[k, j]
                    total += peaks[k, j] - halves[k, j] * math.log1p(deviation * deviation * inverses[k, j])
            poison += total * 0.0
            scores[row, k] += total
    return poison


@Scorer
def add_dirichlet(
    x: Any, alpha: Any, log_gamma: Any, whole: Any, log_gamma_whole: Any, gaps: Any, scores: Any
) -> float:
    """Add −log Γ(A + N) + Σⱼ log Γ(αⱼ + xⱼ) − log Γ(αⱼ); with ``gaps``, an empty cell is a count of 0."""
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        length = 0.0
        for j in range(columns):
            if gaps is None or x[row, j] == x[row, j]:
                length += x[row, j]
            if x[row, j] < 0 or x[row, j] > MOST_COUNTED:
                poison = math.nan
        poison += length * 0.0
        if poison != 0:
            return poison
        for k in range(alpha.shape[0]):
            total = 0.0
            for j in range(columns):
                if x[row, j] != 0 and (gaps is None or x[row, j] == x[row, j]):
                    total += log_rising(alpha[k, j], x[row, j] * 1.0, log_gamma[k, j])
            scores[row, k] += total - log_rising(whole[k], length, log_gamma_whole[k])
    return poison


@Scorer
def add_dirichlet_sparse(
    starts: Any,
    columns: Any,
    values: Any,
    alpha: Any,
    log_gamma: Any,
    whole: Any,
    log_gamma_whole: Any,
    scores: Any,
) -> float:
    """Add what ``add_dirichlet`` does over the stored cells."""
    poison = 0.0
    for row in range(scores.shape[0]):
        length = 0.0
        for p in range(starts[row], starts[row + 1]):
            length += values[p]
            if values[p] < 0 or values[p] > MOST_COUNTED:
                poison = math.nan
        poison += length * 0.0
        if poison != 0:
            return poison
        for k in range(alpha.shape[0]):
            total = 0.0
            for p in range(starts[row], starts[row + 1]):
                total += log_rising(alpha[k, columns[p]], values[p] * 1.0, log_gamma[k, columns[p]])
            scores[row, k] += total - log_rising(whole[k], length, log_gamma_whole[k])
    return poison


@Scorer
def add_negative_binomial(
    x: Any, shape: Any, log_scale: Any, log_gamma: Any, biases: Any, gaps: Any, scores: Any
) -> float:
    """Add Σⱼ bias + log Γ(aⱼ + xⱼ) − log Γ(aⱼ) − xⱼ·log(bⱼ + 1); with ``gaps``, over cells not empty."""
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        for j in range(columns):
            if gaps is None:
                poison += x[row, j] * 0.0
            if x[row, j] < 0 or x[row, j] > MOST_COUNTED:
                poison = math.nan
        if poison != 0:
            return poison
        for k in range(shape.shape[0]):
            total = 0.0
            for j in range(columns):
                if gaps is None or x[row, j] == x[row, j]:
                    total += biases[k, j]
                    if x[row, j] != 0:
                        value = x[row, j] * 1.0
                        total += log_rising(shape[k, j], value, log_gamma[k, j]) - value * log_scale[k, j]
            scores[row, k] += total
    return poison


@Scorer
def add_negative_binomial_sparse(
    starts: Any, columns: Any, values: Any, shape: Any, log_scale: Any, log_gamma: Any, scores: Any
) -> float:
    """Add what ``add_negative_binomial`` does over the stored cells."""
    poison = 0.0
    for row in range(scores.shape[0]):
        for p in range(starts[row], starts[row + 1]):
            poison += values[p] * 0.0
            if values[p] < 0 or values[p] > MOST_COUNTED:
                poison = math.nan
        if poison != 0:
            return poison
        for k in range(shape.shape[0]):
            total = 0.0
            for p in range(starts[row], starts[row + 1]):
                j = columns[p]
                value = values[p] * 1.0
                total += log_rising(shape[k, j], value, log_gamma[k, j]) - value * log_scale[k, j]
            scores[row, k] += total
    return poison


@Scorer
def add_factorials(x: Any, scores: Any) -> None:
    """Subtract Σⱼ log xⱼ! from all scores of a row."""
    rows, columns = x.shape
    for row in range(rows):
        total = 0.0
        for j in range(columns):
            if x[row, j] > 0:
                total += math.lgamma(x[row, j] + 1.0)
        for k in range(scores.shape[1]):
            scores[row, k] -= total


@Scorer
def add_factorials_sparse(starts: Any, columns: Any, values: Any, scores: Any) -> None:
    """Subtract what ``add_factorials`` does, over the stored cells."""
    for row in range(scores.shape[0]):
        total = 0.0
        for p in range(starts[row], starts[row + 1]):
            if values[p] > 0:
                total += math.lgamma(values[p] + 1.0)
        for k in range(scores.shape[1]):
            scores[row, k] -= total
