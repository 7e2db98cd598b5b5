"""Chain: each column depends on the class and on the column before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.family import Parameters
from suffice.schema import Array, Columns
from suffice.structures.conditionals import Conditionals, mutual_information, with_pairs
from suffice.structures.covariances import check_together, from_parents
from suffice.structures.structure import Rule, Structure, Subject, independent
from suffice.structures.tree import BACKOFF, TreeParameters, checked_backoff


@dataclass(frozen=True)
class Chain(Structure):
    """p(x given class) = p(x₁ given class)·Π p(xᵢ given xᵢ₋₁ and class), in the order of the table or a learned one.

    ``order`` is "given" (as the columns stand), "learned" (neighbours that tell most about each other, the
    best pairs first), or the names of all columns in order.

    >>> Chain(order="learned")
    Chain(order='learned', backoff=5.0)
    """

    order: Any = "given"
    backoff: float = BACKOFF

    name = "chain"
    paired = ("categorical", "gaussian")

    def __post_init__(self) -> None:
        if isinstance(self.order, str) and self.order not in ("given", "learned"):
            raise ValueError(f"order is 'given', 'learned' or the names of the columns, not {self.order!r}")
        if not isinstance(self.order, str):
            object.__setattr__(self, "order", tuple(self.order))
            twice = [name for place, name in enumerate(self.order) if name in self.order[:place]]
            if twice:
                raise ValueError(f"Chain(order=…) names {twice[0]!r} twice")
        checked_backoff(self.backoff)

    def check(self, subject: Subject, prior: Any) -> None:
        check_together(subject, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        family, columns, statistic = subject
        if columns.count < 2:
            return independent(rule, subject, prior)
        if columns.family == "gaussian":

            def parents(correlations: Array, shares: Array) -> Array:
                information = -0.5 * np.log1p(-np.minimum(correlations**2, 1 - 1e-15))
                line = self._line(columns, np.tensordot(shares, information, 1))
                return np.tile(line, (len(shares), 1))

            return from_parents(rule, subject, prior, parents)
        statistic = with_pairs(statistic)
        tables = Conditionals.of(rule, family, columns, statistic, prior, self.backoff)
        information = mutual_information(columns, statistic) if self.order == "learned" else None
        return TreeParameters.of(tables, np.tile(self._line(columns, information), (len(statistic.total), 1)))

    def _line(self, columns: Columns, information: Array | None) -> Array:
        """Return the parent of each column: the one before it."""
        names = columns.names or tuple(range(columns.count))
        if self.order == "given":
            order = list(range(columns.count))
        elif self.order == "learned":
            assert information is not None
            order = longest_path(information)
        else:
            order = [names.index(name) for name in self.order if name in names]
            if sorted(order) != list(range(columns.count)):
                missing = [name for name in names if name not in self.order]
                raise ValueError(f"Chain(order=…) must name each column once: {missing[:1] or self.order} is not")
        parents = np.full(columns.count, -1, np.intp)
        parents[order[1:]] = order[:-1]
        return parents


def longest_path(weights: Array) -> list[int]:
    """Return an order of the columns whose neighbours have much weight: the best pairs first, none twice.

    >>> longest_path(np.array([[0, 1, 5], [1, 0, 4], [5, 4, 0.0]]))
    [0, 2, 1]
    """
    count = len(weights)
    line, neighbours = list(range(count)), [[] for _ in range(count)]  # type: tuple[list[int], list[list[int]]]
    rows, columns = np.tril_indices(count, -1)
    for place in np.argsort(-weights[rows, columns], kind="stable"):
        a, b = int(rows[place]), int(columns[place])
        if len(neighbours[a]) < 2 and len(neighbours[b]) < 2 and line[a] != line[b]:
            neighbours[a].append(b)
            neighbours[b].append(a)
            old = line[a]
            line = [line[b] if each == old else each for each in line]
    here = min(column for column in range(count) if len(neighbours[column]) < 2)
    order = [here]
    while len(order) < count:
        here = next(column for column in neighbours[here] if len(order) < 2 or column != order[-2])
        order.append(here)
    return order
