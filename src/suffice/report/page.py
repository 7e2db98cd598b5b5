"""The page: facts, numbers, styles and scripts put into one file that needs no other."""

from __future__ import annotations

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

from suffice.report import facts, quality
from suffice.report.engine import engine
from suffice.report.inputs import features_of, fit_to, image_side
from suffice.store import check_place

SCRIPTS = ("numbers.js", "engine.js", "charts.js", "live.js", "page.js")
EXAMPLES = 40


def write(model: Any, path: str | os.PathLike[str], X: Any = None, y: Any = None, title: str | None = None) -> Path:
    """Write a report on a model: one HTML file, which needs no network and no other file.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this library.
    path : str or path
        Where to write it.
    X : array-like, sparse matrix or data frame, default=None
        Rows, to try in the page and to see what moves the model; best those that were not learned.
    y : array-like, default=None
        Their labels, to say how good the model is.
    title : str, default=None
        What the page is called.

    Returns
    -------
    path : Path
        Where it was written.
    """
    path = check_place(path)
    path.write_text(render(model, X, y, title), encoding="utf-8")
    return path


def render(model: Any, X: Any = None, y: Any = None, title: str | None = None) -> str:
    """Return a report on a model as the text of an HTML page; parameters are those of `write`."""
    if not hasattr(model, "_model") or not hasattr(model, "_held"):
        raise TypeError(f"a report is on a classifier that learned sums, and {type(model).__name__} is none")
    if X is None and y is not None:
        raise ValueError("y are the labels of rows, and X is not given")
    title = _title(model) if title is None else str(title)
    script = "\n".join(_read(name) for name in SCRIPTS)
    style = _read("style.css")
    parts = {
        "title": escape(title),
        "policy": f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        "style": style,
        "script": script,
        "data": embedded(_data(model, X, y, title)),
    }
    # in one pass: what is filled in is not looked at again
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read("template.html"))


def _title(model: Any) -> str:
    """Return what a page is called: by what is predicted, if the model knows."""
    kind, target = type(model).__name__, getattr(model, "target_name_", None)
    return f"{kind}: a report" if target is None else f"{target}, predicted by {kind}: a report"


def embedded(data: Any) -> str:
    r"""Return JSON that can stand in a script element whatever its strings hold.

    >>> embedded("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(model: Any, X: Any, y: Any, title: str) -> dict[str, Any]:
    """Return all that the page shows and computes by."""
    tally = model.tally_
    classes = [str(label) for label in tally.schema.classes.tolist()]
    features = features_of(tally, model.estimate_model().columns)
    side = image_side(features, tally.schema.feature_names is not None)
    calibration = model.__dict__.get("calibration_") if getattr(model, "calibrate", None) else None
    found: dict[str, Any] = {"quality": None, "wrong": [], "examples": []}
    cautions, weights = facts.warnings_of(model, tally), dict[str, float]()
    if X is not None:
        n = len(model.predict_log_proba(X))
        if y is not None:
            found["quality"], worst = quality.measured(model, tally, X, y)
            found["wrong"] = _wrong(model, tally, X, y, worst, features)
        cautions += quality.warnings_of(model, tally, X, found["quality"])
        weights = quality.importance(model, tally, X, n, features)
        places = np.linspace(0, n - 1, min(n, 400)).astype(int).tolist() if n else []
        rows = quality.cells(model, tally, quality.some_of(X, places), features) if places else []
        fit_to(features, rows)
        found["examples"] = _sample(rows)
    return found | {
        "title": title,
        "about": facts.about(model, tally, features),
        "learned": facts.learned(tally, features, weights, side),
        "calibration": None if calibration is None else _calibration(calibration),
        "warnings": cautions,
        "engine": engine(model.estimate_model(), classes, features, calibration)
        | {"features": [feature.written() for feature in features], "side": side},
    }


def _wrong(model: Any, tally: Any, X: Any, y: Any, worst: list[int], features: Any) -> list[dict[str, Any]]:
    """Return the rows that the model is most wrong about, each with why it said what it said."""
    if not worst:
        return []
    some = quality.some_of(X, worst)
    log_proba, classes = model.predict_log_proba(some), [str(label) for label in tally.schema.classes.tolist()]
    explanation = model.explain(some) if quality.explainable(model) else None
    labels = np.asarray(y)[worst].tolist() if not hasattr(y, "to_numpy") else y.to_numpy()[worst].tolist()
    found = []
    for row, cells in enumerate(quality.cells(model, tally, some, features)):
        own = classes.index(str(labels[row])) if str(labels[row]) in classes else None
        found.append(
            {
                "row": worst[row],
                "label": str(labels[row]),
                "said": classes[int(log_proba[row].argmax())],
                "probability": float(np.exp(log_proba[row].max())),
                "own": 0.0 if own is None else float(np.exp(log_proba[row, own])),
                "sentence": "" if explanation is None else explanation.sentence(row),
                "cells": cells,
            }
        )
    return found


def _sample(rows: list[list[Any]]) -> list[list[Any]]:
    """Return rows to try, as many as take little room."""
    room, kept = 300_000, []
    for place in np.linspace(0, len(rows) - 1, min(len(rows), EXAMPLES)).astype(int).tolist():
        room -= len(json.dumps(rows[place]))
        if room < 0:
            break
        kept.append(rows[place])
    return kept


def _calibration(calibration: Any) -> dict[str, Any]:
    """Return how probabilities were before and after they were calibrated, on rows held out."""
    return {
        "method": calibration.method,
        "log_loss": calibration.log_loss,
        "error": calibration.error,
        "reliability": {name: quality.written(its) for name, its in calibration.reliability.items()},
    }


def _read(name: str) -> str:
    return files("suffice.report").joinpath(name).read_text(encoding="utf-8").strip()


def _digest(text: str) -> str:
    """Return what a policy names a script or a style by: no other one will run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
