"""Cross-validation: every row is predicted by a model that has not learned it, at the cost of one fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from suffice.data import as_labels, encode, weights_of
from suffice.evaluation.learners import additive_recipe, fitted_model, learner_of, leave_one_out, predict_splits
from suffice.evaluation.metrics import calibration_errors, score_predictions
from suffice.folds.assessment import LEAST_LOG, assess_predictions
from suffice.folds.held_out import Prediction
from suffice.folds.splits import IndexSplit, check_weights, make_splits
from suffice.progress import Progress
from suffice.recipe import Recipe
from suffice.schema import Array


@dataclass(frozen=True)
class Scores:
    """The scorers of a cross-validation, and the rows with labels that they score."""

    model: Any
    scorers: dict[str, Any]
    X: Any
    labels: Array
    classes: Array
    codes: Array
    weights: Array | None

    def of_test_rows(self, prediction: Prediction) -> dict[str, float]:
        """Return the scores of the rows that a fold predicts."""
        return {name: self.of_fold(scorer, prediction) for name, scorer in self.scorers.items()}

    def of_each_row(self, scorer: Any, prediction: Prediction) -> Array | None:
        """Return the scores of single rows; None if a scorer needs several."""
        truth = self.codes[prediction.split.test]
        if isinstance(scorer, str) and scorer == "accuracy":
            return np.asarray(prediction.codes == truth, np.float64)
        if isinstance(scorer, str) and scorer == "neg_log_loss":
            return np.maximum(prediction.log_proba[np.arange(len(truth)), truth], LEAST_LOG)
        if isinstance(scorer, str) and scorer == "calibration_error":
            weights = self._weighting(prediction.split.test).get("sample_weight", np.ones(len(truth)))
            return calibration_errors(assess_predictions(prediction.log_proba, truth), weights)
        return None

    def of_fold(self, scorer: Any, prediction: Prediction) -> float:
        """Return the score of a fold; scikit-learn's scorers use the predictions that were made already."""
        rows, of_rows = prediction.split.test, self.of_each_row(scorer, prediction)
        if of_rows is not None:
            return float(np.average(of_rows, weights=self._weighting(rows).get("sample_weight")))
        if isinstance(scorer, str) or hasattr(scorer, "_score_func"):
            weights = self._weighting(rows).get("sample_weight")
            score = score_predictions(scorer, self.classes, prediction.log_proba, self.codes[rows], weights)
            return _as_number(score, scorer)
        self._check_callable(scorer, prediction.learned)
        return self._score(scorer, fitted_model(self.model, prediction.learned), _safe_indexing(self.X, rows), rows)

    def of_training_rows(self, prediction: Prediction) -> dict[str, float]:
        """Return the scores of the rows that a fold learns."""
        fitted, rows = fitted_model(self.model, prediction.learned), prediction.split.train
        known = _safe_indexing(self.X, rows)
        for scorer in self.scorers.values():
            if callable(scorer) and not hasattr(scorer, "_score_func"):
                self._check_callable(scorer, fitted)
        return {
            name: self._score(check_scoring(fitted, scorer), fitted, known, rows, scorer)
            for name, scorer in self.scorers.items()
        }

    def _weighting(self, rows: Array) -> dict[str, Array]:
        return {} if self.weights is None else {"sample_weight": self.weights[rows]}

    def _score(self, scorer: Any, fitted: Any, X: Any, rows: Array, shown: Any = None) -> float:
        """Return the score of rows that a fitted model predicts."""
        return _as_number(scorer(fitted, X, self.labels[rows], **self._weighting(rows)), shown or scorer)

    def _check_callable(self, scorer: Any, learned: Any) -> None:
        """Raise if a function cannot score: it needs a fitted model, and must accept weights if rows have any."""
        if learned is None:
            raise ValueError(
                f'scoring={_name_of(scorer)} needs a fitted model for each row, and cv="loo" has none; use the name of '
                "one of scikit-learn's scorers, or cv=LeaveOneOut()"
            )
        if self.weights is not None and not _takes_weights(scorer):
            raise ValueError(
                f"scoring={_name_of(scorer)} takes no sample_weight, but the rows have weights: let it accept them"
            )


def _as_number(score: Any, scorer: Any) -> float:
    """Return the result of a scorer as a float, or raise if it is not a number."""
    try:
        return float(score)
    except (TypeError, ValueError):
        raise ValueError(
            f"scoring={_name_of(scorer)} returns {score!r}, which is not a number; for several scores pass "
            "scoring={name: scorer}"
        ) from None


def _name_of(scorer: Any) -> str:
    return getattr(scorer, "__name__", repr(scorer))


def _takes_weights(scorer: Any) -> bool:
    """Return whether a function accepts ``sample_weight``, as far as its signature shows."""
    try:
        taken = signature(scorer).parameters
    except (TypeError, ValueError):  # not a Python function
        return True
    return "sample_weight" in taken or any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken.values())


def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Return how well a model predicts rows that it has not learned.

    One pass takes the sums of each fold. The model of a fold is estimated from the sum of the other folds, which
    equals fitting it again on their rows: levels and words that occur only in the fold are unknown to its model, and
    cut points are chosen from the other folds alone. Models that learn more than sums are fitted again for each fold:
    pools and trees (so `BayesClassifier()` with its default structure), mixtures, logistic regression,
    ``solver="svd"``, calibrated models, and classifiers of other libraries.

    Parameters
    ----------
    model : classifier
        The classifier; its settings are used, and it is not changed.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The labels.
    cv : int, "loo", splitter, or iterable of pairs (train, test), default=10
        The number of stratified folds, "loo" for leave-one-out, a splitter, or the row indices of each split.
    scoring : str, callable, list or dict, default=None
        One or several of scikit-learn's scorers, such as "roc_auc" or "f1_macro", or "calibration_error"; by default
        accuracy. If a fold lacks a class and so has no score, the score is NaN, with a warning.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, for splitters that keep groups together.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of each row, in learning and in scoring; a row of weight 2 counts as two rows.
    return_train_score : bool, default=False
        Whether to score the training rows, too.
    return_estimator : bool, default=False
        Whether to return each fold's model.
    return_indices : bool, default=False
        Whether to return the row indices of each split.
    progress : bool, default=True
        Whether to show progress on a terminal when it takes longer than a second.

    Returns
    -------
    results : dict
        As scikit-learn's: ``fit_time``, ``score_time``, ``test_score`` (or ``test_<name>``), with one entry for each
        fold. Also ``log_proba``, the out-of-fold log P(class | x) of each row, its columns ``classes``, ``predicted``
        (whether a row was in any test fold), and ``refitted`` (whether the model was fitted again for each fold).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB, cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> results = cross_validate(GaussianNB(), X, y, cv=5)
    >>> results["test_score"].round(2).tolist(), results["log_proba"].shape
    ([0.93, 0.97, 0.93, 0.93, 1.0], (150, 3))
    """
    if isinstance(model, type):
        raise TypeError(f"{model.__name__} is a class; pass an instance: {model.__name__}()")
    labels = as_labels(y, type(model).__name__)
    classes, codes = encode(labels, owner=type(model).__name__)
    scores = Scores(model, _name_scorers(scoring), X, labels, classes, codes, weights_of(sample_weight, len(labels)))
    if isinstance(cv, str) and cv == "loo":
        if return_train_score or return_estimator or return_indices:
            raise ValueError('cv="loo" fits no models that could be returned or scored: use cv=LeaveOneOut() instead')
        return _leave_one_out(scores, sample_weight, progress)
    splits = make_splits(cv, X, y, groups)
    check_weights(splits, scores.weights)
    results: dict[str, Any] = {"fit_time": [], "score_time": []}
    log_sum, times = np.full((len(labels), len(classes)), -np.inf), np.zeros(len(labels), np.intp)
    with Progress("cross-validation", len(splits), progress) as line:
        for done, prediction in enumerate(predict_splits(model, X, y, splits, sample_weight, classes)):
            line.say(done)
            found: dict[str, Any] = {"fit_time": prediction.fit_time, "score_time": prediction.predict_time}
            found |= {f"test_{name}": score for name, score in scores.of_test_rows(prediction).items()}
            if return_train_score:
                found |= {f"train_{name}": score for name, score in scores.of_training_rows(prediction).items()}
            if return_estimator:
                found["estimator"] = fitted_model(model, prediction.learned)
            for name, value in found.items():
                results.setdefault(name, []).append(value)
            test = prediction.split.test
            log_sum[test] = (
                np.logaddexp(log_sum[test], prediction.log_proba) if times[test].any() else prediction.log_proba
            )
            times[test] += 1
    results = {name: values if name == "estimator" else np.array(values) for name, values in results.items()}
    if return_indices:
        results["indices"] = {name: [getattr(split, name) for split in splits] for name in ("train", "test")}
    # a row that was predicted several times gets the mean probability
    log_proba = log_sum - np.log(np.maximum(times, 1))[:, None] if times.max() > 1 else log_sum
    results |= {"log_proba": log_proba, "classes": classes, "predicted": times > 0}
    return results | {"refitted": not isinstance(learner_of(model, splits), Recipe)}


def _leave_one_out(scores: Scores, sample_weight: Any, progress: bool) -> dict[str, Any]:
    """Return the results of leave-one-out; scorers that need several rows score all rows at once."""
    started = perf_counter()
    log_proba = leave_one_out(scores.model, scores.X, scores.labels, sample_weight, scores.classes, progress)
    results: dict[str, Any] = {"fit_time": np.array([perf_counter() - started])}
    started = perf_counter()
    every = np.arange(len(log_proba))
    whole = Prediction(IndexSplit(every, every), None, log_proba, log_proba.argmax(axis=1), 0.0, 0.0)
    for name, scorer in scores.scorers.items():
        of_rows = scores.of_each_row(scorer, whole)
        results[f"test_{name}"] = np.array([scores.of_fold(scorer, whole)]) if of_rows is None else of_rows
    results["score_time"] = np.array([perf_counter() - started])
    predictions = {"log_proba": log_proba, "classes": scores.classes, "predicted": np.ones(len(every), bool)}
    return results | predictions | {"refitted": additive_recipe(scores.model) is None}


def _name_scorers(scoring: Any) -> dict[str, Any]:
    """Return the scorers by name; a single one is called "score"."""
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return {"score": "accuracy" if scoring is None else scoring}
    named = dict(scoring) if isinstance(scoring, Mapping) else {name: name for name in scoring}
    if not named:
        raise ValueError(f"scoring={scoring!r} names no scorer")
    return named
