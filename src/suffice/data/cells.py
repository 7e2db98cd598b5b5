"""Cells: intervals of numbers, chosen without the labels, in which numeric columns are counted.

A double is mapped to an integer key that has the same order. A cell is an interval of keys with a common binary prefix.
Two sets of cells have a common coarsening, because such intervals are nested or disjoint: the edges that both have.
"""

import numpy as np

from suffice.kernels import binning as kernels
from suffice.schema import Array, Cuts

# The key of the largest finite number, and the bits of the fraction of a number.
LARGEST, FRACTION = int(np.array(np.finfo(np.float64).max).view(np.int64)), (1 << 52) - 1

# So many of the least numbers are looked at, to see whether they have fractions.
FEW = 16

# The number of cells of a column, from the first for which the pairs of all columns take at most MOST_PAIRS sums.
# Tables with more than MOST_COLUMNS columns are not counted in pairs unless a structure is set.
CELLS, MOST_PAIRS, MOST_COLUMNS = (32, 16, 8), 1 << 22, 128


def count_cells(columns: int, classes: int) -> int:
    """Return the number of cells of each numeric column of a table.

    It depends on the size of the table only, so that every structure can be estimated from the same sums.

    >>> count_cells(columns=14, classes=2), count_cells(columns=100, classes=2)
    (32, 8)
    """
    if columns > MOST_COLUMNS:
        return CELLS[0]
    return next((cells for cells in CELLS if classes * (columns * cells) ** 2 <= MOST_PAIRS), CELLS[-1])


def fit_cells(values: Array, weights: Array | None, most: int) -> Cuts:
    """Return at most ``most`` cells that contain rows, and the empty cells below and above all values.

    The cell with most rows is split, the first of equal ones, until there are enough or none holds two different
    values. It is split at the number with the fewest binary digits between its smallest and its largest value. The
    cells are marked as cells of whole numbers if no number has a fraction; the first fraction that is counted in them
    undoes this.

    Parameters
    ----------
    values : array
        The numbers, without missing ones.
    weights : array or None
        The weight of each number.
    most : int
        The largest number of cells that contain rows.

    Examples
    --------
    >>> fit_cells(np.arange(100.0), None, most=4).edges
    (0.0, 2.0, 32.0, 64.0, 128.0)
    """
    (cuts,), _ = fit_cells_of_columns(values[None], weights, most)
    return cuts


def fit_cells_of_columns(values: Array, weights: Array | None, most: int) -> tuple[list[Cuts], Array]:
    """Return the cells of several columns, and the largest number of each, without its sign.

    Parameters
    ----------
    values : array [column, row]
        The numbers; NaN is a missing one.
    weights : array [row] or None
        The weight of each row, which is positive.
    most : int
        The largest number of cells of a column that contain rows.
    """
    if weights is None:
        ordered, below = np.sort(values, axis=1), np.arange(values.shape[1] + 1.0)[None]
    else:
        order = np.argsort(values, axis=1, kind="stable")
        ordered, below = np.take_along_axis(values, order, axis=1), np.zeros((len(values), values.shape[1] + 1))
        np.cumsum(weights[order], axis=1, out=below[:, 1:])
    ordered = np.asarray(ordered, np.float64) if values.size else np.full((len(values), 1), np.nan)
    held = np.full(len(ordered), ordered.shape[1])
    if np.isnan(ordered[:, -1:]).any():
        held -= np.isnan(ordered).sum(axis=1)
    ends = np.stack([ordered[:, :1], np.take_along_axis(ordered, np.maximum(held - 1, 0)[:, None], axis=1)])[:, :, 0]
    edges, sizes = _outer_edges(_keys(ends[0]), _keys(ends[1]), held, most + 1)
    intervals, bits = np.zeros((2, most), np.int64), ordered.view(np.int64)
    kernels.split_cells(bits, held, below, edges, sizes, intervals, work=len(values) * most * (most + 8) // 2)
    lines = _numbers(np.sort(edges, axis=1)).tolist()
    cuts = [
        Cuts(tuple(line[:size]), "cells", whole)
        for line, size, whole in zip(lines, sizes.tolist(), _are_whole(ordered).tolist(), strict=True)
    ]
    return cuts, np.nan_to_num(np.abs(ends)).max(axis=0)


def _are_whole(ordered: Array) -> Array:
    """Return whether no number of a column has a fraction; a few numbers of most columns have one."""
    whole = np.ones(len(ordered), bool)
    for part in (ordered[:, :FEW], ordered):
        own = np.flatnonzero(whole)
        its = part if len(own) == len(part) else part[own]
        whole[own] = ~(its > np.floor(its)).any(axis=1)
    return whole


def _keys(values: Array) -> Array:
    """Return integers in the order of the numbers; those of x and −x differ in their sign only."""
    size = np.abs(values).view(np.int64)
    return np.where(values < 0, -size, size)


def _numbers(keys: Array) -> Array:
    """Return the numbers of keys."""
    sizes = np.abs(keys).view(np.float64)
    return np.where(keys < 0, -sizes, sizes)


def _outer_edges(least: Array, largest: Array, held: Array, most: int) -> tuple[Array, Array]:
    """Return room for ``most`` edges of each column, and the number of those that are known, at most two.

    They are the ends of the smallest binary interval that contains all keys, as far as they are finite numbers. If that
    is wider than from a power of two to the next, they are the powers of two below and above all values. ``least`` and
    ``largest`` are the keys of the ends of each column.
    """
    edges, sizes = np.full((len(held), most), np.iinfo(np.int64).max), np.zeros(len(held), np.int64)
    columns = np.flatnonzero(held > 0)
    if not len(columns):
        return edges, sizes
    low, high = least[columns], largest[columns]
    within = np.minimum(_fill_bits(low ^ high), FRACTION)
    for outer in (low & ~within, (high | within) + 1):
        own = columns[np.abs(outer) <= LARGEST]
        edges[own, sizes[own]] = outer[np.abs(outer) <= LARGEST]
        sizes[own] += 1
    return edges, sizes


def _fill_bits(keys: Array) -> Array:
    """Return keys in which all bits below the highest that is set are set; without the sign bit."""
    filled = keys.view(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):
        filled = filled | (filled >> np.uint64(shift))
    return (filled & np.uint64(np.iinfo(np.int64).max)).view(np.int64)


def shortest_between(low: Array, high: Array) -> Array:
    """Return numbers with few binary digits that are above ``low`` and not above ``high``.

    >>> shortest_between(np.array([3.0, 1.3]), np.array([5.0, 1.7])).tolist()
    [4.0, 1.5]
    """
    below, above = _keys(np.asarray(low, np.float64)), _keys(np.asarray(high, np.float64))
    return _numbers(above & ~(_fill_bits((below ^ above).view(np.uint64) >> np.uint64(1))))
