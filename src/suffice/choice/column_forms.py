"""Forms: how a column enters the model, chosen from its sums by leave-one-out predictions of the class.

A numeric column is a Gaussian, or has levels, which are bins made of cells. A missing cell is skipped, or is a level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from suffice.choice.cuts import CUTTERS, CellCounts
from suffice.choice.family_scores import score_cells
from suffice.schema import TIE, Array, Combinations, Cuts, MissingLevel, Words, round_ties
from suffice.statistics import CoMoments, Counts, Moments, Tally, rest_of

NUMERIC = ("gaussian", *CUTTERS, "kernel", "auto")
MISSING = ("auto", "skip", "level")

# The pseudo-count with which forms are compared: it is added to each count, and as the number of pseudo-rows with the
# moments of all rows to each class.
PSEUDO_COUNT = 0.5

# Edges further from the mean are taken to be this many standard deviations away, so that their squares are finite.
MOST_DEVIATIONS = 1e6

# With missing="auto", a missing cell is a level if that improves the predictions by this many nats in all, and by this
# many for each missing cell. Small gains are often lost again, because columns depend on each other. Columns whose
# missing cells differ in number by less than the share SAME_ROWS, in each class, are taken to be missing in the same
# rows.
LEAST_GAIN, LEAST_GAIN_A_CELL, SAME_ROWS = 3.0, 0.05, 0.1

# The row that is left out of an open cell is at most about this many standard deviations away.
MOST_LEFT_OUT = 10.0

# Sums of the same weights in another order differ by less.
SAME_WEIGHT = 1e-9

# One of these families takes the place of a Gaussian if the likelihood of the numbers is better by so many nats, and by
# so many for each row. A cell that a family finds impossible counts as LEAST_LOG_OF_A_CELL, so that a single row does
# not decide.
POSITIVE, POSITIVE_GAIN, POSITIVE_GAIN_A_ROW = ("log-normal", "gamma", "exponential"), 3.0, 0.05
LEAST_LOG_OF_A_CELL = -50.0

# It takes the place of bins if its likelihood is also better than that of a histogram, by so many nats.
HISTOGRAM_GAIN = 10.0

# The least log probability of a cell.
LEAST_LOG = -700.0

# A number with fewer values than this, each in ROWS_A_VALUE rows on average, is not taken for a Gaussian: its cells
# tell its values apart, and a Gaussian would give a single value any density.
FEW_VALUES, ROWS_A_VALUE = 8, 5


@dataclass(frozen=True)
class Form:
    """How a column enters the model.

    Attributes
    ----------
    cuts : Cuts or None
        The bins of a numeric column; None if it is a Gaussian, or if it is not numeric.
    missing : bool
        Whether a missing cell is a level of its own.
    family : str or None
        The family of a numeric column; None if it is a Gaussian or has bins, or if it is not numeric.
    """

    cuts: Cuts | None = None
    missing: bool = False
    family: str | None = None


@dataclass(frozen=True)
class ColumnSums:
    """The sums of one column.

    Attributes
    ----------
    counts : array [cell, class]
        The weight of the cells or levels.
    missing : array [class]
        The weight of the missing cells.
    cuts : Cuts or None
        The cells of a number.
    moments : tuple of arrays [class] or None
        The weight, the mean and the squared deviations of a number, if they were counted.
    log_moments : tuple of arrays [class] or None
        The same of the logarithms of those numbers that are positive.
    """

    counts: Array
    missing: Array
    cuts: Cuts | None = None
    moments: tuple[Array, Array, Array] | None = None
    log_moments: tuple[Array, Array, Array] | None = None

    @property
    def is_positive(self) -> bool:
        """Whether all numbers are positive, and the moments of their logarithms were counted."""
        if self.moments is None or self.log_moments is None:
            return False
        return bool(self.moments[0].any() and np.allclose(self.log_moments[0], self.moments[0], rtol=SAME_WEIGHT))

    @property
    def edges(self) -> tuple[float, ...] | None:
        """The edges of the cells of a number."""
        return None if self.cuts is None else self.cuts.edges

    @property
    def has_few_values(self) -> bool:
        """Whether the cells tell a few values apart, each of which several rows have."""
        rows = self.counts.sum(axis=1)
        held = int((rows > 0).sum())
        return held < FEW_VALUES and float(rows.sum()) >= ROWS_A_VALUE * held * (1 - TIE)


def choose_forms(tally: Tally, asked: Mapping[Any, str], numeric: str, missing: str) -> dict[Any, Form]:
    """Return the form of each column that is counted in cells, or that has missing cells and levels.

    Parameters
    ----------
    tally : Tally
        The sums. Numbers are in a block of cells, in a block of moments, or in both.
    asked : mapping of column to family
        The families that the user named.
    numeric : {"gaussian", "quantiles", "mdl", "auto"}
        The form of the other numeric columns. "auto" takes the one with the best predictions.
    missing : {"auto", "skip", "level"}
        Whether a missing cell is a level. "auto" decides by the predictions, too, and lets only one of several columns
        that are missing in the same rows have this level.
    """
    forms: dict[Any, Form] = {}
    gains: dict[Any, tuple[float, Form]] = {}  # of the columns whose missing cells predict the classes
    columns = {name: each for name, each in collect_sums(tally).items() if each.cuts is None or each.cuts.by == "cells"}
    hows = {name: asked.get(name, "auto") for name in columns}
    found = _list_candidates(columns, {name: how if how in NUMERIC[:-1] else numeric for name, how in hows.items()})
    for name, column in columns.items():
        candidates = found[name]
        score, form = _best(column, candidates)
        if numeric == "auto" and hows[name] == "any":
            score, form = _best_positive(column, score, form)
        if column.edges is not None:
            forms[name] = form
        levels = [(form.cuts, counts) for form, counts in candidates if counts is not None and form.family is None]
        if missing == "skip" or not levels or not column.missing.any():
            continue
        with_level = [(Form(cuts, True), np.vstack([counts, column.missing])) for cuts, counts in levels]
        new_score, new_form = _best(column, with_level)
        if missing == "level":
            forms[name] = new_form
        elif new_score - score > max(LEAST_GAIN, LEAST_GAIN_A_CELL * float(column.missing.sum())):
            gains[name] = new_score - score, new_form
    return forms | _keep_one_of_the_same_rows(gains, columns)


def _best_positive(column: ColumnSums, score: float, form: Form) -> tuple[float, Form]:
    """Return the family of positive numbers that describes a column best, if it is better than a form; else the form.

    The likelihood of the numbers must be better than that of a Gaussian by a margin, and the predictions of the class
    must not be worse than those of the form. If the form has bins, the likelihood must also be better than that of the
    histogram of all cells: then the numbers have the shape of the family.
    """
    if not column.is_positive or column.has_few_values:
        return score, form
    likelihoods = {family: _log_likelihood_of(column, family) for family in ("gaussian", *POSITIVE)}
    best = max(POSITIVE, key=lambda family: likelihoods[family])
    least = likelihoods["gaussian"] + POSITIVE_GAIN + POSITIVE_GAIN_A_ROW * float(column.counts.sum())
    bins = None
    if form.cuts is not None:
        assert column.edges is not None
        bins = CellCounts.of(column.edges, column.counts).bins(form.cuts)
        least = max(least, _log_likelihood_of_cells(column.counts) + HISTOGRAM_GAIN)
    if likelihoods[best] <= least:
        return score, form
    of_form, of_best = _score(column, replace(form, missing=False), bins), _score(column, Form(family=best), None)
    return (of_best, Form(family=best)) if of_best >= of_form else (score, form)


def _log_likelihood_of_cells(counts: Array) -> float:
    """Return Σ log p(cell | class, other rows), where p is the share of the rows of the class, over all rows."""
    n, size = counts.sum(axis=0), PSEUDO_COUNT * float((counts.sum(axis=1) > 0).sum())
    without = np.log(np.maximum(counts - 1, 0) + PSEUDO_COUNT) - _log(np.maximum(n - 1, 0) + size)
    return float((counts * without).sum())


def _log_likelihood_of(column: ColumnSums, family: str) -> float:
    """Return Σ log p(cell | class, other rows) of a family over all rows."""
    _, without = _log_probabilities(column, family)
    return float((column.counts * np.maximum(without, LEAST_LOG_OF_A_CELL)).sum())


def _keep_one_of_the_same_rows(
    gains: Mapping[Any, tuple[float, Form]], columns: Mapping[Any, ColumnSums]
) -> dict[Any, Form]:
    """Return the forms with the highest gains; of columns that are missing in the same rows, only the best."""
    kept: dict[Any, Form] = {}
    for name, (_, form) in sorted(gains.items(), key=lambda item: -item[1][0]):
        missing = columns[name].missing
        if not any(np.allclose(missing, columns[other].missing, rtol=SAME_ROWS, atol=1.0) for other in kept):
            kept[name] = form
    return kept


def collect_sums(tally: Tally) -> dict[Any, ColumnSums]:
    """Return the sums of the columns that have levels or cells."""
    moments, logarithms = find_moments(tally, "gaussian"), find_moments(tally, "log-normal")
    found: dict[Any, ColumnSums] = {}
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        if block.codings is None or block.is_forest or not isinstance(statistic, Counts):
            continue
        for j, (name, coding) in enumerate(zip(block.names or (), block.codings, strict=True)):
            if isinstance(coding, (Combinations, MissingLevel, Words)):
                continue
            first = int(block.starts[j])
            counts = statistic.total[:, first : first + coding.size].T
            missing = rest_of(tally.class_count, statistic.n[:, j if statistic.n.shape[1] > 1 else 0])
            cuts = coding if isinstance(coding, Cuts) else None
            found[name] = ColumnSums(counts, missing, cuts, moments.get(name), logarithms.get(name))
    return found


def find_moments(tally: Tally, family: str) -> dict[Any, tuple[Array, Array, Array]]:
    """Return the weight, mean and squared deviations by class of each column of a family that counts moments."""
    found: dict[Any, tuple[Array, Array, Array]] = {}
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        if block.family == family and isinstance(statistic, (Moments, CoMoments)):
            own = statistic.spreads if isinstance(statistic, CoMoments) else statistic
            n = np.broadcast_to(own.n, own.m2.shape)
            found |= {name: (n[:, j], own.mean[:, j], own.m2[:, j]) for j, name in enumerate(block.names or ())}
    return found


Candidate = tuple[Form, Array | None]


def _list_candidates(columns: Mapping[Any, ColumnSums], hows: Mapping[Any, str]) -> dict[Any, list[Candidate]]:
    """Return the forms of each column that the settings allow, with counts [level, class]; None for a Gaussian."""
    found: dict[Any, list[Candidate]] = {}
    cells: dict[str, dict[Any, CellCounts]] = {name: {} for name in CUTTERS}
    for name, column in columns.items():
        how = hows[name]
        if column.edges is None:
            found[name] = [(Form(), column.counts)]
            continue
        if how == "kernel":
            assert column.cuts is not None
            found[name] = [(Form(replace(column.cuts, by="kernel"), family="kernel"), column.counts)]
            continue
        has_gaussian = column.moments is not None and not (how == "auto" and column.has_few_values)
        found[name] = [(Form(), None)] if has_gaussian and how in ("auto", "gaussian") else []
        if how != "gaussian" or not has_gaussian:
            counts = CellCounts.of(column.edges, column.counts)
            for cutter in [how] if how in CUTTERS else CUTTERS:
                cells[cutter][name] = counts
    for cutter, cut in CUTTERS.items():
        own = cells[cutter]
        for (name, counts), cuts in zip(own.items(), cut(list(own.values())), strict=True):
            found[name].append((Form(cuts), counts.bins(cuts)))
    return found


def _best(column: ColumnSums, candidates: Sequence[Candidate]) -> tuple[float, Form]:
    """Return the candidate with the best predictions, the first of equal ones, and its score."""
    if len(candidates) == 1 and not column.missing.any():
        return 0.0, candidates[0][0]
    scores = np.array([_score(column, form, counts) for form, counts in candidates])
    place = int(np.argmax(round_ties(scores)))
    return float(scores[place]), candidates[place][0]


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
