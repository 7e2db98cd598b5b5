"""Descriptions of a column for people: the values it can have, a summary of its sums, its information on the class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from suffice.schema import Array, Columns, Cuts, Words, by_group
from suffice.score import Score

SHOWN_LEVELS, SHOWN_WORDS = 12, 12

# Points at which a curve is evaluated; points, and numbers at a time, of a sum over all values of a column.
CURVE_POINTS, SUM_POINTS, SUM_CELLS = 241, 512, 1 << 21


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
    counts, is_cut = statistic.total[:, start : start + size], isinstance(coding, Cuts)
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
    return str(coding.label(code) if isinstance(coding, Cuts) else coding.labels[code])


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
    there = joint > 0
    terms = np.where(there, joint * np.log(np.where(there, joint, 1.0) / np.where(there, apart, 1.0)), 0.0)
    return np.asarray(terms.sum(axis=axis))


def information_of_levels(columns: Columns, counts: Any) -> Array:
    """Return I(column; class) in nats from the counts of levels, over the rows that have the column."""
    joint = counts.total
    cells, starts = joint.sum(axis=0, keepdims=True), columns.starts
    n = np.broadcast_to(by_group(np.add, joint, starts), (len(joint), columns.count))
    by_cell = np.repeat(n, np.diff([*starts, joint.shape[1]]), axis=1)
    whole = by_cell.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(np.where(joint > 0, joint * whole / (cells * by_cell), 1.0)), 0.0)
    found = by_group(np.add, terms, starts).sum(axis=0)
    return np.asarray(found / np.maximum(n.sum(axis=0), 1e-300))


def information_of_scores(score_of: Callable[[Array], Score], shares: Array, ranges: Array, *, is_count: bool) -> Array:
    """Return I(column; class) = Σₖ πₖ Σₓ pₖ(x)·log(pₖ(x) / Σₗ πₗ·pₗ(x)) in nats, for each column.

    pₖ(x) is the exponential of a score, summed over whole numbers or over a fine grid. The range of a column grows
    until it has all of the probability of every class.

    Parameters
    ----------
    score_of : callable
        Returns the score of the columns at some places.
    shares : array [class, column]
        πₖ, the share of each class among the rows that have the column.
    ranges : array [column, 2]
        Where to start: a range that has most values.
    is_count : bool
        Whether values are the whole numbers from 0, and not real numbers.
    """
    found = np.zeros(len(ranges))
    low, high = ranges.T.copy()
    todo = np.argsort(high - low, kind="stable")  # columns of similar range use grids of similar size
    for _ in range(40):
        unfinished, first = [], 0
        while first < len(todo):
            here = todo[first : first + max(SUM_CELLS // (SUM_POINTS * len(shares)), 1)]
            first += len(here)
            wide = high[here] - low[here]
            count = int(min(max(wide.max() + 1, 2), SUM_POINTS)) if is_count else SUM_POINTS
            step = np.maximum(np.ceil((wide + 1) / count), 1.0) if is_count else np.maximum(wide / (count - 1), 1e-300)
            values = low[here] + np.arange(count)[:, None] * step
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                p = np.exp(score_of(here).contributions_of(values)) * step
            is_possible = shares[:, here] > 0
            mass = np.where(is_possible, p.sum(axis=0), 1.0)
            done = (mass > 1 - 1e-6).all(axis=0)
            joint = np.where(is_possible, p / np.where(mass > 0, mass, 1.0), 0.0) * shares[:, here]
            mixed = joint.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.log(p / np.where(mass > 0, mass, 1.0)) - np.log(mixed)
                terms = np.where(joint > 0, joint * ratio, 0.0)
            found[here] = np.maximum(terms.sum(axis=(0, 1)), 0.0)
            unfinished.append(here[~done])
        todo = np.concatenate(unfinished) if unfinished else todo[:0]
        if not len(todo):
            break
        width = np.maximum(high[todo] - low[todo], 1.0)
        low[todo] -= 0.0 if is_count else width / 2
        high[todo] += width
    return found
