"""Rows as dictionaries: one row, a list of rows, or one dictionary of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.blocks.block import Block, Dense, Gappy
from suffice.caller_warnings import warn_caller
from suffice.data.sheets import ArrayColumns
from suffice.schema import Array

# Lists of these types become arrays of numbers; all others stay objects, as in a frame of pandas.
NUMBERS = ({int}, {float}, {int, float}, {bool})


@dataclass(frozen=True)
class Dictionaries:
    """Rows that were given as dictionaries, column by column; an item is a row.

    Parameters
    ----------
    names : tuple
        The keys.
    cells : tuple of arrays
        The values of each key; None if a row does not have it.
    """

    names: tuple[Any, ...]
    cells: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.cells[0])

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return replace(self, cells=tuple(cells[rows] for cells in self.cells))
        return {name: cells[rows] for name, cells in zip(self.names, self.cells, strict=True)}

    def as_block(self, owner: str, gaps: bool) -> Block:
        """Return the rows as a block of numbers, in which missing cells are ``gaps``."""
        from suffice.data.frames import as_numbers_of_column, string_names

        pairs = zip(self.cells, self.names, strict=True)
        array = np.column_stack([as_numbers_of_column(cells, name, owner) for cells, name in pairs])
        return (Gappy if gaps and array.dtype.kind == "f" else Dense)(owner, string_names(self.names), array)

    def check_names(self, known: Sequence[str] | None, owner: str) -> None:
        """Do what scikit-learn does with the column names of a frame: raise if they are not the learned ones."""
        from suffice.data.frames import string_names

        if string_names(self.names) is None:
            return
        if known is None:
            warn_caller(f"X has feature names, but {owner} was fitted without feature names")
            return
        learned, present = set(known), set(self.names)
        new = [name for name in self.names if name not in learned]
        missing = [name for name in known if name not in present]
        lists = (("unseen at fit time", new), ("seen at fit time, yet now missing", missing))
        parts = [f"Feature names {what}:\n- " + "\n- ".join(names[:5]) + "\n" for what, names in lists if names]
        if parts:
            raise ValueError(f"The feature names should match those that were passed during fit.\n{''.join(parts)}")


@dataclass(frozen=True)
class DictionarySheet(ArrayColumns):
    """Dictionaries as a sheet, with columns of any kind."""

    is_named = True

    cells: tuple[Array, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.cells[0]), len(self.names)

    def column(self, name: Any) -> Array:
        return self.cells[self.places[name]]

    def numbers(self, names: tuple[Any, ...]) -> Block:
        empty = np.full(self.shape[0], np.nan)
        columns = [self.number(name) if name in self.places else empty for name in names]
        return Gappy(self.owner, names, np.column_stack(columns))


def read_dictionaries(X: Any, known: Sequence[Any] | None = None) -> Any:
    """Return rows that are dictionaries as `Dictionaries`, and any other X as it is.

    A dictionary whose values are sequences is a table of columns; any other dictionary is one row. Keys that are
    ``known`` come first, in that order: the keys of a dictionary are a set of names.

    >>> rows = read_dictionaries([{"a": 1, "b": "x"}, {"a": 2}])
    >>> rows.names, [cells.tolist() for cells in rows.cells]
    (('a', 'b'), [[1, 2], ['x', None]])
    >>> len(read_dictionaries({"a": [1, 2], "b": ["x", None]})), len(read_dictionaries({"a": 1, "b": "x"}))
    (2, 1)
    """
    columns: Mapping[Any, Any]
    if isinstance(X, Dictionaries):
        columns = dict(zip(X.names, X.cells, strict=True))
    elif isinstance(X, Mapping) and not hasattr(X, "shape"):  # a sparse matrix may be a dictionary of its cells
        columns = _read_columns(X)
    elif isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        columns = _read_rows(X)
    else:
        return X
    names = tuple(dict.fromkeys([*(name for name in known or () if name in columns), *columns]))
    rows = Dictionaries(names, tuple(_as_array(columns[name]) for name in names))
    if not names or not len(rows):
        what = "sample(s)" if names else "feature(s)"
        raise ValueError(f"0 {what} while a minimum of 1 is required: the dictionaries of X are empty")
    return rows


def _read_rows(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {place} is a {type(row).__name__}, but row 0 is a dictionary: make all dictionaries")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _read_columns(columns: Mapping[Any, Any]) -> Mapping[Any, Any]:
    lengths = {name: len(values) for name, values in columns.items() if _is_sequence(values)}
    if not lengths:
        return {name: [value] for name, value in columns.items()}
    for name, values in columns.items():
        if name not in lengths:
            raise ValueError(
                f"{next(iter(lengths))!r} holds several values, but {name!r} holds {values!r}: a dictionary is one row "
                "of single values, or a table with a list for each column"
            )
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of X must have the same length, but they have {lengths}")
    return columns


def _is_sequence(values: Any) -> bool:
    """Return whether values are a list, a tuple, or a one-dimensional array or series."""
    return isinstance(values, (list, tuple)) or len(getattr(values, "shape", ())) == 1


def _as_array(values: Any) -> Array:
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values
    cells = list(values)
    if {type(cell) for cell in cells} in NUMBERS:
        return np.array(cells)
    array = np.empty(len(cells), object)
    for row, cell in enumerate(cells):  # one by one: a cell may be a list, which is refused by name later
        array[row] = cell
    return array
