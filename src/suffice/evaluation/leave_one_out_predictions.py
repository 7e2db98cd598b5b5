"""Leave-one-out: each row is predicted by a model of all other rows."""

from typing import Any

import numpy as np

from suffice.evaluation.learners import additive_recipe, predict_splits
from suffice.folds.leave_one_out import predict_left_out
from suffice.folds.splits import FoldSplit
from suffice.progress import Progress
from suffice.schema import Array


def leave_one_out(
    model: Any, X: Any, labels: Array, sample_weight: Any, classes: Array, progress: bool = True
) -> Array:
    """Return log P(class | x) of each row, by a model that has learned all rows but that one.

    This has a closed form if columns are independent given the class. Otherwise, and for the last row of a class or of
    a level, which is removed with its row, the sums of all other rows are taken.
    """
    rows = len(labels)
    log_proba, todo = np.empty((rows, len(classes))), np.ones(rows, bool)
    with Progress("leave-one-out", rows, progress) as line:
        recipe = additive_recipe(model)
        if recipe is not None and recipe.has_closed_leave_one_out:
            for chunk, predicted, exact in predict_left_out(recipe, X, labels, sample_weight):
                log_proba[chunk], todo[chunk] = predicted, ~exact
                line.say(chunk.stop)
        left = np.flatnonzero(todo)
        if len(left):
            fold_of = np.full(rows, len(left))
            fold_of[left] = np.arange(len(left))
            splits = [FoldSplit(fold_of, place) for place in range(len(left))]
            for prediction in predict_splits(model, X, labels, splits, sample_weight, classes):
                log_proba[prediction.split.test] = prediction.log_proba
                line.say(rows - len(left) + prediction.split.fold)  # type: ignore[union-attr]
    return log_proba
