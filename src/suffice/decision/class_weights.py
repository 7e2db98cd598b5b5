"""Weights of classes: factors that multiply the weights of their rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice.schema import Array


def check_class_weight(class_weight: Any, classes: Array) -> None:
    """Raise if a weight is that of an unknown class, or not a finite number from 0 up."""
    if not isinstance(class_weight, Mapping):
        return
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ValueError(
            f"class_weight names {unknown[0]!r}, which is not a class; there are {', '.join(map(repr, labels))}"
        )
    factors = np.array(list(class_weight.values()), np.float64)
    if not np.isfinite(factors).all() or (factors < 0).any():
        raise ValueError(f"class_weight must be finite and not negative, not {class_weight!r}")


def class_factors(class_weight: Any, classes: Array, class_count: Array) -> Array:
    """Return the factor of each class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        The weight of each class; a class that is not in the dictionary has the weight 1. "balanced" gives all classes
        that have rows the same total weight, and leaves the weight of all rows as it is.
    classes : array of shape (n_classes,)
        Labels.
    class_count : array of shape (n_classes,)
        The total weight of the rows of each class.

    Examples
    --------
    >>> class_factors("balanced", np.array(["a", "b"]), np.array([3.0, 1.0])).round(3).tolist()
    [0.667, 2.0]
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, Mapping):
        return np.array([class_weight.get(label, 1.0) for label in classes.tolist()], np.float64)
    has_rows = class_count > 0
    balanced = class_count.sum() / (max(has_rows.sum(), 1) * np.where(has_rows, class_count, 1.0))
    return np.where(has_rows, balanced, 1.0)


def weight_classes(class_weight: Any, classes: Array, codes: Array, weights: Array | None) -> Array | None:
    """Return the weight of each row times the weight of its class; None if all are 1.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        The weight of each class; a class that is not in the dictionary has the weight 1. "balanced" gives all classes
        the same total weight, and leaves the weight of all rows as it is.
    classes : array of shape (n_classes,)
        Labels.
    codes : array of shape (n_rows,)
        The class of each row.
    weights : array of shape (n_rows,) or None
        The weight of each row.

    Examples
    --------
    >>> weight_classes("balanced", np.array(["a", "b"]), np.array([0, 0, 0, 1]), None).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    if class_weight is None:
        return weights
    check_class_weight(class_weight, classes)
    totals = np.bincount(codes, weights, minlength=len(classes)).astype(np.float64)
    if isinstance(class_weight, str) and (totals == 0).any():
        label = classes.tolist()[int(np.argmin(totals))]
        raise ValueError(f'class_weight="balanced" needs rows of every class, and {label!r} has a weight of 0')
    factors = class_factors(class_weight, classes, totals)
    return np.asarray(factors[codes] if weights is None else weights * factors[codes])
