"""Averaged pairs as the page computes them: the pair counts, from which the page computes the conditional tables.

The counts of 61 columns with 877 cells in ten classes take 0.8 MB of a page, and the tables 15 MB.
"""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from suffice.report.packed_arrays import pack_array, pack_value, pack_whole
from suffice.schema import Array, Columns
from suffice.score import AveragedPairs
from suffice.statistics import PairCounts, Statistic
from suffice.structures.averaged import Averaged
from suffice.structures.conditionals import Conditionals


def pack_averaged_pairs(
    term: AveragedPairs, columns: Columns | None = None, counts: Statistic | None = None
) -> dict[str, Any]:
    """Return the fields of a term, with the counts that it was estimated from, or with its tables if they differ.

    ``pairs`` has the lower triangle of the counts of each class, and ``backoff`` the pseudo-rows of `Conditionals`.
    """
    # levels that imply others are few
    implied = [] if term.implied is None else [[a, b, int(term.implied[a, b])] for a, b in np.argwhere(term.implied)]
    plain = replace(term, implied=None)
    packed = {field.name: pack_value(getattr(plain, field.name)) for field in fields(plain) if field.name != "given"}
    packed["implied"] = np.array(implied, int).tolist()
    # the page exchanges a and b for the other direction of a pair; an array [class, slot a, slot b] takes less space
    given = np.moveaxis(term.given[:, :, 0], -1, 0)
    if columns is None or not isinstance(counts, PairCounts) or not _is_estimate(term, given, columns, counts):
        return packed | {"given": pack_array(given)}
    rows, cells = np.tril_indices(counts.pairs.shape[1])
    return packed | {"pairs": pack_whole(counts.pairs[:, rows, cells]), "backoff": Averaged.backoff}


def _is_estimate(term: AveragedPairs, given: Array, columns: Columns, counts: PairCounts) -> bool:
    """Return whether tables are those that counts give with the usual number of pseudo-rows."""
    tables = Conditionals(columns, counts, np.exp(term.alone.T), "mean", Averaged.backoff)
    return np.allclose(tables.every(), given, rtol=1e-12, atol=1e-12)
