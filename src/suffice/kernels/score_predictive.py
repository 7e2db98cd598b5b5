"""Terms of log Γ, added to ``scores`` [row, class].

log Γ(a + x) − log Γ(a) is the difference of two almost equal numbers if a is large. Stirling's formula is used there:
the common part of both cancels in it before any rounding.

Rows are stored cells: those of a row lie between two ``starts``, and have ``values`` in ``columns``. If rows are dense,
all cells are stored, and ``columns`` is None. With ``gaps``, NaN is a missing cell. Kernels return 0, or NaN if a value
is not finite.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

from suffice.kernels.compiler import Scorer

LARGE = 1e4
MOST_COUNTED = 1e15  # beyond this a double cannot distinguish a count from the next one
MOST_FACTORIAL = 2e305  # beyond this the logarithm of a factorial overflows


def log_rising(a, x, log_gamma):
    """Return log Γ(a + x) − log Γ(a); ``log_gamma`` is log Γ(a)."""
    if a < LARGE:
        return math.lgamma(a + x) - log_gamma
    stirling = (a + x - 0.5) * math.log1p(x / a) + x * math.log(a) - x
    return stirling + (1.0 / (a + x) - 1.0 / a) / 12.0


@Scorer
def fill_log_rising(a, x, log_gamma, found):
    """Write log Γ(a + x) − log Γ(a) of each element to ``found``."""
    for place in range(found.shape[0]):
        found[place] = log_rising(a[place], x[place], log_gamma[place]) if x[place] != 0 else 0.0


@Scorer
def add_log_gamma(starts, columns, values, a, log_gamma, gaps, scores):
    """Add Σⱼ log Γ(aⱼ + xⱼ) − log Γ(aⱼ); return NaN if a value is not a count."""
    poison = 0.0
    for row in range(scores.shape[0]):
        first = starts[row]
        last = starts[row + 1]
        for p in range(first, last):
            if gaps is None:
                poison += values[p] * 0.0
            if values[p] < 0 or values[p] > MOST_COUNTED:
                poison = math.nan
        if poison != 0:
            return poison
        for k in range(a.shape[0]):
            total = 0.0
            for p in range(first, last):
                if values[p] != 0 and (gaps is None or values[p] == values[p]):
                    j = p - first if columns is None else columns[p]
                    total += log_rising(a[k, j], values[p] * 1.0, log_gamma[k, j])
            scores[row, k] += total
    return poison


@Scorer
def add_log_gamma_of_total(starts, columns, values, a, log_gamma, gaps, scores):
    """Subtract log Γ(a + Σⱼ xⱼ) − log Γ(a); a missing cell is a count of 0."""
    poison = 0.0
    for row in range(scores.shape[0]):
        total = 0.0
        for p in range(starts[row], starts[row + 1]):
            if gaps is None or values[p] == values[p]:
                total += values[p]
        poison += total * 0.0
        if poison != 0:
            return poison
        for k in range(a.shape[0]):
            scores[row, k] -= log_rising(a[k], total, log_gamma[k])
    return poison


@Scorer
def add_log_gamma_of_rest(starts, columns, values, trials, highest, a, log_gamma, gaps, scores):
    """Add Σⱼ log Γ(aⱼ + n − xⱼ) − log Γ(aⱼ + n), with n trials; ``highest`` is log Γ(a + n) − log Γ(a)."""
    poison = 0.0
    for row in range(scores.shape[0]):
        first = starts[row]
        last = starts[row + 1]
        for p in range(first, last):
            if gaps is None:
                poison += values[p] * 0.0
            if values[p] < 0 or values[p] > MOST_COUNTED:
                poison = math.nan
        if poison != 0:
            return poison
        for k in range(a.shape[0]):
            total = 0.0
            for p in range(first, last):
                if values[p] != 0 and (gaps is None or values[p] == values[p]):
                    j = p - first if columns is None else columns[p]
                    total -= highest[k, j]
                    if values[p] < trials:
                        total += log_rising(a[k, j], trials - values[p], log_gamma[k, j])
            scores[row, k] += total
    return poison


@Scorer
def add_binomials(starts, columns, values, trials, scores):
    """Add Σⱼ log C(n, xⱼ), with n trials, to all scores of a row; −∞ if xⱼ > n. A missing cell adds 0."""
    log_gamma = math.lgamma(trials + 1.0)
    for row in range(scores.shape[0]):
        total = 0.0
        for p in range(starts[row], starts[row + 1]):
            if values[p] > trials:
                total = -math.inf
            elif values[p] > 0:
                total += log_gamma - math.lgamma(values[p] + 1.0) - math.lgamma(trials - values[p] + 1.0)
        for k in range(scores.shape[1]):
            scores[row, k] += total
    return 0.0


@Scorer
def add_factorials(starts, columns, values, scores):
    """Subtract Σⱼ log xⱼ! from all scores of a row; a missing cell adds 0. Return NaN if a logarithm overflows."""
    for row in range(scores.shape[0]):
        total = 0.0
        for p in range(starts[row], starts[row + 1]):
            if values[p] > MOST_FACTORIAL:
                return math.nan
            if values[p] > 0:
                total += math.lgamma(values[p] + 1.0)
        for k in range(scores.shape[1]):
            scores[row, k] -= total
    return 0.0
