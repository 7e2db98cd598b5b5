"""One row of an explanation: the two classes that are compared, and the evidence for one of them."""

from typing import Any

import numpy as np

from suffice.plots import Array, class_pair


def row_classes(explanation: Any, row: int, label: Any, against: Any) -> tuple[int, int]:
    """Return the places of the class that evidence speaks for and of the class it is compared with."""
    if not hasattr(explanation, "contributions"):
        raise TypeError(f"this plot is drawn of an explanation, model.explain(X), not of {type(explanation).__name__}")
    if not 0 <= row < len(explanation):
        raise ValueError(f"row={row!r} is not among the {len(explanation)} rows that are explained")
    return class_pair(explanation.classes, label, against, explanation.log_proba[row])


def row_nats(explanation: Any, row: int, label: int, against: int) -> Array:
    """Return the evidence of each feature, log p(x | label) − log p(x | against)."""
    mine, other = explanation.contributions[row, label], explanation.contributions[row, against]
    both = np.isneginf(mine) & np.isneginf(other)  # a value that both classes exclude favours neither
    return np.asarray(np.where(both, 0.0, mine - np.where(both, 0.0, other)))


def clip_infinite(nats: Array) -> Array:
    """Return the evidence with infinite values replaced by values larger than the sum of all others."""
    finite = np.isfinite(nats)
    end = 1.0 + 1.2 * float(np.abs(nats[finite]).sum())
    return np.where(finite, nats, np.where(nats > 0, end, -end))
