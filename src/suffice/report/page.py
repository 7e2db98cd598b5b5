"""The report as one HTML file: data, styles and scripts, without any other file."""

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from suffice.decision.calibration import Calibration
from suffice.report import quality
from suffice.report.column_counts import CountedColumn, count_rows
from suffice.report.inputs import fit_ranges, image_side, read_inputs
from suffice.report.live_model import write_live_model
from suffice.report.model_comparison import compare_scores
from suffice.report.model_facts import describe_features, describe_images, describe_model, find_model_warnings
from suffice.report.model_view import ModelView, ScoredRows, score_rows, view_model
from suffice.report.row_drift import describe_drift
from suffice.report.shown_rows import show_rows
from suffice.report.subgroups import find_subgroups
from suffice.storage.atomic_write import check_output_path, replace_file

COMPUTING = ("numbers.js", "cells.js", "terms.js", "dependent_terms.js", "mixture_terms.js", "trees.js", "scores.js")
DRAWING = ("elements.js", "downloads.js", "charts.js", "curves.js", "shapes.js", "strokes.js", "pad.js")
SECTIONS = ("inputs.js", "live.js", "rows.js", "thresholds.js", "features.js", "tables.js", "page.js")
SCRIPTS = (*COMPUTING, *DRAWING, *SECTIONS)
RANGE_ROWS, RANGE_CELLS = 2000, 400_000


def write(model: Any, path: str | os.PathLike[str], X: Any = None, y: Any = None, title: str | None = None) -> Path:
    """Write a report on a model as one HTML file that needs no network and no other file.

    Parameters
    ----------
    model : classifier or dict of str to classifier
        A fitted classifier of this library. Of several, by name, the first is described, and all are compared by
        their scores on the rows of ``X``, with a verdict on each difference to the best.
    path : str or path
        The file to write.
    X : array-like, sparse matrix or data frame, default=None
        Rows to show as examples and to measure the importance of features; preferably rows that were not learned.
    y : array-like, default=None
        The labels of these rows, to measure the quality of the predictions.
    title : str, default=None
        The title of the page; by default the name of the target and of the classifier.

    Returns
    -------
    path : Path
        The file that was written.

    Examples
    --------
    >>> import tempfile
    >>> from suffice import BernoulliNB, report
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = report.write(model, f"{folder}/mail.html", [[1, 0], [0, 1]], ["ham", "spam"])
    ...     path.name
    'mail.html'
    """
    path = check_output_path(path)
    return replace_file(path, render(model, X, y, title).encode())


def render(model: Any, X: Any = None, y: Any = None, title: str | None = None) -> str:
    """Return a report on a model as the text of an HTML page.

    Parameters
    ----------
    model, X, y, title
        As in `write`.

    Returns
    -------
    html : str
    """
    if X is None and y is not None:
        raise ValueError("y has the labels of the rows of X; pass X as well")
    models = model if isinstance(model, Mapping) else {"": model}
    if not models:
        raise ValueError("there is no model; pass a fitted classifier, or a dict of them by name")
    if len(models) > 1 and y is None:
        raise ValueError("several models are compared by their scores on the same rows; pass X and y")
    views = {str(name): view_model(its) for name, its in models.items()}
    rows = [] if X is None else [score_rows(*pair, X) for pair in zip(views.values(), models.values(), strict=True)]
    first, view = next(iter(models.values())), next(iter(views.values()))
    title = title or (view.classifier if view.target is None else f"{view.target} ({view.classifier})")
    script = "\n".join(_read(name) for name in SCRIPTS)
    style = _read("style.css")
    parts = {
        "title": escape(str(title)),
        "policy": f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        "style": style,
        "script": script,
        "data": embed_json(
            _collect(views, rows, y, str(title), lambda: describe_drift(first, X) if hasattr(first, "tally_") else [])
        ),
    }
    # in one pass: inserted text that holds a placeholder stays as it is
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read("template.html"))


def embed_json(data: Any) -> str:
    r"""Return JSON that can stand in a script element, whatever its strings hold.

    >>> embed_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _collect(
    views: dict[str, ModelView],
    rows: list[ScoredRows],
    y: Any,
    title: str,
    find_drift: Callable[[], list[dict[str, Any]]],
) -> dict[str, Any]:
    """Return the data of the page: the first model in detail, and the scores of all."""
    view = next(iter(views.values()))
    inputs = read_inputs(view.tally.schema, view.counted_blocks, view.model.columns)
    side = image_side(inputs, has_names=view.tally.schema.feature_names is not None)
    measured, groups, importance, images = list[dict[str, Any]](), None, dict[str, float](), None
    comparison, words = list[dict[str, Any]](), dict[str, list[tuple[str, float]]]()
    shown: dict[str, Any] = {"rows": [], "errors": [], "examples": [], "wrong": 0}
    warnings, drift, counted = find_model_warnings(view), list[dict[str, Any]](), dict[Any, CountedColumn]()
    if rows:
        truth, labels = None, None
        if y is not None:
            truths = [quality.read_truth(its, y) for its in rows]
            measured = [quality.measure_quality(its, *known) for its, known in zip(rows, truths, strict=True)]
            truth, labels = truths[0]
            if len(rows) > 1:
                comparison = compare_scores(list(views), rows, [codes for codes, _ in truths], measured)
        importance, words = quality.measure_importance(rows[0], inputs)
        cells = rows[0].plain_cells(rows[0].spaced_positions(min(RANGE_ROWS, RANGE_CELLS // max(len(inputs), 1))))
        fit_ranges(inputs, cells)
        images = np.array([[float(value or 0) for value in line] for line in cells]) if side else None
        shown = show_rows(rows[0], truth, labels)
        drift = [] if side else find_drift()
        if truth is not None and not side:
            ranked = sorted(rows[0].columns.values(), key=lambda its: -importance.get(its.name, 0.0))
            counted = count_rows(ranked, truth, len(view.classes))
            groups = find_subgroups(ranked, rows[0].log_proba.argmax(axis=1) == truth)
        warnings += quality.find_row_warnings(rows[0], measured[0] if measured else None)
    return {
        "title": title,
        "about": describe_model(view, inputs),
        "quality": measured[0] if measured else None,
        "comparison": comparison,
        "shown": shown,
        "learned": {"features": []} if side else describe_features(view, inputs, importance, counted, words),
        "images": describe_images(view, inputs, importance, images) if side else None,
        "subgroups": groups,
        "drift": drift,
        "calibration": _describe_calibration(view.calibration),
        "warnings": warnings,
        "engine": write_live_model(view, inputs) | {"features": [vars(its) for its in inputs.values()], "side": side},
    }


def _describe_calibration(calibration: Calibration | None) -> dict[str, Any] | None:
    """Return how probabilities of held-out rows were before and after calibration."""
    if calibration is None:
        return None
    bins = {name: quality.reliability_bins(its) for name, its in calibration.reliability.items()}
    measures = {"log_loss": calibration.log_loss, "error": calibration.error}
    return {"method": calibration.method, "reliability": bins} | measures


def _read(name: str) -> str:
    return files("suffice.report").joinpath(name).read_text(encoding="utf-8").strip()


def _digest(text: str) -> str:
    """Return the hash by which the content policy allows a script or a style; no other one runs."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
