"""Arrays: read-only fields of dataclasses, reductions over groups of adjacent cells, and comparisons with ties."""

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Numbers that differ by less than this share are taken to be equal where one of them is chosen: their rounding errors
# depend on the order of rows, and on what was forgotten.
TIE = 1e-9


@cache
def field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass; cached, because it is called for every new statistic."""
    return tuple(field.name for field in fields(kind))


class Frozen:
    """Base of dataclasses whose arrays are read-only, also after unpickling; pickles hold the fields and no caches."""

    def __post_init__(self) -> None:
        own = self.__dict__
        for name, value in own.items():  # of which no key is new
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.view()
                value.flags.writeable = False
                own[name] = value

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in field_names(type(self))}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


def starts_of(sizes: Array) -> Array:
    """Return the start of each of several adjacent groups with these sizes.

    >>> starts_of(np.array([3, 2, 4])).tolist()
    [0, 3, 5]
    """
    return (np.cumsum(sizes) - sizes).astype(np.intp)


def by_group(reduction: np.ufunc, values: Array, starts: Array) -> Array:
    """Reduce each group of adjacent cells along the last axis; the result of an empty group is 0.

    >>> by_group(np.add, np.array([[1.0, 2.0, 3.0]]), np.array([0, 2, 2])).tolist()
    [[3.0, 0.0, 3.0]]
    """
    empty = np.diff(starts, append=values.shape[-1]) == 0
    if not empty.any():
        return np.asarray(reduction.reduceat(values, starts, axis=-1))
    reduced = np.zeros((*values.shape[:-1], len(starts)))
    if not empty.all():
        reduced[..., ~empty] = reduction.reduceat(values, starts[~empty], axis=-1)
    return reduced


def round_ties(weights: Array, axis: int | None = None) -> Array:
    """Return weights rounded to a billionth of the largest: rounding errors must not decide between equal ones.

    With an ``axis`` they are compared along it. Weights that are −∞ there stay so.

    >>> round_ties(np.array([0.1 + 0.2, 0.3, 0.6])).tolist()
    [0.5, 0.5, 1.0]
    """
    if axis is None:
        largest = float(np.abs(weights).max(initial=0.0))
        return np.round(weights / largest, 9) if 0 < largest < np.inf else weights
    sizes = np.where(weights > -np.inf, np.abs(weights), 0.0).max(axis=axis, keepdims=True)
    return np.round(weights / np.where(sizes > 0, sizes, 1.0), 9)
