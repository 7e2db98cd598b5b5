"""Learners of an evaluation: the recipe of a classifier that learns only sums, or a function that fits a copy."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from suffice.classifiers.tally_classifier import TallyClassifier
from suffice.folds.held_out import FitFunction, Prediction, predict_held_out
from suffice.folds.leave_one_out import predict_left_out
from suffice.folds.splits import FoldSplit, Split, repeats_rows
from suffice.progress import Progress
from suffice.recipe import Recipe
from suffice.schema import Array
from suffice.statistics import Tally


def additive_recipe(model: Any) -> Recipe | None:
    """Return the recipe of a classifier that learns nothing but sums; None for any other model."""
    return model.additive_recipe() if isinstance(model, TallyClassifier) else None


def learner_of(model: Any, splits: Sequence[Split]) -> Recipe | FitFunction:
    """Return the recipe of a model if its folds can be computed as sums, else a function that fits a copy of it."""
    recipe = None if repeats_rows(list(splits)) else additive_recipe(model)
    return partial(fit_copy, model) if recipe is None else recipe


def fit_copy(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Return a copy of a classifier, fitted on these rows."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return clone(model).fit(X, y, **weights)


def predict_splits(
    model: Any, X: Any, y: Any, splits: Sequence[Split], sample_weight: Any, classes: Array
) -> Iterator[Prediction]:
    """Yield the predictions of each split, with a column for each class."""
    return predict_held_out(learner_of(model, splits), X, y, splits, sample_weight, classes)


def fitted_model(model: Any, learned: Any) -> Any:
    """Return the classifier that made a prediction: a fitted one, or the model with the tally of a fold."""
    return model.with_tally(learned) if isinstance(learned, Tally) else learned


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
