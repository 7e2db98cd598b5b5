"""Fit a twin: logistic regression on words and counts, which starts from the held-out predictions of a pool."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax

from suffice.blocks import Block
from suffice.decision.pooling import DIGITS, Pool
from suffice.folds.fold_tallies import CountedRows
from suffice.logistic.loss import Problem
from suffice.logistic.solver import newton
from suffice.schema import Array, Columns
from suffice.structures import Structure
from suffice.structures.twin import Twin, block_key, labels_of, linear_cells

# A word of fewer rows has no change: it would fit these rows only.
LEAST_ROWS = 2

# With more coefficients than this, only the words of most rows have changes.
MOST_CHANGES = 1 << 24

# The steps of Newton's method, and the gradient per row at which it stops.
STEPS, TOLERANCE = 25, 1e-5


@dataclass(frozen=True)
class HeldOutScores:
    """Held-out rows: the scores that a pool gives them, [row, class], their classes, weights and folds."""

    scores: Array
    codes: Array
    weights: Array
    folds: Array


def split_twin(components: Sequence[Structure]) -> tuple[tuple[Structure, ...], Twin | None]:
    """Return the components without the twin, and the twin, if there is one."""
    twin = next((each for each in components if isinstance(each, Twin)), None)
    return tuple(each for each in components if each is not twin), twin


def add_twin(
    pool: Pool,
    twin: Twin,
    counted: CountedRows,
    rows: Array,
    folds: Array,
    log_proba: Array,
    codes: Array,
    weights: Array,
) -> tuple[Pool, Array]:
    """Return a pool with a twin, with weights that are fitted with it, and the predictions of all its components.

    It is the pool itself if there is nothing to correct.

    Parameters
    ----------
    pool : Pool
        The pool of the other components.
    twin : Twin
        The twin, with its penalty.
    counted : CountedRows
        All rows, as they are counted.
    rows, folds : arrays [row]
        The indices of the held-out rows among them, and their folds.
    log_proba : array [component, row, class]
        The predictions of the held-out rows.
    codes, weights : arrays [row]
        Their classes and weights.
    """
    cells = [block.take(rows) for block in counted.cells]
    scores = HeldOutScores(pool.combine(log_proba), codes, weights, folds)
    found = fit_twin(twin, pool.classes, counted.columns, cells, scores)
    if found is None:
        return pool, log_proba
    together = np.append(log_proba, found[1][None], axis=0)
    return Pool.fit([*pool.components, found[0]], pool.classes, together, codes, weights), together


def fit_twin(
    twin: Twin, classes: list[Any], columns: Sequence[Columns], cells: Sequence[Block], rows: HeldOutScores
) -> tuple[Twin, Array] | None:
    """Return the fitted twin, and log P(class | x) of the rows by twins that are fitted without their folds.

    It minimises Σ w·(log Σ exp z − z of the own class) + ½·penalty·(|δ|² + |b|²), where z are the scores of the rows
    + b + x·δ. The scores are those of held-out rows, because those of learned rows would be too good to leave anything
    to learn. None if no column has words or counts in two rows or more.

    Parameters
    ----------
    twin : Twin
        The twin, with its penalty.
    classes : list
        The labels.
    columns, cells : sequences of Columns and Block
        The columns, and the cells of the rows, as they are counted.
    rows : HeldOutScores
        The rows.
    """
    found = list(linear_cells(columns, cells))
    kept = _choose_words([x for _, x in found], len(classes))
    if not any(map(len, kept)):
        return None
    features = _Features([x[:, places] for (_, x), places in zip(found, kept, strict=True)])
    predicted = np.zeros(rows.scores.shape)
    for fold in np.unique(rows.folds):
        others, own = np.flatnonzero(rows.folds != fold), np.flatnonzero(rows.folds == fold)
        predicted[own] = features.joined[own] @ _solve(features, twin.penalty, rows, others).T
    solved = np.round(_solve(features, twin.penalty, rows, np.arange(len(rows.codes))), DIGITS)
    keys, labels = [], []
    for (block, _), places in zip(found, kept, strict=True):
        names = labels_of(block)
        keys.append(block_key(block))
        labels.append(tuple(names[place] for place in places.tolist()))
    fitted = replace(
        twin,
        classes=classes,
        keys=tuple(keys),
        labels=tuple(labels),
        changes=tuple(features.split(solved[:, :-1])),
        biases=solved[:, -1],
    )
    return fitted, np.asarray(log_softmax(predicted, axis=1))


def _choose_words(features: Sequence[Any], classes: int) -> list[Array]:
    """Return the columns of each block that have changes: those that are not 0 in enough rows."""
    counts = [np.bincount(x.indices[x.data != 0], minlength=x.shape[1]) for x in features]
    every, most = np.concatenate([*counts, np.zeros(0, int)]), max(MOST_CHANGES // classes, 1)
    least = max(LEAST_ROWS, int(np.sort(every)[-most]) + 1 if len(every) > most else 0)
    return [np.flatnonzero(rows >= least) for rows in counts]


@dataclass(frozen=True)
class _Features:
    """The cells of several blocks, [row, label]."""

    blocks: list[Any]

    @cached_property
    def sizes(self) -> list[Array]:
        """What the cells are divided by: 1 or the size of larger counts, so that the penalty has no unit."""
        return [np.sqrt(np.maximum(x.power(2).sum(axis=0) / max(x.shape[0], 1), 1.0)) for x in self.blocks]

    @cached_property
    def joined(self) -> Any:
        """The divided cells of all blocks side by side, and a last column of ones."""
        divided = [x @ sp.diags_array(1 / size) for x, size in zip(self.blocks, self.sizes, strict=True)]
        return sp.csr_array(sp.hstack([*divided, sp.csr_array(np.ones((self.blocks[0].shape[0], 1)))]))

    def split(self, solved: Array) -> list[Array]:
        """Return δ of each block, in the unit of the cells, from the coefficients of all blocks [class, label]."""
        parts = np.split(solved, np.cumsum([len(size) for size in self.sizes])[:-1], axis=1)
        return [part / size for part, size in zip(parts, self.sizes, strict=True)]


def _solve(features: _Features, penalty: float, rows: HeldOutScores, some: Array) -> Array:
    """Return the coefficients [class, label] that fit some of the rows, with the biases as the last column."""
    x, classes = features.joined[some], rows.scores.shape[1]
    weights, offset = rows.weights[some], rows.scores[some]
    problem = Problem(x, rows.codes[some], weights, classes, penalty, intercept=False, offset=offset)
    solved = newton(problem, np.zeros(problem.shape), steps=STEPS, tolerance=TOLERANCE).parameters.T
    # of two classes, the score is the log-odds of the second
    return solved if len(solved) > 1 else np.concatenate([-solved, solved]) / 2
