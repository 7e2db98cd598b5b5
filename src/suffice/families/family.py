"""What every family provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from suffice.blocks import Part
from suffice.schema import Array, Columns, Frozen, by_group
from suffice.score import Score
from suffice.statistics import Statistic

Beliefs = tuple[Array, ...]


@dataclass(frozen=True)
class Parameters(Frozen, ABC):
    """Estimated p(x given class) of a block of columns: arrays [class, column, …] that score rows."""

    @abstractmethod
    def score(self) -> Score:
        """Return log p(x given class) as a sum of terms."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many free numbers there are, of all classes."""

    def as_linear(self) -> tuple[str, Array, Array]:
        """Return a lift, weights [class, feature] and biases [class]: the scores, but for what classes share."""
        raise ValueError("the log probability of these columns is not linear in any lift of them")

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        """Return rows drawn from a class, [row, column]: numbers, codes of levels, or counts."""
        raise ValueError("these columns are scored, but not by a probability: no rows can be drawn from them")


class Family(ABC):
    """The probability of one kind of column given the class: pure functions over arrays.

    Beliefs are the hyperparameters of its conjugate prior: `believed` reads them off a prior,
    `updated` adds a statistic to them, and each estimate is read off beliefs. So a rule needs to know
    nothing of the family, and a family nothing of rules.
    """

    name: ClassVar[str]
    statistic: ClassVar[type[Statistic]]

    @property
    def generative(self) -> Family:
        """The family of whose counts there is an evidence: itself, but for scores that are no probability."""
        return self

    def spreads_itself(self, columns: Columns) -> bool:
        """Say whether a tally of these columns is taken by products that use all threads by themselves."""
        return False

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
    def marginals(self, columns: Columns, beliefs: Beliefs) -> dict[str, Any]:
        """Return what is believed of each parameter, a scipy.stats distribution of arrays [class, column or level]."""

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


def proper(beliefs: Beliefs) -> Beliefs:
    """Return hyperparameters of a distribution, or say that these are of none."""
    if not all((np.asarray(belief) > 0).all() for belief in beliefs):
        raise ValueError(
            "under this prior, and with so few rows, there is no posterior distribution; use a larger prior"
        )
    return beliefs


def drawn_weights(alpha: Array, starts: Array, rng: np.random.Generator) -> Array:
    """Return Gamma(α, 1) draws, each group (from one start to the next) scaled so that its largest is 1.

    In logarithms, as log Γ(α + 1)-draw + log(u) / α: a small α gives weights too small for a number.
    """
    alpha = np.maximum(alpha, 1e-300)
    with np.errstate(over="ignore"):
        logs = np.log(rng.standard_gamma(alpha + 1)) + np.log(rng.random(alpha.shape)) / alpha
    logs = np.maximum(logs, -1e300)
    sizes = np.diff([*starts, alpha.shape[1]])
    return np.asarray(np.exp(logs - np.repeat(by_group(np.maximum, logs, starts), sizes, axis=1)))
