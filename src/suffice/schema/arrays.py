"""Arrays that cannot be written to, and stretches of them."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@cache
def field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of a dataclass's fields, which are asked for with every one that is made."""
    return tuple(field.name for field in fields(kind))


class Frozen:
    """A dataclass whose arrays cannot be written to, even after it has travelled as a pickle."""

    def __post_init__(self) -> None:
        own = self.__dict__
        for name in field_names(type(self)):  # type: ignore[arg-type]
            value = own[name]
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.view()
                value.flags.writeable = False
                own[name] = value

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


def starts_of(sizes: Array) -> Array:
    """Return where each of several stretches starts that lie side by side.

    >>> starts_of(np.array([3, 2, 4])).tolist()
    [0, 3, 5]
    """
    return (np.cumsum(sizes) - sizes).astype(np.intp)


def by_group(reduction: np.ufunc, values: Array, starts: Array) -> Array:
    """Return a reduction of each stretch of cells, [class, stretch] or [row, class, stretch]; of an empty one, 0.

    >>> by_group(np.add, np.array([[1.0, 2.0, 3.0]]), np.array([0, 2, 2])).tolist()
    [[3.0, 0.0, 3.0]]
    """
    empty = np.diff([*starts, values.shape[-1]]) == 0
    if not empty.any():
        return np.asarray(reduction.reduceat(values, starts, axis=-1))
    reduced = np.zeros((*values.shape[:-1], len(starts)))
    if not empty.all():
        reduced[..., ~empty] = reduction.reduceat(values, starts[~empty], axis=-1)
    return reduced
