"""Several models on the same rows: their scores, and the difference of each to the best with a verdict."""

from typing import Any

import numpy as np

from suffice.evaluation.metrics import OF_ROWS
from suffice.evaluation.verdicts import estimate_by_rows, judge
from suffice.folds.assessment import assess_predictions
from suffice.report.model_view import ScoredRows
from suffice.schema import Array


def compare_scores(
    names: list[str], rows: list[ScoredRows], truths: list[Array], qualities: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the scores of each model; those that are means over rows have a ``difference`` to the best.

    The rows are not training rows of the models, so their errors are independent of each other. The intervals of the
    differences hold for all pairs of models at once, as in `suffice.compare`.
    """
    found: list[dict[str, Any]] = [
        {"name": name, "kind": its.view.classifier, "scores": {title: dict(score) for title, score in scores.items()}}
        for name, its, scores in zip(names, rows, (quality["scores"] for quality in qualities), strict=True)
    ]
    measured = [assess_predictions(its.log_proba, truth) for its, truth in zip(rows, truths, strict=True)]
    weights = np.ones(len(truths[0]))
    for metric in OF_ROWS.values():
        assert metric.of_rows is not None
        values = np.array([metric.of_rows(each, weights) for each in measured])
        estimates = estimate_by_rows(values, weights, len(found), 0.0, is_loss=metric.is_loss, is_share=metric.is_share)
        verdicts = judge(estimates, metric.margin, is_loss=metric.is_loss)
        halves = estimates.difference_half_width.tolist()
        for its, verdict, by, half in zip(found, verdicts, estimates.difference.tolist(), halves, strict=True):
            its["scores"][metric.title] |= {"verdict": verdict, "difference": by, "half_width": half}
            its["scores"][metric.title]["margin"] = metric.margin
    return found
