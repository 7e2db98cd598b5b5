"""The leaf of a decision tree that a row reaches, and the search of a number among sorted edges."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from suffice.export.onnx_graph import ML, Tensor
from suffice.schema import Array


def find_leaf(x: Tensor, column: Array, threshold: Array, child: Array, is_level: Array, value: Array) -> Tensor:
    """Return value[leaf] of the leaf that each row of x reaches, [row, 1], as integers.

    The arrays describe the nodes as those of `suffice.schema.Partition` do. NaN goes to the second child.

    Parameters
    ----------
    x : Tensor [row, column]
        Doubles.
    column, threshold, child : arrays [node]
        The column of each split (−1 in a leaf), what it is compared with, and the first child.
    is_level : array [column]
        Whether numbers must be equal to the threshold, or below it, to go to the first child.
    value : array of int [node]
        The values of the leaves, at most 2²⁴.
    """
    is_leaf, nodes = column < 0, np.arange(len(column))
    column = np.where(is_leaf, 0, column)
    modes = np.where(is_leaf, "LEAF", np.where(is_level[column], "BRANCH_EQ", "BRANCH_LT"))
    leaves = nodes[is_leaf]
    found = x.graph.add(
        "TreeEnsembleRegressor",
        x,
        domain=ML,
        n_targets=1,
        nodes_treeids=np.zeros(len(nodes), int).tolist(),
        nodes_nodeids=nodes.tolist(),
        nodes_featureids=column.tolist(),
        nodes_modes=modes.tolist(),
        nodes_values_as_tensor=numpy_helper.from_array(np.where(is_leaf, 0.0, threshold), "thresholds"),
        nodes_truenodeids=np.where(is_leaf, 0, child).tolist(),
        nodes_falsenodeids=np.where(is_leaf, 0, child + 1).tolist(),
        target_treeids=np.zeros(len(leaves), int).tolist(),
        target_nodeids=leaves.tolist(),
        target_ids=np.zeros(len(leaves), int).tolist(),
        target_weights_as_tensor=numpy_helper.from_array(value[is_leaf].astype(np.float64), "values"),
    )
    return found.cast("int64")


def count_edges(x: Tensor, edges: Array) -> Tensor:
    """Return the number of sorted edges that are less than or equal to each number of x [row, 1], as integers.

    NaN is counted as greater than all edges.
    """
    column, threshold, child, value = [], [], [], []
    waiting = [(0, len(edges))]
    for low, high in waiting:  # the list grows: each range of edges is halved until it is empty
        is_leaf, middle = low == high, (low + high) // 2
        column.append(-1 if is_leaf else 0)
        threshold.append(0.0 if is_leaf else edges[middle])
        child.append(0 if is_leaf else len(waiting))
        value.append(low)
        waiting += [] if is_leaf else [(low, middle), (middle + 1, high)]
    arrays = np.array(column), np.array(threshold, np.float64), np.array(child)
    return find_leaf(x, *arrays, np.zeros(1, bool), np.array(value))
