"""Settings of classifiers as values that can be compared: in memory, and as the text that model files hold."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def comparable(value: Any) -> Any:
    """Return a setting in a form that ``==`` compares by content, arrays included."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if getattr(value, "is_comparable", False):
        return value
    if is_dataclass(value) and not isinstance(value, type):  # a prior, a structure, a Text
        return (type(value), *(comparable(getattr(value, each.name)) for each in fields(value)))
    if isinstance(value, Mapping):
        return tuple((key, comparable(each)) for key, each in value.items())
    array = np.asarray(value)
    if array.dtype.kind != "O":
        return array.shape, array.tobytes()
    # the object itself, not its id: the id of a deleted object may be reused
    return tuple(comparable(each) for each in array) if array.ndim else value


def setting_text(value: Any) -> str:
    """Return a setting as text in which NumPy's numbers are Python's, as they are after loading a model file.

    >>> setting_text({np.int64(0): np.float64(0.5)}) == setting_text({0: 0.5})
    True
    """
    return repr(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if getattr(value, "is_comparable", False):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, [_plain(getattr(value, each.name)) for each in fields(value)]
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
