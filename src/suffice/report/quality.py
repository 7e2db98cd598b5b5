"""The quality of predictions for labelled rows: scores with intervals, confusion matrix, and the largest errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.blocks import Block, Dense
from suffice.data import encode
from suffice.decision.reliability import Reliability
from suffice.folds.assessment import Z_95, assess_predictions, wilson_interval
from suffice.model import Model
from suffice.report.inputs import Input, column_title
from suffice.report.model_view import ModelView
from suffice.schema import Array, Columns, Levels, MissingLevel, Words

LARGEST_ERRORS, CONFUSION_CLASSES = 10, 30
EXPLAINED_ROWS, EXPLAINED_CELLS, EXPLAINED_WIDTH = 200, 20_000_000, 2000
FEW_DEPENDENT_COLUMNS, MAX_DEPENDENT_COLUMNS = 20, 64
NOTABLE_CALIBRATION_ERROR, NOTABLE_GAPS = 0.05, 0.05
CELLS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Quality:
    """The quality of predictions: ``summary`` for the page, and positions and labels of the largest errors."""

    summary: dict[str, Any]
    worst: list[int]
    labels: list[str]

    @classmethod
    def measure(cls, view: ModelView, y: Any) -> Quality:
        """Return the quality of the predictions for the rows of a view, whose labels are y."""
        assert view.rows is not None
        log_proba = view.rows.log_proba
        labels, codes = encode(y, owner="report")
        if len(codes) != len(log_proba):
            raise ValueError(f"X has {len(log_proba)} rows, and y has {len(codes)}")
        if not len(codes):
            raise ValueError("X has no rows; a report on the quality of a model needs at least one")
        known = {label: k for k, label in enumerate(view.classes)}
        names = [str(label) for label in labels.tolist()]
        truth = np.array([known.get(label, -1) for label in labels.tolist()], np.intp)[codes]
        predicted = log_proba.argmax(axis=1)
        own = np.where(truth >= 0, log_proba[np.arange(len(truth)), truth], -np.inf)
        wrong = np.flatnonzero(predicted != truth)
        worst: list[int] = wrong[np.argsort(own[wrong], kind="stable")[:LARGEST_ERRORS]].tolist()
        summary = _score(log_proba, truth, predicted) | {
            "unknown_labels": sorted(str(label) for label in labels.tolist() if label not in known),
            "has_training_counts": _has_training_counts(view, truth),
        }
        return cls(summary, worst, [names[codes[row]] for row in worst])


def _score(log_proba: Array, truth: Array, predicted: Array) -> dict[str, Any]:
    """Return the scores of all rows and of each class; ``truth`` is −1 for a label unknown to the model."""
    rows, classes = log_proba.shape
    measured, right = assess_predictions(log_proba, truth), predicted == truth
    reliability = Reliability.of(measured.confidence, measured.right)
    low, high = wilson_interval(float(right.sum()), rows)
    known = truth[truth >= 0]
    return {
        "rows": rows,
        "baseline": float(np.bincount(known, minlength=1).max() / rows),
        "scores": {
            "accuracy": {"value": float(right.mean()), "low": low, "high": high},
            "log-loss": _mean_with_interval(measured.log_loss),
            "Brier score": _mean_with_interval(measured.brier),
            "calibration error": {"value": float(reliability.error)},
        },
        "classes": [_score_class(truth == k, predicted == k) for k in range(classes)],
        "confusion": _count_confusions(truth, predicted, classes),
        "reliability": reliability_bins(reliability),
    }


def _mean_with_interval(values: Array) -> dict[str, float]:
    """Return a mean with its 95 % interval."""
    mean, half = float(values.mean()), Z_95 * float(values.std() / np.sqrt(len(values)))
    return {"value": mean, "low": max(mean - half, 0.0), "high": mean + half}


def _has_training_counts(view: ModelView, truth: Array) -> bool:
    """Return whether there are as many rows of each class as were learned: they may be the same rows."""
    counts = np.bincount(truth[truth >= 0], minlength=len(view.classes))
    return bool(np.array_equal(counts, view.tally.class_count))


def _score_class(is_class: Array, is_predicted: Array) -> dict[str, Any]:
    """Return recall and precision of a class with their 95 % intervals."""
    both = float((is_class & is_predicted).sum())
    found: dict[str, Any] = {}
    for name, chosen in (("recall", is_class), ("precision", is_predicted)):
        rows = float(chosen.sum())
        low, high = wilson_interval(both, rows)
        found[name] = {"value": both / rows if rows else None, "low": low, "high": high, "rows": rows}
    return found


def _count_confusions(truth: Array, predicted: Array, classes: int) -> list[list[int]] | None:
    """Return the confusion matrix [true class, predicted class], None if there are too many classes to show."""
    if classes > CONFUSION_CLASSES:
        return None
    known = truth >= 0
    counts = np.bincount(truth[known] * classes + predicted[known], minlength=classes * classes)
    found: list[list[int]] = counts.reshape(classes, classes).tolist()
    return found


def reliability_bins(reliability: Reliability) -> dict[str, list[float]]:
    """Return the bins of a reliability diagram."""
    return {name: getattr(reliability, name).round(5).tolist() for name in ("share", "confidence", "accuracy")}


def max_explained_rows(model: Model) -> int:
    """Return how many rows can be explained in little time; 0 if too many columns depend on each other."""
    pairs = zip(model.columns, model.scores, strict=True)
    dependent = max((columns.count for columns, score in pairs if not score.is_columnwise), default=0)
    if dependent > MAX_DEPENDENT_COLUMNS:
        return 0
    return EXPLAINED_ROWS if dependent <= FEW_DEPENDENT_COLUMNS else EXPLAINED_ROWS // 10


def measure_importance(view: ModelView, inputs: list[Input]) -> dict[str, float]:
    """Return the mean absolute contribution of each column over a sample of rows; empty if that takes too long."""
    assert view.rows is not None
    width = sum(columns.width for columns in view.tally.schema.blocks)
    most = min(max_explained_rows(view.model), EXPLAINED_CELLS // max(width * len(view.classes), 1))
    positions = view.rows.spaced_positions(most)
    if not positions or width > EXPLAINED_WIDTH:
        return {}
    found: dict[str, float] = {}
    texts = {its.name for its in inputs if its.input == "text"}
    for name, weight in view.explain(positions).importance.items():
        column = next((text for text in texts if name.startswith(f"{text}: ")), name)
        found[column] = found.get(column, 0.0) + weight
    return found


def find_row_warnings(view: ModelView, quality: Quality | None) -> list[str]:
    """Return warnings about the rows of a view and about the quality of their predictions."""
    assert view.rows is not None
    found = []
    for columns, block in zip(view.tally.schema.blocks, view.rows.blocks, strict=False):
        found += _find_column_warnings(columns, block)
    if quality is None:
        return found
    summary = quality.summary
    if summary["unknown_labels"]:
        found.append(f"Labels that are unknown to the model: {', '.join(map(repr, summary['unknown_labels'][:5]))}.")
    if summary["has_training_counts"]:
        found.append(
            "Each class has as many rows here as in the training data. If these are the training rows, all figures "
            "are optimistic: measure on held-out rows, or use cross_validate."
        )
    error = summary["scores"]["calibration error"]["value"]
    if error > NOTABLE_CALIBRATION_ERROR:
        advice = "" if view.settings.get("calibrate") else '; calibrate="temperature" may reduce it'
        found.append(f"The calibration error is {100 * error:.1f} %{advice}.")
    return found


def _find_column_warnings(columns: Columns, block: Block) -> list[str]:
    """Return warnings about columns with many empty cells or with unknown levels."""
    rows, count = block.shape[0], min(columns.count, block.shape[1])
    codings = columns.codings or (None,) * count
    if not isinstance(block, Dense) or any(isinstance(coding, Words) for coding in codings):
        return []
    has_level = [isinstance(coding, MissingLevel) for coding in codings[:count]]
    values = [coding.values if isinstance(coding, MissingLevel) else coding for coding in codings[:count]]
    is_open = [isinstance(coding, Levels) for coding in values]
    sizes = np.array(
        [coding.size if known and coding else np.inf for coding, known in zip(codings, is_open, strict=False)]
    )
    missing = np.array(
        [coding.size - 1 if known and coding else -1 for coding, known in zip(codings, has_level, strict=False)]
    )
    empty, unknown = np.zeros(count), np.zeros(count)
    for _, piece in block.pieces(0, rows, CELLS_AT_ONCE):
        cells = piece[:, :count]
        empty += ((cells < 0) | (cells == missing) if columns.codings else cells != cells).sum(axis=0)
        unknown += (cells >= sizes).sum(axis=0)
    found = []
    for j in range(count):
        name = repr(column_title(j if columns.names is None else columns.names[j]))
        if empty[j] > NOTABLE_GAPS * rows:
            found.append(f"{name} is empty in {100 * empty[j] / rows:.1f} % of the rows.")
        if unknown[j]:
            found.append(f"{name} has a level that is unknown to the model in {int(unknown[j]):,} rows.")
    return found
