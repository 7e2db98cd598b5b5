"""SquaredCounts: sums of counts and of their squares."""

from dataclasses import dataclass

from suffice.schema import Array
from suffice.statistics.counts import Counts


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
