"""Counts: how often each thing was seen in each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.schema import Array
from suffice.statistics.statistic import Statistic, difference, weight_of


@dataclass(frozen=True, eq=False)
class Counts(Statistic):
    """The weight of rows and the sum of each cell, by class: n = Σw and total = Σw·x.

    Whole numbers are exact up to 2⁵³, so what is taken away is taken away to the bit.

    >>> heads = Counts(n=[[3]], total=[[2]])
    >>> (heads + heads).total
    array([[4.]])
    >>> (heads + heads) - heads == heads
    True
    """

    total: Array

    @classmethod
    def zero(cls, classes: int, width: int) -> Self:
        return cls(np.zeros((classes, 1)), np.zeros((classes, width)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.n + other.n, self.total + other.total)

    def __sub__(self, other: Self) -> Self:
        return type(self)(difference(self.n, other.n), difference(self.total, other.total))

    def __mul__(self, weight: float) -> Self:
        weight = weight_of(weight)
        return type(self)(self.n * weight, self.total * weight)
