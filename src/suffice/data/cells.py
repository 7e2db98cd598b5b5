"""Cells: intervals of numbers, chosen without the labels, in which numeric columns are counted.

A double is mapped to an integer key that has the same order. A cell is an interval of keys with a common binary prefix.
Two sets of cells have a common coarsening, because such intervals are nested or disjoint: the edges that both have.
"""

from heapq import heappop, heappush

import numpy as np

from suffice.schema import Array, Cuts

SIGN = np.uint64(1 << 63)
FRACTION_BITS = 52  # of a double

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

    The cell with most rows is split, until there are enough or none holds two different values. It is split at the
    number with the fewest binary digits between its smallest and its largest value. The cells are marked as cells of
    whole numbers, which the first fraction that is counted in them undoes.

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
    if not len(values):
        return Cuts((), "cells", whole=True)
    order = None if weights is None else np.argsort(values, kind="stable")
    ordered = np.sort(values) if order is None else values[order]
    keys = _keys(np.asarray(ordered, np.float64))
    below = np.arange(len(keys) + 1) if weights is None or order is None else np.append(0.0, np.cumsum(weights[order]))
    heap, edges = [(-below[-1], 0, len(keys))], _outer_edges(int(keys[0]), int(keys[-1]))
    count = 1
    while heap and count < most:
        _, first, last = heappop(heap)
        low, high = int(keys[first]), int(keys[last - 1])
        if low == high:
            continue
        edge = _shortest(low, high)
        place = first + int(np.searchsorted(keys[first:last], np.uint64(edge)))
        heappush(heap, (below[first] - below[place], first, place))
        heappush(heap, (below[place] - below[last], place, last))
        edges.append(edge)
        count += 1
    return Cuts(tuple(sorted(_numbers(np.array(edges, np.uint64)).tolist())), "cells", whole=True)


def _keys(values: Array) -> Array:
    """Return unsigned integers in the order of the numbers; those of x and −x are equally far from that of 0."""
    size = np.abs(values).view(np.uint64)
    return np.where(values < 0, SIGN - size, SIGN + size)


def _numbers(keys: Array) -> Array:
    """Return the numbers of keys."""
    is_negative = keys < SIGN
    sizes = np.where(is_negative, SIGN - keys, keys - SIGN).view(np.float64)
    return np.where(is_negative, -sizes, sizes)


def _shortest(low: int, high: int) -> int:
    """Return the key with the most trailing zeros that is above ``low`` and not above ``high``."""
    zeros = (low ^ high).bit_length() - 1
    return high >> zeros << zeros


def shortest_between(low: Array, high: Array) -> Array:
    """Return numbers with few binary digits that are above ``low`` and not above ``high``.

    >>> shortest_between(np.array([3.0, 1.3]), np.array([5.0, 1.7])).tolist()
    [4.0, 1.5]
    """
    below, above = _keys(np.asarray(low, np.float64)), _keys(np.asarray(high, np.float64))
    differing = below ^ above
    for shift in (1, 2, 4, 8, 16, 32):  # all bits up to the highest that differs
        differing = differing | (differing >> np.uint64(shift))
    return _numbers(above & ~(differing >> np.uint64(1)))


def _outer_edges(low: int, high: int) -> list[int]:
    """Return the ends of the smallest binary interval that contains all keys, as far as they are finite numbers.

    If that is wider than from a power of two to the next, they are the powers of two below and above all values.
    """
    zeros = min((low ^ high).bit_length(), FRACTION_BITS)
    first, last = low >> zeros << zeros, (high >> zeros) + 1 << zeros
    least, greatest = (int(key) for key in _keys(np.array([-np.finfo(np.float64).max, np.finfo(np.float64).max])))
    return [edge for edge in (first, last) if least <= edge <= greatest]
