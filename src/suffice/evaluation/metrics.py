"""Metrics of predictions: those of single rows, and scikit-learn's scorers, by their names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

from suffice.caller_warnings import warn_caller
from suffice.decision.reliability import Reliability
from suffice.folds.assessment import Assessment
from suffice.schema import Array

# Scorers for two classes, and the ones for more of them.
FOR_MORE_CLASSES = {
    "roc_auc": "roc_auc_ovr",
    **{name: f"{name}_macro" for name in ("f1", "precision", "recall", "jaccard")},
}


@dataclass(frozen=True)
class Metric:
    """A measure of predictions.

    Attributes
    ----------
    name : str
        The key in a table.
    title : str
        The name in a printed table.
    is_loss : bool
        Whether lower is better.
    margin : float
        Smaller differences do not matter, unless the caller sets another margin.
    of_rows : function or None
        Returns the measure of each row, whose mean is the metric, from an `Assessment` and the weights of the rows.
    scorer : object or None
        The scorer of scikit-learn, for a metric that is not a mean over rows.
    is_share : bool
        Whether the measure of a row is 0 or 1.
    """

    name: str
    title: str
    is_loss: bool = False
    margin: float = 0.01
    of_rows: Callable[[Assessment, Array], Array] | None = None
    scorer: Any = None
    is_share: bool = False


def calibration_errors(rows: Assessment, weights: Array) -> Array:
    """Return ±(confidence − accuracy) of each row, with the sign of its bin: the mean is the calibration error."""
    reliability = Reliability.of(rows.confidence, rows.right, weights)
    signs = np.sign(reliability.confidence - reliability.accuracy)
    return np.asarray(signs[reliability.place(rows.confidence)] * (rows.confidence - rows.right))


OF_ROWS = {
    metric.name: metric
    for metric in (
        Metric("log_loss", "log-loss", True, 0.01, lambda rows, _: rows.log_loss),
        Metric("accuracy", "accuracy", False, 0.01, lambda rows, _: rows.right, is_share=True),
        Metric("brier", "Brier score", True, 0.005, lambda rows, _: rows.brier),
        Metric("calibration_error", "calibration error", True, 0.01, calibration_errors),
    )
}
ALIASES = {"neg_log_loss": "log_loss", "neg_brier_score": "brier", "brier_score": "brier"}
TITLES = {
    "roc_auc": "ROC AUC",
    "roc_auc_ovr": "ROC AUC",
    "f1": "F1",
    "f1_macro": "macro F1",
}


def find_metrics(scoring: Any) -> list[Metric]:
    """Return the metrics that ``scoring`` names.

    >>> [metric.name for metric in find_metrics(["neg_log_loss", "roc_auc", "neg_max_error"])]
    ['log_loss', 'roc_auc', 'max_error']
    """
    if scoring is None:
        return list(OF_ROWS.values())
    if isinstance(scoring, str) or callable(scoring):
        scoring = [scoring]
    if isinstance(scoring, Mapping):
        found = [_find_metric(scorer, str(name)) for name, scorer in scoring.items()]
    else:
        found = [_find_metric(scorer, None) for scorer in scoring]
    if not found:
        raise ValueError(f"scoring={scoring!r} names no metric")
    return list({metric.name: metric for metric in found}.values())


def _find_metric(scorer: Any, name: str | None) -> Metric:
    if isinstance(scorer, str):
        known = OF_ROWS.get(ALIASES.get(scorer, scorer))
        if known is not None:
            return known
        if scorer not in get_scorer_names():
            raise ValueError(
                f"scoring={scorer!r} is not known: it is {', '.join(map(repr, OF_ROWS))}, or the name of one of "
                "scikit-learn's scorers, such as 'roc_auc', 'f1_macro' or 'balanced_accuracy'"
            )
        name = name or scorer.removeprefix("neg_")
        return Metric(name, TITLES.get(name, name.replace("_", " ")), scorer.startswith("neg_"), scorer=scorer)
    if not hasattr(scorer, "_score_func"):
        raise ValueError(
            f"scoring={getattr(scorer, '__name__', repr(scorer))} needs fitted models, which compare does not keep: "
            "use a name, or make_scorer(function) of scikit-learn"
        )
    name = name or scorer._score_func.__name__
    return Metric(name, name.replace("_", " "), scorer=scorer)


class PredictedRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A stand-in classifier for scikit-learn's scorers: it returns predictions that were made before."""

    def __init__(self, classes: Array, log_proba: Array) -> None:
        self.classes_, self.log_proba = classes, log_proba

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x)."""
        return np.exp(self.log_proba)

    def predict(self, X: Any) -> Array:
        """Return the most probable label."""
        return np.asarray(self.classes_[self.log_proba.argmax(axis=1)])

    def __sklearn_is_fitted__(self) -> bool:
        return True


def score_predictions(scorer: Any, classes: Array, log_proba: Array, codes: Array, weights: Array | None) -> Any:
    """Return what a scorer of scikit-learn returns for predictions; NaN, with a warning, if a class is missing for it.

    The positive class of two is the one with label 1, else the second.

    Parameters
    ----------
    scorer : str or scorer
        The scorer, or its name.
    classes : array [class]
        The labels.
    log_proba : array [row, class]
        log P(class | x).
    codes : array [row]
        The codes of the true classes.
    weights : array [row] or None
        The weights of the rows.

    Examples
    --------
    >>> log_proba = np.log([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
    >>> score_predictions("roc_auc", np.array(["ham", "spam"]), log_proba, np.array([0, 0, 1]), None)
    1.0
    """
    if isinstance(scorer, str):
        if len(classes) > 2 and scorer in FOR_MORE_CLASSES:
            raise ValueError(
                f"scoring={scorer!r} is for two classes, and there are {len(classes)}: use {FOR_MORE_CLASSES[scorer]!r}"
            )
        if len(classes) == 2 and 1 not in classes.tolist():
            classes = np.arange(2)
        scorer = get_scorer(scorer)
    weighting = {} if weights is None else {"sample_weight": weights}
    try:
        return scorer(PredictedRows(classes, log_proba), codes[:, None], classes[codes], **weighting)
    except ValueError as error:
        if len(np.unique(codes)) == len(classes):
            raise
        warn_caller(f"a fold lacks a class, so it has no score: {error}")
        return np.nan
