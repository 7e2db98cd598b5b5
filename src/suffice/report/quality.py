"""How good a model is on rows with labels: with intervals, confusions, and the rows it is most wrong about."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from suffice.data import encode
from suffice.decision.reliability import Reliability
from suffice.folds.assessment import NORMAL, assessed, wilson
from suffice.report.inputs import Feature, plain, title_of
from suffice.schema import Array, Levels, Words
from suffice.statistics import Tally

WORST, EXPLAINED, EXPLAINED_CELLS, SHOWN_CONFUSIONS = 10, 200, 20_000_000, 30
OVERSURE, GAPPY = 0.05, 0.05
CELLS = 1 << 16  # that are looked at together

# The most columns that depend on each other whose rows are explained.
MOST_TOGETHER = 64


def measured(model: Any, tally: Tally, X: Any, y: Any) -> tuple[dict[str, Any], list[int]]:
    """Return how good the model is on rows, and the places of those it is most wrong about."""
    labels, codes = encode(y, owner="report")
    known = {label: k for k, label in enumerate(tally.schema.classes.tolist())}
    codes = np.array([known.get(label, -1) for label in labels.tolist()], np.intp)[codes]
    log_proba = model.predict_log_proba(X)
    if len(codes) != len(log_proba):
        raise ValueError(f"X has {len(log_proba)} rows, and y has {len(codes)}")
    n, rows = len(codes), np.arange(len(codes))
    if not n:
        raise ValueError("a report on rows needs rows: X has none")
    classes, its = log_proba.shape[1], assessed(log_proba, codes)
    said, own = log_proba.argmax(axis=1), np.where(codes >= 0, log_proba[rows, codes], -np.inf)
    right = said == codes
    reliability = Reliability.of(its.confidence, its.right)
    low, high = wilson(float(right.sum()), n)
    scores = {
        "accuracy": {"value": float(right.mean()), "low": low, "high": high},
        "log-loss": _with_interval(its.log_loss),
        "Brier score": _with_interval(its.brier),
        "calibration error": {"value": float(reliability.error)},
    }
    commonest = float(np.bincount(codes[codes >= 0], minlength=1).max() / n) if (codes >= 0).any() else 0.0
    wrong = np.flatnonzero(~right)
    worst = wrong[np.argsort(own[wrong], kind="stable")[:WORST]].tolist()
    found = {
        "rows": n,
        "unknown": sorted({str(label) for label in labels.tolist() if label not in known}),
        "commonest": commonest,
        "same": _learned_from(tally, codes),
        "scores": scores,
        "classes": _by_class(codes, said, classes),
        "confusion": _confusion(codes, said, classes),
        "reliability": written(reliability),
    }
    return found, worst


def _with_interval(values: Array) -> dict[str, float]:
    """Return a mean with its 95 % interval."""
    mean, half = float(values.mean()), NORMAL * float(values.std() / np.sqrt(len(values)))
    return {"value": mean, "low": max(mean - half, 0.0), "high": mean + half}


def _learned_from(tally: Tally, codes: Array) -> bool:
    """Say whether rows may be those that were learned: there are as many of each class."""
    return bool(np.array_equal(np.bincount(codes[codes >= 0], minlength=len(tally.class_count)), tally.class_count))


def _by_class(codes: Array, said: Array, classes: int) -> list[dict[str, Any]]:
    """Return of each class how much of it is found, and how much of what is called so is right."""
    found = []
    for k in range(classes):
        both = float(((codes == k) & (said == k)).sum())
        entry: dict[str, Any] = {}
        for name, whole in (("recall", codes == k), ("precision", said == k)):
            n = float(whole.sum())
            low, high = wilson(both, n)
            entry[name] = {"value": both / n if n else None, "low": low, "high": high, "rows": n}
        found.append(entry)
    return found


def _confusion(codes: Array, said: Array, classes: int) -> list[list[int]] | None:
    """Return how often each class (line) was taken for each (column)."""
    if classes > SHOWN_CONFUSIONS:
        return None
    there = codes >= 0
    counts = np.bincount(codes[there] * classes + said[there], minlength=classes * classes)
    found: list[list[int]] = counts.reshape(classes, classes).tolist()
    return found


def written(reliability: Reliability) -> dict[str, list[float]]:
    """Return what a reliability diagram shows."""
    return {name: getattr(reliability, name).round(5).tolist() for name in ("share", "confidence", "accuracy")}


def some_of(X: Any, places: list[int]) -> Any:
    """Return a few of the rows."""
    return _safe_indexing(X, np.asarray(places, np.intp))


def cells(model: Any, tally: Tally, X: Any, features: list[Feature]) -> list[list[Any]]:
    """Return what rows hold, as the page takes it."""
    _, values = model._held(X, tally)
    return [[plain(value) for value in line] for line in values]


def explainable(model: Any) -> int:
    """Return how many rows can be explained in little time: none where very many columns depend on each other."""
    estimated = model._model()
    together = [0]
    for columns, score in zip(estimated.columns, estimated.scores, strict=True):
        if not score.is_columnwise:
            together.append(columns.count)
    most = max(together)
    return 0 if most > MOST_TOGETHER else EXPLAINED if most <= 20 else EXPLAINED // 10


def importance(model: Any, tally: Tally, X: Any, n: int, features: list[Feature]) -> dict[str, float]:
    """Return how much each feature moves the log-odds, by a sample of the rows; nothing where that is too much work."""
    width = sum(block.width for block in tally.schema.blocks)
    rows = min(n, explainable(model), EXPLAINED_CELLS // max(width * len(tally.class_count), 1))
    if rows < 1 or width > 2000:
        return {}
    explained = model.explain(some_of(X, np.linspace(0, n - 1, rows).astype(int).tolist()))
    found: dict[str, float] = {}
    texts = {feature.name for feature in features if feature.input == "text"}
    for name, weight in explained.importance.items():
        text = next((its for its in texts if name.startswith(f"{its}: ")), name)
        found[text] = found.get(text, 0.0) + weight
    return found


def warnings_of(model: Any, tally: Tally, X: Any, quality: dict[str, Any] | None) -> list[str]:
    """Return what to be careful about in these rows."""
    found = []
    for columns, block in zip(tally.schema.blocks, model._blocks(X, tally), strict=False):
        found += _of_columns(columns, block)
    if quality is None:
        return found
    if quality["unknown"]:
        found.append(f"Labels that the model has never met: {', '.join(map(repr, quality['unknown'][:5]))}.")
    if quality["same"]:
        found.append(
            "These are as many rows of each class as the model learned. If they are the same rows, all figures here "
            "flatter it: measure on rows that were held out, or use cross_validate."
        )
    if quality["scores"]["calibration error"]["value"] > OVERSURE:
        error = quality["scores"]["calibration error"]["value"]
        more = "" if getattr(model, "calibrate", None) else '; calibrate="temperature" may mend that'
        found.append(f"Probabilities are off by {100 * error:.1f} % on average{more}.")
    return found


def _of_columns(columns: Any, block: Any) -> list[str]:
    """Return which columns of a block are often empty, or hold levels that were never met."""
    rows, count = block.shape[0], min(columns.count, block.shape[1])
    codings = columns.codings or (None,) * count
    if not hasattr(block, "pieces") or any(isinstance(its, Words) for its in codings):
        return []
    sizes = np.array([its.size if isinstance(its, Levels) else np.inf for its in codings[:count]])
    empty, new = np.zeros(count), np.zeros(count)
    for _, piece in block.pieces(0, rows, CELLS):
        its = piece[:, :count]
        empty += (its < 0 if columns.codings else its != its).sum(axis=0)
        new += (its >= sizes).sum(axis=0)
    found = []
    for j in range(count):
        name = repr(title_of(j if columns.names is None else columns.names[j]))
        if empty[j] > GAPPY * rows:
            found.append(f"{name} is empty in {100 * empty[j] / rows:.1f} % of the rows.")
        if new[j]:
            found.append(f"{name} holds a level that the model has never met, in {int(new[j]):,} rows.")
    return found
