"""Choosing: the structure and the prior that predict best what was not learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.data import Sheet, SparseSheet, encode, weights_of
from suffice.folds.shared_pass import scores_of
from suffice.folds.splits import most_folds
from suffice.structures.averaged import MOST_COLUMNS

PRIORS = (0.05, 0.5, 5.0)


def structures_for(sheet: Sheet) -> tuple[str, ...]:
    """Return the structures that a table of so many columns has room for."""
    room = not isinstance(sheet, SparseSheet) and sheet.shape[1] <= MOST_COLUMNS
    return ("naive", "tree", "averaged") if room else ("naive",)


def best_of(models: Sequence[Any], X: Any, y: Any, sample_weight: Any) -> int | None:
    """Return which model has the least log-loss on rows that it has not learned; None if rows are too few to tell."""
    classes, codes = encode(y, owner=type(models[0]).__name__)
    splits = most_folds(codes)
    if splits is None:
        return None
    weights = weights_of(sample_weight, len(codes))
    scores = scores_of(models, X, y, codes, classes, weights, splits)
    return int(np.argmin([its.mean(its.assessment.log_loss, weights) for its in scores]))
