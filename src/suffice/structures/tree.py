"""Tree: each column depends on the class and on one other column (tree-augmented naive Bayes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice.families.categorical import draw_slots
from suffice.families.family import Parameters
from suffice.schema import Array, Columns, round_ties
from suffice.score import PairLookUp, Score
from suffice.statistics import PairCounts
from suffice.structures.conditionals import Conditionals, mutual_information
from suffice.structures.covariances import check_prior_of, estimate_tree
from suffice.structures.structure import Rule, Structure, Subject

# Pseudo-rows of p(level | class) in each p(level | parent's level, class). Of 1, 2, 5, 10 and 20, this has the best
# ten-fold log-loss over the tables of benchmarks/structures.py.
BACKOFF = 5.0


@dataclass(frozen=True)
class Tree(Structure):
    """p(x | class) = Π p(xᵢ | parent of xᵢ, class), one tree for all classes or one for each.

    The tree maximises the sum of the conditional mutual information I(xᵢ; xⱼ | class) over its edges; with one tree
    per class, the sum of I(xᵢ; xⱼ) within the class (Chow and Liu). Gaussian columns form a separate tree, chosen by
    their correlations within the classes.

    Parameters
    ----------
    tree : {"shared", "per-class"}, default="shared"
        One tree for all classes, or one for each class.
    backoff : float, default=5.0
        The number of pseudo-rows of p(level | class) that each p(level | parent's level, class) starts from.

    Examples
    --------
    >>> Tree("per-class")
    Tree(tree='per-class', backoff=5.0)
    """

    tree: Literal["shared", "per-class"] = "shared"
    backoff: float = BACKOFF

    name = "tree"
    paired = ("categorical", "gaussian")

    def __post_init__(self) -> None:
        if self.tree not in ("shared", "per-class"):
            raise ValueError(f"tree is 'shared' or 'per-class', not {self.tree!r}")
        check_backoff(self.backoff)

    def check(self, subject: Subject, prior: Any) -> None:
        check_prior_of(Subject(*subject), prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        if subject.columns.count < 2:
            return subject.independent(rule, prior)
        if subject.columns.family == "gaussian":
            return estimate_tree(rule, subject, prior, self.parents_of_numbers)
        tables = Conditionals.of(rule, subject, prior, self.backoff)
        return TreeParameters.of(tables, self.parents(tables.columns, tables.counts))

    def parents(self, columns: Columns, counts: PairCounts) -> Array:
        """Return the parent of each column in each class, [class, column]; −1 for the root."""
        if self.tree == "per-class":
            return spanning_trees(mutual_information(columns, counts, by_class=True))
        tree = spanning_tree(mutual_information(columns, counts))
        return np.tile(tree, (len(counts.total), 1))

    def parents_of_numbers(self, correlations: Array, shares: Array) -> Array:
        """Return the parent of each column in each class from correlations [class, column, column]."""
        information = -0.5 * np.log1p(-np.minimum(correlations**2, 1 - 1e-15))
        if self.tree == "per-class":
            return spanning_trees(information)
        return np.tile(spanning_tree(np.tensordot(shares, information, 1)), (len(shares), 1))


def check_backoff(backoff: float) -> None:
    """Raise if a back-off is not a positive number of rows."""
    if not backoff > 0:
        raise ValueError(f"backoff is a number of rows, more than 0, not {backoff!r}")


def spanning_trees(weights: Array) -> Array:
    """Return the tree of each class, [class, column], all with the same root."""
    root = _heaviest(weights.sum(axis=0))
    return np.array([spanning_tree(class_weights, root) for class_weights in weights])


def spanning_tree(weights: Array, root: int | None = None) -> Array:
    """Return the parents in the spanning tree of highest total weight (Prim's algorithm).

    The root is the column of highest weight, so that the result does not depend on the order of the columns; of equal
    weights, the first is taken.

    >>> spanning_tree(np.array([[0, 1, 5], [1, 0, 4], [5, 4, 0.0]])).tolist()
    [2, 2, -1]
    """
    count, root = len(weights), _heaviest(weights) if root is None else root
    weights = round_ties(weights)
    parents, best = np.full(count, root, np.intp), weights[root].astype(np.float64)
    parents[root], best[root] = -1, -np.inf
    for _ in range(count - 1):
        new = int(np.argmax(best))
        best[new] = -np.inf
        closer = (weights[new] > best) & (best > -np.inf)
        best[closer], parents[closer] = weights[new][closer], new
    return parents


def _heaviest(weights: Array) -> int:
    return int(np.argmax(round_ties(weights.sum(axis=0) - np.diagonal(weights))))


@dataclass(frozen=True)
class TreeParameters(Parameters):
    """A table of log p(level | parent's level, class) for each column and class."""

    term: PairLookUp

    @property
    def parents(self) -> Array:
        """The parent of each column, [class, column]; −1 if it has none."""
        return self.term.parents

    def score(self) -> Score:
        return Score((self.term,))

    @classmethod
    def of(cls, tables: Conditionals, parents: Array) -> TreeParameters:
        """Return the parameters of trees that are given by the parent of each column in each class."""
        classes, count = parents.shape
        parts, offsets, filled = [], np.zeros((classes, count), np.intp), 0
        shared = bool((parents == parents[0]).all())
        for column in range(count):
            edges = {}
            for k in range(classes):
                parent = int(parents[k, column])
                if parent not in edges:
                    edges[parent] = tables.root(column)[:, None, :] if parent < 0 else tables.given(column, parent)
                part = edges[parent][k]
                parts.append(part.ravel())
                offsets[k, column] = filled
                filled += part.size
        order = np.array([sort_by_depth(line) for line in (parents[:1] if shared else parents)])
        order = np.tile(order, (classes, 1)) if shared else order
        is_open = tables.columns.open.astype(np.uint8)
        return cls(PairLookUp(parents, order, offsets, tables.sizes, is_open, np.concatenate(parts)))

    @property
    def n_parameters(self) -> int:
        sizes = self.term.sizes
        above = np.where(self.parents >= 0, sizes[self.parents], 1)
        return int((above * np.maximum(sizes - 1, 0)).sum())

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        drawn = np.zeros((count, len(self.term.sizes)), np.intp)
        for j in self.term.order[k]:
            parent, table = int(self.parents[k, j]), self.term.table_of(k, j)
            above = drawn[:, parent] if parent >= 0 else np.zeros(count, np.intp)
            for level in np.unique(above):
                here = above == level
                drawn[here, j] = draw_slots(table[level], int(here.sum()), rng)
        return drawn


def sort_by_depth(parents: Array) -> list[int]:
    """Return the columns, parents before their children.

    >>> sort_by_depth(np.array([1, 2, -1]))
    [2, 1, 0]
    """
    children: dict[int, list[int]] = {}
    for column, parent in enumerate(parents.tolist()):
        children.setdefault(parent, []).append(column)
    order, todo = [], list(children.get(-1, []))
    while todo:
        column = todo.pop(0)
        order.append(column)
        todo += children.get(column, [])
    return order
