"""Partition: the leaves of a decision tree, as the levels of one more column of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.schema.arrays import Array, Frozen
from suffice.schema.codings import Coding


@dataclass(frozen=True)
class TreeInput:
    """A column on which trees split; ``levels`` are its labels, or None if it holds numbers."""

    name: Any
    levels: tuple[Any, ...] | None = None


@dataclass(frozen=True, eq=False)
class Partition(Frozen, Coding):
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

    def merge(self, other: Any, name: str) -> Coding:
        if self != other:
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
