"""Positive families: whether a number is exponential, gamma or log-normal rather than a Gaussian or in bins.

One column at a time: these families are compared only where ``families`` asks for them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from suffice.choice.family_scores import score_cells
from suffice.choice.score_forms import MOST_DEVIATIONS, MOST_LEFT_OUT, PSEUDO_COUNT
from suffice.choice.single_column import ColumnSums, Form
from suffice.schema import Array

# One of these families takes the place of a Gaussian if the likelihood of the numbers is better by so many nats, and by
# so many for each row. A cell that a family finds impossible counts as LEAST_LOG_OF_A_CELL, so that a single row does
# not decide.
POSITIVE, POSITIVE_GAIN, POSITIVE_GAIN_A_ROW = ("log-normal", "gamma", "exponential"), 3.0, 0.05
LEAST_LOG_OF_A_CELL = -50.0

# It takes the place of bins if its likelihood is also better than that of a histogram, by so many nats.
HISTOGRAM_GAIN = 10.0

# The least log probability of a cell.
LEAST_LOG = -700.0


def best_positive(column: ColumnSums, form: Form, families: Sequence[str]) -> Form:
    """Return the best of some families of positive numbers if it is better than the given form, else this form.

    The likelihood of the numbers must be better than that of a Gaussian by a margin, and the predictions of the class
    must not be worse than those of the form. If the form has bins, the likelihood must also be better than that of the
    histogram of all cells: then the numbers have the shape of the family.
    """
    if not families or not column.is_positive or column.has_few_values:
        return form
    likelihoods = {family: _log_likelihood_of(column, family) for family in ("gaussian", *families)}
    best = max(families, key=lambda family: likelihoods[family])
    least = likelihoods["gaussian"] + POSITIVE_GAIN + POSITIVE_GAIN_A_ROW * float(column.counts.sum())
    bins = None
    if form.cuts is not None:
        assert column.edges is not None
        places = np.searchsorted(column.edges, form.cuts.edges) + 1
        bins = np.add.reduceat(column.counts, np.append(0, places), axis=0)
        least = max(least, _log_likelihood_of_cells(column.counts) + HISTOGRAM_GAIN)
    if likelihoods[best] <= least:
        return form
    of_form, of_best = _score(column, form, bins), _score(column, Form(family=best), None)
    return Form(family=best) if of_best >= of_form else form


def _log_likelihood_of_cells(counts: Array) -> float:
    """Return Σ log p(cell | class, other rows), where p is the share of the rows of the class, over all rows."""
    n, size = counts.sum(axis=0), PSEUDO_COUNT * float((counts.sum(axis=1) > 0).sum())
    without = np.log(np.maximum(counts - 1, 0) + PSEUDO_COUNT) - _log(np.maximum(n - 1, 0) + size)
    return float((counts * without).sum())


def _log_likelihood_of(column: ColumnSums, family: str) -> float:
    """Return Σ log p(cell | class, other rows) of a family over all rows."""
    _, without = _log_probabilities(column, family)
    return float((column.counts * np.maximum(without, LEAST_LOG_OF_A_CELL)).sum())


def _score(column: ColumnSums, form: Form, counts: Array | None) -> float:
    """Return the leave-one-out log-likelihood of the classes, Σ log P(class | x, other rows), over all rows.

    It is computed from the sums of all rows: leaving a row out subtracts 1 from a count, or a value from a mean and a
    variance. Where a missing cell is skipped, its row is predicted by the shares of the classes.
    """
    shares = column.counts.sum(axis=0) + column.missing
    if counts is None:
        score = _score_family(column, form.family or "gaussian", shares)
    else:
        score = _score_levels(counts, shares)
    return score if form.missing else score + _score_shares(column.missing, shares)


def _score_levels(counts: Array, shares: Array) -> float:
    n, size = counts.sum(axis=0), PSEUDO_COUNT * len(counts)
    with_all = np.log(counts + PSEUDO_COUNT) - _log(n + size)
    without = np.log(np.maximum(counts - 1, 0) + PSEUDO_COUNT) - _log(np.maximum(n - 1, 0) + size)
    return _log_likelihood(_log(shares) + with_all, _log(shares) + without, counts)


def _score_shares(missing: Array, shares: Array) -> float:
    return float((missing * (_log(shares) - _log(shares.sum()))).sum())


def _score_family(column: ColumnSums, family: str, shares: Array) -> float:
    """Return the score of a family."""
    with_all, without = _log_probabilities(column, family)
    return _log_likelihood(_log(shares) + with_all, _log(shares) + without, column.counts)


def _log_probabilities(column: ColumnSums, family: str) -> tuple[Array, Array]:
    """Return the log probability of each cell, [cell, class]: with all rows, and without a row of that cell.

    The probability of a cell is a difference of the distribution function of the family.
    """
    assert column.moments is not None
    assert column.edges is not None
    edges = np.array(column.edges)
    if family == "gaussian":
        return _log_probabilities_of_gaussian(column.moments, edges)
    assert column.log_moments is not None
    if family == "log-normal":
        logs = np.log(np.maximum(edges, np.finfo(np.float64).tiny))
        return _log_probabilities_of_gaussian(column.log_moments, logs)
    bounds = np.concatenate([[0.0], np.maximum(edges, 0.0), [np.inf]])[:, None]
    means = column.moments[0], column.moments[1], column.log_moments[1]
    with_all, without = score_cells(family, bounds, means, PSEUDO_COUNT)
    return np.maximum(with_all, LEAST_LOG), np.maximum(without, LEAST_LOG)


def _log_probabilities_of_gaussian(moments: tuple[Array, Array, Array], edges: Array) -> tuple[Array, Array]:
    n, mean, squares = moments
    total = max(float(n.sum()), 1e-300)
    centre = float((n * mean).sum() / total)
    pooled = max(float((squares + n * (mean - centre) ** 2).sum() / total), 1e-300)
    # standardised, so that the numbers below are of order 1
    mean, squares = np.where(n > 0, (mean - centre) / np.sqrt(pooled), 0.0), squares / pooled
    edges = np.clip((edges - centre) / np.sqrt(pooled), -MOST_DEVIATIONS, MOST_DEVIATIONS)
    bounds = np.concatenate([[-np.inf], edges, [np.inf]])[:, None]
    with_all = _log_cells(bounds, mean, (squares + PSEUDO_COUNT) / (n + PSEUDO_COUNT))
    # the row that is left out is taken to lie in the middle of its cell
    x = (np.maximum(bounds[:-1], -MOST_LEFT_OUT) + np.minimum(bounds[1:], MOST_LEFT_OUT)) / 2
    rest, distance = np.maximum(n - 1, 0), x - mean
    left = np.where(rest > 0, rest, 1.0)
    without_mean = np.where(rest > 0, mean - distance / left, 0.0)
    without_squares = np.where(rest > 0, np.maximum(squares - distance**2 * n / left, 0.0), 0.0)
    without = _log_cells(bounds, without_mean, (without_squares + PSEUDO_COUNT) / (rest + PSEUDO_COUNT))
    return with_all, without


def _log_cells(bounds: Array, mean: Array, variance: Array) -> Array:
    """Return the log probability of each cell under a Gaussian, [cell, class]."""
    low, high = ((ends - mean) / np.sqrt(variance) for ends in (bounds[:-1], bounds[1:]))
    # the upper tail is mirrored, which keeps its digits
    is_upper = low > 0
    low, high = np.where(is_upper, -high, low), np.where(is_upper, -low, high)
    above = log_ndtr(high)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = above + np.log1p(-np.exp(np.minimum(log_ndtr(low) - above, 0.0)))
    return np.maximum(np.where(np.isnan(inside), -np.inf, inside), LEAST_LOG)


def _log_likelihood(with_all: Array, without: Array, counts: Array) -> float:
    """Return Σ counts·log P(class | x), where the class of each row is scored without that row."""
    if not len(counts):
        return 0.0  # a column of missing cells has no level
    highest = np.maximum(with_all.max(axis=1, keepdims=True), without.max(axis=1, keepdims=True))
    shares, own = np.exp(with_all - highest), np.exp(without - highest)
    others = np.maximum(shares.sum(axis=1, keepdims=True) - shares, 0.0)
    share = own / np.maximum(own + others, 1e-300)
    return float((counts * np.log(np.maximum(share, 1e-300))).sum())


def _log(n: Any) -> Any:
    return np.log(np.maximum(n, 1e-300))
