"""Subgroups: the accuracy of the rows with each level or interval of a column, and of pairs of columns."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from suffice.folds.assessment import wilson_interval
from suffice.report.column_counts import MISSING, CountedColumn
from suffice.schema import Array, Cuts

LEAST_ROWS, MAX_GROUPS = 10, 100
PAIRED_COLUMNS, SINGLE_COLUMNS = 6, 60
MAX_CODES = 50  # levels of a column; a column of more is not divided


def find_subgroups(columns: Sequence[CountedColumn], is_right: Array) -> dict[str, Any]:
    """Return groups of rows with their accuracy and its 95 % interval, the worst first; ``columns`` by importance.

    Groups are ordered by the upper end of the interval, so that small groups are not listed for chance alone. Of
    several groups of the same rows, the first is kept.
    """
    divided = [_Division(column) for column in columns if column.codes is not None]
    divided = [its for its in divided if 1 < len(its.labels) <= MAX_CODES]
    found = [*_groups_of(divided[:SINGLE_COLUMNS], 1, is_right), *_groups_of(divided[:PAIRED_COLUMNS], 2, is_right)]
    found.sort(key=lambda group: (group["high"], -group["rows"]))
    distinct = {group.pop("members"): group for group in reversed(found)}
    kept = sorted(distinct.values(), key=lambda group: (group["high"], -group["rows"]))
    worse = sum(group["high"] < is_right.mean() for group in kept)
    return {"groups": kept[:MAX_GROUPS], "worse": int(worse), "least_rows": LEAST_ROWS}


class _Division:
    """The rows divided by a column; neighbouring intervals of a number are joined in pairs."""

    def __init__(self, column: CountedColumn) -> None:
        assert column.codes is not None
        codes, labels = column.codes, [*column.labels, "(unknown level)"]
        if column.edges is not None and len(column.edges) > 5:
            bins = len(column.edges) + 1
            cuts = Cuts(tuple(column.edges[1::2]))
            codes = np.where((codes >= 0) & (codes < bins), codes // 2, np.where(codes < 0, -1, cuts.size))
            labels = [*(cuts.label(code) for code in range(cuts.size)), MISSING]
        if (codes < 0).any():
            codes, labels = np.where(codes < 0, len(labels), codes), [*labels, MISSING]
        self.name, self.codes, self.labels = column.name, codes, labels


def _groups_of(divided: list[_Division], size: int, is_right: Array) -> Iterator[dict[str, Any]]:
    """Yield the groups of all combinations of ``size`` columns."""
    for chosen in combinations(divided, size):
        shape = tuple(len(its.labels) for its in chosen)
        codes = np.ravel_multi_index(tuple(its.codes for its in chosen), shape)
        rows, right = np.bincount(codes), np.bincount(codes, is_right)
        for code in np.flatnonzero((rows >= LEAST_ROWS) & (rows < len(is_right))).tolist():
            places = np.unravel_index(code, shape)
            low, high = wilson_interval(float(right[code]), float(rows[code]))
            yield {
                "columns": [its.name for its in chosen],
                "values": [its.labels[int(place)] for its, place in zip(chosen, places, strict=True)],
                "rows": int(rows[code]),
                "accuracy": float(right[code] / rows[code]),
                "low": low,
                "high": high,
                "members": hashlib.blake2b(np.packbits(codes == code).tobytes()).digest(),
            }
