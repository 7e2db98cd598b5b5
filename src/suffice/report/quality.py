"""The quality of predictions for labelled rows: scores with intervals, confusion matrix, and warnings."""

from typing import Any

import numpy as np

from suffice.blocks import Block, Dense
from suffice.data import encode
from suffice.data.column_names import list_names
from suffice.decision.reliability import Reliability
from suffice.explain import column_keys, column_title
from suffice.folds.assessment import Z_95, assess_predictions, wilson_interval
from suffice.pooled_model import AnyModel
from suffice.report.inputs import Input
from suffice.report.model_view import ScoredRows
from suffice.report.threshold_counts import count_at_thresholds
from suffice.schema import Array, Columns, Levels, MissingLevel, Words

EXPLAINED_ROWS, EXPLAINED_CELLS = 200, 20_000_000
SHOWN_WORDS = 100
FEW_DEPENDENT_COLUMNS, MAX_DEPENDENT_COLUMNS = 20, 64
NOTABLE_CALIBRATION_ERROR, NOTABLE_GAPS = 0.05, 0.05
CELLS_AT_ONCE = 1 << 16


def read_truth(rows: ScoredRows, y: Any) -> tuple[Array, Array]:
    """Return the code of the true class of each row, −1 if the model does not know it, and the label as text."""
    labels, codes = encode(y, owner="report")
    if len(codes) != len(rows.log_proba):
        raise ValueError(f"X has {len(rows.log_proba)} rows, and y has {len(codes)}")
    if not len(codes):
        raise ValueError("X has no rows; a report on the quality of a model needs at least one")
    known = {label: k for k, label in enumerate(rows.view.classes)}
    truth = np.array([known.get(label, -1) for label in labels.tolist()], np.intp)
    return truth[codes], np.array([str(label) for label in labels.tolist()])[codes]


def measure_quality(rows: ScoredRows, truth: Array, labels: Array) -> dict[str, Any]:
    """Return the quality of the predictions for rows with these true classes and labels."""
    log_proba, classes = rows.log_proba, len(rows.view.classes)
    predicted, is_known = log_proba.argmax(axis=1), truth >= 0
    confusion = np.zeros((classes, classes), np.intp)
    np.add.at(confusion, (truth[is_known], predicted[is_known]), 1)
    counts = confusion.sum(axis=1)
    measured, right = assess_predictions(log_proba, truth), predicted == truth
    reliability = Reliability.of(measured.confidence, measured.right)
    low, high = wilson_interval(float(right.sum()), len(truth))
    thresholds = count_at_thresholds(np.exp(log_proba), truth)
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return {
        "rows": len(truth),
        "baseline": {"accuracy": float(counts.max() / len(truth)), "log-loss": float(-(shares * np.log(shares)).sum())},
        "scores": {
            "accuracy": {"value": float(right.mean()), "low": low, "high": high},
            "log-loss": _mean_with_interval(measured.log_loss),
            "ROC AUC": {"value": _mean_auc(thresholds)},
            "Brier score": _mean_with_interval(measured.brier),
            "calibration error": {"value": float(reliability.error)},
        },
        "classes": [_score_class(truth == k, predicted == k) for k in range(classes)],
        "confusion": confusion.tolist(),
        "thresholds": thresholds,
        "reliability": reliability_bins(reliability) | {"rows": len(truth)},
        "unknown_labels": np.unique(labels[~is_known]).tolist(),
        # if there are as many rows of each class as were learned, they may be the same rows
        "has_training_counts": bool(np.array_equal(counts, rows.view.class_count)),
    }


def _mean_auc(thresholds: list[dict[str, Any]]) -> float | None:
    """Return the area under the ROC curve; of more than two classes, the mean over classes against all others."""
    found = [its["auc"] for its in thresholds if its["auc"] is not None]
    return float(np.mean(found)) if found else None


def _mean_with_interval(values: Array) -> dict[str, float]:
    """Return a mean with its 95 % interval."""
    mean, half = float(values.mean()), Z_95 * float(values.std() / np.sqrt(len(values)))
    return {"value": mean, "low": max(mean - half, 0.0), "high": mean + half}


def _score_class(is_class: Array, is_predicted: Array) -> dict[str, Any]:
    """Return recall and precision of a class with their 95 % intervals."""
    both = float((is_class & is_predicted).sum())
    found: dict[str, Any] = {}
    for name, chosen in (("recall", is_class), ("precision", is_predicted)):
        rows = float(chosen.sum())
        low, high = wilson_interval(both, rows)
        found[name] = {"value": both / rows if rows else None, "low": low, "high": high, "rows": rows}
    return found


def reliability_bins(reliability: Reliability) -> dict[str, Any]:
    """Return the bins of a reliability diagram."""
    return {name: getattr(reliability, name).round(5).tolist() for name in ("share", "confidence", "accuracy")}


def max_explained_rows(model: AnyModel) -> int:
    """Return how many rows can be explained in little time; 0 if too many columns depend on each other."""
    pairs = zip(model.columns, model.scores, strict=True)
    # trees are explained by the paths of rows, which are short
    slow = [columns for columns, score in pairs if not (score.is_columnwise or columns.is_forest)]
    dependent = max((columns.count for columns in slow), default=0)
    if dependent > MAX_DEPENDENT_COLUMNS:
        return 0
    return EXPLAINED_ROWS if dependent <= FEW_DEPENDENT_COLUMNS else EXPLAINED_ROWS // 10


def measure_importance(
    rows: ScoredRows, inputs: dict[Any, Input]
) -> tuple[dict[str, float], dict[str, list[tuple[str, float]]]]:
    """Return the mean absolute contribution of each column over a sample of rows, and of the words of each text.

    A text has the sum of its words. Both are empty if the contributions take too long.
    """
    width = sum(columns.width for columns, _ in rows.view.counted_blocks)
    most = min(max_explained_rows(rows.view.model), EXPLAINED_CELLS // max(width * len(rows.view.classes), 1))
    positions = rows.spaced_positions(most)
    if not positions:
        return {}, {}
    found, words = dict[str, float](), dict[str, list[tuple[str, float]]]()
    texts = {its.name for its in inputs.values() if its.input == "text"}
    for name, weight in rows.explain(positions).importance.items():
        column = next((text for text in texts if name.startswith(f"{text}: ")), name)
        found[column] = found.get(column, 0.0) + weight
        if column != name and weight > 0 and len(words.setdefault(column, [])) < SHOWN_WORDS:
            words[column].append((name.removeprefix(f"{column}: "), weight))
    return found, words


def find_row_warnings(rows: ScoredRows, quality: dict[str, Any] | None) -> list[str]:
    """Return warnings about rows and about the quality of their predictions."""
    pairs = zip(rows.view.tally.schema.blocks, rows.blocks, strict=False)
    empty, unknown = dict[str, str](), dict[str, str]()  # by column, because the models of a pool share columns
    for columns, block in pairs:
        if not columns.is_forest:
            _find_strange_cells(columns, block, empty, unknown)
    found = []
    for kind, parts in (("Missing cells", empty), ("Levels that are unknown to the model", unknown)):
        if parts:
            found.append(f"{kind}: {list_names([f'{name} in {rows}' for name, rows in parts.items()], 8)}.")
    if quality is None:
        return found
    if quality["unknown_labels"]:
        found.append(f"Labels that are unknown to the model: {', '.join(map(repr, quality['unknown_labels'][:5]))}.")
    error = quality["scores"]["calibration error"]["value"]
    if error > NOTABLE_CALIBRATION_ERROR:
        # the weights of a pool are a calibration
        is_calibrated = rows.view.settings.get("calibrate") or rows.view.components
        advice = "" if is_calibrated else "; calibration on held-out rows may reduce it"
        found.append(f"The calibration error is {100 * error:.1f} %{advice}.")
    baseline = quality["baseline"]["log-loss"]
    if quality["scores"]["log-loss"]["value"] > baseline > 0:
        found.append(
            f"The log-loss is above {baseline:.3f}, that of the class frequencies, so the probabilities are worse than "
            "these. Calibrate the model, or use another structure."
        )
    return found


def _find_strange_cells(columns: Columns, block: Block, empty: dict[str, str], unknown: dict[str, str]) -> None:
    """Put columns with many empty cells, and those with unknown levels, into dictionaries that say in which rows."""
    rows, count = block.shape[0], min(columns.count, block.shape[1])
    codings = columns.codings or (None,) * count
    if not isinstance(block, Dense) or any(isinstance(coding, Words) for coding in codings):
        return
    has_level = np.array([isinstance(coding, MissingLevel) for coding in codings[:count]])
    inner = [coding.values if isinstance(coding, MissingLevel) else coding for coding in codings[:count]]
    sizes = np.array([coding.size if isinstance(coding, Levels) else np.inf for coding in inner]) + has_level
    missing = np.where(has_level, 0 if columns.sizes is None else columns.sizes[:count] - 1, -1)
    gaps, levels = np.zeros((2, count))
    for _, piece in block.pieces(0, rows, CELLS_AT_ONCE):
        cells = piece[:, :count]
        gaps += ((cells < 0) | (cells == missing) if columns.codings else cells != cells).sum(axis=0)
        levels += (cells >= sizes).sum(axis=0)
    for j, key in enumerate(column_keys(columns)[:count]):
        name = repr(column_title(key))
        if gaps[j] > NOTABLE_GAPS * rows:
            empty[name] = f"{100 * gaps[j] / rows:.1f} % of the rows"
        if levels[j]:
            unknown[name] = f"{int(levels[j]):,} row{'s' if levels[j] > 1 else ''}"
