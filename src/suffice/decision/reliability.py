"""Reliability: whether what is said with probability p is right in p of all cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.schema import Array

BINS = 15


@dataclass(frozen=True)
class Reliability:
    """By bins of the probability that was given: the share that fell into it, its mean, and how often it was right.

    >>> said = Reliability.of(np.array([0.9, 0.9, 0.6]), np.array([1.0, 0.0, 1.0]), bins=2)
    >>> said.share.round(2).tolist(), said.confidence.round(2).tolist(), said.accuracy.round(2).tolist()
    ([0.0, 1.0], [0.0, 0.8], [0.0, 0.67])
    >>> round(float(said.error), 2)
    0.13
    """

    share: Array
    confidence: Array
    accuracy: Array

    @classmethod
    def of(cls, confidence: Array, right: Array, weights: Array | None = None, bins: int = BINS) -> Reliability:
        """Return it for rows that were said something of with a confidence, and of which that was right or not."""
        its = cls.by_fold(confidence, right, np.zeros(len(confidence), np.intp), weights, bins)
        return cls(its.share[0], its.confidence[0], its.accuracy[0])

    @classmethod
    def by_fold(
        cls, confidence: Array, right: Array, fold: Array, weights: Array | None = None, bins: int = BINS
    ) -> Reliability:
        """Return it for each fold of the rows, [fold, bin]."""
        folds = int(fold.max()) + 1
        place = np.clip((confidence * bins).astype(np.intp), 0, bins - 1) + fold * bins
        held, said, met = (
            np.bincount(place, each if weights is None else weights * each, folds * bins).reshape(folds, bins)
            for each in (np.ones(len(place)), confidence, right)
        )
        whole, there = held.sum(axis=1, keepdims=True), np.where(held > 0, held, 1.0)
        return cls(held / np.where(whole > 0, whole, 1.0), said / there, met / there)

    @property
    def error(self) -> Any:
        """The expected calibration error: how far the two are apart, on average over what was said."""
        return (self.share * np.abs(self.confidence - self.accuracy)).sum(axis=-1)
