"""The choice of a recipe, such as one with another prior, by its predictions of held-out rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.data import SparseSheet
from suffice.decision.class_weights import weight_classes
from suffice.folds.fold_scores import score_folds
from suffice.folds.hold_out import deal_labelled_rows
from suffice.recipe import Recipe
from suffice.structures.averaged import MOST_COLUMNS

# The pseudo-counts among which ``prior="auto"`` chooses. The first, the default prior, wins ties.
PRIORS = (0.5, 0.05, 5.0)

# Folds are held out until they have this many rows.
ENOUGH_ROWS = 1000


def structures_for(table: Any) -> tuple[str, ...]:
    """Return the names of the structures to compare for a table of this width."""
    has_room = not isinstance(table, SparseSheet) and table.shape[1] <= MOST_COLUMNS
    return ("naive", "tree", "averaged") if has_room else ("naive",)


def choose_recipe(recipes: Sequence[Recipe], X: Any, y: Any, sample_weight: Any) -> int | None:
    """Return the index of the recipe with the lowest log-loss on held-out rows; None if there are less than two rows.

    The first of several recipes wins if their losses differ by rounding errors only. Up to ten folds are held out, one
    after the other, until they have 1,000 rows. All recipes have the same weights of classes, which weigh the log-loss,
    too.
    """
    rows, dealt = deal_labelled_rows(recipes[0], X, y, sample_weight)
    if not dealt.splits:
        return None
    # folds have the same size and the same share of each class
    folds = -(-len(dealt.splits) * ENOUGH_ROWS // len(dealt.rows))
    scores = score_folds(recipes, rows, dealt.splits[:folds])
    weights = weight_classes(recipes[0].class_weight, rows.classes, rows.codes, rows.weights)
    losses = np.array([score.mean(score.assessment.log_loss, weights) for score in scores])
    return int(np.argmax(losses <= losses.min() * (1 + 1e-9)))
