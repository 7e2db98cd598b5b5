"""Tally: all that was learned from some rows, and what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from suffice.schema import Array, Frozen, Schema
from suffice.statistics.comoments import CoMoments
from suffice.statistics.counts import Counts
from suffice.statistics.digest import digest_of
from suffice.statistics.moments import Moments
from suffice.statistics.pair_counts import PairCounts
from suffice.statistics.statistic import OverdrawnError, Statistic, difference, weight_of

STATISTICS: dict[str, type[Statistic]] = {
    "counts": Counts,
    "pairs": PairCounts,
    "moments": Moments,
    "comoments": CoMoments,
}


@dataclass(frozen=True, eq=False)
class Tally(Frozen):
    """The sums a model is read off: rows by class, and a statistic for each block of columns.

    ``+`` merges, ``-`` forgets, ``*`` weighs; classes and levels are matched by label, so it does
    not matter where or in which order they were met. No estimate and no smoothing is ever in it.

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
        """Return the same sums laid out for a schema that has all of this one's classes and levels."""
        if schema is self.schema:
            return self
        if schema == self.schema:
            return replace(self, schema=schema)
        places = np.searchsorted(schema.classes, self.schema.classes)
        order, classes = schema.order_in(self.schema), len(schema.classes)
        count = np.zeros(classes)
        count[places] = self.class_count
        statistics = []
        for place, block in enumerate(schema.blocks):
            here = order[place]
            columns, cells = self.schema.blocks[here].places_in(block)
            statistics.append(self.statistics[here].laid_out((classes, block.width), places, columns, cells))
        return Tally(schema, count, tuple(statistics))

    def _aligned(self, other: Tally) -> tuple[Schema, Tally, Tally]:
        """Return the schema of both, and both laid out for it."""
        if self.schema == other.schema:
            return self.schema, self, other
        schema = self.schema.merge(other.schema)
        return schema, self.on(schema), other.on(schema)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        schema, mine, theirs = self._aligned(other)
        with np.errstate(over="ignore", invalid="ignore"):
            statistics = tuple([a + b for a, b in zip(mine.statistics, theirs.statistics, strict=True)])
            return Tally(schema, mine.class_count + theirs.class_count, statistics)._within_range()

    def __sub__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        schema, mine, theirs = self._aligned(other)
        try:
            count = difference(mine.class_count[:, None], theirs.class_count[:, None])[:, 0]
        except OverdrawnError as short:
            label = schema.classes.tolist()[short.place[0]]
            raise ValueError(
                f"cannot forget {short.asked:g} rows of class {label!r}: only {short.held:g} were learned"
            ) from None
        left = []
        for a, b, block in zip(mine.statistics, theirs.statistics, schema.blocks, strict=True):
            try:
                left.append(a - b)
            except OverdrawnError as short:
                label = schema.classes.tolist()[short.place[0]]
                raise ValueError(
                    f"cannot forget what was never learned: in class {label!r}, {block.name_of_cell(short.place[1])}, "
                    f"the rows hold {short.asked:g} and the model {short.held:g}"
                ) from None
        # a class or a level whose last row went is as if it had never been met
        emptied = (count == 0) & (theirs.class_count > 0)
        return Tally(schema, count, tuple(left)).trimmed(~emptied)

    def __mul__(self, weight: float) -> Tally:
        if not np.isscalar(weight):
            return NotImplemented
        weight = weight_of(float(weight))  # type: ignore[arg-type]
        with np.errstate(over="ignore", invalid="ignore"):
            weighed = Tally(self.schema, self.class_count * weight, tuple(s * weight for s in self.statistics))
            return weighed._within_range()

    __rmul__ = __mul__

    def _within_range(self) -> Tally:
        for statistic, block in zip(self.statistics, self.schema.blocks, strict=True):
            for array in statistic.arrays().values():
                # a sum that is finite is one of finite numbers, and quicker to look at
                if not isfinite(array.sum()) and not np.isfinite(array).all():
                    cell = int(np.argwhere(~np.isfinite(array))[0][1])
                    raise ValueError(f"the sums of {block.name_of_cell(cell)} overflow; rescale it, or its weights")
        return self

    def trimmed(self, classes: Array | None = None) -> Tally:
        """Return only the classes asked for (all, if None), and no level that was never met."""
        keep = np.arange(len(self.schema.classes)) if classes is None else np.flatnonzero(classes)
        blocks, statistics = [], []
        for block, statistic in zip(self.schema.blocks, self.statistics, strict=True):
            cells = None
            if block.sizes is not None and isinstance(statistic, Counts):
                block, cells = block.met(np.asarray(statistic.total.any(axis=0)))
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

    def __eq__(self, other: object) -> bool:
        """Say whether both hold the same sums; a class or level of no rows counts as none."""
        if not isinstance(other, Tally):
            return NotImplemented
        try:
            _, mine, theirs = self._aligned(other)
        except ValueError:
            return False
        return bool(np.array_equal(mine.class_count, theirs.class_count)) and mine.statistics == theirs.statistics

    __hash__ = None  # type: ignore[assignment]

    def isclose(self, other: Tally, rtol: float = 1e-9) -> bool:
        """Say whether both hold the same sums but for rounding."""
        _, mine, theirs = self._aligned(other)
        return bool(np.allclose(mine.class_count, theirs.class_count, rtol=rtol)) and all(
            a.isclose(b, rtol) for a, b in zip(mine.statistics, theirs.statistics, strict=True)
        )

    def digest(self) -> str:
        """Return a fingerprint: equal exactly when two tallies are (``==``), wherever and in any order they were taken.

        Columns are those of the same name where a table is read by name, else those of the same place.

        So forgetting can be proved: what counts held A and B and has forgotten B has the digest of A, bit for
        bit. Moments come back to rounding (`isclose`), and the digest of a rounded number is another one.

        >>> from suffice import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "b"])
        >>> alone = BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"])
        >>> model.forget([[1, 1]], ["b"]).tally_.digest() == alone.tally_.digest()
        True
        """
        return digest_of(self)

    def arrays(self) -> dict[str, Array]:
        """Return every array by name; with the schema, all that there is to store."""
        named = {"class_count": self.class_count}
        for place, statistic in enumerate(self.statistics):
            named |= {f"{place}.{_kind(statistic)}.{name}": array for name, array in statistic.arrays().items()}
        return named

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: Mapping[str, Array]) -> Tally:
        """Return the tally that `arrays` came from."""
        found: list[dict[str, Any]] = [{} for _ in schema.blocks]
        kinds: list[type[Statistic]] = [Counts] * len(schema.blocks)
        for key, array in arrays.items():
            if key != "class_count":
                place, kind, name = key.split(".")
                found[int(place)][name] = array
                kinds[int(place)] = STATISTICS[kind]
        statistics = tuple(kind.from_arrays(named) for kind, named in zip(kinds, found, strict=True))
        return cls(schema, arrays["class_count"], statistics)


def _kind(statistic: Statistic) -> str:
    return next(name for name, kind in STATISTICS.items() if type(statistic) is kind)
