"""The report as one HTML file: data, styles and scripts, without any other file."""

import base64
import hashlib
import json
import os
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from suffice.decision.calibration import Calibration
from suffice.report import quality
from suffice.report.inputs import fit_ranges, image_side, read_inputs
from suffice.report.live_model import write_live_model
from suffice.report.model_facts import describe_features, describe_model, find_model_warnings
from suffice.report.model_view import ModelView, ScoredRows, score_rows, view_model
from suffice.storage.atomic_write import check_output_path, replace_file

COMPUTING = ("numbers.js", "cells.js", "terms.js", "dependent_terms.js", "trees.js", "scores.js")
SCRIPTS = (*COMPUTING, "charts.js", "pad.js", "live.js", "page.js")
EXAMPLES, EXAMPLE_CHARACTERS, RANGE_ROWS = 40, 300_000, 400


def write(model: Any, path: str | os.PathLike[str], X: Any = None, y: Any = None, title: str | None = None) -> Path:
    """Write a report on a model as one HTML file that needs no network and no other file.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this library.
    path : str or path
        The file to write.
    X : array-like, sparse matrix or data frame, default=None
        Rows to show as examples and to measure the importance of features; preferably rows that were not learned.
    y : array-like, default=None
        The labels of these rows, to measure the quality of the predictions.
    title : str, default=None
        The title of the page.

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
    view = view_model(model)
    rows = None if X is None else score_rows(view, model, X)
    if title is None:
        predicts = "" if view.target is None else f"{view.target}, predicted by "
        title = f"{predicts}{view.classifier}: a report"
    script = "\n".join(_read(name) for name in SCRIPTS)
    style = _read("style.css")
    parts = {
        "title": escape(str(title)),
        "policy": f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        "style": style,
        "script": script,
        "data": embed_json(_collect(view, rows, y, str(title))),
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


def _collect(view: ModelView, rows: ScoredRows | None, y: Any, title: str) -> dict[str, Any]:
    """Return the data of the page."""
    inputs = read_inputs(view.tally.schema, view.counted_blocks, view.model.columns)
    side = image_side(inputs, has_names=view.tally.schema.feature_names is not None)
    measured, errors, examples, importance = None, list[Any](), list[list[Any]](), dict[str, float]()
    warnings = find_model_warnings(view)
    if rows is not None:
        if y is not None:
            truth, labels = quality.read_truth(rows, y)
            measured, errors = (
                quality.measure_quality(rows, truth, labels),
                quality.describe_errors(rows, truth, labels),
            )
        warnings += quality.find_row_warnings(rows, measured)
        importance = quality.measure_importance(rows, inputs)
        cells = rows.plain_cells(rows.spaced_positions(RANGE_ROWS))
        fit_ranges(inputs, cells)
        examples = _choose_examples(cells)
    return {
        "title": title,
        "about": describe_model(view, inputs),
        "quality": measured,
        "wrong": errors,
        "examples": examples,
        "learned": describe_features(view, inputs, importance, side),
        "calibration": _describe_calibration(view.calibration),
        "warnings": warnings,
        "engine": write_live_model(view, inputs) | {"features": [vars(its) for its in inputs.values()], "side": side},
    }


def _choose_examples(rows: list[list[Any]]) -> list[list[Any]]:
    """Return a few rows, evenly spaced, that take little space in the page."""
    left, chosen = EXAMPLE_CHARACTERS, []
    for place in np.linspace(0, len(rows) - 1, min(len(rows), EXAMPLES)).astype(int).tolist():
        left -= len(json.dumps(rows[place]))
        if left < 0:
            break
        chosen.append(rows[place])
    return chosen


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
