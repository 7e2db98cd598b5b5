"""Digest: a fingerprint of a tally, or of rows, that does not depend on the order of the rows."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from suffice.schema import Array, Coding, Columns, Cuts, Levels, Partition, Schema, Words, trees_of
from suffice.statistics.statistic import Statistic


def compute_digest(schema: Schema, class_count: Array, statistics: tuple[Statistic, ...]) -> str:
    """Return the SHA-256 of the classes, columns and sums of a tally, sorted by name, without those that are zero."""
    # classes and levels without rows are skipped, so that they do not change the digest
    present = np.flatnonzero(class_count > 0)
    sha = hashlib.sha256()
    _hash_facts(sha, [_label_text(label) for label in schema.classes[present].tolist()])
    _hash_numbers(sha, class_count[present])
    blocks = zip(schema.blocks, statistics, strict=True)
    is_named = schema.features is not None
    for columns, statistic in sorted(blocks, key=lambda pair: _sort_key(pair[0])) if is_named else blocks:
        _hash_block(sha, columns, statistic, present, is_named)
    return sha.hexdigest()


def compute_row_digest(names: Sequence[Any], rows: Iterable[tuple[Sequence[Any], Any, float]]) -> str:
    """Return the SHA-256 of rows (cells, label, weight); neither their order nor that of the columns matters.

    Numbers are compared by value, whatever their type; None and NaN are a missing cell.
    """
    keys = [_label_text(name) for name in names]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    sha, digests = hashlib.sha256(), []
    _hash_facts(sha, [keys[j] for j in order])
    for cells, label, weight in rows:
        row, line = hashlib.sha256(), [cells[j] for j in order]
        texts = [None if cell is None or cell != cell else _label_text(cell) for cell in line]
        _hash_facts(row, [texts, _label_text(label), float(weight)])
        digests.append(row.hexdigest())
    _hash_facts(sha, sorted(digests))
    return sha.hexdigest()


def _hash_block(sha: Any, columns: Columns, statistic: Statistic, classes: Array, is_named: bool) -> None:
    """Hash a block: its columns, sorted by name if they have names, and of each column the levels that have rows."""
    # a tree is known by its splits, whatever its position
    names = list(trees_of(columns)) if columns.is_forest else [_label_text(name) for name in columns.names or ()]
    names = names if is_named else []
    order = np.array(sorted(range(columns.count), key=lambda j: names[j]) if names else range(columns.count), np.intp)
    names = [names[j] for j in order] if names else []
    _hash_facts(sha, [columns.family, columns.count, names, columns.threshold, type(statistic).__name__])
    columns_cells = [_cells_with_rows(columns, j, statistic.arrays().get("total"), classes) for j in order.tolist()]
    for j, cells in zip(order.tolist(), columns_cells, strict=True):
        coding = None if columns.codings is None else columns.codings[j]
        _hash_facts(sha, _describe_codes(coding, (cells - int(columns.starts[j])).tolist()))
    places = np.concatenate(columns_cells) if columns_cells else np.zeros(0, np.intp)
    for name, array in statistic.sums().items():
        if name in ("n", "alone_n"):
            n = array[classes]
            _hash_numbers(sha, n[:, order] if n.shape[1] > 1 else np.repeat(n, columns.count, axis=1))
        else:
            _hash_numbers(sha, array[np.ix_(classes, *(places,) * (array.ndim - 1))])


def _cells_with_rows(columns: Columns, j: int, totals: Array | None, classes: Array) -> Array:
    """Return the cells of a column: all, or those of levels that have rows. Bins without rows are kept."""
    start = int(columns.starts[j])
    size = 1 if columns.sizes is None else int(columns.sizes[j])
    cells = np.arange(start, start + size)
    is_binned = columns.codings is not None and isinstance(columns.codings[j], Cuts)
    if columns.sizes is None or totals is None or is_binned:
        return cells
    return cells[totals[classes][:, cells].any(axis=0)] if len(classes) else cells[:0]


def _describe_codes(coding: Coding | None, codes: list[int]) -> Any:
    """Return what the codes of a column stand for; labels are already sorted."""
    if isinstance(coding, Cuts):
        return ["cuts", *map(float, coding.edges)]
    if isinstance(coding, Levels):
        kind = repr(coding.text) if isinstance(coding, Words) else type(coding).__name__
        return [kind, *(_label_text(coding.labels[code]) for code in codes)]
    if isinstance(coding, Partition):
        return ["tree", coding.key, *codes]
    return codes


def _sort_key(columns: Columns) -> tuple[bool, str, str]:
    return columns.is_forest, columns.family, json.dumps(sorted(_label_text(name) for name in columns.names or ()))


def _label_text(label: Any) -> str:
    """Return a label as text. 1 and "1" give different texts; 1, 1.0 and True give the same."""
    if isinstance(label, (bool, np.bool_)):
        return f"number {int(label)}"
    if isinstance(label, (int, float, np.number)):
        whole = float(label).is_integer()
        return f"number {int(label) if whole else float(label)!r}"
    return f"{type(label).__name__} {label!r}" if not isinstance(label, str) else f"str {label}"


def _hash_facts(sha: Any, facts: Any) -> None:
    sha.update(json.dumps(facts).encode())


def _hash_numbers(sha: Any, array: Array) -> None:
    # adding 0.0 turns −0.0 into 0.0
    sha.update(np.ascontiguousarray(array + 0.0, dtype="<f8").tobytes())
