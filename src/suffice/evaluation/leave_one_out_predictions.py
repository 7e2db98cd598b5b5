"""Leave-one-out: each row predicted by a model of all the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.folds.held_out import predictions
from suffice.folds.training_sums import Fold
from suffice.progress import Progress
from suffice.schema import Array


def leave_one_out(
    model: Any, X: Any, labels: Array, sample_weight: Any, classes: Array, progress: bool = True
) -> Array:
    """Return log P(class given x) of each row, by a model that has learned all rows but that one.

    In closed form where columns are independent given the class. Where they are not, and for rows whose
    absence changes more than numbers (the last row of a class or of a level), each row's model is read off
    the sums of the others.
    """
    rows = len(labels)
    log_proba, todo = np.empty((rows, len(classes))), np.ones(rows, bool)
    with Progress("leave-one-out", rows, progress) as line:
        if getattr(model, "_closed_form", False):
            model._check(None)
            for some, found, exact in model._one_left_out(X, labels, sample_weight):
                log_proba[some], todo[some] = found, ~exact
                line.say(some.stop)
        left = np.flatnonzero(todo)
        if len(left):
            fold_of = np.full(rows, len(left))
            fold_of[left] = np.arange(len(left))
            splits = [Fold(fold_of, place) for place in range(len(left))]
            for prediction in predictions(model, X, labels, splits, sample_weight, classes):
                log_proba[prediction.split.test] = prediction.log_proba
                line.say(rows - len(left) + prediction.split.place)  # type: ignore[union-attr]
    return log_proba
