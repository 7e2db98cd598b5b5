"""Columns: a block of columns of the same family, which share one statistic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from suffice.schema.arrays import Array, Frozen, by_group, starts_of
from suffice.schema.codings import Coding, Cuts, join_places
from suffice.schema.partition import Partition

# The most memory that the pair counts of a block may take.
MOST_PAIR_BYTES = 8 << 30

# Pair counts that take more memory are announced before they are counted.
MUCH_PAIR_BYTES = 512 << 20


@dataclass(frozen=True, eq=False)
class Columns(Frozen):
    """Columns of one family, counted in one statistic.

    Attributes
    ----------
    family : str
        The name of the family.
    count : int
        The number of columns.
    names : tuple or None
        Their names, if they have any.
    threshold : float or None
        The number above which a value counts as 1 (bernoulli).
    sizes : array or None
        The number of levels of each column (categorical). The levels of all columns are adjacent in the statistic.
    codings : tuple of Coding or None
        The meaning of the codes of each column; None if codes stand for themselves.
    pairs : bool
        Whether pairs of columns are counted too.
    fourths : bool
        Whether their moments of third and fourth order are, which automatic shrinkage needs (gaussian, with pairs).

    >>> pixels = Columns("bernoulli", 64, threshold=8.0)
    >>> pixels.name(3)
    'column 3'
    """

    family: str
    count: int
    names: tuple[Any, ...] | None = None
    threshold: float | None = None
    sizes: Array | None = None
    codings: tuple[Coding, ...] | None = None
    pairs: bool = False
    fourths: bool = False

    @classmethod
    def coded(cls, family: str, names: tuple[Any, ...], codings: tuple[Coding, ...], pairs: bool = False) -> Columns:
        """Return columns, each of which has a coding."""
        sizes = np.array([coding.size for coding in codings], np.intp)
        return cls(family, len(names), names, None, sizes, codings, pairs)

    def recoded(self, codings: tuple[Coding, ...]) -> Columns:
        """Return the same columns with other codings."""
        return Columns.coded(self.family, self.names or (), codings, self.pairs)

    def name(self, column: int) -> str:
        """Return the name of a column for an error message."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"

    @property
    def width(self) -> int:
        """The number of cells of a class in the statistic: one for each column, or one for each level."""
        return self.count if self.sizes is None else int(self.sizes.sum())

    @property
    def size(self) -> int:
        """The approximate number of sums of a class in the statistic; with pairs, the square of the width."""
        return self.width**2 * (3 if self.fourths else 1) if self.pairs else self.width

    def pair_bytes(self, classes: int) -> int:
        """Return the memory that the pair counts of these columns take."""
        return classes * self.size * 8 if self.pairs else 0

    def check_pairs(self, classes: int) -> None:
        """Raise if the pairs of these columns take more memory than MOST_PAIR_BYTES."""
        size = self.pair_bytes(classes)
        if size <= MOST_PAIR_BYTES:
            return
        widest, way_out = "", "leave out columns"
        if self.sizes is not None:
            j = int(np.argmax(self.sizes))
            name = j if self.names is None else self.names[j]
            widest = f"; the widest is {self.name(j)} with {int(self.sizes[j]):,} levels"
            way_out = f"leave it out (families={{{name!r}: 'ignore'}}), group its rare levels"
        raise ValueError(
            f"the pair counts of {self.count} columns in {classes} classes would take {size / 2**30:.1f} GiB, but the "
            f'limit is {MOST_PAIR_BYTES / 2**30:g} GiB{widest}: {way_out}, or set structure="naive", which needs none'
        )

    @cached_property
    def places(self) -> dict[Any, int]:
        """The position of each column that has a name."""
        return {name: place for place, name in enumerate(self.names or ())}

    @cached_property
    def starts(self) -> Array:
        """The position of the first level of each column in the statistic."""
        starts = starts_of(np.ones(self.count, np.intp) if self.sizes is None else self.sizes)
        starts.flags.writeable = False
        return starts

    @cached_property
    def in_cells(self) -> Array:
        """For each column, whether it is a number that is counted in cells."""
        return np.array([type(each) is Cuts and each.by == "cells" for each in self.codings or ()], bool)

    @cached_property
    def upper_edges(self) -> Array:
        """The upper edge of each cell of a number; infinite for the last cell of a column, and for other levels."""
        codings = self.codings or ()
        edges = ((*each.edges, np.inf) if type(each) is Cuts else (np.inf,) * each.size for each in codings)
        return np.fromiter(chain.from_iterable(edges), np.float64)

    @property
    def open(self) -> Array:
        """For each column, 1 if it reserves probability for unknown levels, else 0."""
        if self.codings is None:
            return np.zeros(self.count)
        return np.array([float(coding.open) for coding in self.codings])

    @property
    def is_forest(self) -> bool:
        """Whether the columns are decision trees, whose levels are leaves."""
        return bool(self.codings) and isinstance(self.codings[0], Partition)  # type: ignore[index]

    @property
    def read_names(self) -> tuple[Any, ...]:
        """The names of the columns that are read from a table; those of trees are the columns on which they split."""
        first = self.codings[0] if self.codings else None
        return tuple(each.name for each in first.inputs) if isinstance(first, Partition) else self.names or ()

    def closed(self) -> Columns:
        """Return the same columns, none of which reserves probability for unknown levels."""
        codings = tuple(coding.closed() for coding in self.codings or ())
        is_same = all(a is b for a, b in zip(codings, self.codings or (), strict=True))
        return self if is_same else self.recoded(codings)

    def select(self, setting: Mapping[Any, Any], otherwise: Any) -> list[Any]:
        """Return the entry of each column in {column or family: value}; that of a column takes precedence.

        >>> Columns("binomial(10)", 2, ("a", "b")).select({"binomial": 1, "b": 2}, 0)
        [1, 2]
        """
        names: Sequence[Any] = self.names or range(self.count)
        chosen = []
        for name, family in zip(names, self.families, strict=True):
            # the name of a family may end in a setting
            keys = (key for key in (name, family, family.partition("(")[0]) if key in setting)
            chosen.append(setting.get(next(keys, None), otherwise))
        return chosen

    @property
    def families(self) -> tuple[str, ...]:
        """The name of the family of each column; bins and binary columns have names of their own."""
        if self.codings is None:
            return (self.family,) * self.count
        return tuple(coding.family for coding in self.codings)

    def name_of_cell(self, cell: int) -> str:
        """Return the name of the column, and of the level if there are levels, of a cell of the statistic."""
        if self.sizes is None:
            return self.name(cell)
        column = int(np.searchsorted(self.starts, cell, side="right")) - 1
        level = cell - int(self.starts[column])
        return f"level {level if self.codings is None else self.codings[column].label(level)} of {self.name(column)}"

    def merge(self, other: Columns) -> Columns:
        """Return columns wide enough for both, in the order of this block; raise if they disagree."""
        if self is other:
            return self
        self._check_compatible(other)
        if self.codings is not None and other.codings is not None:
            return self._merge_codings(other.codings, self.order_in(other))
        if self.names and other.names and set(self.names) != set(other.names):
            column = next(j for j in range(self.count) if self.names[j] != other.names[j])
            raise ValueError(
                f"column {column} is {self.names[column]!r} on one side and {other.names[column]!r} on the other"
            )
        sizes = self.sizes
        if sizes is not None and other.sizes is not None and sizes is not other.sizes:
            order = self.order_in(other)
            sizes = np.maximum(sizes, other.sizes if order is None else other.sizes[order])
        return replace(self, names=self.names or other.names, sizes=sizes)

    def _check_compatible(self, other: Columns) -> None:
        """Raise if the other block counts something else."""
        if self.family != other.family:
            raise ValueError(f"one side has {self.family} columns, the other {other.family} columns")
        if self.count != other.count:
            raise ValueError(f"one side has {self.count} columns, the other {other.count}")
        if self.pairs != other.pairs:
            raise ValueError("one side was learned with pairs of columns (structure=…), the other without")
        if self.fourths != other.fourths:
            raise ValueError('one side was learned with fourth moments (shrinkage="ledoit-wolf"), the other without')
        if self.threshold != other.threshold:
            raise ValueError(f"one side was binarized at {self.threshold}, the other at {other.threshold}")

    def _merge_codings(self, codings: tuple[Coding, ...], order: list[int] | None) -> Columns:
        """Return the columns with codings wide enough for both; ``order`` has their places in the other block."""
        theirs = codings if order is None else tuple(codings[j] for j in order)
        pairs = enumerate(zip(self.codings or (), theirs, strict=True))
        return self.recoded(tuple(a if a is b else a.merge(b, self.name(j)) for j, (a, b) in pairs))

    def order_in(self, other: Columns) -> list[int] | None:
        """Return the position of each column in another block; None if all positions are the same."""
        if self.names is None or other.names is None or self.names == other.names:
            return None
        return [other.places[name] for name in self.names]

    def places_in(self, wider: Columns) -> tuple[Array | None, Array | None]:
        """Return the positions of columns and cells in the statistic of a wider block; None if they do not move."""
        order = self.order_in(wider)
        columns = None if order is None else np.array(order)
        if self.sizes is None or wider.sizes is None:
            return columns, columns
        if self.codings is not None and wider.codings is not None:
            if columns is None and all(a is b for a, b in zip(self.codings, wider.codings, strict=True)):
                return None, None
            at = range(self.count) if order is None else order
            return columns, join_places(self.codings, [wider.codings[j] for j in at], wider.starts[list(at)])
        if columns is None and np.array_equal(self.sizes, wider.sizes):
            return columns, None
        starts = wider.starts if columns is None else wider.starts[columns]
        return columns, np.asarray(np.arange(self.width) + np.repeat(starts - self.starts, self.sizes))

    def without_empty_levels(self, cells: Array) -> tuple[Columns, Array | None]:
        """Return the columns without levels that have no rows, and the cells that remain (None: all).

        ``cells`` is true for the cells that have rows.
        """
        if self.sizes is None or cells.all():
            return self, None
        if self.codings is None:  # plain codes can only be dropped after the last one with rows
            level = np.arange(self.width) - np.repeat(self.starts, self.sizes)
            sizes = np.maximum(np.maximum.reduceat(np.where(cells, level + 1, 0), self.starts), 1).astype(np.intp)
            kept = level < np.repeat(sizes, self.sizes)
            return (self, None) if kept.all() else (replace(self, sizes=sizes), np.flatnonzero(kept))
        codings, kept = list(self.codings), np.ones(self.width, bool)
        has_empty = by_group(np.add, ~cells, self.starts) > 0
        for j in [j for j in np.flatnonzero(has_empty).tolist() if codings[j].can_shrink]:
            own = slice(self.starts[j], self.starts[j] + self.sizes[j])
            codings[j] = self.codings[j].kept(np.flatnonzero(cells[own]))
            if codings[j] is not self.codings[j]:
                kept[own] = cells[own]
        return (self, None) if kept.all() else (self.recoded(tuple(codings)), np.flatnonzero(kept))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Columns):
            return NotImplemented
        if self is other:
            return True
        plain = (self.family, self.count, self.names, self.threshold, self.codings, self.pairs, self.fourths)
        others = (other.family, other.count, other.names, other.threshold, other.codings, other.pairs, other.fourths)
        if plain != others:
            return False
        return bool(self.sizes is other.sizes or np.array_equal(self.sizes, other.sizes))  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]
