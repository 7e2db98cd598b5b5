"""Fit a pool: plan its trees, count their leaves, and weight its components by their predictions of held-out rows.

The components that are sums predict each fold by the sums of the others. Trees predict a row without refitting: by the
trees that it did not help to grow, from counts without the row itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.data import SparseSheet, Table, Target
from suffice.data.engines import memory
from suffice.data.plan_trees import PlannedTrees, list_inputs, plan_trees
from suffice.data.read_trees import read_leaves
from suffice.decision.pooling import Pool
from suffice.folds.fit_twin import add_twin, split_twin
from suffice.folds.fold_tallies import CountedRows, fold_tallies
from suffice.folds.held_out import in_columns
from suffice.folds.splits import IndexSplit
from suffice.kernels import trees as kernels
from suffice.recipe import Recipe
from suffice.schema import Array, Partition, Plan
from suffice.statistics import Counts, Tally
from suffice.structures import Auto, Averaged, Full, Naive, Structure, Trees, Twin
from suffice.structures.averaged import MOST_COLUMNS
from suffice.structures.trees import TreeNodes, class_shares

# Weights are fitted to at most MOST_ROWS held-out rows, predicted in FOLDS folds.
MOST_ROWS, FOLDS = 20_000, 5

# With a twin, which has a coefficient for each word, there are more: this many scores of rows for classes.
MOST_SCORES = 1_000_000

# With structure="auto", tables with fewer rows have no pool: so few held-out rows tell too little.
LEAST_ROWS = 100

# With structure="auto", trees are fewer where they would have more than MOST_VISITS leaves of rows in all.
MOST_TREES, LEAST_TREES, MOST_VISITS = 200, 20, 4_000_000


def fit_pool(recipe: Recipe, opened: Any, target: Target, tally: Tally) -> tuple[Pool | None, Tally]:
    """Return the pool of a recipe, and the tally with the counts of its trees; None if "auto" does not pool.

    Parameters
    ----------
    recipe : Recipe
        A recipe whose structure is "auto", `Pooled` or `Trees`.
    opened : Sheet
        The rows, as the recipe has opened them.
    target : Target
        Their classes and weights.
    tally : Tally
        The sums of these rows, without trees.
    """
    components = choose_components(recipe, opened, target, tally)
    if not components:
        return None, tally
    weights = np.ones(len(target.codes)) if target.weights is None else target.weights
    components, twin = split_twin(components)
    most = MOST_ROWS if twin is None else max(MOST_ROWS, MOST_SCORES // len(target.classes))
    rows = np.flatnonzero(weights > 0)
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(2).choice(rows, most, replace=False))
    sums = [place for place, each in enumerate(components) if not each.grows_trees]
    planned = _plan_trees(components, opened, target, tally)
    if planned is None:
        components = tuple(components[place] for place in sums) or (Naive(),)
        sums = list(range(len(components)))
    log_proba = np.zeros((len(components), len(rows), len(target.classes)))
    is_known, counted = np.ones(len(rows), bool), None
    if sums:
        parts = [recipe.part(components[place]) for place in sums]
        log_proba[sums], is_known, counted = _predict_by_sums(parts, opened, target, tally, rows)
    if planned is not None:
        place = next(place for place, each in enumerate(components) if isinstance(each, Trees))
        tally, log_proba[place] = _count_trees(planned, components[place], opened, target, tally, rows)
    classes = target.classes.tolist()
    if is_known.sum() < 2 or len(classes) < 2:
        return Pool.equal(components, classes), tally
    held = log_proba[:, is_known], target.codes[rows[is_known]], weights[rows[is_known]]
    folds = _fold_of(target.codes[rows])[is_known]
    pool = Pool.fit(components, classes, *held)
    pool = add_twin(pool, twin, counted, rows[is_known], folds, *held)
    if planned is None or not sums:
        return pool, tally
    without = Pool.fit([components[each] for each in sums], classes, held[0][sums], *held[1:])
    without = add_twin(without, twin, counted, rows[is_known], folds, held[0][sums], *held[1:])
    return replace(pool, reduced=without), tally


def choose_components(recipe: Recipe, opened: Any, target: Target, tally: Tally) -> tuple[Structure, ...]:
    """Return the structures that are pooled: those that are set, or for "auto" those that the table's size allows."""
    structure = recipe.structure
    if not isinstance(structure, Auto):
        return recipe.members
    rows = len(target.codes)
    if rows < LEAST_ROWS or len(target.classes) < 2:
        return ()
    levels = [block for block in tally.schema.blocks if block.codings and block.family != "text"]
    has_pairs = any(block.pairs for block in levels)
    components: list[Structure] = [Averaged() if has_pairs else Naive()]
    if has_pairs and any(block.family == "gaussian" for block in tally.schema.blocks):
        components.append(Full())
    if not isinstance(opened, SparseSheet) and opened.shape[1] <= MOST_COLUMNS:
        components.append(Trees(int(np.clip(MOST_VISITS // rows, LEAST_TREES, MOST_TREES))))
    if any(map(Twin().uses, tally.schema.blocks)):
        components.append(Twin())
    return tuple(components)


def _plan_trees(components: Sequence[Structure], opened: Any, target: Target, tally: Tally) -> PlannedTrees | None:
    """Return the trees of the components; None if there are none, or nothing to split on."""
    wanted = next((each for each in components if isinstance(each, Trees)), None)
    if wanted is None or isinstance(opened, SparseSheet) or len(target.classes) < 2:
        return None
    inputs = list_inputs(opened, tally.schema.blocks)
    return plan_trees(opened, target, inputs, wanted.count) if inputs else None


def _predict_by_sums(
    parts: Sequence[Recipe], opened: Any, target: Target, tally: Tally, rows: Array
) -> tuple[Array, Array, CountedRows]:
    """Return the predictions of held-out rows by each component, whether their class was in the sums, and all rows."""
    folds = _fold_of(target.codes[rows])
    splits = []
    for number in range(min(FOLDS, len(rows))):
        is_test = np.zeros(len(target.codes), bool)
        is_test[rows[folds == number]] = True
        splits.append(IndexSplit(np.flatnonzero(~is_test), np.flatnonzero(is_test)))
    plan = Plan(tally.schema.blocks, tally.schema.features, is_marked=True)
    counted = replace(parts[0], given_plan=plan)
    found = np.zeros((len(parts), len(rows), len(target.classes)))
    is_known = np.ones(len(rows), bool)
    for fold in fold_tallies(counted, opened, target, splits):
        here = np.searchsorted(rows, fold.split.test)
        classes = fold.tally.schema.classes
        is_known[here] = np.isin(target.classes, classes)[target.codes[fold.split.test]]
        for place, part in enumerate(parts):
            model = part.model(fold.tally)
            log_proba = model.log_posterior(fold.test_blocks(part, model.columns))
            found[place, here] = in_columns(log_proba, classes, target.classes)
    return found, is_known, fold.rows


def _fold_of(codes: Array) -> Array:
    """Return the fold of each row; the rows of a class are spread evenly, however few they are."""
    shuffled = np.random.default_rng(3).permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), np.intp)
    folds[order] = np.arange(len(codes)) % FOLDS
    return folds


def _count_trees(
    planned: PlannedTrees, trees: Structure, opened: Any, target: Target, tally: Tally, rows: Array
) -> tuple[Tally, Array]:
    """Return the tally with the counts of leaves, and the trees' predictions of rows that are left out one by one."""
    assert isinstance(trees, Trees)
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
    at = np.searchsorted(planned.rows, rows)
    is_planned = planned.rows[np.minimum(at, len(planned.rows) - 1)] == rows
    shares = np.zeros(len(target.classes))
    for place, tree in enumerate(planned.trees):
        assert isinstance(tree, Partition)
        is_used = is_planned & planned.is_used[place][np.minimum(at, len(planned.rows) - 1)]
        node = np.flatnonzero(tree.column < 0)[leaves.array[rows, place]].astype(np.int32)
        path = np.zeros(len(tree.column), np.int32)
        own = sums[nodes.starts[place] : nodes.ends[place]]
        kernels.leave_out(
            node, is_used, codes, weights, tree.parent, own, trees.backoff, base, path, shares, total, count,
            work=16 * total.size,
        )  # fmt: skip
    mean = total / np.maximum(count, 1)[:, None]
    with np.errstate(divide="ignore"):
        return joined, np.log(np.where(count[:, None] > 0, mean, base))
