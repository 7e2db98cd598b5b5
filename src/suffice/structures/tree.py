"""Tree: each column depends on the class and on one other column (tree-augmented naive Bayes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice.families.categorical import draw_slots
from suffice.families.family import Parameters
from suffice.schema import Array, Columns, Schema
from suffice.score import PairLookUp, Score
from suffice.statistics import PairCounts
from suffice.structures.conditionals import Backoff, Conditionals, check_backoff, mutual_information
from suffice.structures.covariances import check_prior_of, estimate_tree
from suffice.structures.spanning_trees import (
    Edges,
    check_acyclic,
    check_edges,
    edge_bounds,
    spanning_tree,
    spanning_trees,
)
from suffice.structures.structure import Rule, Structure, Subject, check_known

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
    backoff : float or "laplace", default=5.0
        The number of pseudo-rows of p(level | class) that each p(level | parent's level, class) starts from.
        "laplace" starts from the pseudo-counts of the prior instead, as WEKA's TAN does.
    required : list of pairs of columns, default=()
        Edges that the tree has, in either direction: the root decides which column is the parent. Both columns hold
        levels (bins included), or both are Gaussian.
    forbidden : list of pairs of columns, default=()
        Edges that the tree does not have. If they leave no edge from some columns to the others, there are several
        trees.
    root : str, default=None
        The column without a parent. None chooses the column with the highest sum of mutual information.

    Examples
    --------
    >>> Tree("per-class").backoff
    5.0
    >>> Tree(required=[("age", "income")], root="age").required
    (('age', 'income'),)
    """

    tree: Literal["shared", "per-class"] = "shared"
    backoff: Backoff = BACKOFF
    required: Edges = ()
    forbidden: Edges = ()
    root: Any = None

    name = "tree"
    paired = ("categorical", "gaussian")

    def __post_init__(self) -> None:
        if self.tree not in ("shared", "per-class"):
            raise ValueError(f"tree is 'shared' or 'per-class', not {self.tree!r}")
        check_backoff(self.backoff, "laplace")
        for setting in ("required", "forbidden"):
            object.__setattr__(self, setting, check_edges(setting, getattr(self, setting)))
        check_acyclic(self.required, self.forbidden)

    def check(self, subject: Subject, prior: Any) -> None:
        check_prior_of(subject, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        if subject.columns.count < 2:
            return subject.independent(rule, prior)
        if subject.columns.family == "gaussian":

            def parents(correlations: Array, shares: Array) -> Array:
                information = -0.5 * np.log1p(-np.minimum(correlations**2, 1 - 1e-15))
                together = np.tensordot(shares, information, 1)
                return self._span(subject.columns, information if self.tree == "per-class" else together, len(shares))

            return estimate_tree(rule, subject, prior, parents)
        tables = Conditionals.of(rule, subject, prior, self.backoff)
        return TreeParameters.of(tables, self.parents(tables.columns, tables.counts))

    def parents(self, columns: Columns, counts: PairCounts) -> Array:
        """Return the parent of each column in each class, [class, column]; −1 for the root."""
        information = mutual_information(columns, counts, by_class=self.tree == "per-class")
        return self._span(columns, information, len(counts.total))

    def _span(self, columns: Columns, information: Array, classes: int) -> Array:
        """Return the trees of all classes, from information [column, column], or [class, column, column]."""
        names = columns.names or tuple(range(columns.count))
        root = names.index(self.root) if self.root in names else None
        bounds = edge_bounds(names, self.required, self.forbidden)
        if information.ndim == 3:
            return spanning_trees(information, root, bounds)
        return np.tile(spanning_tree(information, root, bounds), (classes, 1))

    def check_columns(self, schema: Schema) -> None:
        named = {"required": self.required, "forbidden": self.forbidden, "root": ((self.root,),)}
        for setting, groups in named.items():
            check_known(f"Tree({setting}=…)", [name for group in groups for name in group if name is not None], schema)
        blocks = {name: block for block in schema.blocks for name in block.names or ()}
        for names in [*self.required, *([] if self.root is None else [(self.root,)])]:
            setting, (first, *_) = "required" if len(names) > 1 else "root", names
            lone = [name for name in names if name not in blocks or not self.joins(blocks[name])]
            if lone:
                reason = dict(() if schema.features is None else schema.features.left_out).get(lone[0])
                reason = reason or f"{blocks[lone[0]].family} columns depend on the class only"
                raise ValueError(f"Tree({setting}=…) names {lone[0]!r}, which is not part of a tree: {reason}")
            if any(blocks[name] is not blocks[first] for name in names):
                kinds = " and ".join(f"{name!r} is {blocks[name].family}" for name in names)
                raise ValueError(
                    f"Tree(required=…) has the edge {first!r} – {names[1]!r}, but {kinds}, and only columns of one "
                    'kind can depend on each other; numeric="mdl" puts numbers into bins, which are levels'
                )


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
