"""Pair counts: how often two levels of different columns occur in the same row."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.counts import Counts


@dataclass(frozen=True, eq=False)
class PairCounts(Counts):
    """Counts of cells and of pairs of cells: pairs[class, a, b] = Σw over rows with both a and b.

    The structures that model dependence between discrete columns need them. pairs[class, a, a] is the count of cell a
    itself, and pairs of two different levels of the same column are zero.

    Parameters
    ----------
    n : array of shape (classes, 1) or (classes, columns)
        The total weight of the rows; by column if some cells are missing.
    total : array of shape (classes, cells)
        The count of each level.
    pairs : array of shape (classes, cells, cells)
        The count of each pair of levels.

    Methods
    -------
    +, -, *
        Merge, subtract and weight the counts. ``-`` raises `OverdrawnError` if the other's rows are not contained.
    isclose(other, rtol=1e-9)
        Compare up to rounding.
    arrays()
        The arrays by name.

    Examples
    --------
    >>> coins = PairCounts(n=[[3]], total=[[2, 1]], pairs=[[[2, 1], [1, 1]]])
    >>> (coins + coins).pairs.tolist()
    [[[4.0, 2.0], [2.0, 2.0]]]
    """

    pairs: Array

    @classmethod
    def zero(cls, classes: int, width: int) -> Self:
        return cls(np.zeros((classes, 1)), np.zeros((classes, width)), np.zeros((classes, width, width)))
