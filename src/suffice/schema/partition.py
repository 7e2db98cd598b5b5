"""Partition: the leaves of a decision tree, as the levels of one more column of a table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from suffice.schema.arrays import Array
from suffice.schema.codings import Coding


@dataclass(frozen=True)
class TreeInput:
    """A column on which trees split; ``levels`` are its labels, or None if it holds numbers."""

    name: Any
    levels: tuple[Any, ...] | None = None


def unite_inputs(inputs: Iterable[TreeInput]) -> tuple[TreeInput, ...]:
    """Return inputs with the columns and levels of all, sorted by name; raise if one has numbers and levels."""
    found: dict[Any, TreeInput] = {}
    for each in inputs:
        known = found.setdefault(each.name, each)
        if (known.levels is None) != (each.levels is None):
            raise ValueError(f"column {each.name!r} has numbers on one side and levels on the other")
        if known.levels is not None and each.levels is not None and known.levels != each.levels:
            found[each.name] = TreeInput(each.name, tuple(sorted({*known.levels, *each.levels}, key=str)))
    return tuple(sorted(found.values(), key=lambda each: str(each.name)))


@dataclass(frozen=True, eq=False)
class Partition(Coding):
    """A decision tree; the code of a row is the number of its leaf.

    The tree is part of the plan: it says what is counted, and does not change when rows are learned or forgotten.

    Attributes
    ----------
    inputs : tuple of TreeInput
        The columns on which it splits.
    column : array of int [node]
        The position of the split's column among the inputs; −1 in a leaf. The first node is the root.
    threshold : array of float [node]
        Rows whose number is below it go to the first child, as do rows whose level has this position among the levels.
        All others go to the second child. A missing number is below no threshold but infinity goes before it; a
        missing level has position −1.
    child : array of int [node]
        The first child of a node; the second is the next node. Children come after their parents.
    """

    inputs: tuple[TreeInput, ...]
    column: Array
    threshold: Array
    child: Array

    @property
    def size(self) -> int:
        return len(self.column) // 2 + 1

    @property
    def family(self) -> str:
        return "tree"

    @cached_property
    def leaf(self) -> Array:
        """The number of each leaf, [node]; −1 for other nodes."""
        is_leaf = self.column < 0
        return np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)

    @cached_property
    def parent(self) -> Array:
        """The parent of each node; −1 for the root."""
        parent = np.full(len(self.column), -1, np.int32)
        inner = np.flatnonzero(self.column >= 0)
        parent[self.child[inner]] = parent[self.child[inner] + 1] = inner
        return parent

    @cached_property
    def key(self) -> str:
        """A fingerprint of the splits, by the names of columns and levels: where rows go, and nothing else."""
        columns, values, facts = self.column.astype("<i4"), self.threshold.astype("<f8"), []
        used = np.unique(self.column[self.column >= 0]).tolist()
        for place, j in enumerate(sorted(used, key=lambda j: str(self.inputs[j].name))):
            own, levels, labels = self.column == j, self.inputs[j].levels, None
            if levels is not None:
                positions, codes = np.unique(self.threshold[own].astype(np.intp), return_inverse=True)
                labels = ["" if position < 0 else f"={levels[position]}" for position in positions.tolist()]
                order = sorted(range(len(labels)), key=labels.__getitem__)
                labels.sort()
                values[own] = np.argsort(order)[codes]
            columns[own] = place
            facts.append((str(self.inputs[j].name), labels))
        arrays = (columns, values, self.child.astype("<i4"))
        return hashlib.sha256(b"".join([repr(facts).encode(), *(each.tobytes() for each in arrays)])).hexdigest()

    def on(self, inputs: tuple[TreeInput, ...]) -> Partition:
        """Return the same tree over other inputs, which contain the columns and levels of its own."""
        if inputs == self.inputs:
            return self
        places = {each.name: place for place, each in enumerate(inputs)}
        column, threshold = self.column.copy(), self.threshold.copy()
        for j, each in enumerate(self.inputs):
            own, levels = self.column == j, inputs[places[each.name]].levels
            column[own] = places[each.name]
            if each.levels is not None and levels is not None:
                known = {label: place for place, label in enumerate(levels)}
                positions = np.array([*(known[label] for label in each.levels), -1])  # a missing level is −1
                threshold[own] = positions[self.threshold[own].astype(np.intp)]
        return replace(self, inputs=inputs, column=column, threshold=threshold)

    def merge(self, other: Any, name: str) -> Coding:
        if self.key != other.key:
            raise ValueError("the trees of both sides split differently; count both under one plan: plan=")
        return self

    def label(self, code: int) -> str:
        return f"leaf {code}"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Partition)
            and self.inputs == other.inputs
            and np.array_equal(self.column, other.column)
            and np.array_equal(self.threshold, other.threshold)
            and np.array_equal(self.child, other.child)
        )

    __hash__ = None  # type: ignore[assignment]
