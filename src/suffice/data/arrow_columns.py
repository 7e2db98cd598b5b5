"""Columns of Arrow tables as NumPy arrays: without a copy where Arrow has one array without missing cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.data.labels import is_missing
from suffice.schema import Array

# Labels are looked for in so many rows first.
FIRST_ROWS = 1 << 10

# Numbers that must be copied, such as those in several chunks, are copied as a whole in tables of at most so many rows.
MOST_COPIED = 1 << 18


def numbers(table: Any, gaps: bool) -> tuple[Array, ...] | None:
    """Return the columns of an Arrow table of numbers and booleans, in which a missing cell is NaN.

    Return None for another table, if cells are missing but not ``gaps``, and if a large table would have to be copied.
    """
    if not hasattr(table, "itercolumns"):  # which no other library has; Arrow may not be imported
        return None
    columns = list(table.itercolumns())
    has_missing = [column for column in columns if column.null_count]
    if has_missing and (not gaps or "bool" in {str(column.type) for column in has_missing}):
        return None
    is_copied = has_missing or any(column.num_chunks != 1 or str(column.type) == "bool" for column in columns)
    if is_copied and table.num_rows > MOST_COPIED:
        return None
    return tuple(_joined(column).to_numpy(zero_copy_only=False) for column in columns)


def levels(column: Any) -> tuple[list[Any], Array]:
    """Return the distinct labels of a column of strings, as a chunked array, and the code of each row, −1 if missing.

    >>> import pyarrow as pa
    >>> labels, codes = levels(pa.chunked_array([["b", None], ["a", "b"]]))
    >>> labels, codes.tolist()
    (['b', 'a'], [0, -1, 1, 0])
    """
    encoded = _joined(column.dictionary_encode().unify_dictionaries())
    indices = encoded.indices
    if indices.null_count:
        indices = indices.cast("int64").fill_null(-1)  # the type of indices may be unsigned
    return _drop_unused_labels(indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist())


def _joined(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _drop_unused_labels(codes: Array, labels: list[Any]) -> tuple[list[Any], Array]:
    """Return labels and codes without the dictionary entries that no cell holds or that stand for an empty cell.

    >>> _drop_unused_labels(np.array([2, -1, 1, 2]), ["never", None, "b"])
    (['b'], array([ 0, -1, -1,  0]))
    """
    is_used = np.zeros(len(labels) + 1, bool)
    first = 0
    while first < len(codes) and not is_used[:-1].all():  # the first rows usually have all labels
        last = max(2 * first, FIRST_ROWS)
        is_used[codes[first:last]] = True
        first = last
    is_used[[place for place, label in enumerate(labels) if is_missing(label)]] = False
    is_used[-1] = False
    if is_used[:-1].all():
        return labels, codes
    places = np.where(is_used, np.cumsum(is_used) - 1, -1)
    return [label for label, is_kept in zip(labels, is_used, strict=False) if is_kept], places[codes]
