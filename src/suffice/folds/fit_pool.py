"""Fit a pool: plan its trees, count their leaves, and weight its components by their predictions of held-out rows."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data import Target
from suffice.data.row_keys import distinct_keys, smallest_keys
from suffice.decision.pooling import Pool
from suffice.folds.fit_twin import add_twin, split_twin
from suffice.folds.hold_out import HeldOut
from suffice.folds.pool_components import choose_components, plan_components
from suffice.folds.pool_predictions import count_trees, predict_by_sums, spread_rows
from suffice.recipe import Recipe
from suffice.schema import Array
from suffice.statistics import Tally
from suffice.structures import Structure
from suffice.structures.averaged import Auto
from suffice.structures.trees import Trees

# Weights are fitted to at most so many held-out rows.
MOST_ROWS = 20_000

# Held-out log probabilities are rounded to so many decimal digits.
DIGITS = 9

# With structure="auto", a component is left out if the log-loss without it is higher by at most the share NEGLIGIBLE.
# This is tried for all trees, and for components with a weight below SMALL_WEIGHT.
NEGLIGIBLE, SMALL_WEIGHT = 0.001, 0.02

# With a twin, which has a coefficient for each word, there are more: this many scores of rows for classes.
MOST_SCORES = 1_000_000


def fit_pool(recipe: Recipe, opened: Any, target: Target, tally: Tally) -> tuple[Pool | None, Tally, HeldOut | None]:
    """Return the pool of a recipe, the tally with the counts of its trees, and the held-out rows as the pool predicts.

    The pool is None if "auto" does not pool.

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
    components, is_auto = choose_components(recipe, opened, target, tally), isinstance(recipe.structure, Auto)
    if not components:
        return None, tally, None
    keys = distinct_keys(opened, target)
    components, planned = plan_components(components, opened, target, keys, tally, is_auto=is_auto)
    weights = np.ones(len(target.codes)) if target.weights is None else target.weights
    components, twin = split_twin(components)
    most = MOST_ROWS if twin is None else max(MOST_ROWS, MOST_SCORES // len(target.classes))
    rows = np.flatnonzero(weights > 0)
    rows = rows[smallest_keys(keys[rows], most)]
    folds = spread_rows(target.codes[rows], keys[rows])
    log_proba, is_known = np.zeros((len(components), len(rows), len(target.classes))), np.ones(len(rows), bool)
    sums, counted = [place for place, each in enumerate(components) if not each.grows_trees], None
    if sums and len(rows) > 1:
        parts = [recipe.part(components[place]) for place in sums]
        log_proba[sums], is_known, counted = predict_by_sums(parts, opened, target, tally, rows, folds)
    with_trees = tally
    for place, each in enumerate(components):
        if isinstance(each, Trees) and planned is not None:
            with_trees, log_proba[place] = count_trees(planned, each, opened, target, tally, rows)
    # scores of compiled kernels may differ in their last digits; what is learned from them should not
    log_proba, kept = np.round(log_proba, DIGITS), rows[is_known]
    held = Predictions(components, target.classes.tolist(), log_proba[:, is_known], target.codes[kept], weights[kept])
    pool = held.fit(has_fewest=is_auto)
    folds = folds[is_known]

    def correct(pool: Pool) -> tuple[Pool, Array]:
        """Return the pool with a twin, if there is one, and the predictions of all its components."""
        log_proba = held.log_proba[[components.index(each) for each in pool.components]]
        if twin is None or counted is None or pool.log_loss is None:
            return pool, log_proba
        found = add_twin(pool, twin, counted, kept, folds, log_proba, held.codes, held.weights)
        # a twin holds words of rows in the plan, so it must be worth it
        return (pool, log_proba) if is_auto and found[0].loss > (1 - NEGLIGIBLE) * pool.loss else found

    reduced = None if pool.reduced is None else correct(pool.reduced)[0]
    pool, predicted = correct(pool)
    pool = replace(pool, reduced=reduced)
    held_out = HeldOut(target.classes, pool.combine(predicted), held.codes, folds, held.weights)
    return pool, with_trees if any(each.grows_trees for each in pool.components) else tally, held_out


@dataclass(frozen=True)
class Predictions:
    """The predictions of held-out rows by each component, [component, row, class], and their classes and weights."""

    components: tuple[Structure, ...]
    classes: list[Any]
    log_proba: Array
    codes: Array
    weights: Array

    def fit(self, *, has_fewest: bool) -> Pool:
        """Return the pool; with ``has_fewest``, without components that hardly lower the log-loss."""
        if len(self.codes) < 2 or len(self.classes) < 2:
            return Pool.equal(self.components, self.classes)
        pool, smaller = self._pool, self._without_trees
        reduced = None if smaller is None else smaller._pool
        if has_fewest:
            most = (1 + NEGLIGIBLE) * pool.loss
            if smaller is not None and reduced is not None and reduced.loss <= most:
                return smaller.fit(has_fewest=True)
            least = int(np.argmin(pool.weights))
            if len(pool.weights) > 1 and pool.weights[least] < SMALL_WEIGHT:
                fewer = self._select([place for place in range(len(self.components)) if place != least])
                if fewer._pool.loss <= most:
                    return fewer.fit(has_fewest=True)
        return replace(pool, reduced=reduced)

    @cached_property
    def _pool(self) -> Pool:
        """The pool of all components."""
        return Pool.fit(self.components, self.classes, self.log_proba, self.codes, self.weights)

    @cached_property
    def _without_trees(self) -> "Predictions | None":
        """The predictions without those of trees; None if that leaves nothing, or everything."""
        kept = [place for place, each in enumerate(self.components) if not each.grows_trees]
        return self._select(kept) if 0 < len(kept) < len(self.components) else None

    def _select(self, places: list[int]) -> "Predictions":
        components = tuple(self.components[place] for place in places)
        return replace(self, components=components, log_proba=self.log_proba[places])
