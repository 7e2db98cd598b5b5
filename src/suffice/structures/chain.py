"""Chain: each column depends on the class and on the column before it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.family import Parameters
from suffice.schema import Array, Columns, Schema, round_ties
from suffice.structures.conditionals import Backoff, Conditionals, check_backoff, mutual_information
from suffice.structures.covariances import check_prior_of, estimate_tree
from suffice.structures.structure import Rule, Structure, Subject, check_known
from suffice.structures.tree import BACKOFF, TreeParameters


@dataclass(frozen=True)
class Chain(Structure):
    """p(x | class) = p(x₁ | class)·Π p(xᵢ | xᵢ₋₁, class).

    Parameters
    ----------
    order : {"given", "learned"} or sequence of names, default="given"
        The order of the columns: that of the table, a learned one in which neighbours have high mutual information
        given the class, or the names of all columns in order.
    backoff : float or "laplace", default=5.0
        The number of pseudo-rows of p(level | class) that each p(level | level before, class) starts from.
        "laplace" starts from the pseudo-counts of the prior instead.

    Examples
    --------
    >>> Chain(order="learned")
    Chain(order='learned', backoff=5.0)
    """

    order: Any = "given"
    backoff: Backoff = BACKOFF

    name = "chain"
    paired = ("categorical", "gaussian")

    def __post_init__(self) -> None:
        if isinstance(self.order, str) and self.order not in ("given", "learned"):
            raise ValueError(f"order is 'given', 'learned' or the names of the columns, not {self.order!r}")
        if not isinstance(self.order, str):
            object.__setattr__(self, "order", tuple(self.order))
            twice = [name for name, times in Counter(self.order).items() if times > 1]
            if twice:
                raise ValueError(f"Chain(order=…) names {twice[0]!r} twice")
        check_backoff(self.backoff, "laplace")

    def check_columns(self, schema: Schema) -> None:
        check_known("Chain(order=…)", () if isinstance(self.order, str) else self.order, schema)

    def check(self, subject: Subject, prior: Any) -> None:
        check_prior_of(subject, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        columns = subject.columns
        if columns.count < 2:
            return subject.independent(rule, prior)
        if columns.family == "gaussian":

            def parents(correlations: Array, shares: Array) -> Array:
                information = -0.5 * np.log1p(-np.minimum(correlations**2, 1 - 1e-15))
                line = self._line(columns, np.tensordot(shares, information, 1))
                return np.tile(line, (len(shares), 1))

            return estimate_tree(rule, subject, prior, parents)
        tables = Conditionals.of(rule, subject, prior, self.backoff)
        information = mutual_information(columns, tables.counts) if self.order == "learned" else None
        return TreeParameters.of(tables, np.tile(self._line(columns, information), (len(tables.shares), 1)))

    def _line(self, columns: Columns, information: Array | None) -> Array:
        """Return the parent of each column: the column before it in the order."""
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
    """Return an order of the columns in which neighbours have high weights, by adding the best pairs first.

    >>> longest_path(np.array([[0, 1, 5], [1, 0, 4], [5, 4, 0.0]]))
    [0, 2, 1]
    """
    count = len(weights)
    line, neighbours = list(range(count)), [[] for _ in range(count)]  # type: tuple[list[int], list[list[int]]]
    rows, columns = np.tril_indices(count, -1)
    for place in np.argsort(-round_ties(weights[rows, columns]), kind="stable"):
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
