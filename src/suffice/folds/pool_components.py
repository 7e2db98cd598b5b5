"""The components of a pool: what "auto" chooses by the size of a table, and the trees that are grown for it."""

from dataclasses import replace
from typing import Any

import numpy as np

from suffice.data import SparseSheet, Target
from suffice.data.plan_trees import PlannedTrees, list_inputs, plan_trees
from suffice.recipe import Recipe
from suffice.schema import Array
from suffice.schema.columns import MOST_PAIR_BYTES
from suffice.statistics import Tally
from suffice.structures import Naive, Structure
from suffice.structures.averaged import MOST_COLUMNS, Auto, Averaged
from suffice.structures.full import Full
from suffice.structures.trees import Trees
from suffice.structures.twin import Twin

# With structure="auto", there is no pool of fewer rows, because so few held-out rows tell too little, nor of more
# classes, because each has a bias.
LEAST_ROWS, MOST_CLASSES = 100, 100

# With structure="auto", trees are fewer if trees times rows would exceed MOST_VISITS for each class, or if the leaves
# would have more than MOST_COUNTS counts. Fewer than LEAST_TREES are not worth their time.
MOST_TREES, LEAST_TREES, MOST_VISITS, MOST_COUNTS = 100, 20, 1_250_000, 1 << 23

# Trees that a user asks for have at most as many counts as fit into the memory that pairs may take.
MOST_COUNTS_ASKED = MOST_PAIR_BYTES // 8


def choose_components(recipe: Recipe, opened: Any, target: Target, tally: Tally) -> tuple[Structure, ...]:
    """Return the structures to pool: those that are set, or for "auto" those that the table's size allows."""
    if not isinstance(recipe.structure, Auto):
        return recipe.members
    rows = len(target.codes) if target.weights is None else int(np.count_nonzero(target.weights))
    if rows < LEAST_ROWS or not 2 <= len(target.classes) <= MOST_CLASSES:
        return ()
    blocks = tally.schema.blocks
    has_pairs = any(block.pairs and block.codings and block.family != "text" for block in blocks)
    components: list[Structure] = [Averaged() if has_pairs else Naive()]
    if has_pairs and any(block.pairs and block.family == "gaussian" for block in blocks):
        components.append(Full())
    if not isinstance(opened, SparseSheet) and opened.shape[1] <= MOST_COLUMNS:
        components.append(Trees(int(np.clip(MOST_VISITS * len(target.classes) // rows, LEAST_TREES, MOST_TREES))))
    if any(map(Twin().uses, blocks)):
        components.append(Twin())
    return tuple(components)


def plan_components(
    components: tuple[Structure, ...], opened: Any, target: Target, keys: Array, tally: Tally, *, is_auto: bool
) -> tuple[tuple[Structure, ...], PlannedTrees | None]:
    """Return the components and their trees; without trees if there is nothing to split on, or no room for them."""
    planned = None
    for wanted in components:
        if isinstance(wanted, Trees) and not isinstance(opened, SparseSheet) and len(target.classes) > 1:
            inputs, most = list_inputs(opened, tally.schema.blocks), MOST_COUNTS if is_auto else MOST_COUNTS_ASKED
            planned = plan_trees(opened, target, keys, inputs, wanted.count, most) if inputs else None
    if planned is None or (is_auto and len(planned.trees) < LEAST_TREES):
        return tuple(each for each in components if not each.grows_trees) or (Naive(),), None
    count = len(planned.trees)
    return tuple(replace(each, count=count) if isinstance(each, Trees) else each for each in components), planned
