"""The choice of a structure and a prior by their predictions of held-out rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.data import SparseSheet, encode, weights_of
from suffice.folds.fold_scores import LabelledRows, score_folds
from suffice.folds.splits import shuffled_folds
from suffice.recipe import Recipe
from suffice.schema import Plan
from suffice.structures.averaged import MOST_COLUMNS

# The pseudo-counts among which ``prior="auto"`` chooses.
PRIORS = (0.05, 0.5, 5.0)


def structures_for(table: Any, plan: Plan | None = None) -> tuple[str, ...]:
    """Return the names of the structures to try for a table of this width, under a plan if one is given."""
    has_room = not isinstance(table, SparseSheet) and table.shape[1] <= MOST_COLUMNS
    has_room = has_room and (plan is None or any(block.pairs and block.codings for block in plan.blocks))
    return ("naive", "tree", "averaged") if has_room else ("naive",)


def choose_recipe(recipes: Sequence[Recipe], X: Any, y: Any, sample_weight: Any) -> int | None:
    """Return the index of the recipe with the lowest log-loss on held-out rows; None if a class has only one row."""
    classes, codes = encode(y, owner=recipes[0].owner)
    splits = shuffled_folds(codes)
    if splits is None:
        return None
    weights = weights_of(sample_weight, len(codes))
    scores = score_folds(recipes, LabelledRows(X, y, classes, codes, weights), splits)
    return int(np.argmin([score.mean(score.assessment.log_loss, weights) for score in scores]))
