"""Sheets: tables with columns of any kind, before they are read into blocks.

A sheet knows the kind of each column (number, boolean, string, date or empty) and returns it in a form that suits the
kind: numbers as a block that is read in pieces, levels as codes with their labels, texts as strings.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from operator import is_
from typing import Any, ClassVar, TypeAlias

import numpy as np

from suffice.blocks.block import Block, Dense, Gappy, Sparse
from suffice.data.labels import encode_narrow, encode_numbers, find_narrow, is_missing
from suffice.schema import Array, Columns

# Columns of few rows are examined together: about so many cells at once.
STACK = 1 << 17

# Kinds of columns that are encoded together.
TOGETHER = ("number", "boolean", "string")

# Columns, the distinct labels of each, and the codes of their rows, [column, row].
CodedColumns: TypeAlias = tuple[Sequence[Any], list[list[Any]], Array]


@dataclass(frozen=True)
class Sheet(ABC):
    """A table with columns of any kind; ``owner`` is the name of the estimator in error messages."""

    is_named: ClassVar[bool] = False  # whether columns have names of their own, and not only positions

    owner: str
    names: tuple[Any, ...]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]: ...

    @abstractmethod
    def _kind(self, name: Any) -> str: ...

    @abstractmethod
    def number(self, name: Any) -> Array:
        """Return a column of numbers or booleans as doubles; an empty cell is NaN."""

    def plain(self, name: Any) -> Array:
        """Return a column of numbers with its own type: doubles do not distinguish large integers."""
        return self.number(name)

    @abstractmethod
    def numbers(self, names: tuple[Any, ...]) -> Block:
        """Return columns of numbers as a block; the cells of a missing column are empty."""

    def stack_numbers(self, names: Sequence[Any]) -> Iterator[tuple[Sequence[Any], Array]]:
        """Yield columns of numbers or booleans with their own types, several of one type as an array [column, row].

        An empty cell is NaN. Columns of many rows are yielded one by one.
        """
        for name in names:
            yield [name], self.plain(name)[None]

    @abstractmethod
    def strings(self, name: Any) -> list[Any]:
        """Return a column of strings as a list; an empty cell is None or NaN."""

    def values(self, name: Any) -> list[Any]:
        """Return the values of a column as Python objects; an empty cell is None."""
        kind = self.kind(name)
        if kind in ("number", "boolean"):
            numbers = self.plain(name).tolist()
            empty = [number != number for number in numbers]
            values = map(bool, numbers) if kind == "boolean" else numbers
            return [None if gone else value for gone, value in zip(empty, values, strict=True)]
        if kind == "empty":
            return [None] * self.shape[0]
        return [None if is_missing(value) else value for value in self.strings(name)]

    @abstractmethod
    def _coded_strings(self, name: Any) -> tuple[list[Any], Array]: ...

    def finite(self, values: Array, name: Any) -> Array:
        """Return numbers; raise an error that names the row if one is infinite."""
        infinite = np.isinf(values)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise ValueError(
                f"Input X contains infinity: column {name!r} is {values[row]} in row {row}. Drop those rows, "
                "clip them, or leave the cell empty (NaN)."
            )
        return values

    def finite_stack(self, values: Array, names: Sequence[Any]) -> Array:
        """Return columns of numbers, [column, row]; raise an error that names column and row if one is infinite."""
        if values.dtype.kind == "f" and np.isinf(values).any():
            for name, column in zip(names, values, strict=True):
                self.finite(column, name)
        return values

    @cached_property
    def places(self) -> dict[Any, int]:
        """The position of each column."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        """Results of earlier calls: columns are inspected to plan, and again to read them."""
        return {}

    def kind(self, name: Any) -> str:
        """Return the kind of a column; raise an error if it has none."""
        known: dict[Any, str] = self._cache
        if ("kind", name) not in known:
            known["kind", name] = self._kind(name)
        return known["kind", name]

    def coded(self, name: Any, last: bool = True) -> tuple[list[Any], Array]:
        """Return the distinct labels of a column, and the code of each row, −1 for an empty cell.

        The result is kept for the next call unless this is the ``last`` one.
        """
        known = self._cache.pop(("codes", name), None)
        if known is None:
            known = self._coded(name)
        if not last:
            self._cache["codes", name] = known
        return known  # type: ignore[no-any-return]

    def code_columns(self, names: Sequence[Any], last: bool = True) -> Iterator[CodedColumns]:
        """Yield the distinct labels of columns, and the codes of their rows, several columns at once.

        The codes are an array [column, row], −1 for an empty cell. The columns come in any order. The results are kept
        for the next call unless this is the ``last`` one.
        """
        known = [name for name in names if ("codes", name) in self._cache]
        others = leave_out(names, known)
        for part in in_stacks(known, self.shape[0]):
            labels, codes = zip(*(self.coded(name, last) for name in part), strict=True)
            yield part, list(labels), np.stack(codes)
        for part, own, cells in self._code_together(others):
            if not last:
                kept = zip(part, own, cells, strict=True)
                self._cache.update({("codes", name): (its_labels, its_codes) for name, its_labels, its_codes in kept})
            yield part, own, cells

    def keep_cells(self, columns: Columns, cells: Block) -> None:
        """Keep the cells of a block of levels: a pool counts the rows again, by folds."""
        self._cache["cells", columns.names] = columns.codings, cells

    def kept_cells(self, columns: Columns) -> Block | None:
        """Return the cells of a block of levels if they were kept with the same codings."""
        codings, cells = self._cache.get(("cells", columns.names), (None, None))
        is_same = codings is not None and all(map(is_, codings, columns.codings or ()))
        return cells if is_same else None

    def _code_together(self, names: Sequence[Any]) -> Iterator[CodedColumns]:
        kinds = {name: self.kind(name) for name in names}
        yield from self._code_strings_together([name for name in names if kinds[name] == "string"])
        for part, stack in self.stack_numbers([name for name in names if kinds[name] in ("number", "boolean")]):
            is_narrow = find_narrow(stack) if len(part) > 1 and stack.shape[1] else np.zeros(len(part), bool)
            narrow = [name for name, is_so in zip(part, is_narrow.tolist(), strict=True) if is_so]
            if narrow:
                labels, codes = encode_narrow(stack if is_narrow.all() else stack[is_narrow])
                for place, name in enumerate(narrow):
                    if kinds[name] == "boolean":
                        labels[place] = list(map(bool, labels[place]))
                yield narrow, labels, codes
            yield from self._code_one_by_one(leave_out(part, narrow))
        yield from self._code_one_by_one([name for name in names if kinds[name] not in TOGETHER])

    def _code_strings_together(self, names: Sequence[Any]) -> Iterator[CodedColumns]:
        yield from self._code_one_by_one(names)

    def _code_one_by_one(self, names: Sequence[Any]) -> Iterator[CodedColumns]:
        for name in names:
            labels, codes = self._coded(name)
            yield [name], [labels], codes[None]

    def _coded(self, name: Any) -> tuple[list[Any], Array]:
        kind = self.kind(name)
        if kind == "string":
            return self._coded_strings(name)
        if kind == "empty":
            return [], np.full(self.shape[0], -1, np.int8)
        if kind == "date":
            return encode_objects(self.strings(name))
        labels, codes = encode_numbers(self.plain(name))
        return ([bool(label) for label in labels], codes) if kind == "boolean" else (labels, codes)


@dataclass(frozen=True)
class ArrayColumns(Sheet):
    """A sheet whose columns are arrays of numbers or objects."""

    @abstractmethod
    def column(self, name: Any) -> Array:
        """Return a column."""

    def _kind(self, name: Any) -> str:
        column = self.column(name)
        if column.dtype.kind == "b":
            return "boolean"
        return "number" if column.dtype.kind in "iuf" else kind_of(column.tolist(), f"column {name!r}")

    def number(self, name: Any) -> Array:
        return self.finite(as_numbers(self.column(name)), name)

    def plain(self, name: Any) -> Array:
        column = self.column(name)
        return column if column.dtype.kind in "iu" else self.number(name)

    def strings(self, name: Any) -> list[Any]:
        return self.column(name).tolist()  # type: ignore[no-any-return]

    def _coded_strings(self, name: Any) -> tuple[list[Any], Array]:
        return encode_objects(self.strings(name))


@dataclass(frozen=True)
class ArraySheet(ArrayColumns):
    """A two-dimensional array of numbers or objects; the names of columns are their positions."""

    array: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape[0], self.array.shape[1]

    def column(self, name: Any) -> Array:
        return self.array[:, self.places[name]]

    def stack_numbers(self, names: Sequence[Any]) -> Iterator[tuple[Sequence[Any], Array]]:
        if self.array.dtype.kind not in "biuf":
            yield from super().stack_numbers(names)
            return
        for part in in_stacks(names, self.shape[0]):
            stack = np.ascontiguousarray(self.array[:, [self.places[name] for name in part]].T)
            yield part, self.finite_stack(stack, part)

    def numbers(self, names: tuple[Any, ...]) -> Block:
        if self.array.dtype.kind not in "biuf":
            return Gappy(self.owner, names, np.column_stack([self.number(name) for name in names]))
        whole = names == self.names
        array = self.array if whole else self.array[:, [self.places[name] for name in names]]
        return (Gappy if array.dtype.kind == "f" else Dense)(self.owner, names, array)


@dataclass(frozen=True)
class SparseSheet(Sheet):
    """A sparse matrix of numbers."""

    block: Sparse

    @property
    def shape(self) -> tuple[int, int]:
        return self.block.shape

    def _kind(self, name: Any) -> str:
        return "number"

    def number(self, name: Any) -> Array:
        return self.finite(np.asarray(self.block.matrix[:, [self.places[name]]].toarray()[:, 0], np.float64), name)

    def numbers(self, names: tuple[Any, ...]) -> Block:
        if names == self.names:
            return self.block
        return Sparse(self.owner, names, self.block.matrix[:, [self.places[name] for name in names]].tocsr())

    def strings(self, name: Any) -> list[Any]:
        raise ValueError(f"column {name!r} of a sparse matrix holds numbers, not text")

    _coded_strings = strings  # type: ignore[assignment]


def leave_out(names: Sequence[Any], unwanted: Sequence[Any]) -> list[Any]:
    """Return the names without some of them."""
    without = set(unwanted)
    return [name for name in names if name not in without]


def in_stacks(names: Sequence[Any], rows: int) -> Iterator[Sequence[Any]]:
    """Yield names of columns in groups of about STACK cells, which stay in the cache."""
    step = max(STACK // max(rows, 1), 1)
    for first in range(0, len(names), step):
        yield names[first : first + step]


def kind_of(values: list[Any], name: str) -> str:
    """Return the kind of a column of Python objects; raise an error if it mixes kinds or is nested."""
    first: dict[type, Any] = {}
    for value in values:
        if type(value) not in first and not is_missing(value):
            first[type(value)] = value
    if not first:
        return "empty"
    kinds: dict[str, Any] = {}
    for value in first.values():
        kinds.setdefault(_kind_of_value(value), value)
    if "nested" in kinds:
        raise TypeError(
            f"{name} holds {_short(kinds['nested'])}, which is nested: an argument must be a string or a number in "
            "each cell; spread its values over several columns, or leave it out"
        )
    if set(kinds) == {"number", "boolean"}:
        return "number"
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise ValueError(
            f"{name} mixes {_short(one)} and {_short(other)}; make it all numbers (pandas.to_numeric) or all strings "
            f"(.astype(str)), or leave it out"
        )
    return next(iter(kinds))


def _kind_of_value(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, (int, float, np.number, Decimal)):
        if isinstance(value, (complex, np.complexfloating)):
            raise ValueError(f"Complex data not supported: {value!r}")
        return "number"
    if isinstance(value, complex):
        raise ValueError(f"Complex data not supported: {value!r}")
    if isinstance(value, (date, datetime, time, timedelta, np.datetime64, np.timedelta64)) or _is_period(value):
        return "date"
    if isinstance(value, (list, tuple, dict, set, frozenset, bytes, bytearray, np.ndarray)):
        return "nested"
    return "string"  # also other objects, such as intervals and members of an enumeration


def _is_period(value: Any) -> bool:
    return type(value).__name__ == "Period"  # a class of pandas, which need not be imported for this test


def as_numbers(values: Array) -> Array:
    """Return numbers of any type as doubles; an empty cell is NaN."""
    if values.dtype.kind in "biuf":
        return np.asarray(values, np.float64)
    try:
        return np.array([np.nan if is_missing(value) else value for value in values.tolist()], np.float64)
    except OverflowError:
        huge = max((value for value in values.tolist() if isinstance(value, int)), key=abs)
        raise ValueError(f"a number of {len(str(huge))} digits is too large for a double; leave it out") from None


def encode_objects(values: list[Any]) -> tuple[list[Any], Array]:
    """Return the distinct labels of a list of objects, and the code of each.

    >>> labels, codes = encode_objects(["b", None, "a", "b"])
    >>> labels, codes.tolist()
    (['b', 'a'], [0, -1, 1, 0])
    """
    index: dict[Any, int] = {}
    codes = np.empty(len(values), np.int32)
    for row, value in enumerate(values):
        codes[row] = -1 if is_missing(value) else index.setdefault(label_of(value), len(index))
    return list(index), codes


def label_of(value: Any) -> Any:
    """Return a level as a string, a number or a boolean."""
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return str(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"
