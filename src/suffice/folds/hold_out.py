"""Hold rows out: predict each row by a model that was learned without its fold, to calibrate probabilities."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, indexable

from suffice.data.row_keys import row_keys
from suffice.decision.class_weights import class_factors
from suffice.decision.reliability import Reliability
from suffice.folds.assessment import assess_predictions
from suffice.folds.fold_scores import LabelledRows
from suffice.folds.held_out import FitFunction, open_rows, predict_held_out
from suffice.folds.splits import DealtRows, deal_rows
from suffice.recipe import Recipe
from suffice.schema import Array

FOLDS = 10


@dataclass(frozen=True)
class HeldOut:
    """Rows that were held out, and their predictions.

    Attributes
    ----------
    classes : array [class]
        The labels.
    log_proba : array [row, class]
        log P(class | x), by a model that has not learned the row.
    codes, fold, weights : arrays [row]
        The classes of the rows, their folds, and their weights.
    """

    classes: Array
    log_proba: Array
    codes: Array
    fold: Array
    weights: Array

    def weigh_classes(self, class_weight: Any) -> "HeldOut":
        """Return the rows with the weights of their classes."""
        totals = np.bincount(self.codes, self.weights, minlength=len(self.classes)).astype(np.float64)
        return replace(self, weights=self.weights * class_factors(class_weight, self.classes, totals)[self.codes])

    def measure(self) -> dict[str, float]:
        """Return the number of rows, and the quality of their predictions."""
        rows, weights = assess_predictions(self.log_proba, self.codes), self.weights
        means = {"accuracy": rows.right, "log_loss": rows.log_loss, "brier": rows.brier}
        found = {name: float(np.average(values, weights=weights)) for name, values in means.items()}
        error = Reliability.of(rows.confidence, rows.right, weights).error
        return {"rows": float(weights.sum()), **found, "calibration_error": error}


def hold_out(learner: Recipe | FitFunction, recipe: Recipe, X: Any, y: Any, sample_weight: Any) -> HeldOut:
    """Return the predictions of rows in up to ten folds, as `deal_rows` deals them.

    A row whose class no other fold has is left out, since its model does not know the class. So the result may have
    no rows.

    Parameters
    ----------
    learner : Recipe or fit function
        What is learned without a fold.
    recipe : Recipe
        How the rows are read.
    X, y, sample_weight : as in ``fit``
        The rows, their labels and weights.
    """
    rows, dealt = deal_labelled_rows(recipe, X, y, sample_weight)
    classes, codes, fold = len(rows.classes), rows.codes, dealt.fold_of
    log_proba = np.empty((len(codes), classes))
    if dealt.splits:
        for prediction in predict_held_out(learner, rows.X, rows.y, dealt.splits, rows.weights, rows.classes):
            log_proba[prediction.split.test] = prediction.log_proba
    counts = np.bincount(fold * classes + codes, minlength=FOLDS * classes).reshape(-1, classes)
    is_known = (counts.sum(axis=0) - counts)[fold, codes] > 0
    weights = np.ones(len(codes)) if rows.weights is None else rows.weights
    return HeldOut(rows.classes, *(each[is_known] for each in (log_proba, codes, fold, weights)))


def deal_labelled_rows(recipe: Recipe, X: Any, y: Any, sample_weight: Any) -> tuple[LabelledRows, DealtRows]:
    """Return the rows that are dealt to folds, each as often as it is in a fold, and how they are dealt."""
    opened, target = open_rows(recipe, X, y, sample_weight)
    dealt = deal_rows(row_keys(opened), target.codes, target.weights, FOLDS)
    codes = target.codes[dealt.rows]
    if not np.array_equal(dealt.rows, np.arange(len(target.codes))):
        X = _safe_indexing(*indexable(X), dealt.rows)
    return LabelledRows(X, target.classes[codes], target.classes, codes, dealt.weights), dealt
