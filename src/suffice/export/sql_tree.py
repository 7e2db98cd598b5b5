"""Levels that depend on a level of another column, as SQL: tables of tables, and sums over what is empty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sqlglot import exp

from suffice.export.sql_cells import Reader
from suffice.export.sql_columns import ByClass
from suffice.export.sql_terms import Term, by_slot, choose, double, is_null, ln, log, number, product, total
from suffice.schema import Array
from suffice.structures.tree import TreeParameters

# Columns that messages may take: PostgreSQL and SQLite have room for less than two thousand in a query.
MOST_MESSAGES = 1000


def tree(read: Reader, its: TreeParameters) -> ByClass:
    """Return Σᵢ log p(xᵢ | its parent, class), with empty cells summed out as far as there is room for it.

    A column that is empty has a message for each of its levels: the product of what the columns below it say of
    that level. Each is divided by what they would say of the level that suits them best, and the logarithm
    of that is added apart, so that no product of many is too small for a number.
    """
    lines = [_Line(read, its, k) for k in range(len(its.parents))]
    needed = sum(int(its.sizes[j]) + 1 for line in lines for j in line.inner)
    if needed > MOST_MESSAGES:
        for j in sorted({j for line in lines for j in line.inner}):
            read.draft.unknown.append(is_null(read.slot(j)))
        return [[line.known(j) for j in line.order] for line in lines]
    for line in lines:
        for j in reversed(line.order):
            line.tell(j)
    return [[line.term(j) for j in line.order] for line in lines]


class _Line:
    """The tree of one class."""

    def __init__(self, read: Reader, its: TreeParameters, k: int) -> None:
        self.read, self.its, self.k = read, its, k
        self.order = its.order[k].tolist()
        self.parents = its.parents[k].tolist()
        self.children: dict[int, list[int]] = {}
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                self.children.setdefault(parent, []).append(j)
        self.inner = sorted(self.children)
        self.messages: dict[int, list[str]] = {}
        self.height = dict.fromkeys(self.order, 0)
        for j in reversed(self.order):
            if self.parents[j] >= 0:
                self.height[self.parents[j]] = max(self.height[self.parents[j]], self.height[j] + 1)

    def table(self, j: int) -> Array:
        """Return log p(slot of j | slot of its parent), [parent's slot, slot]; of a root, one line."""
        rows = int(self.its.sizes[self.parents[j]]) + 1 if self.parents[j] >= 0 else 1
        width, first = int(self.its.sizes[j]) + 1, int(self.its.offsets[self.k, j])
        return self.its.table[first : first + rows * width].reshape(rows, width)

    def known(self, j: int) -> Term:
        """Return what a column adds where its parent is not empty; 0 where it is empty itself."""
        return self._given_parent(j, lambda above: None, double(0.0))

    def term(self, j: int) -> Term:
        """Return what a column adds to the log joint, empty or not."""
        best = self._best(j) if self.parents[j] >= 0 else double(0.0)
        return self._given_parent(j, lambda above: self._summed(j, above), best)

    def tell(self, j: int) -> None:
        """Compute what the columns below one say of each of its levels, where it is empty itself."""
        if j not in self.children:
            return
        names = []
        for slot in range(int(self.its.sizes[j]) + 1):
            said = product([self._factor(child, slot) for child in self.children[j]])
            place = self.read.draft.columns.index(self.read.names[j])
            term = choose([(is_null(self.read.slot(j)), said)])
            names.append(self.read.draft.put(self.height[j], f"m{place}_{self.k}_{slot}", term))
        self.messages[j] = names

    def _given_parent(self, j: int, empty: Callable[[int], Term | None], orphan: Term) -> Term:
        found = [by_slot(self.read.slot(j), map(log, line), empty(above)) for above, line in enumerate(self.table(j))]
        return by_slot(self.read.slot(self.parents[j]), found, orphan) if self.parents[j] >= 0 else found[0]

    def _summed(self, j: int, above: int) -> Term | None:
        """Return log Σ over the levels of an empty column of p(level | parent's)·what is said of the level."""
        if j not in self.messages:
            return None
        # nothing is possible where the sum is 0
        return ln(exp.Nullif(this=self._mixed(j, above), expression=number(0.0)))

    def _mixed(self, j: int, above: int) -> Term:
        shares = np.exp(self.table(j)[above])
        parts = [
            product([number(p), self.read.draft.own(name)])
            for p, name in zip(shares.tolist(), self.messages[j], strict=True)
            if p > 0
        ]
        return total([double(0.0), *parts])

    def _factor(self, j: int, above: int) -> Term:
        """Return p(column | a level of its empty parent), over the greatest such p."""
        table = self.table(j)
        best = table.max(axis=0)
        shares = np.exp(np.where(best > -np.inf, table[above] - np.where(best > -np.inf, best, 0.0), -np.inf))
        empty = exp.Paren(this=self._mixed(j, above)) if j in self.messages else double(1.0)
        return by_slot(self.read.slot(j), map(number, shares), empty)

    def _best(self, j: int) -> Term:
        """Return the log of the greatest p(column | any level of its parent)."""
        return by_slot(self.read.slot(j), map(log, self.table(j).max(axis=0)))
