"""Settings that take effect when a model is fitted: as text, which files hold and which can be compared later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def settled(value: Any) -> str:
    """Return a setting as text, in which NumPy's numbers are Python's: a file turns the ones into the others.

    >>> settled({np.int64(0): np.float64(0.5)}) == settled({0: 0.5})
    True
    """
    return repr(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):  # a prior
        return type(value).__name__, [_plain(getattr(value, each.name)) for each in fields(value)]
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
