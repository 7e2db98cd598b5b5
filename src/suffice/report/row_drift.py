"""Drift: how far the levels of each column in new rows differ from those of the training rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.special import rel_entr
from scipy.stats import chi2

from suffice.report.column_counts import MISSING, CountedColumn, rows_of_column

SIGNIFICANCE = 0.01  # divided by the number of columns
DETAILED = 50  # columns whose shares are listed


def measure_drift(columns: Iterable[CountedColumn]) -> list[dict[str, Any]]:
    """Return the Jensen-Shannon distance of each column between training rows and new rows, the largest first.

    The distance is the square root of the divergence in bits, from 0 to 1. ``is_significant`` says whether a G-test
    finds a difference, with Bonferroni's correction for the number of columns.
    """
    found = [its for its in (_measure_column(column) for column in columns) if its is not None]
    for its in found:
        its["is_significant"] = its.pop("p_value") < SIGNIFICANCE / len(found)
    found.sort(key=lambda its: (-its["is_significant"], -its["distance"]))
    for its in found[DETAILED:]:
        for name in ("labels", "before", "after"):
            del its[name]
    return found


def _measure_column(column: CountedColumn) -> dict[str, Any] | None:
    before = rows_of_column(column)
    if column.codes is None or not before.any():
        return None
    size = len(column.labels)
    after = np.bincount(np.where(column.codes < 0, size + 1, column.codes), minlength=size + 2).astype(np.float64)
    unknown, missing = after[size], after[size + 1]
    is_missing = np.array([label == MISSING for label in column.labels])
    here = np.append(after[:size], unknown)
    there = np.append(before, 0.0)
    if not here.any():
        return None
    p, q = there / there.sum(), here / here.sum()
    middle = (p + q) / 2
    divergence = (rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / 2
    all_rows = there + here
    expected = [all_rows / all_rows.sum() * side.sum() for side in (there, here)]
    g = 2 * sum(rel_entr(side, by).sum() for side, by in zip((there, here), expected, strict=True))
    return {
        "name": column.name,
        "distance": float(np.sqrt(max(divergence, 0.0) / np.log(2))),
        "p_value": float(chi2.sf(g, max(int((all_rows > 0).sum()) - 1, 1))),
        "unknown": int(unknown),
        "missing": float((after[:size][is_missing].sum() + missing) / len(column.codes)),
        "labels": column.labels,
        "before": p[:size].round(5).tolist(),
        "after": q[:size].round(5).tolist(),
    }
