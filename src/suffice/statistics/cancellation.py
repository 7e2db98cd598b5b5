"""Cancellation: sums of squares that are too large, too small, or lost their digits because most was subtracted."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from suffice.schema import Columns
from suffice.statistics.comoments import CoMoments
from suffice.statistics.constant_columns import cells_of
from suffice.statistics.fourth_moments import FourthMoments
from suffice.statistics.moments import LEAST_LEFT, LEAST_SQUARE, ROUNDED, Moments
from suffice.statistics.tally import Tally

# A variance may be off by this share at most.
LARGEST_ERROR = 1e-4

# The same for columns with a covariance: given the others, a column may have far less variance than by itself.
ERROR_OF_PAIRS = 1e-11

# The rounding error of a mean may be this share of the standard deviation at most, if columns have a covariance.
LARGEST_ROUNDING = 1e-4


class LostDigitsError(ValueError):
    """Raised if so much was forgotten that a mean or a variance is rounding error."""

    def __init__(self, column: str, label: object, what: str, way_out: str) -> None:
        lost = f"so much of {column} in class {label!r} was forgotten that {what} lost in rounding"
        super().__init__(f"{lost}: {way_out}")


def check_digits(tally: Tally) -> None:
    """Raise `LostDigitsError` if the moments of a column are rounding errors, whether a model uses them or not.

    The error of a sum of squares is compared with that sum, and with the variance of the column in all classes. This
    judges means, too: with u = 2⁻⁵³, the error of a mean is at most about the root of 32·u·error / n.

    A column without cells may seem constant in all classes. It is not judged here: the error may be negligible beside
    the floor of the variances of a model.
    """
    for block, moments in _moments_of(tally):
        spreads = moments.spreads
        if not spreads.error.any():
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            pooled = spreads.pooled()
            variance = pooled.m2 / np.where(pooled.n > 0, pooled.n, 1.0)
            is_lost = spreads.error > LARGEST_ERROR * (spreads.m2 + variance)
        if is_lost.any() and not cells_of(tally.schema.blocks, tally.statistics):
            is_lost &= pooled.m2 > 0
        if is_lost.any():
            k, j = np.argwhere(is_lost)[0].tolist()
            what, way_out = "its mean and variance are", "fit again on the rows that remain"
            raise LostDigitsError(block.name(j), tally.schema.classes.tolist()[k], what, way_out)


def has_few_digits(before: Tally, after: Tally) -> bool:
    """Return whether a subtraction left too few digits of a sum of squares, or removed a class."""
    if len(before.class_count) != len(after.class_count):
        return True
    pairs = zip(_moments_of(before), _moments_of(after), strict=True)
    return any(bool(np.any(now.spreads.m2 < LEAST_LEFT * then.spreads.m2)) for (_, then), (_, now) in pairs)


def add_errors(tally: Tally) -> Tally | None:
    """Return the tally with every sum of squares as large as it may be; None if all have enough right digits."""
    shares = ((each, LARGEST_ERROR if isinstance(each, Moments) else ERROR_OF_PAIRS) for _, each in _moments_of(tally))
    if not any(bool(np.any(each.error > share * each.spreads.m2)) for each, share in shares):
        return None
    statistics = []
    for statistic in tally.statistics:
        if isinstance(statistic, Moments):
            statistic = replace(statistic, m2=statistic.m2 + statistic.error)
        elif isinstance(statistic, CoMoments):
            diagonal = np.eye(statistic.mean.shape[1]) * statistic.error[:, None, :]
            m2 = statistic.alone_m2 + statistic.error
            statistic = replace(statistic, scatter=statistic.scatter + diagonal, alone_m2=m2)
        statistics.append(statistic)
    return replace(tally, statistics=tuple(statistics))


def find_lost(tally: Tally) -> tuple[str, object]:
    """Return the name of the column whose squares have the largest error for their size, and the label of the class."""
    worst, found = -1.0, ("a column", tally.schema.classes.tolist()[0])
    for block, moments in _moments_of(tally):
        share = moments.error / np.maximum(moments.spreads.m2, 1e-300)
        if share.size and float(share.max()) > worst:
            k, j = np.unravel_index(int(np.argmax(share)), share.shape)
            worst, found = float(share.max()), (block.name(int(j)), tally.schema.classes.tolist()[int(k)])
    return found


def check_squares(tally: Tally) -> None:
    """Raise ValueError if the squares of a column overflow or underflow, or its covariances lose their digits."""
    for block, moments in _moments_of(tally):
        spreads = moments.spreads
        with np.errstate(over="ignore", invalid="ignore"):
            pooled = spreads.pooled()
            variance = (pooled.m2 / np.where(pooled.n > 0, pooled.n, 1.0))[0]
        means = np.where(spreads.n > 0, spreads.mean, pooled.mean)
        powers, least = (
            ("fourth powers", np.sqrt(LEAST_SQUARE))
            if isinstance(moments, FourthMoments)
            else ("squares", LEAST_SQUARE)
        )
        is_small = (variance < least) & ((variance > 0) | (means != means[:1]).any(axis=0))
        rounding = ROUNDED * np.abs(pooled.mean[0])
        is_close = isinstance(moments, CoMoments) & (variance > 0) & (rounding > LARGEST_ROUNDING * np.sqrt(variance))
        for wrong, what in (
            (~np.isfinite(variance), "large that their squares overflow; rescale it"),
            (is_small, f"small that their {powers} underflow; rescale it"),
            (is_close, "close together, for their size, that covariances are rounding errors; subtract their mean"),
        ):
            if wrong.any():
                raise ValueError(f"the numbers of {block.name(int(np.argmax(wrong)))} are so {what}")


def _moments_of(tally: Tally) -> Iterator[tuple[Columns, Moments | CoMoments]]:
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        if isinstance(statistic, (Moments, CoMoments)):
            yield block, statistic
