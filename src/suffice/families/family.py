"""What every family provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from suffice.schema import Array, Columns
from suffice.tables import Block, Part
from suffice.tallies import Statistic


class Family(ABC):
    """The probability of one kind of column given the class: pure functions over arrays."""

    name: ClassVar[str]
    statistic: ClassVar[type[Statistic]]

    @abstractmethod
    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Statistic]:
        """Return the columns, with the levels that were met, and the sums over a part of the rows."""

    @abstractmethod
    def add_log_likelihood(self, parameters: Any, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        """Add log p(x given class) of a range of rows to the scores [row, class]."""


def log_ratio(part: Array, whole: Array, otherwise: Array | float) -> Array:
    """Return log(part / whole), −∞ for no part of something, and log(otherwise) for a part of nothing.

    >>> log_ratio(np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]), 0.5).tolist()
    [-inf, 0.0, -0.6931471805599453]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, np.log(part) - np.log(whole), np.log(otherwise))
