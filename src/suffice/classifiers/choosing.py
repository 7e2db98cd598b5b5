"""Choosing: the structure and the prior that predict best what was not learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.structures.averaged import MOST_COLUMNS
from suffice.tables import encode
from suffice.validation.comparing import scores_of
from suffice.validation.splitting import most_folds

PRIORS = (0.05, 0.5, 5.0)


def structures_for(X: Any) -> tuple[str, ...]:
    """Return the structures that a table of so many columns has room for."""
    shape = getattr(X, "shape", None)
    columns = shape[1] if shape is not None and len(shape) == 2 else len(X[0])
    dense = not hasattr(X, "tocsr")
    return ("naive", "tree", "averaged") if dense and columns <= MOST_COLUMNS else ("naive",)


def best_of(models: Sequence[Any], X: Any, y: Any, sample_weight: Any) -> int | None:
    """Return which model has the least log-loss on rows that it has not learned; None if rows are too few to tell."""
    classes, codes = encode(y, owner=type(models[0]).__name__)
    splits = most_folds(codes)
    if splits is None:
        return None
    scores = scores_of(models, X, y, codes, classes, sample_weight, splits)
    weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    return int(np.argmin([its.mean(its.assessment.log_loss, weights) for its in scores]))
