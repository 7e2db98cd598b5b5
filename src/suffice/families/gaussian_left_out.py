"""Gaussians without a row: scores of rows by the moments of all other rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.blocks import Function, Part
from suffice.families.left_out import LeftOut
from suffice.kernels import leave_out
from suffice.schema import Array
from suffice.statistics import Moments
from suffice.statistics.moments import LEAST_LEFT
from suffice.statistics.statistic import ROUNDING

# If no variance changes by a larger share, the square of this share is a rounding error.
NEAR = 1e-8

# The inverse of the square of a smaller variance overflows.
SQUARED = 1e-150


@dataclass(frozen=True)
class GaussianLeftOut(LeftOut):
    """Gaussians estimated by maximum likelihood, each class of at least one row.

    Without a row, only its own class has another mean and variance, m2 / (n − ddof). All classes have another floor,
    ``var_smoothing`` times the largest variance of a column over all classes. No variance is less than ``least``. If
    there is a ``function``, moments are those of a function of the numbers.
    """

    moments: Moments
    var_smoothing: float
    ddof: float
    least: float
    function: Function | None = None

    @cached_property
    def _arrays(self) -> tuple[Array, ...]:
        """The arrays of the kernel: the moments of each class and of all, variances, settings and limits."""
        moments, pooled = self.moments, self.moments.pooled()
        pairs = [(getattr(moments, name), getattr(pooled, name)) for name in ("n", "mean", "tail", "m2")]
        width = moments.mean.shape[1]
        lines = [np.concatenate([np.broadcast_to(each, (len(each), width)) for each in pair]) for pair in pairs]
        rows = moments.n - self.ddof
        variance = moments.m2 / np.where(rows > 0, rows, 1.0)
        floor = self.var_smoothing * (pooled.m2 / pooled.n).max()
        spread = np.maximum(variance + floor, self.least)
        constants = np.array([np.log(spread).sum(axis=1), (1 / spread).sum(axis=1)])
        settings = np.array([self.var_smoothing, self.ddof, self.least, ROUNDING, LEAST_LEFT])
        least = spread.min()
        limits = np.array([variance.min(), variance.max(), floor, NEAR * least if least > SQUARED else -1.0])
        return *lines, variance, 1 / spread, constants, settings, limits

    def score(self, part: Part) -> tuple[Array, Array]:
        part = part if self.function is None else self.function.map_part(part)
        *arrays, limits = self._arrays
        if part.block.gaps:  # sums of all columns are of no use
            limits = np.array([*limits[:3], -1.0])
        shape = len(part.codes), len(self.moments.mean)
        scores, exact, start = np.zeros(shape), np.zeros(shape[0], np.bool_), 0
        for x, codes, weights in part.pieces():
            here, work = slice(start, start := start + len(x)), 4 * x.size * shape[1]
            leave_out.add_gaussians(x, codes, weights, *arrays, limits, scores[here], exact[here], work=work)
        return scores, exact
