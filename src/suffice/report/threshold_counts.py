"""Counts at thresholds: how many rows of a class, and of all others, have at least a probability of that class."""

from typing import Any

import numpy as np

from suffice.schema import Array

GRID = np.linspace(0, 1, 101)  # the thresholds of the slider
CURVE_POINTS = 200


def count_at_thresholds(proba: Array, truth: Array) -> list[dict[str, Any]]:
    """Return the counts of each class against all others, from probabilities [row, class] and codes of classes.

    ``true`` and ``false`` are the rows of the class and of other classes whose probability reaches a threshold: those
    of the slider, and those of the curves in descending order.
    """
    return [_count_class(proba[:, k], truth == k) for k in range(proba.shape[1])]


def _count_class(score: Array, is_class: Array) -> dict[str, Any]:
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)  # the last row of each distinct score
    true = np.cumsum(is_class[order])[ends]
    false = ends + 1 - true
    found: dict[str, Any] = {"positives": int(true[-1]), "negatives": int(false[-1])}
    for name, rows in (("true", is_class), ("false", ~is_class)):
        ascending = np.sort(score[rows])
        found[f"grid_{name}"] = (len(ascending) - np.searchsorted(ascending, GRID - 1e-12)).tolist()
    if not true[-1] or not false[-1]:
        return found | {"auc": None, "average_precision": None, "true": [], "false": []}
    recall, fallout = true / true[-1], false / false[-1]
    places = np.unique(np.searchsorted(recall + fallout, np.linspace(0, 2, CURVE_POINTS)).clip(0, len(ends) - 1))
    return found | {
        "auc": float(np.trapezoid(np.append(0.0, recall), np.append(0.0, fallout))),
        "average_precision": float((np.diff(recall, prepend=0.0) * true / (true + false)).sum()),
        "true": true[places].tolist(),
        "false": false[places].tolist(),
    }
