"""Trees: decision trees whose leaves are counts."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.families.family import Parameters
from suffice.kernels import tree_leaves
from suffice.schema import Array, Columns, Partition, starts_of
from suffice.score import MeanOfTrees, Score
from suffice.statistics import Counts
from suffice.structures.conditionals import check_backoff
from suffice.structures.structure import Rule, Structure, Subject


@dataclass(frozen=True)
class Trees(Structure):
    """P(class | x) = the mean over trees of P(class | leaf of x), weighted by the rows that each tree has counted.

    In each node p(class) = (count + m·p of the parent) / (n + m), with m the back-off. Where the trees split is part of
    the plan; the leaves count all rows, so that trees learn, forget and merge like every other column. In a sum of
    models that were planned apart, a tree counts the rows of its own model, and those that are learned later.

    Parameters
    ----------
    count : int, default=200
        The number of trees.
    backoff : float, default=1.0
        The number of pseudo-rows of the parent's shares that each node starts from.

    Examples
    --------
    >>> Trees(50)
    Trees(count=50, backoff=1.0)
    """

    count: int = 200
    backoff: float = 1.0

    name = "trees"
    grows_trees = True
    is_conditional = True

    def __post_init__(self) -> None:
        if type(self.count) is not int or self.count < 1:
            raise ValueError(f"count is the number of trees, 1 or more, not {self.count!r}")
        check_backoff(self.backoff)

    def merge(self, other: Structure, share: float) -> "Trees":
        assert isinstance(other, Trees)
        return replace(self, count=max(self.count, other.count))

    def check(self, subject: Subject, prior: Any) -> None:
        """Accept any prior: trees have a back-off instead."""

    def _estimate(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        assert isinstance(subject.statistic, Counts)
        nodes, counts = TreeNodes.of(subject.columns), subject.statistic.total
        sums = nodes.sum_counts(counts)
        shares = nodes.smooth(sums, self.backoff) * nodes.weigh(sums)[:, None]
        return TreesParameters(shares, nodes.column < 0, nodes.sizes, counts, self.backoff)


@dataclass(frozen=True)
class TreesParameters(Parameters):
    """P(class) in each node, [node, class], which nodes are leaves, and the number of leaves of each tree.

    P is multiplied by the weight of the tree, which is 1 if all trees have counted the same number of rows. ``counts``
    [class, leaf] and ``backoff`` are what the probabilities were estimated from.
    """

    nodes: Array
    is_leaf: Array
    sizes: Array
    counts: Array
    backoff: float

    is_conditional = True

    def score(self) -> Score:
        shares = np.ascontiguousarray(self.nodes[self.is_leaf])
        return Score((MeanOfTrees(shares, self.sizes, self.counts, self.backoff),))

    @property
    def n_parameters(self) -> int:
        return int(self.sizes.sum() * (self.nodes.shape[1] - 1))


@dataclass(frozen=True)
class TreeNodes:
    """The nodes of all trees of a block, one after the other.

    ``starts`` and ``ends`` are the first node of each tree and the one after its last; children count from the start.
    """

    starts: Array
    ends: Array
    column: Array
    child: Array
    leaf: Array
    sizes: Array

    @classmethod
    def of(cls, columns: Columns) -> "TreeNodes":
        """Return the nodes of a block of trees."""
        trees = [tree for tree in columns.codings or () if isinstance(tree, Partition)]
        counts = np.array([len(tree.column) for tree in trees])
        starts = starts_of(counts)
        return cls(
            starts=starts,
            ends=starts + counts,
            column=np.concatenate([tree.column for tree in trees]),
            child=np.concatenate([tree.child for tree in trees]),
            leaf=np.concatenate([tree.leaf for tree in trees]),
            sizes=np.array([tree.size for tree in trees], np.intp),
        )

    def sum_counts(self, counts: Array) -> Array:
        """Return the counts of all nodes, [node, class], from those of the leaves, [class, leaf]."""
        sums = np.zeros((len(self.column), len(counts)))
        offsets = starts_of(self.sizes)
        tree_leaves.sum_nodes(
            self.starts, self.ends, self.child, self.column, self.leaf, offsets, counts, sums, work=4 * sums.size
        )
        return sums

    def smooth(self, sums: Array, backoff: float) -> Array:
        """Return P(class) in each node, [node, class], from its counts and the shares of its parent."""
        shares = np.zeros(sums.shape)
        tree_leaves.smooth(
            self.starts, self.ends, self.child, self.column, sums, backoff, class_shares(sums[self.starts].sum(axis=0)),
            shares, work=4 * sums.size,
        )  # fmt: skip
        return shares

    def weigh(self, sums: Array) -> Array:
        """Return the weight of the tree of each node: its rows divided by their mean over the trees."""
        rows = sums[self.starts].sum(axis=1)
        weights = rows / rows.mean() if rows.any() else np.ones(len(rows))
        return np.repeat(weights, self.ends - self.starts)


def class_shares(counts: Array) -> Array:
    """Return the shares of the classes; equal shares if there are no rows."""
    total = float(counts.sum())
    return counts / total if total > 0 else np.full(len(counts), 1 / len(counts))
