"""Terms of Student's t and of log Γ, added to ``scores`` [row, class].

log Γ(a + x) − log Γ(a) is the difference of two almost equal numbers if a is large. Stirling's formula is used there:
the common part of both cancels in it before any rounding.
"""

import math
from typing import Any

from suffice.kernels.compiler import Scorer

LARGE = 1e4
MOST_COUNTED = 1e15  # beyond this a double cannot distinguish a count from the next one


def log_rising(a: float, x: float, log_gamma: float) -> float:
    """Return log Γ(a + x) − log Γ(a); ``log_gamma`` is log Γ(a)."""
    if a < LARGE:
        return math.lgamma(a + x) - log_gamma
    stirling = (a + x - 0.5) * math.log1p(x / a) + x * math.log(a) - x
    return stirling + (1.0 / (a + x) - 1.0 / a) / 12.0


@Scorer
def fill_log_rising(a: Any, x: Any, log_gamma: Any, found: Any) -> None:
    """Write log Γ(a + x) − log Γ(a) of each element to ``found``."""
    for place in range(found.shape[0]):
        found[place] = log_rising(a[place], x[place], log_gamma[place]) if x[place] != 0 else 0.0


@Scorer
def add_student(x: Any, means: Any, inverses: Any, halves: Any, peaks: Any, gaps: Any, scores: Any) -> float:
    """Add Σⱼ peak − (ν + 1)/2·log(1 + (x − m)² / νs²); with ``gaps``, over the cells that are not missing."""
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
def add_log_gamma(x: Any, a: Any, log_gamma: Any, gaps: Any, scores: Any) -> float:
    """Add Σⱼ log Γ(aⱼ + xⱼ) − log Γ(aⱼ); with ``gaps``, over the cells that are not missing."""
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
        for k in range(a.shape[0]):
            total = 0.0
            for j in range(columns):
                if x[row, j] != 0 and (gaps is None or x[row, j] == x[row, j]):
                    total += log_rising(a[k, j], x[row, j] * 1.0, log_gamma[k, j])
            scores[row, k] += total
    return poison


@Scorer
def add_log_gamma_sparse(starts: Any, columns: Any, values: Any, a: Any, log_gamma: Any, scores: Any) -> float:
    """Add what ``add_log_gamma`` does over the stored cells."""
    poison = 0.0
    for row in range(scores.shape[0]):
        for p in range(starts[row], starts[row + 1]):
            poison += values[p] * 0.0
            if values[p] < 0 or values[p] > MOST_COUNTED:
                poison = math.nan
        if poison != 0:
            return poison
        for k in range(a.shape[0]):
            total = 0.0
            for p in range(starts[row], starts[row + 1]):
                total += log_rising(a[k, columns[p]], values[p] * 1.0, log_gamma[k, columns[p]])
            scores[row, k] += total
    return poison


@Scorer
def add_log_gamma_of_total(x: Any, a: Any, log_gamma: Any, gaps: Any, scores: Any) -> float:
    """Subtract log Γ(a + Σⱼ xⱼ) − log Γ(a); with ``gaps``, a missing cell is a count of 0."""
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        total = 0.0
        for j in range(columns):
            if gaps is None or x[row, j] == x[row, j]:
                total += x[row, j]
        poison += total * 0.0
        if poison != 0:
            return poison
        for k in range(a.shape[0]):
            scores[row, k] -= log_rising(a[k], total, log_gamma[k])
    return poison


@Scorer
def add_log_gamma_of_total_sparse(starts: Any, columns: Any, values: Any, a: Any, log_gamma: Any, scores: Any) -> float:
    """Subtract what ``add_log_gamma_of_total`` does, over the stored cells."""
    poison = 0.0
    for row in range(scores.shape[0]):
        total = 0.0
        for p in range(starts[row], starts[row + 1]):
            total += values[p]
        poison += total * 0.0
        if poison != 0:
            return poison
        for k in range(a.shape[0]):
            scores[row, k] -= log_rising(a[k], total, log_gamma[k])
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
