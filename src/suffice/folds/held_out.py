"""Predictions of held-out rows: from sums where a recipe learns nothing but sums, otherwise by refitting."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, indexable

from suffice.data import Target, as_labels, weights_of
from suffice.folds.fold_tallies import FoldTally, fold_tallies
from suffice.folds.splits import Split
from suffice.parallel import map_threads
from suffice.pooled_model import AnyModel
from suffice.recipe import Recipe
from suffice.schema import Array
from suffice.statistics import Tally

FOLDS_AT_ONCE = 16

# Fits on rows, labels and weights (or None); returns an object with classes_ and predict_log_proba or predict_proba.
FitFunction = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Prediction:
    """The predictions of a split's test rows: log P(class | x), and the code of the most probable class.

    ``learned`` is the tally of the training rows, or the result of a fit function.
    """

    split: Split
    learned: Any
    log_proba: Array
    codes: Array
    fit_time: float
    predict_time: float


def open_rows(recipe: Recipe, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Target]:
    """Return X and y as a recipe reads them, after checking their form."""
    opened = recipe.open(X)
    return opened, Target.of(opened.shape[0], y, sample_weight, None, recipe.owner)


def predict_held_out(
    learner: Recipe | FitFunction, X: Any, y: Any, splits: Sequence[Split], sample_weight: Any, classes: Array
) -> Iterator[Prediction]:
    """Yield the predictions of each split, with a column for each class."""
    if isinstance(learner, Recipe):
        return predict_by_sums(learner, X, y, splits, sample_weight, classes)
    return predict_by_refitting(learner, X, y, splits, sample_weight, classes)


def predict_by_sums(
    recipe: Recipe, X: Any, y: Any, splits: Sequence[Split], sample_weight: Any, classes: Array
) -> Iterator[Prediction]:
    """Yield the predictions of each split; the model of a fold is estimated from the sums of the other folds."""

    def predict(fold: tuple[FoldTally, AnyModel]) -> tuple[Array, Array, float]:
        rows, model = fold
        started = perf_counter()
        blocks = rows.test_blocks(recipe, model.columns)
        log_proba = in_columns(model.log_posterior(blocks), rows.tally.schema.classes, classes)
        return log_proba, log_proba.argmax(axis=1), perf_counter() - started

    started = perf_counter()
    opened, target = open_rows(recipe, X, y, sample_weight)
    for batch in _batch(fold_tallies(recipe, opened, target, splits)):
        # models are estimated in one thread: the many small Python steps would make threads wait for each other
        folds = [(fold, estimate_fold(recipe, fold.tally)) for fold in batch]
        fit_time = (perf_counter() - started) / len(batch)
        predictions = map_threads(predict, folds) if len(folds) > 1 else map(predict, folds)
        for (fold, _), (log_proba, codes, predict_time) in zip(folds, predictions, strict=True):
            yield Prediction(fold.split, fold.tally, log_proba, codes, fit_time, predict_time)
        started = perf_counter()


def estimate_fold(recipe: Recipe, tally: Tally) -> AnyModel:
    """Return the model of a fold, after checking that the recipe fits its classes."""
    laid_out = recipe.lay_out(tally)
    recipe.check(laid_out)
    return recipe.estimate(laid_out)


def _batch(folds: Iterator[FoldTally]) -> Iterator[list[FoldTally]]:
    """Yield a few folds at a time, each predicted by one thread; one by one where a fold uses all threads."""
    batch: list[FoldTally] = []
    for fold in folds:
        batch.append(fold)
        if len(batch) == FOLDS_AT_ONCE or any(columns.pairs for columns in fold.tally.schema.blocks):
            yield batch
            batch = []
    if batch:
        yield batch


def predict_by_refitting(
    fit: FitFunction, X: Any, y: Any, splits: Sequence[Split], sample_weight: Any, classes: Array
) -> Iterator[Prediction]:
    """Yield the predictions of each split by a model that is fitted on its training rows."""
    (X,) = indexable(X)  # sparse matrices of other formats than CSR have no rows to take
    labels = as_labels(y, "cross_validate")
    weights = weights_of(sample_weight, len(labels))
    for split in splits:
        started = perf_counter()
        rows = split.train
        fitted = fit(_safe_indexing(X, rows), labels[rows], None if weights is None else weights[rows])
        learned = perf_counter()
        test = _safe_indexing(X, split.test)
        if hasattr(fitted, "predict_log_proba"):
            predicted = fitted.predict_log_proba(test)
        else:
            with np.errstate(divide="ignore"):
                predicted = np.log(fitted.predict_proba(test))
        log_proba = in_columns(np.asarray(predicted), fitted.classes_, classes)
        times = (learned - started, perf_counter() - learned)
        yield Prediction(split, fitted, log_proba, log_proba.argmax(axis=1), *times)


def in_columns(log_proba: Array, seen: Array, classes: Array) -> Array:
    """Return log probabilities with a column for every class: −∞ for classes that were not in the training rows."""
    if len(seen) == len(classes):
        return log_proba
    wide = np.full((len(log_proba), len(classes)), -np.inf)
    wide[:, np.searchsorted(classes, seen)] = log_proba
    return wide
