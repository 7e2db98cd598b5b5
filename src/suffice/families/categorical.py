"""Categorical: one of several levels, each column with its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln

from suffice.blocks import Part
from suffice.families.dirichlet import DirichletFamily
from suffice.families.family import Beliefs, Parameters, drawn_weights, guarded, log_ratio, proper
from suffice.priors import pseudo_counts
from suffice.schema import Array, Columns, by_group, starts_of
from suffice.score import LookUp, Score
from suffice.statistics import Counts, Statistic, scan


@dataclass(frozen=True)
class CategoricalParameters(Parameters):
    """The log probability of each level [class, cell], and of a level never met [class, column]."""

    log_p: Array
    log_unseen: Array
    sizes: Array

    def score(self) -> Score:
        return Score((LookUp(with_others(self.log_p, self.log_unseen, self.sizes), self.sizes),))

    @property
    def n_parameters(self) -> int:
        return len(self.log_p) * int(np.maximum(self.sizes - 1, 0).sum())

    def as_linear(self) -> tuple[str, Array, Array]:
        return "one-hot", self.log_p, np.zeros(len(self.log_p))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        starts, table = starts_of(self.sizes + 1), with_others(self.log_p, self.log_unseen, self.sizes)
        drawn = np.empty((count, len(self.sizes)), np.intp)
        for j, (start, size) in enumerate(zip(starts, self.sizes, strict=True)):
            drawn[:, j] = drawn_slots(table[k, start : start + size + 1], count, rng)
        return drawn

    @property
    def by_column(self) -> list[Array]:
        """The log probabilities as one array [class, level] a column."""
        return np.split(self.log_p, np.cumsum(self.sizes)[:-1], axis=1)


@dataclass(frozen=True)
class Categorical(DirichletFamily):
    """p(x given class) = Πⱼ p[j, xⱼ], with Σ p[j, ·] = 1 for each column j.

    A level never met has the weight α of the column's levels on average. In an open column it is one
    of those that share the whole: α / (n + Σα + α), beside count + α for the others. In a closed one
    the levels met share the whole among themselves; there, a level never met says nothing if the codes
    stand for something (bits, bins), and else has what it would have had as one more level.
    """

    name = "categorical"

    def tally(self, columns: Columns, part: Part) -> tuple[Columns, Counts]:
        if columns.codings is not None:
            assert columns.sizes is not None
            return columns, (scan.pairs if columns.pairs else scan.coded)(part, columns.sizes)
        room, counts = scan.levels(part, columns.sizes)
        return replace(columns, sizes=room), Counts(part.class_count[:, None], counts)

    def believed(self, prior: Any, columns: Columns, statistic: Statistic) -> Beliefs:
        assert columns.sizes is not None
        alpha = pseudo_counts(prior, columns.sizes, self.name)[None]
        whole = by_group(np.add, alpha, columns.starts)
        otherwise = 1.0  # a column that has met no level yet has no α of its own
        return alpha, np.where(columns.sizes > 0, whole / np.maximum(columns.sizes, 1), otherwise)

    def log_partition(self, columns: Columns, beliefs: Beliefs) -> Array:
        alpha, unseen = self._proper(beliefs[0]), beliefs[1] * columns.open
        logs = by_group(np.add, gammaln(alpha), columns.starts) + gammaln(np.where(unseen > 0, unseen, 1.0))
        return np.asarray(logs - gammaln(self._whole(columns, alpha, beliefs[1])))

    def marginals(self, columns: Columns, beliefs: Beliefs) -> dict[str, Any]:
        assert columns.sizes is not None
        (alpha,) = proper(beliefs[:1])
        whole = np.repeat(self._whole(columns, alpha, beliefs[1]), columns.sizes, axis=1)
        return {"p": stats.beta(alpha, whole - alpha)}

    def draw(self, columns: Columns, beliefs: Beliefs, rng: np.random.Generator) -> Parameters:
        assert columns.sizes is not None
        alpha, sizes = beliefs[0], columns.sizes
        unseen = np.broadcast_to(beliefs[1], (len(alpha), columns.count))
        drawn = drawn_weights(with_others(alpha, unseen, sizes), np.cumsum(sizes + 1) - sizes - 1, rng)
        ends = np.cumsum(sizes + 1) - 1
        return self._shares(columns, np.delete(drawn, ends, axis=1), drawn[:, ends])

    def _groups(self, columns: Columns) -> Array:
        return columns.starts

    def _whole(self, columns: Columns, weights: Array, unseen: Array) -> Array:
        """Return what the levels of each column share: a part of it is for those never met, if it is open."""
        return np.asarray(by_group(np.add, weights, columns.starts) + unseen * columns.open)

    def _shares(self, columns: Columns, weights: Array, unseen: Array) -> CategoricalParameters:
        assert columns.sizes is not None
        sizes, is_open = columns.sizes, columns.open
        whole = self._whole(columns, weights, unseen)
        equal = np.repeat(1 / np.maximum(sizes + is_open, 1), sizes)
        log_p = guarded(log_ratio(weights, np.repeat(whole, sizes, axis=-1), equal), self.epsilon)
        log_unseen = log_ratio(np.broadcast_to(unseen, whole.shape), whole + unseen * (1 - is_open), 1 / (sizes + 1))
        log_unseen = guarded(log_unseen, self.epsilon)
        if columns.codings is not None:
            log_unseen = np.where(is_open > 0, log_unseen, 0.0)
        return CategoricalParameters(log_p, log_unseen, sizes)


def drawn_slots(log_p: Array, count: int, rng: np.random.Generator) -> Array:
    """Return levels drawn by their log probabilities; the last one, of any other level, if they leave it a share."""
    shares = np.exp(log_p[:-1])
    other = max(1.0 - shares.sum(), 0.0) if np.exp(log_p[-1]) < 1 else 0.0
    shares = np.append(shares, other if other > 1e-12 else 0.0)
    whole = shares.sum()
    return rng.choice(len(shares), count, p=shares / whole) if whole > 0 else np.full(count, -1)


def with_others(by_level: Array, by_column: Array, sizes: Array) -> Array:
    """Return the levels of each column, followed by a slot of its own for any other level.

    >>> with_others(np.array([[1, 2, 3]]), np.array([[8, 9]]), np.array([2, 1])).tolist()
    [[1.0, 2.0, 8.0, 3.0, 9.0]]
    """
    ends = np.cumsum(sizes + 1) - 1
    slots = np.empty((*by_level.shape[:-1], int((sizes + 1).sum())))
    slots[..., np.delete(np.arange(slots.shape[-1]), ends)] = by_level
    slots[..., ends] = by_column
    return slots
