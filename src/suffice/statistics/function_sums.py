"""FunctionSums: the sums of two functions of each column, such as x and log x."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.statistic import Statistic, subtract_sums


@dataclass(frozen=True, eq=False)
class FunctionSums(Statistic):
    """Weight and two weighted sums by class: n = Σw, first = Σw·f(x), second = Σw·g(x).

    Gamma columns have f(x) = x and g(x) = log x, von Mises columns cos x and sin x.

    Parameters
    ----------
    n : array of shape (classes, 1) or (classes, columns)
        The total weight of the rows; by column if some cells are missing.
    first, second : array of shape (classes, columns)
        The sums, which may be negative.

    Methods
    -------
    +, -, *
        Merge, subtract and weight the sums. ``-`` raises `OverdrawnError` if the other has more rows.
    pooled()
        The sums over all classes.
    isclose(other, rtol=1e-9)
        Compare up to rounding.
    arrays()
        The arrays by name.

    Examples
    --------
    >>> one = FunctionSums(n=[[2]], first=[[3.0]], second=[[-1.0]])
    >>> (one + one).first
    array([[6.]])
    >>> (one + one) - one == one
    True
    """

    first: Array
    second: Array

    def __sub__(self, other: Self) -> Self:
        n = subtract_sums(self.n, other.n)
        # without rows nothing is left; what a subtraction leaves then is rounding error
        first, second = self.first - other.first, self.second - other.second
        return type(self)(n, np.where(n > 0, first, 0.0), np.where(n > 0, second, 0.0))

    def own_without_rows(self, rows: Self, codes: Array, *, has_levels: bool) -> tuple[Self, Array]:
        return self.kept(codes, None) - rows, np.ones(len(codes), bool)

    def pooled(self) -> Self:
        """Return the sums over all classes, [1, column]."""
        return type(self)(**{name: array.sum(axis=-2, keepdims=True) for name, array in self.arrays().items()})
