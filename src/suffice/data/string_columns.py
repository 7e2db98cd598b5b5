"""Columns of strings as codes, several columns at once.

A library of frames takes longer to open a column than to encode a thousand strings, so the columns of a table with few
rows are encoded as if they were one column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.schema import Array


@dataclass(frozen=True)
class StringColumns:
    """Columns of strings; ``columns`` are chunked arrays of Arrow, by name.

    >>> import pyarrow as pa
    >>> strings = StringColumns.of(pa.table({"a": ["x", None], "b": ["y", "x"]}))
    >>> labels, codes = strings.encode(["a", "b"])
    >>> labels, codes.tolist()
    ([['x'], ['x', 'y']], [[0, -1], [1, 0]])
    """

    columns: Mapping[Any, Any]

    @classmethod
    def of(cls, table: Any) -> StringColumns:
        """Return the columns of an Arrow table that hold strings; a column without any value has another type."""
        types = [str(field.type) for field in table.schema]
        named = zip(table.column_names, types, table.itercolumns(), strict=True)
        return cls({name: column for name, kind, column in named if kind in ("string", "large_string")})

    def is_empty(self, name: Any) -> bool:
        """Return whether all cells of a column are missing."""
        column = self.columns[name]
        return bool(column.null_count == len(column))

    def encode(self, names: Sequence[Any]) -> tuple[list[list[Any]], Array]:
        """Return the distinct labels of each column, and the code of each cell, [column, row]; −1 if it is missing."""
        import pyarrow as pa

        chunks = [chunk.cast("large_string") for name in names for chunk in self.columns[name].chunks]
        encoded = pa.chunked_array(chunks).dictionary_encode().unify_dictionaries().combine_chunks()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).reshape(len(names), -1)
        return select_labels(codes, encoded.dictionary.to_pylist())


def select_labels(codes: Array, labels: Sequence[Any]) -> tuple[list[list[Any]], Array]:
    """Return the labels that each column holds, and the codes of its cells among them.

    Parameters
    ----------
    codes : array of shape (columns, rows)
        The codes of cells in the labels of all columns; −1 if a cell is missing.
    labels : sequence
        The labels of all columns.
    """
    size = len(labels) + 1  # the last place is that of missing cells
    starts = np.arange(len(codes))[:, None] * size
    flat = np.where(codes < 0, size - 1, codes) + starts
    is_used = (np.bincount(flat.ravel(), minlength=size * len(codes)) > 0).reshape(len(codes), size)
    is_used[:, -1] = False
    places = np.where(is_used, np.cumsum(is_used, axis=1) - 1, -1).astype(np.int32)
    held = [[labels[place] for place in line] for line in _split_lines(is_used)]
    return held, places.ravel()[flat]


def _split_lines(is_used: Array) -> Iterator[list[int]]:
    """Yield the places of the marks in each line."""
    places = np.flatnonzero(is_used) % is_used.shape[1]
    ends = np.cumsum(is_used.sum(axis=1))[:-1]
    return (part.tolist() for part in np.split(places, ends))
