"""Costs: decisions that minimise the expected cost of errors, and rejection of uncertain rows."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from suffice.priors import check_numbers
from suffice.schema import Array


def cost_matrix(costs: Any, classes: Array) -> Array:
    """Return costs [true class, predicted class], from an array or {(true, predicted): cost}.

    Pairs that are not named cost 1 if the classes differ, and 0 if they are the same.

    >>> cost_matrix({("ham", "spam"): 10}, np.array(["ham", "spam"])).tolist()
    [[0.0, 10.0], [1.0, 0.0]]
    """
    labels, count = classes.tolist(), len(classes)
    if isinstance(costs, Mapping):
        matrix = 1.0 - np.eye(count)
        for pair, cost in costs.items():
            if not (isinstance(pair, tuple) and len(pair) == 2 and all(label in labels for label in pair)):
                raise ValueError(
                    f"costs={{…}} names {pair!r}, which is not a pair (true class, predicted class) of {labels}"
                )
            if isinstance(cost, bool) or not isinstance(cost, Real):
                raise ValueError(f"costs={{…}} has {cost!r} for {pair!r}, which is not a number")
            matrix[labels.index(pair[0]), labels.index(pair[1])] = cost
    else:
        matrix = check_numbers(costs, "costs")
    if matrix.shape != (count, count):
        raise ValueError(
            f"costs must be {count} by {count}, a row for each true class and a column for each predicted class "
            f"({', '.join(map(repr, labels[:6]))}{', …' if count > 6 else ''}), not of shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite numbers")
    return matrix


def choose_least_cost(log_posterior: Array, costs: Array) -> Array:
    """Return the code of the class with the least expected cost, Σ P(true)·cost[true, predicted]."""
    return np.asarray((np.exp(log_posterior) @ costs).argmin(axis=1))


def reject_uncertain(labels: Array, log_posterior: Array, below: float, label: Any) -> Array:
    """Return the labels, with ``label`` in the rows where no class has a probability of at least ``below``."""
    if isinstance(below, bool) or not isinstance(below, Real) or not 0 <= below <= 1:
        raise ValueError(f"reject_below must be a probability from 0 to 1, not {below!r}")
    uncertain = log_posterior.max(axis=1) < np.log(max(below, 1e-300))
    same_kind = isinstance(label, (str, int, float, np.generic)) and np.asarray(label).dtype.kind == labels.dtype.kind
    result = labels.astype(np.result_type(labels, np.asarray(label))) if same_kind else labels.astype(object)
    for row in np.flatnonzero(uncertain):
        result[row] = label
    return result
