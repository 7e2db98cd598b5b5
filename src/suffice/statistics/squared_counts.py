"""SquaredCounts: sums of counts and of their squares."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.counts import Counts
from suffice.statistics.statistic import check_weight, subtract_sums


@dataclass(frozen=True, eq=False)
class SquaredCounts(Counts):
    """Weighted sums by class: n = Σw, total = Σw·x and squares = Σw·x².

    Negative binomial columns are counted this way: the squares are what their dispersion is estimated from. Whole
    numbers are exact up to 2⁵³, so ``(a + b) - b == a`` holds exactly.

    Parameters
    ----------
    n : array of shape (classes, 1) or (classes, columns)
        The total weight of the rows; by column if some cells are missing.
    total : array of shape (classes, columns)
        The weighted sum of each column.
    squares : array of shape (classes, columns)
        The weighted sum of the squares of each column.

    Examples
    --------
    >>> visits = SquaredCounts(n=[[3]], total=[[6]], squares=[[20]])
    >>> (visits + visits).squares
    array([[40.]])
    """

    squares: Array

    @classmethod
    def zero(cls, classes: int, width: int) -> Self:
        return cls(np.zeros((classes, 1)), np.zeros((classes, width)), np.zeros((classes, width)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.n + other.n, self.total + other.total, self.squares + other.squares)

    def __sub__(self, other: Self) -> Self:
        squares = subtract_sums(self.squares, other.squares)
        total, n = subtract_sums(self.total, other.total), subtract_sums(self.n, other.n)
        self._check_last_rows(other, n, total)
        return type(self)(n, total, squares)

    def __mul__(self, weight: float) -> Self:
        weight = check_weight(weight)
        return type(self)(self.n * weight, self.total * weight, self.squares * weight)
