"""What numbers may be hyperparameters, and how many of them there must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.schema import Array

# Hyperparameters beyond this, or below its inverse, would overflow where they are multiplied.
LARGEST = 1e100


def numbers(value: Any, what: str) -> Array:
    """Return finite numbers as an array, or say what is none."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number or an array of numbers, not {value!r}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{what} must be finite, not {array[~np.isfinite(array)].flat[0]:g}")
    return array


def positive(value: Any, what: str, zero: bool = False) -> Array:
    """Return numbers more than 0 (or 0), and not so large or small that their squares are none."""
    array = numbers(value, what)
    wrong = (array < 0) if zero else (array <= 0)
    if wrong.any():
        raise ValueError(
            f"{what} must be finite and {'0 or more' if zero else 'more than 0'}, not {array[wrong].flat[0]:g}"
        )
    wrong = (array > LARGEST) | (array < 1 / LARGEST) & (array > 0) & (not zero)
    if wrong.any():
        raise ValueError(f"{what} must lie between {1 / LARGEST:g} and {LARGEST:g}, not be {array[wrong].flat[0]:g}")
    return array


def per_column(value: Any, count: int, what: str) -> Array:
    """Return one number a column, from one for all or one for each."""
    array = numbers(value, what)
    if array.ndim and array.shape != (count,):
        raise ValueError(f"{what} has {array.size} entries, and there are {count} columns: give one, or one a column")
    return np.array(np.broadcast_to(array, count))


def checked_sums(totals: Any, what: str) -> Any:
    """Return sums of probabilities that are 1 but for rounding, or raise with the sum."""
    worst = np.ravel(totals)[np.argmax(np.abs(np.ravel(totals) - 1))]
    if abs(worst - 1) > 1e-8:
        raise ValueError(f"{what} must sum to 1, and sums to {worst:g}")
    return totals
