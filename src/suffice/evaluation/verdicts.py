"""Verdicts: the differences between models with their intervals, and what the intervals decide.

A metric that is a mean over rows is compared row by row: the standard error of a difference is that of the mean of the
paired differences. Shares of correct rows get pseudo-rows (Agresti and Min 2005), so that few different predictions do
not look certain. A metric that is known by fold only is compared fold by fold. The training sets of folds overlap, so
that their models have errors in common: the variance is corrected from σ² / rows to σ²·(1 / rows + 1 / training rows)
(Nadeau and Bengio 2003). Intervals of differences hold for all pairs of models at once (Bonferroni), because the best
model is known only after looking. `benchmarks/verdicts.py` measures how often they are wrong.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from suffice.schema import Array

LEVEL = 0.95

Verdict = Literal["best", "practically equal", "undecided", "worse", "better"]


@dataclass(frozen=True)
class Estimates:
    """The value of a metric for each model and its difference to the best model, each with half its 95 % interval."""

    value: Array
    half_width: Array
    difference: Array
    difference_half_width: Array
    best: int


def estimate_by_rows(
    values: Array, weights: Array, models: int, overlap: float, *, is_loss: bool, is_share: bool
) -> Estimates:
    """Return the means over rows of ``values`` [line, row]; the best is one of the first ``models`` lines.

    ``overlap`` is the number of rows over the number of training rows; 0 if the rows were not used to train models.
    With ``is_share``, values are 0 or 1, or means of such values.

    >>> values = np.array([[1.0] * 90 + [0.0] * 10, [1.0] * 60 + [0.0] * 40])
    >>> found = estimate_by_rows(values, np.ones(100), 2, 0.0, is_loss=False, is_share=True)
    >>> found.best, found.difference.round(2).tolist(), found.difference_half_width.round(2).tolist()
    (0, [0.0, -0.3], [0.0, 0.09])
    """
    mean = np.average(values, axis=1, weights=weights)
    best = _find_best(mean[:models], is_loss)
    differences = values - values[best]
    errors = [_mean_error(each, weights, (4.0, 2.0, 2.0) if is_share else None) for each in values]
    paired = [_mean_error(each, weights, (2.0, 0.0, 1.0) if is_share else None) for each in differences]
    factor = np.sqrt(1 + overlap)
    return _with_intervals(
        mean, factor * np.array(errors), factor * np.array(paired), values.shape[1] - 1, best, models
    )


def estimate_by_folds(values: Array, overlap: float, rows: int, models: int, *, is_loss: bool) -> Estimates:
    """Return the means over folds of ``values`` [line, fold]; folds without a value are left out.

    ``overlap`` is the number of test rows of a fold over the number of its training rows, ``rows`` the number of all
    rows. A standard error is at least 1 / rows: folds may have the same value by chance.
    """
    values = values[:, ~np.isnan(values).any(axis=0)]
    folds = values.shape[1]
    if not folds:
        nothing = np.full(len(values), np.nan)
        return Estimates(nothing, nothing, nothing, nothing, 0)
    mean = values.mean(axis=1)
    best = _find_best(mean[:models], is_loss)
    if folds == 1:
        unknown = np.full(len(values), np.inf)
        return Estimates(mean, unknown, mean - mean[best], unknown, best)
    factor = np.sqrt(1 / folds + overlap)
    pairs = (values, values - values[best])
    errors, paired = (np.maximum(each.std(axis=1, ddof=1) * factor, 1 / rows) for each in pairs)
    return _with_intervals(mean, errors, paired, folds - 1, best, models)


def judge(estimates: Estimates, margin: float, *, is_loss: bool) -> list[Verdict]:
    """Return the verdict of each line.

    "practically equal" if the whole interval of the difference lies within the margin; else "worse" (or, for a
    baseline, "better") if it does not contain 0; else "undecided".
    """
    found: list[Verdict] = []
    for place, (difference, half) in enumerate(
        zip(estimates.difference.tolist(), estimates.difference_half_width.tolist(), strict=True)
    ):
        loss = difference if is_loss else -difference
        if place == estimates.best:
            found.append("best")
        elif abs(loss) + half <= margin:
            found.append("practically equal")
        elif loss > half:
            found.append("worse")
        else:
            found.append("better" if -loss > half else "undecided")
    return found


def _find_best(mean: Array, is_loss: bool) -> int:
    return int(mean.argmin() if is_loss else mean.argmax())


def _mean_error(values: Array, weights: Array, pseudo_rows: tuple[float, float, float] | None) -> float:
    """Return the standard error of a mean; ``pseudo_rows`` are the number, sum and sum of squares of rows to add."""
    total, mean = weights.sum(), np.average(values, weights=weights)
    if pseudo_rows is None:
        return float(np.sqrt((weights**2 * (values - mean) ** 2).sum()) / total)
    rows = total**2 / (weights**2).sum()  # Kish's number of rows
    count, first, second = np.array([1.0, mean, np.average(values**2, weights=weights)]) * rows + np.array(pseudo_rows)
    return float(np.sqrt(second - first**2 / count) / count)


def _with_intervals(mean: Array, errors: Array, paired: Array, freedom: int, best: int, models: int) -> Estimates:
    paired[best] = 0.0
    pairs = max(models * (models - 1) // 2, 1)
    alone, together = (float(stats.t.isf((1 - LEVEL) / 2 / count, freedom)) for count in (1, pairs))
    return Estimates(mean, alone * errors, mean - mean[best], together * paired, best)
