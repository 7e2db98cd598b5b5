"""Digest: a fingerprint of all that a tally holds, in an order that does not depend on where it was taken."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from suffice.schema import Array, Coding, Columns, Cuts, Levels, Words
from suffice.statistics.statistic import Statistic


def digest_of(tally: Any) -> str:
    """Return the SHA-256 of a tally's classes, columns and sums: of those that are not zero, sorted by name."""
    schema = tally.schema
    # a class or a level of no rows is as if it had never been met
    met = np.flatnonzero(tally.class_count > 0)
    hashed = hashlib.sha256()
    _add(hashed, [_name(label) for label in schema.classes[met].tolist()])
    _add_numbers(hashed, tally.class_count[met])
    blocks = zip(schema.blocks, tally.statistics, strict=True)
    named = schema.features is not None
    for columns, statistic in sorted(blocks, key=lambda pair: _key(pair[0])) if named else blocks:
        _add_block(hashed, columns, statistic, met, named)
    return hashed.hexdigest()


def _add_block(hashed: Any, columns: Columns, statistic: Statistic, met: Array, named: bool) -> None:
    """Add a block: its columns sorted by name, if they go by name, of each the levels that were met, by label."""
    names = [_name(name) for name in columns.names or ()] if named else []
    order = np.array(sorted(range(columns.count), key=lambda j: names[j]) if names else range(columns.count), np.intp)
    names = [names[j] for j in order] if names else []
    _add(hashed, [columns.family, columns.count, names, columns.threshold, type(statistic).__name__])
    totals = statistic.arrays().get("total")
    cells = []
    for j in order.tolist():
        start = int(columns.starts[j])
        size = 1 if columns.sizes is None else int(columns.sizes[j])
        its = np.arange(start, start + size)
        coding = None if columns.codings is None else columns.codings[j]
        if columns.sizes is not None and totals is not None and not isinstance(coding, Cuts):
            its = its[totals[met][:, its].any(axis=0)] if len(met) else its[:0]
        _add(hashed, _levels(coding, (its - start).tolist()))
        cells.append(its)
    place = np.concatenate(cells) if cells else np.zeros(0, np.intp)
    for name, array in statistic.arrays().items():
        if name == "n" or name == "alone_n":
            mine = array[met]
            wide = mine[:, order] if mine.shape[1] > 1 else np.repeat(mine, columns.count, axis=1)
            _add_numbers(hashed, wide)
        else:
            _add_numbers(hashed, array[np.ix_(met, *(place,) * (array.ndim - 1))])


def _levels(coding: Coding | None, codes: list[int]) -> Any:
    """Return what codes stand for: labels are sorted already."""
    if isinstance(coding, Cuts):
        return ["cuts", *map(float, coding.edges)]
    if isinstance(coding, Levels):
        read = repr(coding.text) if isinstance(coding, Words) else type(coding).__name__
        return [read, *(_name(coding.labels[code]) for code in codes)]
    return codes


def _key(columns: Columns) -> tuple[str, str]:
    return columns.family, json.dumps(sorted(_name(name) for name in columns.names or ()))


def _name(label: Any) -> str:
    """Return a label as text, of which 1 and "1" are two, and 1 and 1.0 one."""
    if isinstance(label, (bool, np.bool_)):
        return f"number {int(label)}"
    if isinstance(label, (int, float, np.number)):
        whole = float(label).is_integer()
        return f"number {int(label) if whole else float(label)!r}"
    return f"{type(label).__name__} {label!r}" if not isinstance(label, str) else f"str {label}"


def _add(hashed: Any, facts: Any) -> None:
    hashed.update(json.dumps(facts).encode())


def _add_numbers(hashed: Any, array: Array) -> None:
    # 0.0 and −0.0 are the same number, and written alike
    hashed.update(np.ascontiguousarray(array + 0.0, dtype="<f8").tobytes())
