"""Costs: what it costs to say one class where another is true, and the right to say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from suffice.priors import numbers
from suffice.schema import Array


def cost_matrix(costs: Any, classes: Array) -> Array:
    """Return costs [true class, said class], from an array or {(true, said): cost}.

    A pair that is not named costs 1, and nothing where both are the same.

    >>> cost_matrix({("ham", "spam"): 10}, np.array(["ham", "spam"])).tolist()
    [[0.0, 10.0], [1.0, 0.0]]
    """
    labels, count = classes.tolist(), len(classes)
    if isinstance(costs, Mapping):
        matrix = 1.0 - np.eye(count)
        for pair, cost in costs.items():
            if not (isinstance(pair, tuple) and len(pair) == 2 and all(label in labels for label in pair)):
                raise ValueError(f"costs={{…}} names {pair!r}, which is no pair (true class, said class) of {labels}")
            if isinstance(cost, bool) or not isinstance(cost, Real):
                raise ValueError(f"costs={{…}} says {cost!r} of {pair!r}, which is no number")
            matrix[labels.index(pair[0]), labels.index(pair[1])] = cost
    else:
        matrix = numbers(costs, "costs")
    if matrix.shape != (count, count):
        raise ValueError(
            f"costs must be {count} by {count}, a line for each true class and a column for each that may be said "
            f"({', '.join(map(repr, labels[:6]))}{', …' if count > 6 else ''}), not of shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite numbers")
    return matrix


def cheapest(log_posterior: Array, costs: Array) -> Array:
    """Return the code of the class that costs least to say, Σ P(true)·cost[true, said], the first of equals."""
    return np.asarray((np.exp(log_posterior) @ costs).argmin(axis=1))


def rejected(labels: Array, log_posterior: Array, below: float, label: Any) -> Array:
    """Return the labels, with another where no class is as probable as that."""
    if isinstance(below, bool) or not isinstance(below, Real) or not 0 <= below <= 1:
        raise ValueError(f"reject_below is a probability, from 0 to 1, not {below!r}")
    unsure = log_posterior.max(axis=1) < np.log(max(below, 1e-300))
    plain = isinstance(label, (str, int, float, np.generic)) and np.asarray(label).dtype.kind == labels.dtype.kind
    found = labels.astype(np.result_type(labels, np.asarray(label))) if plain else labels.astype(object)
    for row in np.flatnonzero(unsure):
        found[row] = label
    return found
