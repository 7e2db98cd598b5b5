"""Forests: blocks of decision trees, which may have been planned apart."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count

import numpy as np

from suffice.schema.arrays import Array
from suffice.schema.columns import Columns
from suffice.schema.partition import Partition, unite_inputs

# A sum of models whose trees were planned apart has at most so many trees.
MOST_TREES = 200


def trees_of(forest: Columns | None) -> dict[str, Partition]:
    """Return the trees of a block by their keys; equal trees are numbered."""
    found: dict[str, Partition] = {}
    for tree in () if forest is None else forest.codings or ():
        assert isinstance(tree, Partition)
        copies = (f"{tree.key} {number}" for number in count())
        found[next(key for key in copies if key not in found)] = tree
    return found


def make_forest(trees: Collection[Partition]) -> Columns:
    """Return the block of trees; their names are no strings, as those of columns are."""
    return Columns.coded("categorical", tuple(("tree", place) for place in range(len(trees))), tuple(trees))


def unite_forests(mine: Columns | None, other: Columns | None) -> Columns | None:
    """Return the block with the trees of both, sorted by key; ``mine`` itself if it has all of them."""
    if mine is other or other is None:
        return mine
    held, theirs = trees_of(mine), trees_of(other)
    if theirs.keys() <= held.keys():
        return mine
    trees = held | theirs
    inputs = unite_inputs(each for tree in trees.values() for each in tree.inputs)
    return make_forest([trees[key].on(inputs) for key in sorted(trees)])


def select_kept_trees(mine: Columns | None, other: Columns | None) -> set[str]:
    """Return the keys of the trees that the sum of two blocks keeps: all, or the `MOST_TREES` smallest.

    Keys are chance, so that the trees of all sides are kept alike. A tree that the sum of many is to keep is also kept
    in every sum of some, so the order of the sums does not matter.
    """
    held, theirs = trees_of(mine).keys(), trees_of(other).keys()
    both = held | theirs
    return set(both if len(both) in (len(held), len(theirs)) else sorted(both)[:MOST_TREES])


def places_in_forest(mine: Columns, wider: Columns) -> tuple[Array, Array]:
    """Return the positions of the trees and of their leaves in a block that has them all."""
    places = {key: place for place, key in enumerate(trees_of(wider))}
    columns = np.array([places[key] for key in trees_of(mine)], np.intp)
    assert mine.sizes is not None
    return columns, np.arange(mine.width) + np.repeat(wider.starts[columns] - mine.starts, mine.sizes)
