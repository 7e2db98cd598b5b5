"""What rounding leaves: sums of squares of which so much was taken away that few of their digits are known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from suffice.schema import Columns
from suffice.statistics.comoments import CoMoments
from suffice.statistics.moments import Moments
from suffice.statistics.tally import Tally

# What is taken away leaves ten digits of a sum of squares if this share of it stays, and six with the other.
LEAST_LEFT, ROUNDED = 1e-6, 1e-10


def has_few_digits(before: Tally, after: Tally) -> bool:
    """Say whether too little is left of a sum of squares to go on with it, or a class is gone."""
    if len(before.class_count) != len(after.class_count):
        return True
    moments = _moments(before, after)
    return any(bool(np.any(has.spreads.m2 < LEAST_LEFT * had.spreads.m2)) for _, had, has in moments)


def lost_in_rounding(before: Tally, after: Tally) -> tuple[str, object] | None:
    """Return a column and a class whose spread is but the last digits of what it was, if there is one."""
    lines = np.searchsorted(before.schema.classes, after.schema.classes)
    for block, had, has in _moments(before, after):
        left, whole = has.spreads, has.pooled()
        variance = np.where(whole.n > 0, whole.m2 / np.maximum(whole.n, 1e-300), 0.0)
        # what rounding may have left of a class counts beside what the column still is in all of them
        held = np.maximum(left.m2, left.n * variance)
        lost = (ROUNDED * had.spreads.m2[lines] > held) & (left.n > 1) & (variance > 0)
        if lost.any():
            k, j = np.argwhere(lost)[0]
            return block.name(int(j)), after.schema.classes.tolist()[k]
    return None


def _moments(before: Tally, after: Tally) -> Iterator[tuple[Columns, Moments | CoMoments, Moments | CoMoments]]:
    for block, had, has in zip(after.schema.blocks, before.statistics, after.statistics, strict=True):
        if isinstance(had, (Moments, CoMoments)) and isinstance(has, (Moments, CoMoments)):
            yield block, had, has
