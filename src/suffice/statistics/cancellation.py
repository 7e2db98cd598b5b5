"""Cancellation: finds sums of squares that lost most of their digits because nearly all of them was subtracted."""

from collections.abc import Iterator

import numpy as np

from suffice.schema import Columns
from suffice.statistics.comoments import CoMoments
from suffice.statistics.moments import LEAST_LEFT, Moments
from suffice.statistics.tally import Tally

# If at least this share of a sum of squares is left, six of its digits are right.
ROUNDED = 1e-10


def has_few_digits(before: Tally, after: Tally) -> bool:
    """Return whether a subtraction left too few digits of a sum of squares, or removed a class."""
    if len(before.class_count) != len(after.class_count):
        return True
    moments = _pairs_of_moments(before, after)
    return any(bool(np.any(now.spreads.m2 < LEAST_LEFT * then.spreads.m2)) for _, then, now in moments)


def lost_in_rounding(before: Tally, after: Tally) -> tuple[str, object] | None:
    """Return a column and a class whose remaining sum of squares is rounding error only, or None."""
    classes = np.searchsorted(before.schema.classes, after.schema.classes)
    for block, then, now in _pairs_of_moments(before, after):
        left, pooled = now.spreads, now.pooled()
        variance = np.where(pooled.n > 0, pooled.m2 / np.maximum(pooled.n, 1e-300), 0.0)
        # an error that is small relative to the column's variance in all classes does no harm
        scale = np.maximum(left.m2, left.n * variance)
        lost = (ROUNDED * then.spreads.m2[classes] > scale) & (left.n > 1) & (variance > 0)
        if lost.any():
            k, j = np.argwhere(lost)[0]
            return block.name(int(j)), after.schema.classes.tolist()[k]
    return None


def _pairs_of_moments(
    before: Tally, after: Tally
) -> Iterator[tuple[Columns, Moments | CoMoments, Moments | CoMoments]]:
    for block, then, now in zip(after.schema.blocks, before.statistics, after.statistics, strict=True):
        if isinstance(then, (Moments, CoMoments)) and isinstance(now, (Moments, CoMoments)):
            yield block, then, now
