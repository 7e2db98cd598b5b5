"""Reliability: whether predictions with probability p are right in a share p of all cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.schema import Array

BINS = 15


@dataclass(frozen=True)
class Reliability:
    """Confidence and accuracy of predictions, by bins of their probability.

    Attributes
    ----------
    share : array
        The share of the predictions in each bin.
    confidence : array
        The mean probability of the predictions in each bin.
    accuracy : array
        The share of correct predictions in each bin.
    error : float
        The expected calibration error, Σ share·|confidence − accuracy|.

    Examples
    --------
    >>> bins = Reliability.of(np.array([0.9, 0.9, 0.6]), np.array([1.0, 0.0, 1.0]), bins=2)
    >>> bins.share.round(2).tolist(), bins.confidence.round(2).tolist(), bins.accuracy.round(2).tolist()
    ([0.0, 1.0], [0.0, 0.8], [0.0, 0.67])
    >>> round(bins.error, 2)
    0.13
    """

    share: Array
    confidence: Array
    accuracy: Array

    @classmethod
    def of(cls, confidence: Array, right: Array, weights: Array | None = None, bins: int = BINS) -> Reliability:
        """Return the reliability of predictions with these probabilities; ``right`` is 1 for correct ones, else 0."""
        place = _place(confidence, bins)
        weight, confident, correct = (
            np.bincount(place, each if weights is None else weights * each, bins)
            for each in (np.ones(len(place)), confidence, right)
        )
        total, divisor = weight.sum(), np.where(weight > 0, weight, 1.0)
        return cls(weight / (total if total > 0 else 1.0), confident / divisor, correct / divisor)

    def place(self, confidence: Array) -> Array:
        """Return the bin of each of these probabilities."""
        return _place(confidence, len(self.share))

    @property
    def error(self) -> float:
        """The expected calibration error, Σ share·|confidence − accuracy|."""
        return float((self.share * np.abs(self.confidence - self.accuracy)).sum())


def _place(confidence: Array, bins: int) -> Array:
    return np.clip((confidence * bins).astype(np.intp), 0, bins - 1)
