"""Measure drift: compare new rows, or another model, with the sums of a model."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from suffice.data import Target, as_labels
from suffice.data.labels import is_missing
from suffice.explain import column_title
from suffice.monitoring.column_sums import ColumnSums, PairedColumn, pair_columns, separate_columns, sum_columns
from suffice.monitoring.divergences import measure_pair
from suffice.monitoring.drift_table import SIGNIFICANCE, Drift
from suffice.schema import Array, Levels
from suffice.statistics import Tally

SCORED_ROWS = 2000
IMPROBABLE = 0.01
LISTED_LEVELS = 20


def drift(model: Any, new: Any, y: Any = None, *, threshold: float = 0.1, random_state: int = 0) -> Drift:
    """Return how new rows differ, column by column, from the rows that a model was fitted to.

    The rows of the model are not needed: the new rows are counted by the plan of the model, and the counts are
    compared. Numbers are compared in about ten intervals, which are unions of the model's cells; numbers that a model
    knows by their mean and variance only (`GaussianNB`) as two Gaussians. Missing cells are a level, except in
    columns that are compared as Gaussians, where only their shares are given.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this library that learns sums (``tally_``).
    new : array-like, sparse matrix or data frame of shape (n_samples, n_features), or classifier
        New rows; or another fitted classifier, whose rows are compared. If two models have counted a number in
        different cells, it is compared in the intervals that they have in common.
    y : array-like of shape (n_samples,), default=None
        The labels of the new rows, to compare the classes; missing labels are left out.
    threshold : float, default=0.1
        The Jensen-Shannon distance above which a significant difference is called drift.
    random_state : int, default=0
        The seed of the bootstrap.

    Returns
    -------
    drift : Drift
        With ``table``, ``is_drift``, ``drifted``, ``classes``, ``log_density``, ``to_frame()`` and ``plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import BayesClassifier, drift
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> model = BayesClassifier(structure="naive").fit(X[::2], y[::2])
    >>> drift(model, X[1::2]).is_drift
    False
    >>> moved = X[1::2].assign(**{"petal length (cm)": X["petal length (cm)"] + 2})
    >>> drift(model, moved).drifted
    ['petal length (cm)']
    """
    found = measure_columns(model, new, y, threshold=threshold, random_state=random_state)
    # the model has no distribution of the length of a text
    if _is_model(new) or any(line["form"] == "words" for line in found.table):
        return found
    return replace(found, log_density=_compare_densities(model, new, random_state))


def measure_columns(model: Any, new: Any, y: Any = None, *, threshold: float = 0.1, random_state: int = 0) -> Drift:
    """Return what `drift` returns, but for the densities of rows, which take most of its time."""
    known = separate_columns(_tally_of(model))
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie between 0 and 1, not be {threshold!r}")
    rng, classes = np.random.default_rng(random_state), None
    if _is_model(new):
        if y is not None:
            raise ValueError("y has the labels of new rows, but new is a model, which knows its classes; leave out y")
        other = separate_columns(_tally_of(new))
        classes = _class_sums(other.schema.classes, other.class_count)
    else:
        other = _count_rows(model, known, new)
        classes = None if y is None else _count_labels(y, other)
    pairs, failed = _pair_all(sum_columns(known), sum_columns(other))
    if not pairs:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(failed.items())[:3])
        raise ValueError(f"no column can be compared ({reasons})")
    if classes is not None:
        pairs.append(pair_columns(_class_sums(known.schema.classes, known.class_count), classes))
    lines = [_describe(pair, rng) for pair in pairs]
    for line in lines:
        line["is_significant"] = line["p_value"] < SIGNIFICANCE / len(lines)
        line["is_drift"] = line["is_significant"] and line["distance"] > threshold
    about_classes = None if classes is None else lines.pop()
    lines.sort(key=lambda line: (not line["is_drift"], -line["distance"]))
    rows = (float(known.class_count.sum()), float(other.class_count.sum()))
    return Drift(lines, about_classes, *rows, None, failed, threshold)


def _is_model(new: Any) -> bool:
    return isinstance(new, type) or hasattr(new, "predict")


def _tally_of(model: Any) -> Tally:
    if isinstance(model, type) or not hasattr(model, "recipe"):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise TypeError(f"drift needs a fitted classifier that learns sums (tally_); {name} is none")
    check_is_fitted(model)
    tally: Tally = model.tally_
    return tally


def _count_rows(model: Any, known: Tally, X: Any) -> Tally:
    """Return the tally of new rows under the plan of a model; all are of one class, whatever their labels."""
    recipe = model.recipe()
    opened = recipe.open(X, known.schema)
    target = Target(known.schema.classes[:1], np.zeros(opened.shape[0], np.intp), None)
    tally: Tally = recipe.tally(opened, target, known, is_complete=False)
    return tally


def _class_sums(labels: Array, counts: Array) -> ColumnSums:
    return ColumnSums("class", Levels(tuple(labels.tolist())), counts)


def _count_labels(y: Any, tally: Tally) -> ColumnSums:
    """Return the counts of the labels that are not missing."""
    given = list(np.asarray(y, object) if not hasattr(y, "to_list") else y.to_list())
    if len(given) != int(tally.class_count.sum()):
        raise ValueError(f"y has {len(given)} labels for {int(tally.class_count.sum())} rows; pass one of each per row")
    held = [label for label in given if not is_missing(label)]
    if not held:
        raise ValueError("all labels are missing: leave out y")
    return _class_sums(*np.unique(as_labels(held, "drift"), return_counts=True))


def _pair_all(before: dict[Any, ColumnSums], after: dict[Any, ColumnSums]) -> tuple[list[PairedColumn], dict[str, str]]:
    """Return the columns that can be compared, and the reasons why others cannot."""
    pairs, failed = [], {}
    for key in [*before, *(key for key in after if key not in before)]:
        if key not in before or key not in after:
            failed[column_title(key)] = "only one of the models has it"
            continue
        try:
            pairs.append(pair_columns(before[key], after[key]))
        except ValueError as error:
            failed[column_title(key)] = str(error)
    return pairs, failed


def _describe(pair: PairedColumn, rng: np.random.Generator) -> dict[str, Any]:
    """Return the line of a column in the table."""
    samples = pair.counts if pair.counts is not None else pair.moments
    assert samples is not None
    line: dict[str, Any] = {"column": column_title(pair.key), "form": pair.kind, **measure_pair(samples, rng)}
    line |= {"missing_before": None, "missing_after": None, "mean_shift": None, "variance_ratio": None}
    shares: list[list[float]] = [[], []]
    if pair.counts is not None:
        shares = [(side / side.sum()).tolist() for side in (pair.counts.before, pair.counts.after)]
    if pair.missing is not None:
        for place, name in enumerate(("missing_before", "missing_after")):
            line[name] = pair.missing[place] / max(pair.rows[place], 1e-300)
    if pair.moments is not None:
        line |= {"mean_shift": pair.moments.standardized_difference, "variance_ratio": pair.moments.variance_ratio}
    line |= {"new_levels": pair.new_levels[:LISTED_LEVELS], "new_level_rows": pair.new_level_rows}
    return line | {"labels": pair.labels, "before": shares[0], "after": shares[1]}


def _compare_densities(model: Any, X: Any, seed: int) -> dict[str, float] | None:
    """Return how probable rows are beside rows that are drawn from the model; None if it has no density."""
    if not hasattr(model, "score_samples") or not hasattr(model.estimate_model(), "sample"):
        return None
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    places = np.linspace(0, count - 1, min(count, SCORED_ROWS)).astype(np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # drawn rows have no column names, and new rows are checked above
        try:
            drawn = model.score_samples(model.sample(SCORED_ROWS, random_state=seed)[0])
        except ValueError:  # a model of P(class | x) has no density
            return None
        found = model.score_samples(_safe_indexing(X, places))
    improbable = float((found < np.quantile(drawn, IMPROBABLE)).mean())
    return {"mean": float(found.mean()), "expected": float(drawn.mean()), "improbable": improbable}
