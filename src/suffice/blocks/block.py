"""Blocks: numeric columns whose rows are read piece by piece.

No array is copied or converted as a whole. Rows are passed to the kernels as views where the memory layout allows it,
else through a small buffer. The kernels check the values while they count; a block only finds the wrong cell and raises
the error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from suffice.kernels.score_predictive import MOST_COUNTED
from suffice.schema import Array

# Rows that must be copied are copied in pieces of this many bytes, which stay in the cache until they are used.
PIECE, MOST_CELLS = 1 << 19, 1 << 17
# Selected rows that are read several times are copied once if they have at most this many bytes.
GATHERED = 1 << 27

NATIVE = {np.dtype(kind) for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")}


@dataclass(frozen=True)
class Block(ABC):
    """Numeric columns, read by ranges of rows. ``owner`` is the name of the estimator in error messages."""

    owner: str
    names: tuple[Any, ...] | None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers in the pieces."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of stored values."""

    @abstractmethod
    def between(self, start: int, stop: int) -> Block:
        """Return a range of the rows as a block."""

    @abstractmethod
    def take(self, rows: Array) -> Block:
        """Return these rows as a block."""

    @abstractmethod
    def find(self, rows: slice, wrong: Callable[[Array], Array]) -> tuple[int, int, Any] | None:
        """Return row, column and value of the first cell of these rows that is ``wrong``; None if there is none."""

    def gathered(self) -> Block:
        """Return the block in a form that is read several times without copying rows each time, unless it is large."""
        return self

    @property
    def gaps(self) -> bool:
        """Whether NaN is a missing cell, which is skipped; otherwise NaN is an error."""
        return False

    def complete(self) -> Array | None:
        """Return a mask of the rows without missing cells; None if all are complete."""
        return None

    def name(self, column: int) -> str:
        """Return the name of a column for an error message."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"

    def reject_if_not_finite(self, rows: slice) -> None:
        """Raise scikit-learn's error for NaN or infinity if one of these rows contains it, naming the cell."""
        if self.dtype.kind != "f":
            return
        found = self.find(rows, np.isinf if self.gaps else lambda values: ~np.isfinite(values))
        if found is not None:
            self.reject_not_finite(*found)

    def reject_not_finite(self, row: int, column: int, value: float) -> NoReturn:
        """Raise scikit-learn's error for NaN or infinity, naming the cell."""
        where = f"{self.name(column)} is {value} in row {row}"
        if np.isnan(value):
            raise ValueError(
                f"Input X contains NaN: {where}.\n"
                f"{self.owner} does not accept missing values encoded as NaN natively. "
                "Drop those rows or fill them in (sklearn.impute.SimpleImputer)."
            )
        raise ValueError(
            f"Input X contains infinity or a value too large for {self.dtype!r}: {where}. Drop those rows or clip them."
        )

    def reject_negative(self, rows: slice) -> NoReturn:
        """Raise scikit-learn's error for negative values, naming the first cell."""
        found = self.find(rows, lambda values: values < 0)
        assert found is not None
        row, column, value = found
        raise ValueError(
            f"Negative values in data passed to {self.owner} (input X): {self.name(column)} is {value} in row {row}, "
            f"but {self.owner} takes counts from 0 up."
        )

    def reject_uncountable(self, rows: slice) -> NoReturn:
        """Raise an error for a value that is too large or negative for a count, naming the cell."""
        found = self.find(rows, lambda values: values > MOST_COUNTED)
        if found is None:
            self.reject_negative(rows)
        row, column, value = found
        raise ValueError(
            f"{self.name(column)} is {value} in row {row}, which is not a count: {self.owner} takes counts up to 1e15"
        )


@dataclass(frozen=True)
class Dense(Block):
    """A two-dimensional array of any number type, in any memory layout."""

    array: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape[0], self.array.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return handed_out(self.array.dtype)

    @property
    def cells(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def in_place(self) -> bool:
        """Whether the kernels can read the array as it is."""
        flags, dtype = self.array.flags, self.array.dtype
        return flags.c_contiguous and flags.aligned and (dtype in NATIVE or dtype.kind == "b")

    def between(self, start: int, stop: int) -> Block:
        return replace(self, array=self.array[start:stop])

    def take(self, rows: Array) -> Block:
        return Taken(self.owner, self.names, self.array, rows, self.gaps)

    def select(self, columns: list[int]) -> Dense:
        """Return some of the columns as a block."""
        return replace(self, names=self._names_of(columns), array=self.array[:, columns])

    def _names_of(self, columns: list[int]) -> tuple[Any, ...] | None:
        return None if self.names is None else tuple(self.names[j] for j in columns)

    def pieces(self, start: int, stop: int, cells: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield the rows from start to stop, with their positions, as read-only arrays in C order."""
        whole = self.in_place and cells is None
        cells = min(PIECE // self.dtype.itemsize, MOST_CELLS) if cells is None else cells
        step = stop - start if whole else max(cells // self.shape[1], 1)
        for first in range(start, stop, step):
            rows = slice(first, min(first + step, stop))
            # a number too large for a double becomes infinite, which the kernels report
            with np.errstate(over="ignore"):
                piece = self.array[rows].view(self.dtype) if self.in_place else self._copied(rows)
            piece.flags.writeable = False  # the compiler would compile a second version for writeable arrays
            yield rows, piece

    def _copied(self, rows: slice) -> Array:
        return np.array(self.array[rows], self.dtype, order="C")

    def strips(self) -> Iterator[tuple[slice, slice, Array]]:
        """Yield all cells as arrays of some rows and columns, with their positions, in the shape that copies least."""
        for rows, piece in self.pieces(0, self.shape[0]):
            yield rows, slice(0, self.shape[1]), piece

    def complete(self) -> Array | None:
        if not self.gaps or self.dtype.kind != "f":
            return None
        return np.concatenate([~np.isnan(x).any(axis=1) for _, x in self.pieces(0, self.shape[0], PIECE // 8)])

    def scored(self, rows: slice, scores: Array) -> Iterator[tuple[Array, Array]]:
        """Yield the rows in pieces, each with its part of the scores [row, class]."""
        for here, piece in self.pieces(rows.start, rows.stop):
            yield piece, scores[here.start - rows.start : here.stop - rows.start]

    def find(self, rows: slice, wrong: Callable[[Array], Array]) -> tuple[int, int, Any] | None:
        for here, piece in self.pieces(rows.start, rows.stop, PIECE // 8):
            places = np.argwhere(wrong(piece))
            if len(places):
                row, column = places[0]
                return here.start + int(row), int(column), piece[row, column].item()
        return None


@dataclass(frozen=True)
class Gappy(Dense):
    """A two-dimensional array in which NaN is a missing cell."""

    @property
    def gaps(self) -> bool:
        return True


@dataclass(frozen=True)
class Taken(Dense):
    """Selected rows of an array, in any order, which are copied piece by piece when they are read."""

    rows: Array
    gappy: bool

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), self.array.shape[1]

    @property
    def in_place(self) -> bool:
        return False

    @property
    def gaps(self) -> bool:
        return self.gappy

    def between(self, start: int, stop: int) -> Block:
        return replace(self, rows=self.rows[start:stop])

    def take(self, rows: Array) -> Block:
        return replace(self, rows=self.rows[rows])

    def select(self, columns: list[int]) -> Dense:
        kind = Gappy if self.gaps else Dense
        return kind(self.owner, self._names_of(columns), self.array[np.ix_(self.rows, np.array(columns))])

    def gathered(self) -> Block:
        if self.cells * self.dtype.itemsize > GATHERED:
            return self
        kind = Gappy if self.gaps else Dense
        return kind(self.owner, self.names, self._copied(slice(0, len(self.rows))))

    def pieces(self, start: int, stop: int, cells: int | None = None) -> Iterator[tuple[slice, Array]]:
        if cells is not None or not Dense(self.owner, self.names, self.array).in_place:
            yield from super().pieces(start, stop, cells)
            return
        for first, last, adjacent in _split_runs(self.rows[start:stop]):
            if adjacent:  # no copy is needed, as for most rows of a fold
                piece = self.array[self.rows[start + first] :][: last - first].view(self.dtype)
                yield slice(start + first, start + last), _read_only(piece)
            else:
                yield from super().pieces(start + first, start + last)

    def _copied(self, rows: slice) -> Array:
        return np.asarray(np.take(self.array, self.rows[rows], axis=0), self.dtype, order="C")


def _split_runs(rows: Array, least: int = 128) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, True) for runs of at least ``least`` consecutive rows, and (start, end, False) between them.

    >>> list(_split_runs(np.array([4, 0, 1, 2, 3, 9, 7]), least=3))
    [(0, 1, False), (1, 5, True), (5, 7, False)]
    """
    edges = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
    done = 0
    for start, end in pairwise(edges):
        if end - start >= least:
            if start > done:
                yield done, start, False
            yield start, end, True
            done = end
    if done < len(rows):
        yield done, len(rows), False


@dataclass(frozen=True)
class Coded(Dense):
    """Codes of levels, [row, column]; −1 for a missing cell, the number of levels for an unknown level."""

    def take(self, rows: Array) -> Block:
        return replace(self, array=self.array[rows])


@dataclass(frozen=True)
class Sparse(Block):
    """A sparse matrix in CSR form."""

    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.matrix.data.dtype  # type: ignore[no-any-return]

    @property
    def cells(self) -> int:
        return int(self.matrix.nnz)

    def between(self, start: int, stop: int) -> Block:
        return replace(self, matrix=self.matrix[start:stop])

    def take(self, rows: Array) -> Block:
        return replace(self, matrix=self.matrix[rows])

    def stored(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """Return row starts, column numbers and values of a range of rows, without a copy."""
        starts = self.matrix.indptr[start : stop + 1]
        return _read_only(starts), _read_only(self.matrix.indices), _read_only(self.matrix.data)

    def find(self, rows: slice, wrong: Callable[[Array], Array]) -> tuple[int, int, Any] | None:
        first, last = self.matrix.indptr[rows.start], self.matrix.indptr[rows.stop]
        places = np.flatnonzero(wrong(self.matrix.data[first:last]))
        if not len(places):
            return None
        place = first + places[0]
        row = int(np.searchsorted(self.matrix.indptr, place, side="right")) - 1
        return row, int(self.matrix.indices[place]), self.matrix.data[place].item()


def cells_of(stored: tuple[Array, Array, Array]) -> int:
    """Return the number of stored values in a range of sparse rows."""
    return int(stored[0][-1] - stored[0][0])


def handed_out(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in which numbers of this type are passed to the kernels.

    >>> handed_out(np.dtype(bool)), handed_out(np.dtype(">i4")), handed_out(np.dtype("f2"))
    (dtype('uint8'), dtype('int32'), dtype('float32'))
    """
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    native = dtype.newbyteorder("=")
    if native in NATIVE:
        return native
    return np.dtype(np.float32 if native.itemsize < 4 else np.float64)


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
