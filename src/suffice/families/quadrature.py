"""Quadrature: averages over the posterior of one positive parameter that has no closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from suffice.schema import Array

# Nodes of the trapezoidal rule, and the range that they cover, in deviations about the mode. The rule converges
# exponentially for densities that fall off at both ends.
NODES, REACH = 97, 12.0

# The step of the difference from which the curvature at the mode is taken.
STEP = 1e-3


@dataclass(frozen=True)
class Averages:
    """Nodes of a parameter and the logarithms of their weights, [node, …], which sum to 1; and log ∫."""

    nodes: Array
    log_weights: Array
    log_integral: Array

    def mean(self, values: Array) -> Array:
        """Return the average of values at the nodes."""
        return np.asarray((np.exp(self.log_weights) * values).sum(axis=0))

    def draw(self, rng: np.random.Generator) -> Array:
        """Return a random parameter for each entry, by linear interpolation of the distribution function."""
        below = np.cumsum(np.exp(self.log_weights), axis=0)
        shares = rng.random(below.shape[1:]) * below[-1]
        place = np.minimum((below < shares).sum(axis=0), len(below) - 1)[None]
        before = np.where(place > 0, np.take_along_axis(below, np.maximum(place - 1, 0), axis=0), 0.0)
        within = (shares - before) / np.maximum(np.take_along_axis(below, place, axis=0) - before, 1e-300)
        low = np.take_along_axis(self.nodes, np.maximum(place - 1, 0), axis=0)
        high = np.take_along_axis(self.nodes, place, axis=0)
        return np.asarray((low + within * (high - low))[0])


def average(log_density: Callable[[Array], Array], mode: Array) -> Averages:
    """Return nodes and weights for averages over a parameter θ > 0 with this log density, up to a constant.

    The integral is over t = log θ, where the density has a factor θ. ``mode`` is near the maximum in θ; the maximum in
    t is found from it by Newton's steps.
    """

    def log_f(t: Array) -> Array:
        return log_density(np.exp(t)) + t

    t = np.log(mode)
    for _ in range(12):
        middle, left, right = log_f(t), log_f(t - STEP), log_f(t + STEP)
        slope, bend = (right - left) / (2 * STEP), (right - 2 * middle + left) / STEP**2
        step = np.where(bend < 0, -slope / np.where(bend < 0, bend, -1.0), np.sign(slope))
        t = t + np.clip(step, -1.0, 1.0)
    bend = (log_f(t + STEP) - 2 * log_f(t) + log_f(t - STEP)) / STEP**2
    deviation = 1 / np.sqrt(np.maximum(-bend, 1e-2))
    offsets = np.linspace(-REACH, REACH, NODES).reshape(-1, *(1,) * t.ndim)
    nodes = t + offsets * deviation
    logs = log_f(nodes) + np.log(deviation * (2 * REACH / (NODES - 1)))
    # relative to the greatest: the logarithm for weights of 1e26 has no digits left for the number of terms
    greatest = logs.max(axis=0)
    rest = logsumexp(logs - greatest, axis=0)
    return Averages(np.exp(nodes), logs - greatest - rest, np.asarray(greatest + rest))
