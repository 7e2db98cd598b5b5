"""Data frames of any make, through narwhals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.schema import Array
from suffice.tables.blocks import PIECE, Block, Dense, handed_out


@dataclass(frozen=True)
class Frame(Dense):
    """A data frame of number columns, turned into arrays a piece at a time (``array`` is narwhals')."""

    array: Any
    common: np.dtype[Any]

    @property
    def dtype(self) -> np.dtype[Any]:
        return handed_out(self.common)

    @property
    def cells(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def in_place(self) -> bool:
        return False

    def pieces(self, start: int, stop: int) -> Iterator[tuple[slice, Array]]:
        step = max(4 * PIECE // self.shape[1], 1)
        for first in range(start, stop, step):
            rows = slice(first, min(first + step, stop))
            numbers = self.array[rows].to_numpy()
            if numbers.dtype.kind == "O":  # booleans with empty cells
                numbers = np.array([[np.nan if _empty(v) else v for v in line] for line in numbers], np.float64)
            if numbers.dtype.kind == "f" and self.dtype.kind != "f":
                # whole numbers come out as floats where cells are empty
                row, column = np.argwhere(np.isnan(numbers))[0]
                self.reject_not_finite(first + int(row), int(column), np.nan)
            piece = np.array(numbers, self.dtype, order="C")
            piece.flags.writeable = False
            yield rows, piece


def frame_block(X: Any, owner: str) -> Block | None:
    """Return a pandas, polars or pyarrow frame as a block; None if X is no frame."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    if 0 in frame.shape:
        return None  # the general door words the complaint about an empty table
    names = _names(list(frame.columns))
    kinds = [_numpy_dtype(dtype, nw) for dtype in frame.schema.values()]
    if None not in kinds:
        return Frame(owner, names, frame, np.result_type(*{kind for kind in kinds if kind is not None}))
    columns = [_as_numbers(frame[:, place], name, owner) for place, name in enumerate(frame.columns)]
    return Dense(owner, names, np.column_stack(columns))


def _names(columns: list[Any]) -> tuple[str, ...] | None:
    """Return the column names if all are strings; None if none is; mixed names are an error."""
    strings = [isinstance(name, str) for name in columns]
    if columns and all(strings):
        return tuple(str(name) for name in columns)
    if any(strings):
        kinds = sorted({type(name).__qualname__ for name in columns})
        raise TypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {kinds} as feature name / column name types. "
            "If you want feature names to be stored and validated, you must convert them all to strings, "
            "by using X.columns = X.columns.astype(str) for example."
        )
    return None


def _numpy_dtype(dtype: Any, nw: Any) -> np.dtype[Any] | None:
    """Return the type of a column of numbers; None if it is none."""
    if dtype == nw.Boolean:
        return np.dtype(bool)
    if dtype.is_decimal() or not dtype.is_numeric():
        return None
    try:
        return np.dtype(str(dtype).lower())
    except TypeError:  # whole numbers of 128 bits
        return np.dtype(np.float64)


def _empty(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType"


def _as_numbers(series: Any, name: str, owner: str) -> Array:
    """Return a column of objects or strings as numbers, as NumPy reads them."""
    values = series.to_numpy()
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {name!r} holds {values.dtype}")
    if values.dtype.kind in "mM":
        raise ValueError(
            f"column {name!r} holds {values.dtype}, and {owner} needs numbers; turn it into numbers "
            "(days since a date, the hour, the weekday) or leave it out"
        )
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        pass
    for row, value in enumerate(values.tolist()):
        try:
            float(np.nan if _empty(value) else value)
        except (TypeError, ValueError):
            raise ValueError(
                f"could not convert string to float: column {name!r} holds {value!r} in row {row}, "
                f"and {owner} needs numbers; encode the column (sklearn.preprocessing.OrdinalEncoder or "
                "OneHotEncoder) or leave it out"
            ) from None
    return np.array([np.nan if _empty(value) else value for value in values.tolist()], np.float64)
