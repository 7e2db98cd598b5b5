"""Learners of an evaluation: the recipe of a classifier that learns only sums, or a function that fits a copy."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from sklearn.base import clone

from suffice.classifiers.tally_classifier import TallyClassifier
from suffice.folds.held_out import FitFunction, Prediction, predict_held_out
from suffice.folds.splits import Split, repeats_rows
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
