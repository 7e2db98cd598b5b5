"""Pair counts: how often each two levels were seen together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.counts import Counts
from suffice.statistics.statistic import difference, weight_of


@dataclass(frozen=True, eq=False)
class PairCounts(Counts):
    """Counts of cells, and of pairs of cells: pairs[class, a, b] is the weight of rows that have both.

    A pair of a cell with itself is the cell; two levels of one column are never seen together.

    >>> coins = PairCounts(n=[[3]], total=[[2, 1]], pairs=[[[2, 1], [1, 1]]])
    >>> (coins + coins).pairs.tolist()
    [[[4.0, 2.0], [2.0, 2.0]]]
    """

    pairs: Array

    @classmethod
    def zero(cls, classes: int, width: int) -> Self:
        return cls(np.zeros((classes, 1)), np.zeros((classes, width)), np.zeros((classes, width, width)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.n + other.n, self.total + other.total, self.pairs + other.pairs)

    def __sub__(self, other: Self) -> Self:
        left = (difference(mine, theirs) for mine, theirs in self._matched(other))
        return type(self)(*left)

    def __mul__(self, weight: float) -> Self:
        weight = weight_of(weight)
        return type(self)(self.n * weight, self.total * weight, self.pairs * weight)

    def _matched(self, other: Self) -> list[tuple[Array, Array]]:
        return [(self.n, other.n), (self.total, other.total), (self.pairs, other.pairs)]
