"""Gaussian: real numbers about a mean."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice import scans
from suffice.families.family import Family
from suffice.kernels import scoring
from suffice.schema import Array, Columns, Frozen
from suffice.tables import Block, Dense, Part
from suffice.tallies import Moments

# A variance of zero has no density. This one is as good as zero, and its inverse is still a number.
LEAST_VARIANCE = 1e-300


@dataclass(frozen=True)
class GaussianParameters(Frozen):
    """Mean and variance, [class, column], and the share of the variance that was put in as a floor."""

    mean: Array
    variance: Array
    floor: float

    @cached_property
    def halved_precision(self) -> Array:
        return 0.5 / self.variance

    @cached_property
    def bias(self) -> Array:
        return np.asarray(-0.5 * np.log(2 * np.pi * self.variance).sum(axis=1))


class Gaussian(Family):
    """log p(x given class) = −½ Σⱼ log 2πσⱼ² + (xⱼ − μⱼ)² / σⱼ²."""

    name = "gaussian"
    statistic = Moments

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Moments]:
        return columns, scans.spreads(part)

    def estimate(self, moments: Moments, var_smoothing: float) -> GaussianParameters:
        """Return the maximum-likelihood mean and variance, the variance raised by a floor.

        The floor is ``var_smoothing`` times the largest variance of a column over all classes.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            pooled = moments.pooled()
            spread = pooled.m2 / np.where(pooled.n > 0, pooled.n, 1.0)
        # columns so far apart that their pooled squares overflow have a floor all the same
        largest = float(np.max(np.where(np.isfinite(spread), spread, np.finfo(np.float64).max)))
        floor = var_smoothing * largest
        variance = moments.m2 / np.where(moments.n > 0, moments.n, 1.0) + floor
        return GaussianParameters(moments.mean, np.maximum(variance, LEAST_VARIANCE), floor)

    def add_log_likelihood(
        self, parameters: GaussianParameters, columns: Columns, block: Block, rows: slice, scores: Array
    ) -> None:
        assert isinstance(block, Dense)
        poison = 0.0
        for place, x in block.pieces(rows.start, rows.stop):
            part = scores[place.start - rows.start : place.stop - rows.start]
            part += parameters.bias
            work = 2 * x.size * len(parameters.mean)
            poison += scoring.add_gaussian(x, parameters.mean, parameters.halved_precision, part, work=work)
        if poison != 0:
            block.reject_if_not_finite(rows)
