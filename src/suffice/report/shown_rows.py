"""The rows of a page: those with the largest errors, some of each cell of the confusion matrix, and examples."""

import json
from typing import Any

import numpy as np

from suffice.report.model_view import ScoredRows
from suffice.report.quality import max_explained_rows
from suffice.schema import Array

LARGEST_ERRORS, ROWS_OF_CELL, MAX_ROWS, MAX_CHARACTERS = 10, 10, 400, 500_000
EXAMPLES, REASONS = 40, 4


def choose_errors(rows: ScoredRows, truth: Array) -> list[int]:
    """Return the wrong predictions with the least probability of the true class, the largest errors first."""
    own = np.where(truth >= 0, rows.log_proba[np.arange(len(truth)), truth], -np.inf)
    wrong = np.flatnonzero(rows.log_proba.argmax(axis=1) != truth)
    found: list[int] = wrong[np.argsort(own[wrong], kind="stable")].tolist()
    return found


def show_rows(rows: ScoredRows, truth: Array | None, labels: Array | None) -> dict[str, Any]:
    """Return the rows of the page, and the positions among them of examples and of the largest errors.

    A row has its position in the data, its label, its probabilities and its cells. A row of the largest errors has
    reasons: what contributes most to the predicted class against the true one.
    """
    errors = [] if truth is None else choose_errors(rows, truth)
    worst, examples = errors[:LARGEST_ERRORS], rows.spaced_positions(EXAMPLES)
    chosen = list(dict.fromkeys([*worst, *examples, *_rows_of_cells(rows, truth, errors)]))[:MAX_ROWS]
    cells, left, kept = rows.plain_cells(chosen), MAX_CHARACTERS, list[dict[str, Any]]()
    for row, line in zip(chosen, cells, strict=True):
        left -= len(json.dumps(line))
        if left < 0:
            break
        probabilities = np.exp(rows.log_proba[row]).round(8).tolist()
        kept.append({"row": row, "cells": line, "probabilities": probabilities})
        if truth is not None and labels is not None:
            kept[-1] |= {"label": str(labels[row]), "truth": int(truth[row])}
    places = {its["row"]: place for place, its in enumerate(kept)}
    worst = [row for row in worst if row in places]
    if truth is not None:
        for row, reasons in zip(worst, _reasons(rows, worst, truth), strict=True):
            kept[places[row]]["reasons"] = reasons
    return {
        "rows": kept,
        "errors": [places[row] for row in worst],
        "examples": [places[row] for row in examples if row in places],
        "wrong": len(errors),
    }


def _rows_of_cells(rows: ScoredRows, truth: Array | None, errors: list[int]) -> list[int]:
    """Return a few rows of each cell of the confusion matrix, wrong predictions before correct ones."""
    if truth is None:
        return []
    predicted, filled, found = rows.log_proba.argmax(axis=1), dict[tuple[int, int], int](), []
    for row in [*errors, *np.flatnonzero(predicted == truth)[: 20 * MAX_ROWS].tolist()]:
        cell = int(truth[row]), int(predicted[row])
        filled[cell] = filled.get(cell, 0) + 1
        if filled[cell] <= ROWS_OF_CELL:
            found.append(row)
    return found


def _reasons(rows: ScoredRows, worst: list[int], truth: Array) -> list[list[tuple[str, Any, float]]]:
    """Return what contributes most to the predicted class against the true class, for each of some rows."""
    if not worst or not max_explained_rows(rows.view.model):
        return [[] for _ in worst]
    explanation, classes = rows.explain(worst), rows.view.classes
    found = []
    for place, row in enumerate(worst):
        against = classes[truth[row]] if truth[row] >= 0 else None
        parts = explanation.log_odds(place, explanation.most_probable(place), against)
        largest = sorted((part for part in parts if part[2] > 0), key=lambda part: -part[2])
        found.append([(name, _plain(value), _finite(nats)) for name, value, nats in largest[:REASONS]])
    return found


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _finite(nats: float) -> float:
    """Return a number that JSON can hold."""
    return float(np.clip(nats, -1e9, 1e9))
