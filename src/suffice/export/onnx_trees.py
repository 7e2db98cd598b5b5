"""Decision trees as ONNX: `MeanOfTrees`."""

from __future__ import annotations

import numpy as np

from suffice.export.onnx_cells import Cells
from suffice.export.onnx_graph import Tensor
from suffice.export.onnx_search import find_leaf
from suffice.schema import Partition
from suffice.score import MeanOfTrees


def translate_mean_of_trees(term: MeanOfTrees, cells: Cells) -> Tensor:
    """Write log of the mean over trees of shares[leaf, class].

    Each tree is an operator of its own: all rows descend in it while it is in the cache, and the numbers of the leaves
    are exact in the single precision that the operator returns, which sums of shares would not be.
    """
    trees = [tree for tree in cells.columns.codings or () if isinstance(tree, Partition)]
    x, places = cells.tree_inputs(trees[0].inputs)
    is_level = np.empty(len(places), bool)
    is_level[places] = [each.levels is not None for each in trees[0].inputs]
    # the shares of the last class are what the others leave
    is_whole = np.allclose(term.shares.sum(axis=1), 1.0, rtol=0.0, atol=1e-12) and term.shares.shape[1] > 1
    summed = term.shares[:, :-1] if is_whole else term.shares
    # a table of one column is gathered faster as a vector
    table = (summed[:, 0] if summed.shape[1] == 1 else summed) / len(trees)
    shares = []
    for tree, start in zip(trees, term.starts.tolist(), strict=True):
        column = np.where(tree.column < 0, -1, places[tree.column])
        leaf = find_leaf(x, column, tree.threshold, tree.child, is_level, tree.leaf)
        shares.append(cells.graph.add("Gather", table[start : start + tree.size], leaf.squeeze(1)))
    found = cells.graph.total(shares)
    if summed.shape[1] == 1:
        found = found.expand(1)
    if is_whole:
        rest = 1.0 - found.sum(1, keep=True)
        found = cells.graph.concat([found, cells.graph.where(rest > 0.0, rest, 0.0)])
    return found.log()
