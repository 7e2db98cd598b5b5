"""Counts: how often each value occurs in each class."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.schema import Array, field_names
from suffice.statistics.statistic import ROUNDING, OverdrawnError, Statistic, subtract_sums

# If all rows of a class are subtracted, the rounding of fractional weights leaves at most this share of a sum.
LAST = 1e-9


@dataclass(frozen=True, eq=False)
class Counts(Statistic):
    """Weighted counts by class: n = Σw and total = Σw·x.

    Bernoulli, categorical, multinomial and Poisson columns are counted this way. Whole numbers are exact up to 2⁵³, so
    ``(a + b) - b == a`` holds exactly.

    Parameters
    ----------
    n : array of shape (classes, 1) or (classes, columns)
        The total weight of the rows; by column if some cells are missing.
    total : array of shape (classes, cells)
        The weighted sum of each cell. A cell is a column, or a level of a column.

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
    >>> heads = Counts(n=[[3]], total=[[2]])
    >>> (heads + heads).total
    array([[4.]])
    >>> (heads + heads) - heads == heads
    True
    """

    total: Array

    def __sub__(self, other: Self) -> Self:
        # the cells first, then pairs, then rows: an error names the level, not its pairs or only the column
        names = [*field_names(type(self))[1:], "n"]
        left = {name: subtract_sums(getattr(self, name), getattr(other, name)) for name in names}
        self._check_last_rows(other, left["n"], left["total"])
        return type(self)(**left)

    def _check_last_rows(self, other: Self, n: Array, total: Array) -> None:
        """Raise `OverdrawnError` if all rows of a class or column are subtracted, but not all that they counted."""
        if n.shape[1] not in (1, total.shape[1]) or n.all():
            return
        remains = (n == 0) & (other.n > 0) & (total > LAST * self.total)
        if remains.any():
            place = tuple(np.argwhere(remains)[0].tolist())
            raise OverdrawnError(place, float(self.total[place]), float(other.total[place]))

    def own_without_rows(self, rows: Self, codes: Array, *, has_levels: bool) -> tuple[Self, Array]:
        exact = np.ones(len(codes), bool)
        if has_levels:
            exact = ~((rows.total > 0) & (rows.total >= self.total.sum(axis=0) * (1 - ROUNDING))).any(axis=1)
        return self.kept(codes, None) - rows, exact
