"""Decision trees as the page computes them: their splits, and the counts of their leaves.

Of 200 trees with 80,000 nodes, splits and counts take 0.4 MB. The shares of the classes in all nodes, which the
explanation of a row needs, would take several times as much; the page computes them from the counts, as
`structures/trees.py` does.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice.pooled_model import LEAST
from suffice.report.inputs import Input, plain_value
from suffice.report.packed_arrays import NotLiveError, pack_array, pack_whole
from suffice.schema import Columns, Partition, TreeInput
from suffice.score import MeanOfTrees

MAX_SHARES = 1 << 24  # of all nodes and classes; the page computes them when it is opened


def pack_trees(columns: Columns, inputs: Mapping[Any, Input]) -> dict[str, Any]:
    """Return how the page reads the cells of a row, and how the row descends in each tree of a block.

    A node has the number of its split, from 1 on, or 0 if it is a leaf. The children of the i-th split of a tree are
    its nodes 2i + 1 and 2i + 2, unless ``child`` says otherwise. ``columns`` are the positions of the columns on which
    trees split, and ``levels`` has for each label of such a column its position among the levels of the trees.
    """
    trees = [tree for tree in columns.codings or () if isinstance(tree, Partition)]
    column, threshold, child = (
        np.concatenate([getattr(tree, name) for tree in trees]) for name in ("column", "threshold", "child")
    )
    is_split = column >= 0
    splits, codes = np.unique(np.column_stack([column, threshold])[is_split], axis=0, return_inverse=True)
    nodes = np.zeros(len(column), np.intp)
    nodes[is_split] = codes.ravel() + 1
    usual = np.concatenate([1 + 2 * np.arange(tree.size - 1) for tree in trees])
    positions = {key: place for place, key in enumerate(inputs)}
    return {
        "columns": [positions[each.name] for each in trees[0].inputs],
        "levels": [_level_places(each, inputs[each.name]) for each in trees[0].inputs],
        "trees": {
            "nodes": pack_whole(nodes),
            "sizes": pack_whole([len(tree.column) for tree in trees]),
            "column": pack_whole(splits[:, 0]),
            "threshold": pack_array(splits[:, 1]),
            "child": None if np.array_equal(usual, child[is_split]) else pack_whole(child[is_split]),
        },
    }


def _level_places(each: TreeInput, its: Input) -> list[int] | None:
    """Return the position among the levels of the trees of each label of an input; None if it is a number."""
    if each.levels is None:
        return None
    known = {plain_value(level): place for place, level in enumerate(each.levels)}
    return [known.get(label, len(known)) for label in its.labels or ()]


def pack_leaves(term: MeanOfTrees) -> dict[str, Any]:
    """Return the counts of each leaf that are not 0, with their classes, and how many there are in each leaf."""
    shares = (2 * term.shares.shape[0] - len(term.sizes)) * term.class_count
    if shares > MAX_SHARES:
        raise NotLiveError(
            f"its {len(term.sizes):,} trees have {shares:,} shares of classes in nodes, and a page computes at most "
            f"{MAX_SHARES:,}; an averaged or a naive model, or fewer trees, can be computed"
        )
    leaves, classes = np.nonzero(term.counts.T)
    return {
        "filled": pack_whole(np.bincount(leaves, minlength=term.counts.shape[1])),
        "codes": pack_whole(classes),
        "counts": pack_whole(term.counts[classes, leaves]),
        "backoff": float(term.backoff),
        "least": LEAST,
    }
