"""Rows without a label: each is counted in every class with its probability (expectation-maximisation)."""

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.special import logsumexp

from suffice import decision
from suffice.data import Table, Target
from suffice.data.engines import memory
from suffice.folds.fold_tallies import CountedRows, FoldTally
from suffice.folds.splits import IndexSplit
from suffice.recipe import Recipe
from suffice.schema import Array
from suffice.statistics import Tally

# The steps end when the log-likelihood changes by less than this share.
TOLERANCE = 1e-9


def learn_unlabelled(
    recipe: Recipe, opened: Any, target: Target, is_labelled: Array, steps: int
) -> tuple[Tally, list[float]]:
    """Return the tally of all rows, and the log-likelihood of the rows under the model of each step.

    The first model is estimated from the labelled rows. Each step counts the other rows in class k with the weight
    w·P(k | x) of the latest model, and estimates the next model from the sum. The log-likelihood is
    Σ w·log p(x, class) of labelled rows + Σ w·log p(x) of the others. Columns keep the forms (Gaussian, bins) that the
    labelled rows choose.

    Parameters
    ----------
    recipe : Recipe
        A recipe that is not pooled.
    opened : Sheet
        All rows, as the recipe has opened them.
    target : Target
        Their classes and weights; the classes of rows without a label are not used.
    is_labelled : array of bool
        Whether each row has a label.
    steps : int
        The most steps.
    """
    plan = recipe.plan(opened, target)
    columns, cells = recipe.read(opened, plan, target)
    known, others = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
    weights = np.ones(len(is_labelled)) if target.weights is None else target.weights
    own = tuple(block.take(others) for block in cells)

    def count(table: Table) -> Tally:
        # with levels that have no rows, so that all steps have the same levels
        return memory.tally(table, columns, plan.features, trimmed=False)

    def count_in_class(k: int, shares: Array) -> Tally:
        expected = Target(target.classes, np.full(len(others), k), weights[others] * shares)
        return count(Table(own, expected))

    labelled = tally = count(Table(cells, target.only(known)))
    forms, trace = recipe.choose(recipe.weigh_classes(labelled)), list[float]()
    rows = FoldTally(IndexSplit(known, np.arange(len(is_labelled))), labelled, CountedRows(opened, columns, cells))
    blocks = None
    for step in range(steps + 1):
        laid_out = recipe.lay_out_as(recipe.weigh_classes(tally), forms)
        if step == 0:
            recipe.check(laid_out)
        model = recipe.estimate(laid_out)
        blocks = rows.test_blocks(recipe, model.columns) if blocks is None else blocks
        log_joint = model.log_joint(blocks)
        by_row = np.asarray(logsumexp(log_joint, axis=1))
        by_row[known] = log_joint[known, target.codes[known]]
        trace.append(float(np.maximum(weights @ np.maximum(by_row, -1e300), -1e300)))
        if step == steps or (step and abs(trace[-1] - trace[-2]) <= TOLERANCE * abs(trace[-1])):
            break
        posterior = np.exp(decision.log_posterior(log_joint[others], model.class_log_prior))
        tally = reduce(add, map(count_in_class, range(len(target.classes)), posterior.T), labelled)
    return tally.trimmed(), trace
