"""Tally: the sufficient statistics of a table, which are all that a model learns from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from suffice.records import Records
from suffice.schema import (
    Array,
    Columns,
    Frozen,
    Schema,
    make_forest,
    places_in_forest,
    select_kept_trees,
    trees_of,
)
from suffice.statistics.constant_columns import settle_constants
from suffice.statistics.counts import Counts
from suffice.statistics.digest import compute_digest
from suffice.statistics.moments import LOGARITHMS
from suffice.statistics.statistic import ROUNDING, OverdrawnError, Statistic, check_weight, subtract_sums


@dataclass(frozen=True, eq=False)
class Tally(Frozen):
    """The sufficient statistics of a table: the weight of each class, and a statistic for each block of columns.

    Tallies add: ``tally(A) + tally(B) == tally(A ∪ B)``. Classes and levels are matched by label, so neither the order
    of the rows nor the place where they were counted matters. A tally contains no estimate and no smoothing.

    Parameters
    ----------
    schema : Schema
        The classes, and the blocks of columns with their families and levels.
    class_count : array of shape (classes,)
        The total weight of the rows of each class.
    statistics : tuple of Statistic
        `Counts`, `PairCounts`, `Moments` or `CoMoments`, one for each block of the schema.

    Methods
    -------
    a + b
        The tally of the rows of both. It has the decision trees of both, at most 200 of them; those that only one has
        count its rows only.
    a - b
        The tally without the rows of b. Classes and levels without rows are dropped. Raises ValueError if a does not
        contain the rows of b. A tree that b does not have is left as it is, and one without rows is dropped.
    a * w
        The tally of the same rows, with all weights multiplied by w.
    a == b
        Whether both hold exactly the same sums. A class or level without rows makes no difference.
    isclose(other, rtol=1e-9)
        The same, up to rounding.
    digest()
        A fingerprint of the sums.
    arrays()
        The arrays by name.
    to_frame()
        The sums of each class and cell as a pandas frame.

    Examples
    --------
    >>> from suffice import GaussianNB
    >>> monday = GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).tally_
    >>> tuesday = GaussianNB().fit([[3.0], [4.0]], ["b", "c"]).tally_
    >>> week = monday + tuesday
    >>> week.schema.classes.tolist(), week.class_count.tolist()
    (['a', 'b', 'c'], [1.0, 2.0, 1.0])
    >>> week - tuesday == monday
    True
    """

    schema: Schema
    class_count: Array
    statistics: tuple[Statistic, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_count", np.asarray(self.class_count, dtype=np.float64))
        super().__post_init__()

    @classmethod
    def zero(cls, schema: Schema, statistics: Sequence[type[Statistic]]) -> Tally:
        """Return the tally of no rows."""
        classes = len(schema.classes)
        empty = tuple(kind.zero(classes, block.width) for kind, block in zip(statistics, schema.blocks, strict=True))
        return cls(schema, np.zeros(classes), empty)

    def on(self, schema: Schema) -> Tally:
        """Return the same sums in the layout of a schema that contains all classes and levels of this one."""
        if schema is self.schema:
            return self
        if schema == self.schema:
            return replace(self, schema=schema)
        places = np.searchsorted(schema.classes, self.schema.classes)
        order, classes = schema.order_in(self.schema), len(schema.classes)
        count = np.zeros(classes)
        count[places] = self.class_count
        statistics: list[Statistic] = []
        for place, block in zip(order, schema.blocks, strict=True):
            if block.is_forest:
                statistics.append(self._leaves_in(block, classes, places))
                continue
            assert place is not None
            columns, cells = self.schema.blocks[place].places_in(block)
            statistics.append(self.statistics[place].rearrange((classes, block.width), places, columns, cells))
        return Tally(schema, count, tuple(statistics))

    def _align(self, other: Tally) -> tuple[Schema, Tally, Tally]:
        """Return the merged schema, and both tallies in its layout."""
        if self.schema == other.schema:
            return self.schema, self, other
        mine, theirs = self._drop_unshared_logarithms(other), other._drop_unshared_logarithms(self)
        schema = mine.schema.merge(theirs.schema)
        return schema, mine.on(schema), theirs.on(schema)

    def _drop_unshared_logarithms(self, other: Tally) -> Tally:
        """Return the tally without the moments of logarithms that only this side has, of numbers with other sums, too.

        They are taken of columns whose numbers were all positive in the rows that were planned from.
        """
        mine, theirs = self.schema.families(), other.schema.families()
        blocks, statistics = list[Columns](), list[Statistic]()
        for block, statistic in zip(self.schema.blocks, self.statistics, strict=True):
            kept = np.arange(block.count)
            if block.family == LOGARITHMS and block.names:
                is_shared = [len(mine[name]) == 1 or LOGARITHMS in theirs.get(name, mine[name]) for name in block.names]
                kept = np.flatnonzero(is_shared)
            if len(kept) == block.count:
                blocks.append(block)
                statistics.append(statistic)
            elif len(kept):
                blocks.append(replace(block, count=len(kept), names=tuple((block.names or ())[j] for j in kept)))
                statistics.append(statistic.with_columns(kept, None))
        return replace(self, schema=replace(self.schema, blocks=tuple(blocks)), statistics=tuple(statistics))

    def split_trees(self) -> tuple[Tally, Tally | None]:
        """Return the tally without decision trees, and that of the trees, if there are any."""
        if not any(block.is_forest for block in self.schema.blocks):
            return self, None
        return self.select_blocks(lambda block: not block.is_forest), self.select_blocks(lambda block: block.is_forest)

    def _leaves_in(self, forest: Columns, classes: int, places: Array) -> Counts:
        """Return the counts of leaves in a block that has all trees of this tally; other trees have no rows."""
        n, total = np.zeros((classes, forest.count)), np.zeros((classes, forest.width))
        for block, statistic in zip(self.schema.blocks, self.statistics, strict=True):
            if block.is_forest and isinstance(statistic, Counts):
                columns, cells = places_in_forest(block, forest)
                n[np.ix_(places, columns)] = statistic.n
                total[np.ix_(places, cells)] = statistic.total
        return Counts(n if (n != n[:, :1]).any() else n[:, :1], total)

    def select_trees(self, keys: Collection[str]) -> Tally:
        """Return the tally with some of its decision trees only, by the keys of their splits."""
        forest = self.schema.forest
        held = trees_of(forest)
        kept = [place for place, key in enumerate(held) if key in keys]
        if forest is None or len(kept) == len(held):
            return self
        without, _ = self.split_trees()
        if not kept:
            return without
        assert forest.sizes is not None
        smaller = make_forest([tree for key, tree in held.items() if key in keys])
        cells = np.flatnonzero(np.isin(np.repeat(np.arange(forest.count), forest.sizes), kept))
        (leaves,) = (each for block, each in zip(self.schema.blocks, self.statistics, strict=True) if block.is_forest)
        schema = replace(self.schema, blocks=(*without.schema.blocks, smaller))
        return Tally(schema, self.class_count, (*without.statistics, leaves.with_columns(np.array(kept), cells)))

    @property
    def has_partial_trees(self) -> bool:
        """Whether a tree has not counted all rows, because it is of one of several tallies that were planned apart."""
        blocks = zip(self.schema.blocks, self.statistics, strict=True)
        rows = self.class_count[:, None]
        return any(block.is_forest and not np.allclose(each.n, rows, rtol=ROUNDING, atol=0) for block, each in blocks)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.schema.forest is not other.schema.forest:
            kept = select_kept_trees(self.schema.forest, other.schema.forest)
            self, other = self.select_trees(kept), other.select_trees(kept)
        schema, mine, theirs = self._align(other)
        with np.errstate(over="ignore", invalid="ignore"):
            statistics = tuple([a + b for a, b in zip(mine.statistics, theirs.statistics, strict=True)])
            return Tally(schema, mine.class_count + theirs.class_count, statistics)._check_overflow()

    def __sub__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        schema, mine, theirs = self._align(other.select_trees(trees_of(self.schema.forest)))
        labels = schema.classes.tolist()
        try:
            count = subtract_sums(mine.class_count[:, None], theirs.class_count[:, None])[:, 0]
        except OverdrawnError as error:
            raise ValueError(
                f"cannot forget {error.asked:g} rows of class {labels[error.place[0]]!r}: only {error.held:g} were "
                "learned"
            ) from None
        left = []
        for a, b, block in zip(mine.statistics, theirs.statistics, schema.blocks, strict=True):
            try:
                left.append(a - b)
            except OverdrawnError as error:
                raise ValueError(
                    f"cannot forget what was never learned: in class {labels[error.place[0]]!r}, "
                    f"{_name_cells(block, error.place[1:])}, the rows hold {error.asked:g} and the model {error.held:g}"
                ) from None
        # classes and levels without rows are dropped: the result is the tally of the remaining rows
        emptied = (count == 0) & (theirs.class_count > 0)
        return Tally(schema, count, tuple(settle_constants(schema.blocks, left)))._drop_empty_trees().trimmed(~emptied)

    def _drop_empty_trees(self) -> Tally:
        """Return the tally without trees that have no rows; raise if a tree has more rows than there are."""
        forest = self.schema.forest
        if forest is None:
            return self
        (leaves,) = (each for block, each in zip(self.schema.blocks, self.statistics, strict=True) if block.is_forest)
        if (leaves.n > self.class_count[:, None] * (1 + ROUNDING)).any():
            raise ValueError(
                "cannot forget rows that decision trees of this side have counted and those of the other have not; "
                "count the rows to forget under the plan of this side: plan="
            )
        has_rows = np.broadcast_to(leaves.n.any(axis=0), forest.count)
        if has_rows.all() or not self.class_count.any():
            return self
        return self.select_trees([key for key, is_kept in zip(trees_of(forest), has_rows, strict=True) if is_kept])

    def without_rows(self, rows: Tally, codes: Array) -> tuple[Tally, Array]:
        """Return the sums without each of some rows, [row, class, cell], and for which rows they are exact.

        Parameters
        ----------
        rows : Tally
            The sums of each row, in the blocks of this tally: each row is a class of its own.
        codes : array
            The code of the class of each row.
        """
        places, exact, left = np.arange(len(codes)), np.ones(len(codes), bool), []
        for whole, own, block in zip(self.statistics, rows.statistics, self.schema.blocks, strict=True):
            statistic, is_exact = whole.without_rows(own, codes, has_levels=block.sizes is not None)
            left.append(statistic)
            exact &= is_exact
        count = np.repeat(self.class_count[None], len(codes), axis=0)
        count[places, codes] = np.maximum(count[places, codes] - rows.class_count, 0.0)
        return Tally(self.schema, count, tuple(left)), exact

    def __mul__(self, weight: float) -> Tally:
        if not np.isscalar(weight):
            return NotImplemented
        weight = check_weight(float(weight))  # type: ignore[arg-type]
        with np.errstate(over="ignore", invalid="ignore"):
            weighted = Tally(self.schema, self.class_count * weight, tuple(s * weight for s in self.statistics))
            return weighted._check_overflow()

    __rmul__ = __mul__

    def weigh_classes(self, factors: Array) -> Tally:
        """Return the tally with the weights of all rows of each class multiplied by a factor, [class]."""
        return Tally(
            self.schema, self.class_count * factors, tuple(each.weigh_classes(factors) for each in self.statistics)
        )

    def _check_overflow(self) -> Tally:
        """Return the tally itself; raise ValueError if a sum is not finite."""
        for statistic, block in zip(self.statistics, self.schema.blocks, strict=True):
            for array in statistic.arrays().values():
                # a finite sum proves that all numbers are finite, and is faster to compute
                if not isfinite(np.add.reduce(array, axis=None)) and not np.isfinite(array).all():
                    cell = int(np.argwhere(~np.isfinite(array))[0][1])
                    raise ValueError(f"the sums of {block.name_of_cell(cell)} overflow; rescale it, or its weights")
        return self

    def trimmed(self, classes: Array | None = None) -> Tally:
        """Return the tally without levels that have no rows; if ``classes`` is a mask, only with these classes."""
        keep = np.arange(len(self.schema.classes)) if classes is None else np.flatnonzero(classes)
        blocks, statistics = [], []
        for block, statistic in zip(self.schema.blocks, self.statistics, strict=True):
            cells = None
            if block.sizes is not None and isinstance(statistic, Counts):
                block, cells = block.without_empty_levels(np.asarray(statistic.total.any(axis=0)))
            blocks.append(block)
            statistics.append(
                statistic if cells is None and len(keep) == len(self.class_count) else statistic.kept(keep, cells)
            )
        if len(keep) == len(self.class_count) and all(a is b for a, b in zip(blocks, self.schema.blocks, strict=True)):
            return self
        return Tally(
            Schema(self.schema.classes[keep], tuple(blocks), self.schema.features),
            self.class_count[keep],
            tuple(statistics),
        )

    def select_blocks(self, is_used: Callable[[Columns], bool]) -> Tally:
        """Return the tally with some of its blocks of columns."""
        kept = [place for place, block in enumerate(self.schema.blocks) if is_used(block)]
        return self if len(kept) == len(self.schema.blocks) else self.take_blocks(kept)

    def take_blocks(self, kept: Sequence[int]) -> Tally:
        """Return the tally with the blocks of columns at some places."""
        schema = replace(self.schema, blocks=tuple(self.schema.blocks[place] for place in kept))
        return Tally(schema, self.class_count, tuple(self.statistics[place] for place in kept))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        try:
            _, mine, theirs = self._align(other)
        except ValueError:
            return False
        return bool(np.array_equal(mine.class_count, theirs.class_count)) and mine.statistics == theirs.statistics

    __hash__ = None  # type: ignore[assignment]

    def isclose(self, other: Tally, rtol: float = 1e-9) -> bool:
        """Return whether both hold the same sums up to rounding.

        Parameters
        ----------
        other : Tally
            A tally of the same columns.
        rtol : float, default=1e-9
            The relative and absolute tolerance.
        """
        _, mine, theirs = self._align(other)
        return bool(np.allclose(mine.class_count, theirs.class_count, rtol=rtol)) and all(
            a.isclose(b, rtol) for a, b in zip(mine.statistics, theirs.statistics, strict=True)
        )

    def digest(self) -> str:
        """Return a fingerprint of the plan and the sums.

        Two tallies that are counted in the same cells have the same digest if and only if they are equal (``==``). The
        order of rows, classes, levels and named columns does not matter. Columns without names are matched by
        position. A digest can prove that rows were forgotten: if counts of A and B forget B, their digest is that of A.
        Moments are restored up to rounding only; compare them with `isclose`.

        Returns
        -------
        str
            64 hexadecimal digits (SHA-256).

        Examples
        --------
        >>> from suffice import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "b"])
        >>> alone = BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"])
        >>> model.forget([[1, 1]], ["b"]).tally_.digest() == alone.tally_.digest()
        True
        """
        return compute_digest(self.schema, self.class_count, self.statistics)

    @property
    def has_missing_cells(self) -> bool:
        """Whether a column has fewer cells than there are rows."""
        return any(bool((statistic.n < self.class_count[:, None]).any()) for statistic in self.statistics)

    def arrays(self) -> dict[str, Array]:
        """Return every array by name: ``class_count``, and those of each statistic."""
        named = {"class_count": self.class_count}
        for place, statistic in enumerate(self.statistics):
            named |= {f"{place}.{name}": array for name, array in statistic.arrays().items()}
        return named

    def to_frame(self) -> Any:
        """Return the sums of each class and cell as a pandas frame; those of pairs of cells are left out.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns class, family, cell (a column, or a level of it), n (the weight of the rows that have
            the column), and total or mean and m2.

        Examples
        --------
        >>> from suffice import BernoulliNB
        >>> frame = BernoulliNB().fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "b"]).tally_.to_frame()
        >>> frame[["class", "cell", "n", "total"]].values.tolist()
        [['a', 'column 0', 1.0, 1.0], ['a', 'column 1', 1.0, 0.0], ['b', 'column 0', 2.0, 1.0],
         ['b', 'column 1', 2.0, 2.0]]
        """
        lines = Records()
        for block, statistic in zip(self.schema.blocks, self.statistics, strict=True):
            names = [block.name_of_cell(cell) for cell in range(block.width)]
            column = np.repeat(np.arange(block.count), 1 if block.sizes is None else block.sizes)
            n = np.broadcast_to(statistic.n, (len(self.class_count), max(block.count, statistic.n.shape[1])))
            shown = [(name, array) for name, array in statistic.arrays().items() if name in ("total", "mean", "m2")]
            for k, label in enumerate(self.schema.classes.tolist()):
                for cell, name in enumerate(names):
                    line = {"class": label, "family": block.family, "cell": name, "n": float(n[k, column[cell]])}
                    lines.append(line | {key: float(array[k, cell]) for key, array in shown if array.ndim == 2})
        return lines.to_frame()

    def _repr_html_(self) -> str:
        counts = zip(self.schema.classes.tolist(), self.class_count.tolist(), strict=True)
        classes = Records({"class": label, "rows": count} for label, count in counts)
        blocks = Records(
            {"family": block.family, "columns": block.count, "cells": block.width, "statistic": type(sums).__name__}
            for block, sums in zip(self.schema.blocks, self.statistics, strict=True)
        )
        return classes._repr_html_() + blocks._repr_html_()


def _name_cells(block: Columns, cells: tuple[int, ...]) -> str:
    """Return the name of a cell or of a pair of cells for an error message."""
    return " together with ".join(block.name_of_cell(cell) for cell in cells)
