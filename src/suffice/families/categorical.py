"""Categorical: columns of levels, each column with its own levels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from suffice.blocks import Part
from suffice.families import description
from suffice.families.dirichlet import DirichletFamily
from suffice.families.family import NO_EVIDENCE, Hyperparameters, Parameters, check_proper, draw_weights, log_ratio
from suffice.priors import pseudo_counts
from suffice.schema import Array, Columns, by_group, starts_of
from suffice.score import LookUp, Score
from suffice.statistics import Counts, Statistic, scan


@dataclass(frozen=True)
class CategoricalParameters(Parameters):
    """The log probability of each level [class, cell], and of a level that was not seen [class, column]."""

    log_p: Array
    log_unseen: Array
    sizes: Array

    def score(self) -> Score:
        return Score((LookUp(insert_unseen(self.log_p, self.log_unseen, self.sizes), self.sizes),))

    @property
    def n_parameters(self) -> int:
        return len(self.log_p) * int(np.maximum(self.sizes - 1, 0).sum())

    def as_linear(self) -> tuple[str, Array, Array]:
        return "one-hot", self.log_p, np.zeros(len(self.log_p))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        table = insert_unseen(self.log_p, self.log_unseen, self.sizes)
        drawn = np.empty((count, len(self.sizes)), np.intp)
        for j, (start, size) in enumerate(zip(starts_of(self.sizes + 1), self.sizes, strict=True)):
            drawn[:, j] = draw_slots(table[k, start : start + size + 1], count, rng)
        return drawn

    @property
    def by_column(self) -> list[Array]:
        """The log probabilities of each column, [class, level]."""
        return np.split(self.log_p, np.cumsum(self.sizes)[:-1], axis=1)


@dataclass(frozen=True)
class Categorical(DirichletFamily):
    """p(x | class) = Πⱼ p[j, xⱼ], with Σ p[j, ·] = 1 for each column j.

    A level that was not seen has the mean α of the column's levels as its weight. In an open column it is one of the
    levels that share all probability: α / (n + Σα + α), while a seen level has (count + α) / (n + Σα + α). In a closed
    column the seen levels have all probability; an unseen level then adds 0 to the score if codes stand for something
    (bits, bins), and otherwise what it would have as one more level.
    """

    name = "categorical"
    cells = "levels"
    coded_as = "categorical"
    sql_sums = "levels"

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        if columns.codings is not None:
            assert columns.sizes is not None
            return columns, (scan.pairs if columns.pairs else scan.coded)(part, columns.sizes)
        sizes, counts = scan.levels(part, columns.sizes)
        complete = part.block.between(part.rows.start, part.rows.stop).complete()
        is_complete = complete is None or complete.all()
        n = part.class_count[:, None] if is_complete else by_group(np.add, counts, starts_of(sizes))
        return replace(columns, sizes=sizes), Counts(n, counts)

    def prior_hyperparameters(self, prior: Any, columns: Columns, statistic: Statistic) -> Hyperparameters:
        assert columns.sizes is not None
        alpha = pseudo_counts(prior, columns.sizes, self.name)[None]
        whole = by_group(np.add, alpha, columns.starts)
        otherwise = 1.0  # for a column without levels, which has no α of its own
        return alpha, np.where(columns.sizes > 0, whole / np.maximum(columns.sizes, 1), otherwise)

    def log_partition(self, columns: Columns, hyperparameters: Hyperparameters) -> Array:
        (alpha,), unseen = check_proper(hyperparameters[:1], NO_EVIDENCE), hyperparameters[1] * columns.open
        logs = by_group(np.add, gammaln(alpha), columns.starts) + gammaln(np.where(unseen > 0, unseen, 1.0))
        return np.asarray(logs - gammaln(self._whole(columns, *hyperparameters)))

    def draw(self, columns: Columns, hyperparameters: Hyperparameters, rng: np.random.Generator) -> Parameters:
        assert columns.sizes is not None
        alpha, sizes = hyperparameters[0], columns.sizes
        unseen = np.broadcast_to(hyperparameters[1], (len(alpha), columns.count))
        drawn = draw_weights(insert_unseen(alpha, unseen, sizes), starts_of(sizes + 1), rng)
        ends = np.cumsum(sizes + 1) - 1
        return self._from_weights(columns, np.delete(drawn, ends, axis=1), drawn[:, ends])

    def support(self, columns: Columns, statistic: Any, j: int, seen: Sequence[float] = ()) -> description.Support:
        if columns.codings is not None:
            return description.support_of_coding(columns.codings[j])
        assert columns.sizes is not None
        return description.Support("levels", list(range(int(columns.sizes[j]))), is_open=True)

    def information(self, columns: Columns, statistic: Any) -> Array:
        """Return the mutual information of the counts of levels with the classes."""
        return description.information_of_levels(columns, statistic)

    def _whole(self, columns: Columns, weights: Array, unseen: Array) -> Array:
        return np.asarray(super()._whole(columns, weights, unseen) + unseen * columns.open)

    def _from_weights(self, columns: Columns, weights: Array, unseen: Array) -> CategoricalParameters:
        assert columns.sizes is not None
        sizes, is_open = columns.sizes, columns.open
        whole = self._whole(columns, weights, unseen)
        equal = np.repeat(1 / np.maximum(sizes + is_open, 1), sizes)
        log_p = log_ratio(weights, np.repeat(whole, sizes, axis=-1), equal, self.epsilon)
        unseen = np.broadcast_to(unseen, whole.shape)
        log_unseen = log_ratio(unseen, whole + unseen * (1 - is_open), 1 / (sizes + 1), self.epsilon)
        if columns.codings is not None:
            log_unseen = np.where(is_open > 0, log_unseen, 0.0)
        return CategoricalParameters(log_p, log_unseen, sizes)


def draw_slots(log_p: Array, count: int, rng: np.random.Generator) -> Array:
    """Return levels drawn by their log probabilities; the last slot is any unseen level, which has the remainder."""
    shares = np.exp(log_p[:-1])
    other = max(1.0 - shares.sum(), 0.0) if np.exp(log_p[-1]) < 1 else 0.0
    shares = np.append(shares, other if other > 1e-12 else 0.0)
    whole = shares.sum()
    return rng.choice(len(shares), count, p=shares / whole) if whole > 0 else np.full(count, -1)


def insert_unseen(by_level: Array, by_column: Array, sizes: Array) -> Array:
    """Return values of levels with one more slot after the levels of each column, for any unseen level.

    >>> insert_unseen(np.array([[1, 2, 3]]), np.array([[8, 9]]), np.array([2, 1])).tolist()
    [[1.0, 2.0, 8.0, 3.0, 9.0]]
    """
    ends = np.cumsum(sizes + 1) - 1
    slots = np.empty((*by_level.shape[:-1], int((sizes + 1).sum())))
    slots[..., np.delete(np.arange(slots.shape[-1]), ends)] = by_level
    slots[..., ends] = by_column
    return slots
