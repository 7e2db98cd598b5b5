"""Constant columns: numbers of which a subtraction leaves equal ones only, as the counts of their cells prove.

A sum of squares that is less than its error may be 0 or not. Cells tell more: the numbers that are left lie in one
cell, which may hold a single number; and whole numbers that differ, differ by 1 at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, inf, isinf, nextafter

import numpy as np

from suffice.schema import Array, Columns, Cuts
from suffice.statistics.comoments import CoMoments
from suffice.statistics.counts import Counts
from suffice.statistics.moments import LEAST_SQUARE, LOGARITHMS, Moments, mean_errors
from suffice.statistics.statistic import Statistic

# If the weights of the rows of a cell add up to a whole number, no row is assumed to weigh less.
LEAST_WEIGHT = 1e-3

Cells = dict[object, tuple[Cuts, Array]]


def settle_constants(blocks: Sequence[Columns], statistics: Sequence[Statistic]) -> list[Statistic]:
    """Return the statistics, with exact moments where the cells of a column prove that it is constant in a class."""
    moments = [each for each in statistics if isinstance(each, (Moments, CoMoments))]
    if not any(_seem_constant(each).any() for each in moments):
        return list(statistics)
    cells = cells_of(blocks, statistics)
    settled, constants = list(statistics), dict[object, Array]()
    for place, (block, statistic) in enumerate(zip(blocks, statistics, strict=True)):
        if isinstance(statistic, (Moments, CoMoments)) and block.family != LOGARITHMS:
            values = _find_constants(block, statistic, cells)
            settled[place] = own = _settle(statistic, values)
            exact = (own.spreads.m2 == 0) & (own.spreads.error == 0) & (own.spreads.n > 0)
            constants |= zip(block.names or (), np.where(exact, own.spreads.mean, np.nan).T, strict=False)
    for place, (block, statistic) in enumerate(zip(blocks, statistics, strict=True)):
        if isinstance(statistic, Moments) and block.family == LOGARITHMS:
            settled[place] = _settle(statistic, _logarithms_of(block, statistic, constants))
    return settled


def cells_of(blocks: Sequence[Columns], statistics: Sequence[Statistic]) -> Cells:
    """Return for each column of numbers its cells, and the weight of the rows in them, [class, cell]."""
    return {
        name: (coding, statistic.total[:, start : start + coding.size])
        for block, statistic in zip(blocks, statistics, strict=True)
        if isinstance(statistic, Counts)
        for name, coding, start in zip(block.names or (), block.codings or (), block.starts.tolist(), strict=False)
        if isinstance(coding, Cuts) and coding.by == "cells"
    }


def _seem_constant(moments: Moments | CoMoments) -> Array:
    """Return for which classes and columns no squares are left, but their error."""
    spreads = moments.spreads
    return np.asarray((spreads.error > 0) & (spreads.m2 == 0) & (spreads.n > 0))


def _find_constants(block: Columns, moments: Moments | CoMoments, cells: Cells) -> Array:
    """Return the number that all rows of a class have in a column, [class, column]; NaN where there is none."""
    spreads, names = moments.spreads, block.names or ()
    means, errors, values = spreads.mean + spreads.tail, mean_errors(spreads), np.full(spreads.m2.shape, np.nan)
    for k, j in np.argwhere(_seem_constant(moments)).tolist():
        if names and names[j] in cells:
            cuts, counts = cells[names[j]]
            value = _find_constant(cuts, counts[k], means[k, j], errors[k, j], spreads.error[k, j])
            values[k, j] = np.nan if value is None else value
    return values


def _logarithms_of(block: Columns, moments: Moments, constants: dict[object, Array]) -> Array:
    """Return the logarithms of the constant columns of a block of log x, [class, column]; NaN for others."""
    unknown = np.full(len(moments.m2), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(np.array([constants.get(name, unknown) for name in block.names or ()])).T
    return np.where(np.isfinite(values), values, np.nan)


def _settle(moments: Moments | CoMoments, values: Array) -> Moments | CoMoments:
    """Return exact moments of the classes and columns that have a value."""
    is_constant = ~np.isnan(values)
    if not is_constant.any():
        return moments

    def settled(old: Array, new: Array | float = 0.0) -> Array:
        return np.where(is_constant, new, old)

    if isinstance(moments, Moments):
        mean, tail, m2 = settled(moments.mean, values), settled(moments.tail), settled(moments.m2)
        return replace(moments, mean=mean, tail=tail, m2=m2, error=settled(moments.error))
    has_pairs = ~(is_constant[:, :, None] | is_constant[:, None, :])
    return replace(
        moments,
        mean=np.where(moments.n > 0, settled(moments.mean, values), moments.mean),
        tail=settled(moments.tail),
        scatter=np.where(has_pairs, moments.scatter, 0.0),
        alone_mean=settled(moments.alone_mean, values),
        alone_tail=settled(moments.alone_tail),
        alone_m2=settled(moments.alone_m2),
        error=settled(moments.error),
    )


def _find_constant(cuts: Cuts, counts: Array, mean: float, mean_error: float, error: float) -> float | None:
    """Return the number that all rows of a class have in a column; None if they may have several.

    Parameters
    ----------
    cuts : Cuts
        The cells of the column.
    counts : array of shape (cells,)
        The weight of the rows in each cell.
    mean, mean_error : float
        The mean of the column in the class, and the most by which it may be off.
    error : float
        The most that its sum of squares may be.
    """
    occupied, edges = np.flatnonzero(counts), (-inf, *cuts.edges, inf)
    if len(occupied) != 1:
        return None
    low, high = edges[occupied[0]], edges[occupied[0] + 1]
    if isinf(low) or isinf(high):
        return None
    least, most = (ceil(low), ceil(high) - 1) if cuts.whole else (low, nextafter(high, low))
    if (most - least) ** 2 < LEAST_SQUARE:
        return 0.0 if least <= 0 <= most else float(least)
    n, value = float(counts[occupied[0]]), round(mean)
    away = abs(mean - value) + mean_error
    if not cuts.whole or not n.is_integer() or away >= 0.5:
        return None
    # the most weight that other whole numbers may have: each is 1 or more from the mean, and at an end moves it
    weight = min(error / (1 - away) ** 2, n * away if value in (least, most) else inf)
    return float(value) if weight < LEAST_WEIGHT else None
