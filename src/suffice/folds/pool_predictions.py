"""Predictions of held-out rows by the components of a pool.

The components that are sums predict each fold by the sums of the others. Trees predict a row without refitting: by the
trees that it did not help to grow, from counts without the row itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.data import Table, Target
from suffice.data.engines import memory
from suffice.data.plan_trees import PlannedTrees
from suffice.data.read_trees import read_leaves
from suffice.data.row_keys import mix_keys
from suffice.folds.fold_tallies import CountedRows, FoldTally, fold_tallies
from suffice.folds.held_out import in_columns
from suffice.folds.splits import IndexSplit
from suffice.kernels import tree_leaves
from suffice.parallel import map_threads
from suffice.recipe import Recipe
from suffice.schema import Array, Columns, Partition, Plan
from suffice.statistics import Counts, Tally
from suffice.structures.trees import TreeNodes, Trees, class_shares

# So many rows are left out of the leaves by one thread.
ROWS_AT_ONCE = 1 << 13

# Components that are sums predict held-out rows in so many folds.
FOLDS = 5


def predict_by_sums(
    parts: Sequence[Recipe], opened: Any, target: Target, tally: Tally, rows: Array, folds: Array
) -> tuple[Array, Array, CountedRows]:
    """Return the predictions of held-out rows by each component, whether their class was in the sums, and all rows."""
    splits = []
    for number in np.unique(folds).tolist():
        is_test = np.zeros(len(target.codes), bool)
        is_test[rows[folds == number]] = True
        splits.append(IndexSplit(np.flatnonzero(~is_test), np.flatnonzero(is_test)))
    blocks = tuple(replace(each, pairs=each.pairs and each.codings is None) for each in tally.schema.blocks)
    plan = Plan(blocks, tally.schema.features, is_marked=True)
    counted = replace(parts[0], given_plan=plan)
    found = np.zeros((len(parts), len(rows), len(target.classes)))
    is_known = np.ones(len(rows), bool)

    def predict(fold: FoldTally) -> None:
        here = np.searchsorted(rows, fold.split.test)
        classes = fold.tally.schema.classes
        is_known[here] = np.isin(target.classes, classes)[target.codes[fold.split.test]]
        for place, part in enumerate(parts):
            model = part.estimate(lay_out_pairs(part, fold, target, tally))
            log_proba = model.log_posterior(fold.test_blocks(part, model.columns))
            found[place, here] = in_columns(log_proba, classes, target.classes)

    tallies = list(fold_tallies(counted, opened, target, splits))
    map_threads(predict, tallies)
    return found, is_known, tallies[0].rows


def lay_out_pairs(part: Recipe, fold: FoldTally, target: Target, tally: Tally) -> Tally:
    """Return the laid out tally of a fold's training rows, with the pairs of levels that were not counted by fold.

    Single columns decide their forms. The pairs of these levels are those of all rows without those of the test rows if
    all weights are whole, so that counts subtract without rounding; the many pairs of cells are not counted again then.
    Otherwise the pairs of the training rows are counted.

    Parameters
    ----------
    part : Recipe
        The recipe of a component.
    fold : FoldTally
        The training rows, without pairs of levels, and the test rows.
    target : Target
        The classes and weights of all rows.
    tally : Tally
        The sums of all rows, with pairs.
    """
    forms = part.choose(fold.tally)
    learned = part.lay_out_as(fold.tally, forms)
    paired = tally.select_blocks(lambda block: _has_pairs_of_levels(block) and block.family in part.structure.paired)
    whole = part.lay_out_as(paired, forms)
    if not whole.schema.blocks:
        return learned
    split, is_whole = fold.split, target.weights is None or bool(np.all(target.weights % 1 == 0))
    counted = fold if is_whole else replace(fold, split=IndexSplit(split.test, split.train))
    rows = counted.split.test
    weights = None if target.weights is None else target.weights[rows]
    table = Table(counted.test_blocks(part, whole.schema.blocks), Target(target.classes, target.codes[rows], weights))
    found = memory.tally(table, whole.schema.blocks, whole.schema.features, trimmed=False)
    left = whole - found if is_whole else found.trimmed(np.isin(found.schema.classes, learned.schema.classes))
    families = [block.family for block in whole.schema.blocks]
    blocks = tuple(replace(each, pairs=each.pairs or each.family in families) for each in learned.schema.blocks)
    schema = replace(learned.schema, blocks=blocks)
    pairs = left.on(replace(schema, blocks=tuple(block for block in blocks if block.family in families)))
    by_family = dict(zip(families, pairs.statistics, strict=True))
    statistics = [by_family.get(block.family, own) for block, own in zip(blocks, learned.statistics, strict=True)]
    return Tally(schema, learned.class_count, tuple(statistics))


def _has_pairs_of_levels(columns: Columns) -> bool:
    return columns.pairs and columns.codings is not None


def spread_rows(codes: Array, keys: Array) -> Array:
    """Return the fold of each row; the rows of a class are spread evenly, however few they are.

    Each class, in the order of its keys, is cut into parts of equal size. So few rows change their fold if one is
    removed.
    """
    folds = np.empty(len(codes), np.intp)
    for place, code in enumerate(np.unique(codes)):
        own = np.flatnonzero(codes == code)
        own = own[np.argsort(mix_keys(keys[own], 1))]
        folds[own] = (np.arange(len(own)) * FOLDS // len(own) + place) % FOLDS
    return folds


def count_trees(
    planned: PlannedTrees, trees: Trees, opened: Any, target: Target, tally: Tally, rows: Array
) -> tuple[Tally, Array]:
    """Return the tally with the counts of leaves, and the trees' predictions of rows that are left out one by one."""
    columns, leaves = planned.columns, read_leaves(opened, planned.columns)
    counted = memory.tally(Table((leaves,), target), (columns,), tally.schema.features)
    (statistic,) = counted.statistics
    assert isinstance(statistic, Counts)
    schema = replace(tally.schema, blocks=(*tally.schema.blocks, *counted.schema.blocks))
    joined = Tally(schema, tally.class_count, (*tally.statistics, statistic))
    nodes = TreeNodes.of(columns)
    sums = nodes.sum_counts(statistic.total)
    base = class_shares(sums[0])
    total, count = np.zeros((len(rows), len(target.classes))), np.zeros(len(rows), np.int64)
    codes = target.codes[rows].astype(np.int32)
    weights = np.ones(len(rows)) if target.weights is None else target.weights[rows]
    at = np.minimum(np.searchsorted(planned.rows, rows), len(planned.rows) - 1)
    is_planned = planned.rows[at] == rows

    def leave_out(part: slice) -> None:
        shares = np.zeros((len(codes[part]) + 1, len(target.classes)))
        for place, tree in enumerate(planned.trees):
            assert isinstance(tree, Partition)
            is_used = is_planned[part] & planned.is_used[place][at[part]]
            node = np.flatnonzero(tree.column < 0)[leaves.array[rows[part], place]].astype(np.int32)
            path, places = np.zeros(len(tree.column), np.int32), np.full((len(tree.column), len(base)), -1, np.int32)
            own = sums[nodes.starts[place] : nodes.ends[place]]
            tree_leaves.leave_out(
                node, is_used, codes[part], weights[part], tree.parent, own, trees.backoff, base, path, places,
                shares, total[part], count[part], work=16 * len(node) * len(base),
            )  # fmt: skip

    map_threads(leave_out, [slice(first, first + ROWS_AT_ONCE) for first in range(0, len(rows), ROWS_AT_ONCE)])
    mean = total / np.maximum(count, 1)[:, None]
    with np.errstate(divide="ignore"):
        return joined, np.log(np.where(count[:, None] > 0, mean, base))
