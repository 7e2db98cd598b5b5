"""Calibration of a classifier from its predictions of held-out rows."""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from suffice.data import encode, weights_of
from suffice.decision.calibration import Calibration
from suffice.folds.held_out import FitFunction, predict_held_out
from suffice.folds.splits import shuffled_folds
from suffice.recipe import Recipe


def fit_calibration(method: str, learner: Recipe | FitFunction, X: Any, y: Any, sample_weight: Any) -> Calibration:
    """Return the calibration fitted to out-of-fold predictions of a recipe, or of a fit function."""
    labels, codes = encode(y, owner="calibrate")
    weights = weights_of(sample_weight, _num_samples(X))
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)  # rows of weight 0 belong to no fold
        return fit_calibration(method, learner, _safe_indexing(X, kept), _safe_indexing(y, kept), weights[kept])
    splits = shuffled_folds(codes)
    if splits is None:
        counts = np.bincount(codes)
        raise ValueError(
            f"calibrate={method!r} needs at least two rows of each class, to hold one out: class "
            f"{labels.tolist()[int(counts.argmin())]!r} has 1 sample; leave it out, or set calibrate=None"
        )
    log_proba, fold = np.empty((len(codes), len(labels))), np.empty(len(codes), np.intp)
    for place, prediction in enumerate(predict_held_out(learner, X, y, splits, sample_weight, labels)):
        log_proba[prediction.split.test], fold[prediction.split.test] = prediction.log_proba, place
    return Calibration.of(method, labels, log_proba, codes, fold, weights)
