"""MeanOfTrees: the mean over decision trees of the class shares of the leaf that a row reaches."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.blocks import Block, Dense
from suffice.kernels import tree_leaves
from suffice.schema import Array, starts_of
from suffice.score.term import Term


@dataclass(frozen=True)
class MeanOfTrees(Term):
    """log of the mean over trees t of shares[leaf of t, class]; a tree without a leaf (code −1) is left out.

    Parameters
    ----------
    shares : array [leaf, class]
        P(class | leaf) times the weight of the tree, the leaves of all trees one after the other. The weight of a tree
        is its number of rows divided by the mean over all trees.
    sizes : array [tree]
        The number of leaves of each tree.
    counts : array [class, leaf]
        The rows of each leaf; with the back-off and the tree, they define the shares. An export may hold them instead:
        most of them are 0.
    backoff : float
        The number of pseudo-rows of the parent's shares that each node starts from.
    """

    shares: Array
    sizes: Array
    counts: Array
    backoff: float

    @property
    def class_count(self) -> int:
        return int(self.shares.shape[1])

    @cached_property
    def starts(self) -> Array:
        """The first leaf of each tree."""
        return starts_of(self.sizes)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        buffer = np.zeros(self.class_count)
        for codes, part in block.scored(rows, scores):
            tree_leaves.add_log_mean(codes, self.starts, self.shares, buffer, part, work=codes.size * self.class_count)
