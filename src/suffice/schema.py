"""What a tally is about: the classes, and the columns with their family and levels."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Frozen:
    """A dataclass whose arrays cannot be written to, even after it has travelled as a pickle."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.view()
                value.flags.writeable = False
                object.__setattr__(self, field.name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


@dataclass(frozen=True, eq=False)
class Columns(Frozen):
    """Columns of one family, counted together as one block of arrays.

    ``threshold`` turns numbers into bits (bernoulli), ``sizes`` is the number of levels of each
    column (categorical: codes 0, 1, …).

    >>> pixels = Columns("bernoulli", 64, threshold=8.0)
    >>> pixels.name(3)
    'column 3'
    """

    family: str
    count: int
    names: tuple[str, ...] | None = None
    threshold: float | None = None
    sizes: Array | None = None

    def name(self, column: int) -> str:
        """Name a column as an error message should."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"

    @property
    def width(self) -> int:
        """How many cells a class has in the statistic: one a column, or one a level."""
        return self.count if self.sizes is None else int(self.sizes.sum())

    @property
    def starts(self) -> Array:
        """Where each column's levels start in the statistic."""
        return starts_of(np.ones(self.count, np.intp) if self.sizes is None else self.sizes)

    def name_of_cell(self, cell: int) -> str:
        """Name the column, and the level if there are levels, that a cell of the statistic counts."""
        if self.sizes is None:
            return self.name(cell)
        column = int(np.searchsorted(self.starts, cell, side="right")) - 1
        return f"level {cell - int(self.starts[column])} of {self.name(column)}"

    def merge(self, other: Columns) -> Columns:
        """Return columns wide enough for both, or say what the two disagree on."""
        if self is other:
            return self
        if self.family != other.family:
            raise ValueError(f"one side has {self.family} columns, the other {other.family} columns")
        if self.count != other.count:
            raise ValueError(f"one side has {self.count} columns, the other {other.count}")
        if self.threshold != other.threshold:
            raise ValueError(f"one side was binarized at {self.threshold}, the other at {other.threshold}")
        if self.names and other.names and self.names != other.names:
            column = next(j for j in range(self.count) if self.names[j] != other.names[j])
            raise ValueError(
                f"column {column} is {self.names[column]!r} on one side and {other.names[column]!r} on the other"
            )
        sizes = self.sizes
        if sizes is not None and other.sizes is not None and sizes is not other.sizes:
            sizes = np.maximum(sizes, other.sizes)
        return replace(self, names=self.names or other.names, sizes=sizes)

    def places_in(self, wider: Columns) -> Array | None:
        """Where this block's cells stand in the wider block's statistic; None if where they are."""
        if self.sizes is None or wider.sizes is None or np.array_equal(self.sizes, wider.sizes):
            return None
        return np.asarray(np.arange(self.width) + np.repeat(wider.starts - self.starts, self.sizes))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Columns):
            return NotImplemented
        plain = (self.family, self.count, self.names, self.threshold)
        if plain != (other.family, other.count, other.names, other.threshold):
            return False
        return bool(self.sizes is other.sizes or np.array_equal(self.sizes, other.sizes))  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Schema(Frozen):
    """The classes, in sorted order, and the blocks of columns; it grows by making a new one.

    >>> left = Schema(np.array(["ham"]), (Columns("gaussian", 2),))
    >>> right = Schema(np.array(["spam"]), (Columns("gaussian", 2),))
    >>> left.merge(right).classes.tolist()
    ['ham', 'spam']
    """

    classes: Array
    blocks: tuple[Columns, ...]

    def merge(self, other: Schema) -> Schema:
        """Return the schema of both together, or say what the two disagree on."""
        if self == other:
            return self
        if len(self.blocks) != len(other.blocks):
            raise ValueError(f"one side has {len(self.blocks)} blocks of columns, the other {len(other.blocks)}")
        blocks = tuple(mine.merge(theirs) for mine, theirs in zip(self.blocks, other.blocks, strict=True))
        return Schema(merged_classes(self.classes, other.classes), blocks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        if self is other:
            return True
        return bool(np.array_equal(self.classes, other.classes)) and self.blocks == other.blocks

    __hash__ = None  # type: ignore[assignment]


def starts_of(sizes: Array) -> Array:
    """Return where each of several stretches starts that lie side by side.

    >>> starts_of(np.array([3, 2, 4])).tolist()
    [0, 3, 5]
    """
    return (np.cumsum(sizes) - sizes).astype(np.intp)


def merged_classes(known: Array, met: Array) -> Array:
    """Return all labels of both, sorted; ``known`` itself if it has them all."""
    if len(known) == 0 or known is met:
        return met
    if (known.dtype.kind in "OUST") != (met.dtype.kind in "OUST"):
        raise ValueError(
            f"labels must be of one kind: {known.tolist()[0]!r} is known, and {met.tolist()[0]!r} is of another kind"
        )
    if len(known) == len(met) and bool(np.all(known == met)):
        return known
    both = _in_one_type(known, met)
    return known if len(both) == len(known) else both


def _in_one_type(known: Array, met: Array) -> Array:
    """Return the union of labels; whole numbers stay whole, where NumPy would round them to floats."""
    if np.result_type(known, met).kind == "f" and known.dtype.kind in "iu" and met.dtype.kind in "iu":
        labels = sorted({*known.tolist(), *met.tolist()})
        return np.array(labels, np.int64 if labels[-1] < 2**63 else np.uint64)
    return np.union1d(known, met)
