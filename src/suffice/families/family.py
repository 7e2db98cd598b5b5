"""What every family provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from suffice.schema import Array, Columns, Frozen
from suffice.tables import Block, Part
from suffice.tallies import Statistic

Beliefs = tuple[Array, ...]


@dataclass(frozen=True)
class Parameters(Frozen, ABC):
    """Estimated p(x given class) of a block of columns: arrays [class, column, …] that score rows."""

    @abstractmethod
    def add(self, columns: Columns, block: Block, rows: slice, scores: Array) -> None:
        """Add log p(x given class) of a range of rows to the scores [row, class]."""


class Family(ABC):
    """The probability of one kind of column given the class: pure functions over arrays.

    Beliefs are the hyperparameters of its conjugate prior: `believed` reads them off a prior,
    `updated` adds a statistic to them, and each estimate is read off beliefs. So a rule needs to know
    nothing of the family, and a family nothing of rules.
    """

    name: ClassVar[str]
    statistic: ClassVar[type[Statistic]]

    @abstractmethod
    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Statistic]:
        """Return the columns, with the levels that were met, and the sums over a part of the rows."""

    @abstractmethod
    def believed(self, prior: Any, columns: Columns, statistic: Statistic) -> Beliefs:
        """Return the hyperparameters that a prior stands for."""

    @abstractmethod
    def updated(self, beliefs: Beliefs, statistic: Any) -> Beliefs:
        """Return the hyperparameters of the posterior, [class, …]."""

    @abstractmethod
    def most_likely(self, columns: Columns, statistic: Any) -> Parameters:
        """Return the maximum-likelihood parameters."""

    @abstractmethod
    def mode(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        """Return the most credible parameters."""

    @abstractmethod
    def mean(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        """Return the expected parameters."""

    @abstractmethod
    def predictive(self, columns: Columns, beliefs: Beliefs) -> Parameters:
        """Return p(x given class) averaged over what is believed of the parameters."""

    @abstractmethod
    def log_partition(self, columns: Columns, beliefs: Beliefs) -> Array:
        """Return log Z, the logarithm of what normalises the conjugate prior, [class, column]."""

    @abstractmethod
    def draw(self, columns: Columns, beliefs: Beliefs, rng: np.random.Generator) -> Parameters:
        """Return parameters drawn at random from what is believed."""


def log_ratio(part: Array, whole: Array, otherwise: Array | float) -> Array:
    """Return log(part / whole), −∞ for no part of something, and log(otherwise) for a part of nothing.

    >>> log_ratio(np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]), 0.5).tolist()
    [-inf, 0.0, -0.6931471805599453]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(whole > 0, np.log(part) - np.log(whole), np.log(otherwise))


def guarded(log_p: Array, epsilon: float) -> Array:
    """Return log(p + ε) from log p: the lecture's guard against a probability of zero."""
    return log_p if epsilon == 0 else np.log(np.exp(log_p) + epsilon)
