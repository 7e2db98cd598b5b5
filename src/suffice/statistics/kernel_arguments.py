"""Arguments of kernels that depend on the type of the numbers."""

from typing import Any

import numpy as np

from suffice.blocks import Block


def comparable(threshold: float, dtype: np.dtype[Any]) -> Any:
    """Return the threshold in the type of the numbers, so that they are compared without conversion.

    >>> comparable(127.5, np.dtype(np.uint8))
    np.uint8(127)
    """
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return dtype.type(threshold)
    bounds = np.iinfo(dtype)
    within = np.isfinite(threshold) and bounds.min <= int(np.floor(threshold)) <= bounds.max
    return dtype.type(int(np.floor(threshold))) if within else float(threshold)


def finite_check(block: Block) -> Any:
    """Return the argument that makes a kernel check for NaN and infinity; None for integers, which need no check."""
    return block.dtype.type(0) if block.dtype.kind == "f" else None
