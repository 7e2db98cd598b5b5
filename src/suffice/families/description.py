"""Descriptions of a column for people: the values it can have, a summary of its sums, its information on the class."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import rel_entr

from suffice.schema import Array, Columns, Cuts, Levels, MissingLevel, Words, by_group
from suffice.score import Score

SHOWN_LEVELS, SHOWN_WORDS = 12, 12

# Points at which a curve is evaluated.
CURVE_POINTS = 241

# Values of a sum over all values of a column: their distances from a mean, in deviations; and numbers at a time.
OFFSETS, SUM_CELLS = np.concatenate([np.linspace(0, 8, 33), np.geomspace(10, 1e4, 15)]), 1 << 22

# The exponential of this is still a number, and so is its square.
LARGEST_LOG = 300.0


@dataclass(frozen=True)
class Support:
    """The values that a column can have.

    Attributes
    ----------
    kind : {"levels", "bins", "curve", "words"}
        Separate levels, intervals, the points of a curve, or the words of a text.
    values : list
        All levels, a number within each interval, or numbers in ascending order; empty for words.
    edges : tuple of float
        Where numbers are cut into intervals.
    is_open : bool
        Whether levels that were not seen while learning are possible.
    """

    kind: str
    values: list[Any]
    edges: tuple[float, ...] = ()
    is_open: bool = False


def support_of_coding(coding: Any) -> Support:
    """Return the values of a column whose codes stand for labels, intervals or words."""
    coding = coding.values if isinstance(coding, MissingLevel) else coding
    if isinstance(coding, Words):
        return Support("words", [])
    if isinstance(coding, Cuts):
        edges = tuple(coding.edges)
        inner = [(low + high) / 2 for low, high in pairwise(edges)]
        return Support("bins", [edges[0] - 1.0, *inner, edges[-1]] if edges else [0.0], edges)
    return Support("levels", list(coding.labels), is_open=coding.open)


def support_of_counts(high: float, seen: list[float]) -> Support:
    """Return counts from 0 to the largest one seen, or to ``high`` if there is none."""
    high = max(seen, default=high)
    step = max(int(high) // CURVE_POINTS, 1)
    return Support("curve", sorted({*np.arange(0.0, int(high) + 1, step).tolist(), 1.0, *seen}))


def support_of_numbers(low: float, high: float, seen: list[float]) -> Support:
    """Return numbers over a range, and over the range of those seen if they are at least 20."""
    if not high > low:
        low, high = low - 1.0, high + 1.0
    if len(seen) >= 20:
        low, high = min(seen), max(seen)
    grid = np.linspace(min([low, *seen]), max([high, *seen]), CURVE_POINTS).tolist()
    return Support("curve", sorted({*grid, *seen}))


def rows_of(statistic: Any, j: int) -> Array:
    """Return the number of rows that have column j, by class; never 0."""
    return np.asarray(np.maximum(statistic.n[:, min(j, statistic.n.shape[1] - 1)], 1e-300))


def summarize_levels(columns: Columns, statistic: Any, j: int) -> dict[str, Any]:
    """Return the share of each level in each class; of many levels, those of the most common ones."""
    assert columns.sizes is not None
    coding = columns.codings[j] if columns.codings else None
    start, size = int(columns.starts[j]), int(columns.sizes[j])
    values = coding.values if isinstance(coding, MissingLevel) else coding
    counts, is_cut = statistic.total[:, start : start + size], isinstance(values, Cuts)
    order = np.arange(size)
    if not is_cut and size > SHOWN_LEVELS:
        order = np.sort(np.argsort(-counts.sum(axis=0), kind="stable")[:SHOWN_LEVELS])
    labels = [str(code) if coding is None else _label(coding, code) for code in order.tolist()]
    shares = counts[:, order] / rows_of(statistic, j)[:, None]
    return {
        "shows": "levels",
        "labels": labels,
        "shares": [[round(float(share), 6) for share in line] for line in shares],
        "more": size - len(order),
        "uncut": is_cut and size == 1,
    }


def _label(coding: Any, code: int) -> str:
    if isinstance(coding, MissingLevel) and code < coding.values.size:
        return _label(coding.values, code)
    return str(coding.labels[code] if isinstance(coding, Levels) else coding.label(code))


def summarize_words(coding: Words, total: Array) -> dict[str, Any]:
    """Return the words that distinguish each class from all others, by share·log(share / share in the others)."""
    shares = (total + 0.5) / (total + 0.5).sum(axis=1, keepdims=True)
    found = []
    for k in range(len(total)):
        others = np.delete(shares, k, axis=0).mean(axis=0) if len(total) > 1 else shares[k]
        weight = shares[k] * np.log(shares[k] / others)
        found.append([coding.labels[w] for w in np.argsort(-weight, kind="stable")[:SHOWN_WORDS] if weight[w] > 0])
    return {"shows": "words", "words": found}


def information_of_table(joint: Array, axis: int | tuple[int, ...]) -> Array:
    """Return Σ p·log(p / (p of the class · p of the value)) over some axes of joint probabilities [class, …, value]."""
    apart = joint.sum(axis=0, keepdims=True) * joint.sum(axis=-1, keepdims=True)
    return np.asarray(rel_entr(joint, apart).sum(axis=axis))


def information_of_levels(columns: Columns, counts: Any) -> Array:
    """Return I(column; class) in nats from the counts of levels, over the rows that have the column."""
    joint, starts = counts.total, columns.starts
    n = by_group(np.add, joint, starts)
    by_cell = np.repeat(n, np.diff([*starts, joint.shape[1]]), axis=1)
    apart = joint.sum(axis=0) * by_cell / np.maximum(by_cell.sum(axis=0), 1e-300)
    return np.asarray(by_group(np.add, rel_entr(joint, apart), starts).sum(axis=0) / np.maximum(n.sum(axis=0), 1e-300))


def information_of_scores(
    score_of: Callable[[Array], Score],
    shares: Array,
    mean: Array,
    deviation: Array,
    *,
    is_count: bool,
    is_log: bool = False,
) -> Array:
    """Return I(column; class) = Σₖ πₖ Σₓ pₖ(x)·log(pₖ(x) / Σₗ πₗ·pₗ(x)) in nats, for each column.

    pₖ(x) is the exponential of a score. The sum over x is a trapezoidal rule on values about the mean of each class,
    dense up to 8 deviations and sparse up to 10,000; it has all small counts.

    Parameters
    ----------
    score_of : callable
        Returns the score of the columns at some places.
    shares, mean, deviation : arrays [class, column]
        πₖ, the share of each class among the rows that have the column, and where its values are.
    is_count : bool
        Whether values are the whole numbers from 0, and not real numbers.
    is_log : bool, default=False
        Whether mean and deviation are those of log x, over which the integral then is.
    """
    found = np.zeros(mean.shape[1])
    deviation = np.maximum(deviation, 0.5 if is_count else 1e-12 * np.abs(mean) + 1e-300)
    high = (mean + 8 * deviation).max(axis=0) if is_count else np.full(mean.shape[1], np.inf)
    order = np.argsort(high, kind="stable")  # so that columns of small counts, which have few values, are together
    first = 0
    while first < len(order):
        few = min(2 * high[order[first]] + 22, len(mean) * 2 * len(OFFSETS))
        here = order[first : first + max(int(SUM_CELLS / (few * len(mean))), 1)]
        first += len(here)
        values, weights = _quadrature(mean[:, here], deviation[:, here], is_count)
        if is_log:
            values = np.exp(np.clip(values, -LARGEST_LOG, LARGEST_LOG))
            weights = weights * values
        with np.errstate(all="ignore"):
            p = np.exp(score_of(here).contributions_of(values)) * weights[:, None]
            p /= p.sum(axis=0)
            joint = np.where(shares[:, here] > 0, p * shares[:, here], 0.0)
            terms = joint * (np.log(p) - np.log(joint.sum(axis=1, keepdims=True)))
        found[here] = np.maximum(np.where(joint > 0, terms, 0.0).sum(axis=(0, 1)), 0.0)
    return found


def _quadrature(mean: Array, deviation: Array, is_count: bool) -> tuple[Array, Array]:
    """Return values of each column in ascending order and their weights, [value, column]."""
    about = np.concatenate([mean - deviation * OFFSETS[:, None, None], mean + deviation * OFFSETS[:, None, None]])
    values = about.reshape(-1, mean.shape[1])
    if is_count:
        high = float((mean + 8 * deviation).max())
        if high < len(values):  # all counts, and some of a long tail
            tail = np.geomspace(2 * high + 2, 1e4 * (high + 1), 20)
            values = np.repeat(np.concatenate([np.arange(2 * high + 2), tail])[:, None], mean.shape[1], axis=1)
        values = np.round(np.maximum(values, 0.0))
    values = np.sort(values, axis=0)
    ends = 0.5 if is_count else 0.0
    middles = (values[1:] + values[:-1]) / 2
    bounds = np.concatenate([values[:1] - ends, middles, values[-1:] + ends])
    return values, np.diff(bounds, axis=0)
