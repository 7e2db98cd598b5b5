"""Data frames of pandas, polars and pyarrow, through narwhals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from suffice.blocks import ByColumn
from suffice.blocks.block import GATHERED, PIECE, Block, Dense, Gappy, handed_out
from suffice.data import arrow_columns
from suffice.data.labelled_table import check_table, missing_labels_error
from suffice.data.labels import encode_numbers, is_missing
from suffice.data.sheets import (
    STACK,
    CodedColumns,
    Sheet,
    as_numbers,
    encode_objects,
    in_stacks,
    kind_of,
    label_of,
    leave_out,
)
from suffice.data.string_columns import StringColumns
from suffice.schema import Array

# Rows of a frame are converted at least so many at a time, because each conversion looks at the types of all columns.
FEWEST_ROWS = 256


@dataclass(frozen=True)
class Frame(Dense):
    """A data frame of number columns, converted to arrays one piece at a time; ``array`` is a narwhals frame."""

    array: Any
    common: np.dtype[Any]
    gappy: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        return handed_out(self.common)

    @property
    def cells(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def in_place(self) -> bool:
        return False

    @property
    def gaps(self) -> bool:
        return self.gappy

    def take(self, rows: Array) -> Block:
        return replace(self, array=self.array[rows])

    def gathered(self) -> Block:
        if self.cells * self.dtype.itemsize > GATHERED:
            return self
        array = np.empty(self.shape, self.dtype)
        for rows, piece in self.pieces(0, len(array)):
            array[rows] = piece
        return (Gappy if self.gaps else Dense)(self.owner, self.names, array)

    def pieces(self, start: int, stop: int, cells: int | None = None) -> Iterator[tuple[slice, Array]]:
        step = max((PIECE // 2 if cells is None else cells) // self.shape[1], FEWEST_ROWS)
        for first in range(start, stop, step):
            rows = slice(first, min(first + step, stop))
            numbers = self.array[rows].to_numpy()
            if numbers.dtype.kind == "O":  # booleans with empty cells, or mixed with integers
                empty = np.array([[is_missing(value) for value in line] for line in numbers])
                numbers = np.where(empty, np.nan, numbers) if empty.any() else numbers
                numbers = numbers.astype(np.float64 if empty.any() else self.dtype)
            if numbers.dtype.kind == "f" and self.dtype.kind != "f":
                # integers become floats where cells are empty
                row, column = np.argwhere(np.isnan(numbers))[0]
                self.reject_not_finite(first + int(row), int(column), np.nan)
            piece = np.array(numbers, self.dtype, order="C")
            piece.flags.writeable = False
            yield rows, piece


def frame_block(X: Any, owner: str, gaps: bool = False) -> Block | None:
    """Return a data frame as a block of numbers, in which empty cells are ``gaps``; None if X is not a data frame."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    if 0 in frame.shape:
        return None  # `as_block` raises the error for an empty table
    names = string_names(frame.columns)
    numbers = _number_frame(frame, list(frame.schema.values()), owner, names, gaps)
    if numbers is not None:
        return numbers
    columns = [
        as_numbers_of_column(frame[:, place].to_numpy(), name, owner) for place, name in enumerate(frame.columns)
    ]
    return (Gappy if gaps else Dense)(owner, names, np.column_stack(columns))


def _number_frame(frame: Any, dtypes: list[Any], owner: str, names: tuple[Any, ...] | None, gaps: bool) -> Dense | None:
    """Return a narwhals frame whose columns all have a numeric type as a block; None if some have another type."""
    kinds = [_numpy_dtype(dtype) for dtype in set(dtypes)]
    if any(kind is None for kind in kinds):  # not `None in kinds`: NumPy takes None for float64
        return None
    common = np.result_type(*(kind for kind in kinds if kind is not None))
    is_gappy = gaps and (common.kind == "f" or _has_gaps(frame))
    columns = arrow_columns.numbers(frame.to_native(), is_gappy)
    if columns is not None:
        common = np.result_type(common, np.float64) if is_gappy else common
        return ByColumn(owner, names, columns, common, is_gappy)
    return Frame(owner, names, frame, np.result_type(common, np.float64) if is_gappy else common, is_gappy)


def _has_gaps(frame: Any) -> bool:
    """Return whether a cell of a narwhals frame is missing."""
    native = {*getattr(frame.to_native(), "dtypes", ())}
    if native and all(isinstance(dtype, np.dtype) and dtype.kind in "biu" for dtype in native):
        return False  # a frame of pandas, whose integers of NumPy are always there
    return any(series.null_count() for series in frame.iter_columns())


@dataclass(frozen=True)
class FrameSheet(Sheet):
    """A data frame with columns of any kind; ``frame`` is a narwhals frame."""

    is_named = True

    frame: Any

    @classmethod
    def of(cls, X: Any, owner: str) -> FrameSheet | None:
        """Return a data frame as a sheet; None if X is not a data frame."""
        import narwhals.stable.v2 as nw

        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame) and type(X).__name__ == "RecordBatch":
            frame = nw.from_arrow(X, backend="pyarrow")
        return cls(owner, tuple(frame.columns), frame) if isinstance(frame, nw.DataFrame) else None

    @property
    def shape(self) -> tuple[int, int]:
        return self.frame.shape  # type: ignore[no-any-return]

    def _kind(self, name: Any) -> str:
        dtype = self._dtypes[name]
        if ("kind of", dtype) not in self._cache:
            self._cache["kind of", dtype] = _kind_of_dtype(dtype)
        kind: str | None = self._cache["kind of", dtype]
        if kind is None:
            return kind_of(self._series(name).to_list(), f"column {name!r}")
        # pandas has no type for an empty column, and calls it a column of strings
        return "empty" if kind == "string" and self._is_empty(name) else kind

    def _is_empty(self, name: Any) -> bool:
        if self._strings is not None and name in self._strings.columns:
            return self._strings.is_empty(name)
        return self._series(name).null_count() == self.shape[0]  # type: ignore[no-any-return]

    @cached_property
    def _strings(self) -> StringColumns | None:
        """The columns of strings, if there are several, and rows so few that columns are encoded together."""
        import narwhals.stable.v2 as nw

        places = [place for place, name in enumerate(self.names) if self._dtypes[name] == nw.String]
        if len(places) < 2 or not 0 < self.shape[0] <= STACK // 2:
            return None
        try:
            frame = self.frame if len(places) == len(self.names) else self.frame[:, places]
            return StringColumns.of(frame.to_arrow())
        except UnicodeError:  # a string with half of a surrogate pair, which Arrow does not hold
            return None

    def _code_strings_together(self, names: Sequence[Any]) -> Iterator[CodedColumns]:
        strings = self._strings
        several = [name for name in names if strings is not None and name in strings.columns]
        for part in in_stacks(several, self.shape[0]):
            if strings is not None:
                yield part, *strings.encode(part)
        yield from super()._code_strings_together(leave_out(names, several))

    @cached_property
    def _dtypes(self) -> dict[Any, Any]:
        """The narwhals type of each column."""
        native = list(getattr(self.frame.to_native(), "dtypes", ()))
        if not native or not any(_is_translated_once(dtype) for dtype in {*native}):
            return dict(zip(self.names, self.frame.schema.values(), strict=True))
        # a frame of pandas, whose types narwhals would translate for each column
        first = {dtype: place for place, dtype in enumerate(native) if _is_translated_once(dtype)}
        others = [place for place, dtype in enumerate(native) if dtype not in first]
        examined = [*first.values(), *others]
        found = dict(zip(examined, self.frame[:, examined].schema.values(), strict=True))
        return {
            name: found[first.get(dtype, j)] for j, (name, dtype) in enumerate(zip(self.names, native, strict=True))
        }

    def stack_numbers(self, names: Sequence[Any]) -> Iterator[tuple[Sequence[Any], Array]]:
        by_type: dict[Any, list[Any]] = {}
        for name in names:
            by_type.setdefault(self._dtypes[name], []).append(name)
        for dtype, own in by_type.items():
            for part in in_stacks(own, self.shape[0]):
                is_plain = len(part) > 1 and _numpy_dtype(dtype) is not None
                stack = self.frame[:, [self.places[name] for name in part]].to_numpy() if is_plain else None
                if stack is not None and stack.dtype.kind in "biuf":
                    yield part, self.finite_stack(np.ascontiguousarray(stack.T), part)
                else:  # decimals, and columns with empty cells of some types
                    yield from super().stack_numbers(part)

    def number(self, name: Any) -> Array:
        known: dict[Any, Array] = self._cache
        if ("number", name) not in known:
            series = self._series(name)
            wide = str(series.dtype) in ("Int128", "UInt128")  # which NumPy lacks
            numbers = as_numbers(np.array(series.to_list(), object) if wide else series.to_numpy())
            known["number", name] = self.finite(numbers, name)
        return known["number", name]

    def plain(self, name: Any) -> Array:
        series = self._series(name)
        whole = series.dtype.is_integer() and not series.null_count() and "128" not in str(series.dtype)
        return series.to_numpy() if whole else self.number(name)

    def _coded(self, name: Any) -> tuple[list[Any], Array]:
        series = self._series(name)
        if not (series.dtype.is_integer() and series.null_count() and "128" not in str(series.dtype)):
            return super()._coded(name)
        # as integers even with empty cells: doubles do not distinguish large ones
        there = ~series.is_null().to_numpy()
        labels, found = encode_numbers(series.drop_nulls().to_numpy()) if there.any() else ([], np.zeros(0, np.intp))
        codes = np.full(len(series), -1, np.intp)
        codes[there] = found
        return labels, codes

    def numbers(self, names: tuple[Any, ...]) -> Block:
        known: dict[Any, Block] = self._cache
        # columns that are asked for again are read several times
        is_again = ("numbers", names) in known
        known["numbers", names] = known["numbers", names].gathered() if is_again else self._numbers(names)
        return known["numbers", names]

    def _numbers(self, names: tuple[Any, ...]) -> Block:
        if all(name in self.places for name in names):
            frame = self.frame if names == self.names else self.frame[:, [self.places[name] for name in names]]
            dtypes = [self._dtypes[name] for name in names]
            numbers = _number_frame(frame, dtypes, self.owner, names, gaps=True)
            if numbers is not None:
                return numbers
        empty = np.full(self.shape[0], np.nan)
        columns = [self.number(name) if name in self.places else empty for name in names]
        return Gappy(self.owner, names, np.column_stack(columns))

    def strings(self, name: Any) -> list[Any]:
        return self._series(name).to_list()  # type: ignore[no-any-return]

    def _series(self, name: Any) -> Any:
        known = self._cache
        if ("series", name) not in known:
            columns = zip(self.names, self.frame.iter_columns(), strict=True)
            known |= {("series", each): series for each, series in columns}
        return known["series", name]

    def _coded_strings(self, name: Any) -> tuple[list[Any], Array]:
        import narwhals.stable.v2 as nw

        series = self._series(name)
        native = series.to_native()
        if series.dtype == nw.Object or series.dtype == nw.Unknown:
            return encode_objects(series.to_list())
        if hasattr(native, "factorize"):  # pandas
            codes, found = native.factorize()
            labels = found.tolist()
        elif hasattr(native, "dictionary_encode"):  # pyarrow
            labels, codes = arrow_columns.levels(native)
        elif hasattr(native, "replace_strict"):  # polars
            labels = native.drop_nulls().unique().to_list()
            codes = native.cast(str).replace_strict(labels, list(range(len(labels))), default=-1).to_numpy()
        else:
            return encode_objects(series.to_list())
        if not all(isinstance(label, str) for label in labels):
            kind_of(labels, f"column {name!r}")  # categories may be of any kind, but all of one
        kept = [label_of(label) for label in labels]
        return (kept, codes) if len(set(kept)) == len(kept) else encode_objects(series.to_list())


def _is_translated_once(dtype: Any) -> bool:
    """Return whether all columns of a pandas type have one narwhals type; those of objects depend on their values."""
    return dtype.kind in "biuf" if isinstance(dtype, np.dtype) else type(dtype).__name__ == "StringDtype"


def _kind_of_dtype(dtype: Any) -> str | None:
    """Return the kind of the columns of a narwhals type; None if it depends on the values."""
    import narwhals.stable.v2 as nw

    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_numeric():
        return "number"
    if dtype == nw.String or dtype == nw.Categorical or dtype == nw.Enum:
        return "string"
    return "date" if dtype.is_temporal() else None


def string_names(columns: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the column names if all are strings, None if none is; raise an error if they are mixed."""
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


def _numpy_dtype(dtype: Any) -> np.dtype[Any] | None:
    """Return the NumPy type of a column of numbers; None for other columns."""
    import narwhals.stable.v2 as nw

    if dtype == nw.Boolean:
        return np.dtype(bool)
    if dtype.is_decimal() or not dtype.is_numeric():
        return None
    try:
        return np.dtype(str(dtype).lower())
    except TypeError:  # integers of 128 bits, which NumPy lacks
        return None


def as_numbers_of_column(values: Array, name: Any, owner: str) -> Array:
    """Return a column of numbers as it is, and one of objects or strings as doubles; raise if a value is no number."""
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {name!r} holds {values.dtype}")
    if values.dtype.kind in "mM":
        raise ValueError(
            f"column {name!r} holds {values.dtype}, but {owner} needs numbers; turn it into numbers "
            "(days since a date, the hour, the weekday) or leave it out"
        )
    try:
        return np.asarray(values, np.float64)
    except OverflowError:
        return as_numbers(values)  # raises
    except (TypeError, ValueError):
        pass
    for row, value in enumerate(values.tolist()):
        try:
            float(np.nan if is_missing(value) else value)
        except (TypeError, ValueError):
            raise ValueError(
                f"could not convert string to float: column {name!r} holds {value!r} in row {row}, "
                f"but {owner} needs numbers; encode the column (sklearn.preprocessing.OrdinalEncoder or "
                "OneHotEncoder) or leave it out"
            ) from None
    return np.array([np.nan if is_missing(value) else value for value in values.tolist()], np.float64)


def split_frame(source: Any, target: str, weight: str | None, missing_target: str) -> tuple[Any, Array, Any]:
    """Return a data frame without its columns of labels and weights, the labels, and the weights or None."""
    rest, labels, codes, weights = encode_frame(source, target, weight, missing_target)
    return rest, labels[codes], weights


def encode_frame(source: Any, target: str, weight: str | None, missing_target: str) -> tuple[Any, Array, Array, Any]:
    """Return a data frame without labels and weights, the distinct labels, the code of each row, and the weights."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(source, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"fit_table takes a frame, a file, or a table of an engine, not a {type(source).__name__}")
    sheet = FrameSheet("fit_table", tuple(frame.columns), frame)
    distinct, codes = sheet.coded(check_table(sheet.names, target, weight, missing_target))
    missing = codes < 0
    if missing.any():
        if missing_target == "error":
            raise missing_labels_error(target, int(missing.sum()), len(missing), int(np.argmax(missing)))
        frame, codes = frame.filter((~missing).tolist()), codes[~missing]
    labels = np.empty(len(distinct), object)
    labels[:] = distinct
    rest = [place for place, name in enumerate(sheet.names) if name not in (target, weight)]
    weights = None if weight is None else _weights(frame[:, sheet.places[weight]], weight)
    return frame[:, rest].to_native(), labels, codes, weights


def _weights(series: Any, name: str) -> Array:
    if not (series.dtype.is_numeric() and series.null_count() == 0):
        raise ValueError(f"column {name!r} must hold the weight of each row, but does not hold numbers only")
    return series.to_numpy()  # type: ignore[no-any-return]


def concat_frames(frames: Sequence[Any]) -> Any:
    """Return data frames of one library as one."""
    import narwhals.stable.v2 as nw

    return frames[0] if len(frames) == 1 else nw.concat([nw.from_native(frame) for frame in frames]).to_native()


def append_columns(frame: Any, columns: Mapping[str, Array]) -> Any:
    """Return a data frame with additional columns."""
    import narwhals.stable.v2 as nw

    table = nw.from_native(frame, eager_only=True)
    made = [nw.new_series(name, values.tolist(), backend=table.implementation) for name, values in columns.items()]
    return table.with_columns(*made).to_native()


def select_columns(frame: Any, names: Sequence[Any] | int) -> Any:
    """Return some columns of a data frame, in the order of ``names``.

    If ``names`` is a number, the columns are x0, x1, …, and the result is an array.
    """
    import narwhals.stable.v2 as nw

    table = nw.from_native(frame, eager_only=True)
    wanted = [f"x{place}" for place in range(names)] if isinstance(names, int) else names
    places = {name: place for place, name in enumerate(table.columns)}
    selected = table[:, [places[name] for name in wanted if name in places]]
    return selected.to_numpy() if isinstance(names, int) else selected.to_native()


def as_arrow(frame: Any) -> Any:
    """Return a data frame as an Arrow table."""
    import narwhals.stable.v2 as nw

    return nw.from_native(frame, eager_only=True).to_arrow()
