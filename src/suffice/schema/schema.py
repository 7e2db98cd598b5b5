"""Schema: the classes and the blocks of columns of a tally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.schema.arrays import Array, Frozen
from suffice.schema.columns import Columns
from suffice.schema.forests import unite_forests


@dataclass(frozen=True, eq=False)
class Schema(Frozen):
    """The sorted classes and the blocks of columns of a tally. Immutable: a larger schema is a new one.

    Attributes
    ----------
    classes : array
        The sorted labels of the classes.
    blocks : tuple of Columns
        The columns, one block for each family; each text is a block of its own.
    features : Features or None
        The columns of the table, if it was read by column name; None if the only block has them all, by position.

    >>> left = Schema(np.array(["ham"]), (Columns("gaussian", 2),))
    >>> right = Schema(np.array(["spam"]), (Columns("gaussian", 2),))
    >>> left.merge(right).classes.tolist()
    ['ham', 'spam']
    """

    classes: Array
    blocks: tuple[Columns, ...]
    features: Features | None = None

    @property
    def feature_count(self) -> int:
        """The number of columns of the table."""
        return sum(block.count for block in self.blocks) if self.features is None else len(self.features.names)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the table's columns, if all are strings."""
        names = self.blocks[0].names if self.features is None else self.features.names
        return names if names and all(isinstance(name, str) for name in names) else None

    @property
    def column_names(self) -> list[Any]:
        """The names of the columns that are counted, each once."""
        return list(dict.fromkeys(name for block in self.blocks for name in block.read_names))

    @property
    def forest(self) -> Columns | None:
        """The block of decision trees, if there is one."""
        return next((block for block in self.blocks if block.is_forest), None)

    def merge(self, other: Schema) -> Schema:
        """Return the schema with the classes and levels of both; raise ValueError if they are incompatible."""
        if self == other:
            return self
        if self.features is None or other.features is None:
            if len(self.blocks) != len(other.blocks):
                raise ValueError(f"one side has {len(self.blocks)} blocks of columns, the other {len(other.blocks)}")
            theirs = other.blocks
        else:
            theirs = self._match_blocks(other)
        mine = [block for block in self.blocks if not block.is_forest]
        blocks = tuple(a.merge(b) for a, b in zip(mine, theirs, strict=True))
        forest = unite_forests(self.forest, other.forest)
        blocks = blocks if forest is None else (*blocks, forest)
        classes = merged_classes(self.classes, other.classes)
        for block in blocks:
            block.check_pairs(len(classes))
        return Schema(classes, blocks, self.features)

    def order_in(self, other: Schema) -> list[int | None]:
        """Return the position of each block in another schema; None for trees that it does not have."""
        if self.features is None:
            return list(range(len(self.blocks)))
        return [
            next((place for place, block in enumerate(other.blocks) if _are_same_block(mine, block)), None)
            for mine in self.blocks
        ]

    def families(self) -> dict[Any, list[str]]:
        """Return the families of each column; a number may be counted in several ways."""
        return {name: [family for family, _ in keys] for name, keys in self._block_keys().items()}

    def _match_blocks(self, other: Schema) -> tuple[Columns, ...]:
        """Return the other's blocks in this one's order, without trees; raise if a column has different families."""
        mine, theirs = self._block_keys(), other._block_keys()
        for name in [*mine, *(name for name in theirs if name not in mine)]:
            if mine.get(name) != theirs.get(name):
                here, there = (
                    " and ".join(family for family, _ in keys.get(name, [("left out", None)]))
                    for keys in (mine, theirs)
                )
                raise ValueError(
                    f"column {name!r} is {here} on one side and {there} on the other; set its family on both: "
                    f"families={{{name!r}: …}}"
                )
        places = [place for mine, place in zip(self.blocks, self.order_in(other), strict=True) if not mine.is_forest]
        return tuple(other.blocks[place] for place in places if place is not None)

    def _block_keys(self) -> dict[Any, list[tuple[str, Any]]]:
        """Return the blocks of each column; a number may be in two, in cells and with its moments."""
        keys: dict[Any, list[tuple[str, Any]]] = {}
        for block in self.blocks:
            for name in () if block.is_forest else block.names or ():
                keys.setdefault(name, []).append(_block_key(block, name))
        return {name: sorted(found, key=str) for name, found in keys.items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        if self is other:
            return True
        alike = self.classes is other.classes or bool(np.array_equal(self.classes, other.classes))
        return alike and self.blocks == other.blocks

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Features:
    """The columns of a table: their names in order, and the reasons why some are left out."""

    names: tuple[Any, ...]
    left_out: tuple[tuple[Any, str], ...] = ()


def _block_key(block: Columns, name: Any) -> tuple[str, Any]:
    """Return what tells the block of a column from others: each text is a block of its own."""
    return (block.family, name if block.family == "text" else None)


def _are_same_block(mine: Columns, other: Columns) -> bool:
    if mine.family != other.family or mine.is_forest != other.is_forest:
        return False
    # each text is a block, and log-normal columns that were named and those that may be chosen are two
    return mine.is_forest or mine.names == other.names or set(mine.names or ()) == set(other.names or ())


def merged_classes(known: Array, new: Array) -> Array:
    """Return the sorted labels of both; ``known`` itself if it contains all of them."""
    if len(known) == 0 or known is new:
        return new
    if (known.dtype.kind in "OUST") != (new.dtype.kind in "OUST"):
        raise ValueError(
            f"labels must be of one kind: {known.tolist()[0]!r} is known, but {new.tolist()[0]!r} is of another kind"
        )
    places = known.searchsorted(new)
    if int(places[-1]) < len(known) and bool((known[places] == new).all()):
        return known
    both = _unite_labels(known, new)
    return known if len(both) == len(known) else both


def _unite_labels(known: Array, new: Array) -> Array:
    """Return the union of labels; integers stay integers, where NumPy would convert them to floats."""
    if np.result_type(known, new).kind == "f" and known.dtype.kind in "iu" and new.dtype.kind in "iu":
        labels = sorted({*known.tolist(), *new.tolist()})
        return np.array(labels, np.int64 if labels[-1] < 2**63 else np.uint64)
    return np.union1d(known, new)
