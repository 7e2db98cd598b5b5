"""Cross-validation: every row is predicted by a model that has not learned it, at the cost of one fit."""

from collections.abc import Mapping
from inspect import Parameter, signature
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils import _safe_indexing

from suffice.data import as_labels, encode, weights_of
from suffice.evaluation.learners import additive_recipe, fitted_model, learner_of, predict_splits
from suffice.evaluation.leave_one_out_predictions import leave_one_out
from suffice.folds.assessment import LEAST_LOG
from suffice.folds.held_out import Prediction
from suffice.folds.splits import IndexSplit, check_weights, make_splits
from suffice.progress import Progress
from suffice.recipe import Recipe
from suffice.schema import Array


class PredictedRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A stand-in classifier for scikit-learn's scorers: it returns predictions that were made before."""

    def __init__(self, classes: Array, log_proba: Array) -> None:
        self.classes_, self.log_proba = classes, log_proba

    def predict_log_proba(self, X: Any) -> Array:
        """Return log P(class | x)."""
        return self.log_proba

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x)."""
        return np.exp(self.log_proba)

    def predict(self, X: Any) -> Array:
        """Return the most probable label."""
        return np.asarray(self.classes_[self.log_proba.argmax(axis=1)])

    def __sklearn_is_fitted__(self) -> bool:
        return True


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
    cut points are chosen from the other folds alone. Models that learn more than sums (mixtures, logistic regression,
    ``solver="svd"``, calibrated models, and classifiers of other libraries) are fitted again for each fold.

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
        One or several of scikit-learn's scorers; by default accuracy.
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
    weights = weights_of(sample_weight, len(labels))
    scorers, single = _scorers(model, scoring)
    classes, _ = encode(labels, owner=type(model).__name__)
    if isinstance(cv, str) and cv == "loo":
        if return_train_score or return_estimator or return_indices:
            raise ValueError('cv="loo" fits no models that could be returned or scored: use cv=LeaveOneOut() instead')
        return _leave_one_out(model, X, labels, sample_weight, scorers, single, progress)
    splits = make_splits(cv, X, y, groups)
    check_weights(splits, weights)
    results: dict[str, list[Any]] = {"fit_time": [], "score_time": []}
    out_of_fold = OutOfFold(len(labels), classes)
    with Progress("cross-validation", len(splits), progress) as line:
        for done, prediction in enumerate(predict_splits(model, X, y, splits, sample_weight, classes)):
            line.say(done)
            results["fit_time"].append(prediction.fit_time)
            results["score_time"].append(prediction.predict_time)
            scores = {"test": _score(scorers, model, prediction, X, labels, classes, weights)}
            if return_train_score:
                scores["train"] = _score_training_rows(
                    scorers, fitted_model(model, prediction.learned), X, labels, prediction.split.train, weights
                )
            for rows, named in scores.items():
                for name, score in named.items():
                    results.setdefault(_key(rows, name, single), []).append(score)
            if return_estimator:
                results.setdefault("estimator", []).append(fitted_model(model, prediction.learned))
            out_of_fold.add(prediction.split.test, prediction.log_proba)
    arrays: dict[str, Any] = {
        name: values if name == "estimator" else np.array(values) for name, values in results.items()
    }
    if return_indices:
        arrays["indices"] = {
            "train": [split.train for split in splits],
            "test": [split.test for split in splits],
        }
    return arrays | out_of_fold.results() | {"refitted": not isinstance(learner_of(model, splits), Recipe)}


def _leave_one_out(
    model: Any, X: Any, labels: Array, sample_weight: Any, scorers: dict[str, Any], single: bool, progress: bool
) -> dict[str, Any]:
    """Return the results of leave-one-out; scorers that need several rows score all rows at once."""
    classes, codes = encode(labels, owner=type(model).__name__)
    weights = weights_of(sample_weight, len(labels))
    started = perf_counter()
    log_proba = leave_one_out(model, X, labels, sample_weight, classes, progress)
    results: dict[str, Any] = {"fit_time": np.array([perf_counter() - started])}
    started = perf_counter()
    every = np.arange(len(labels))
    whole = Prediction(IndexSplit(every, every), None, log_proba, log_proba.argmax(axis=1), 0.0, 0.0)
    for name, scorer in scorers.items():
        key = _key("test", name, single)
        if isinstance(scorer, str) and scorer == "accuracy":
            results[key] = (whole.codes == codes).astype(np.float64)
        elif isinstance(scorer, str) and scorer == "neg_log_loss":
            results[key] = np.maximum(log_proba[every, codes], LEAST_LOG)
        else:
            results[key] = np.array(list(_score({name: scorer}, model, whole, X, labels, classes, weights).values()))
    results["score_time"] = np.array([perf_counter() - started])
    predictions = {"log_proba": log_proba, "classes": classes, "predicted": np.ones(len(labels), bool)}
    return results | predictions | {"refitted": additive_recipe(model) is None}


class OutOfFold:
    """Log probabilities of rows, collected fold by fold; a row predicted several times gets the mean probability."""

    def __init__(self, rows: int, classes: Array) -> None:
        self.classes = classes
        self.log_sum, self.times = np.empty((rows, len(classes))), np.zeros(rows, np.intp)

    def add(self, rows: Array, log_proba: Array) -> None:
        """Add the predictions of some rows."""
        again = self.times[rows] > 0
        if again.any():
            log_proba[again] = np.logaddexp(self.log_sum[rows[again]], log_proba[again])
        self.log_sum[rows] = log_proba
        self.times[rows] += 1

    def results(self) -> dict[str, Array]:
        """Return the predictions of all rows."""
        self.log_sum[self.times == 0] = -np.inf
        times = np.maximum(self.times, 1)
        log_proba = self.log_sum if int(times.max()) == 1 else self.log_sum - np.log(times)[:, None]
        return {"log_proba": log_proba, "classes": self.classes, "predicted": self.times > 0}


def _key(what: str, name: str, single: bool) -> str:
    return f"{what}_score" if single else f"{what}_{name}"


def _scorers(model: Any, scoring: Any) -> tuple[dict[str, Any], bool]:
    """Return the scorers by name, and whether there is just one without a name."""
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return {"score": "accuracy" if scoring is None else scoring}, True
    named = dict(scoring) if isinstance(scoring, Mapping) else {name: name for name in scoring}
    if not named:
        raise ValueError(f"scoring={scoring!r} names no scorer")
    return named, False


def _score(
    scorers: dict[str, Any],
    model: Any,
    prediction: Prediction,
    X: Any,
    labels: Array,
    classes: Array,
    weights: Array | None,
) -> dict[str, float]:
    """Return the scores of a fold; scikit-learn's scorers use the predictions that were made already."""
    rows = prediction.split.test
    predicted = PredictedRows(classes, prediction.log_proba)
    weighting = {} if weights is None else {"sample_weight": weights[rows]}
    scores = {}
    for name, scorer in scorers.items():
        if isinstance(scorer, str) and scorer in ("accuracy", "neg_log_loss"):
            truth = np.searchsorted(classes, labels[rows])
            if scorer == "accuracy":
                values = prediction.codes == truth
            else:
                values = np.maximum(prediction.log_proba[np.arange(len(rows)), truth], LEAST_LOG)
            scores[name] = float(np.average(values, weights=weighting.get("sample_weight")))
            continue
        scorer = get_scorer(scorer) if isinstance(scorer, str) else scorer
        if hasattr(scorer, "_score_func"):
            scores[name] = _number(scorer, scorer(predicted, rows[:, None], labels[rows], **weighting))
        else:
            _check_callable(scorer, prediction.learned, weighting)
            fitted = fitted_model(model, prediction.learned)
            scores[name] = _number(scorer, scorer(fitted, _safe_indexing(X, rows), labels[rows], **weighting))
    return scores


def _number(scorer: Any, score: Any) -> float:
    """Return the result of a scorer as a float, or raise if it is not a number."""
    try:
        return float(score)
    except (TypeError, ValueError):
        name = getattr(scorer, "__name__", repr(scorer))
        raise ValueError(
            f"scoring={name} returns {score!r}, which is not a number; for several scores pass scoring={{name: scorer}}"
        ) from None


def _takes_weights(scorer: Any) -> bool:
    """Return whether a function accepts ``sample_weight``, as far as its signature shows."""
    try:
        taken = signature(scorer).parameters
    except (TypeError, ValueError):  # not a Python function
        return True
    return "sample_weight" in taken or any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken.values())


def _check_callable(scorer: Any, learned: Any, weights: dict[str, Any]) -> None:
    """Raise if a function cannot score: it needs a fitted model, and must accept weights if rows have any."""
    name = getattr(scorer, "__name__", repr(scorer))
    if learned is None:
        raise ValueError(
            f'scoring={name} needs a fitted model for each row, and cv="loo" has none; use the name of one of '
            "scikit-learn's scorers, or cv=LeaveOneOut()"
        )
    if weights and not _takes_weights(scorer):
        raise ValueError(f"scoring={name} takes no sample_weight, but the rows have weights: let it accept them")


def _score_training_rows(
    scorers: dict[str, Any], fitted: Any, X: Any, labels: Array, rows: Array, weights: Array | None
) -> dict[str, float]:
    weighting = {} if weights is None else {"sample_weight": weights[rows]}
    known = _safe_indexing(X, rows)
    for scorer in scorers.values():
        if callable(scorer) and not hasattr(scorer, "_score_func"):
            _check_callable(scorer, fitted, weighting)
    return {
        name: _number(scorer, check_scoring(fitted, scorer)(fitted, known, labels[rows], **weighting))
        for name, scorer in scorers.items()
    }
