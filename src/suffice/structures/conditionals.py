"""Conditional tables: p(level | level of another column, class) from pair counts, backed off to p(level | class).

The estimate given a parent's level starts from m pseudo-rows of the estimate without the parent:
(pairs + m·p(level | class)) / (n(parent's level) + m). A rare level of the parent changes the estimate little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.categorical import CategoricalParameters, insert_unseen
from suffice.schema import Array, Columns, by_group
from suffice.statistics import PairCounts, Statistic
from suffice.structures.structure import Rule, Subject


@dataclass(frozen=True)
class Conditionals:
    """Pair counts of a block, and the probabilities of its levels without a parent, ``shares`` [class, slot].

    Each column has a slot for each level and one for unseen levels, which has probability 0 in a closed column.
    """

    columns: Columns
    counts: PairCounts
    shares: Array
    rule: Rule
    backoff: float

    @classmethod
    def of(cls, rule: Rule, subject: Subject, prior: Any, backoff: float) -> Conditionals:
        """Return the conditional tables of pair counts, by a rule or drawn from the posterior."""
        columns, counts = subject.columns, require_pairs(subject.statistic)
        naive = subject.independent(rule, prior)
        assert isinstance(naive, CategoricalParameters)
        other = np.where(columns.open > 0, np.exp(naive.log_unseen), 0.0)
        shares = insert_unseen(np.exp(naive.log_p), other, naive.sizes)
        return cls(columns, counts, shares, rule, backoff)

    @property
    def sizes(self) -> Array:
        assert self.columns.sizes is not None
        return self.columns.sizes

    @property
    def slots(self) -> Array:
        """The first slot of each column."""
        return self.columns.starts + np.arange(self.columns.count)

    def root(self, column: int) -> Array:
        """Return log p(slot | class) of a column, [class, slot]."""
        return _log(self._own(column))

    def given(self, column: int, parent: int) -> Array:
        """Return log p(slot | slot of the parent, class), [class, parent's slot, slot]."""
        starts, sizes = self.columns.starts, self.sizes
        above = slice(starts[parent], starts[parent] + sizes[parent])
        here = slice(starts[column], starts[column] + sizes[column])
        share = self._own(column)
        pairs = np.zeros((len(share), sizes[parent] + 1, sizes[column] + 1))
        pairs[:, :-1, :-1] = self.counts.pairs[:, above, here]
        return _log(self._conditional(pairs, share[:, None, :], pairs.sum(axis=-1, keepdims=True)))

    def every(self) -> Array:
        """Return log p(slot | any slot, class), [class, parent's slot, slot]; 0 within a column."""
        sizes = self.sizes
        levels = np.delete(np.arange(self.shares.shape[1]), np.cumsum(sizes + 1) - 1)
        pairs = np.zeros((len(self.shares), self.shares.shape[1], self.shares.shape[1]))
        pairs[np.ix_(np.arange(len(pairs)), levels, levels)] = self.counts.pairs
        for first, size in zip(self.slots.tolist(), sizes.tolist(), strict=True):
            here = pairs[:, :, first : first + size + 1]  # one column at a time: its numbers stay in the cache
            share = self.shares[:, None, first : first + size + 1]
            here[...] = _log(self._conditional(here, share, here.sum(axis=-1, keepdims=True)))
        return pairs

    def _conditional(self, pairs: Array, share: Array, whole: Array) -> Array:
        """Return the probabilities of levels given each level of the parent, by the rule or drawn."""
        if self.rule == "mle":
            return np.where(whole > 0, pairs / np.where(whole > 0, whole, 1.0), share)
        if isinstance(self.rule, str):
            return np.asarray((pairs + self.backoff * share) / (whole + self.backoff))
        drawn = np.maximum(self.rule.standard_gamma(pairs + self.backoff * share), 1e-300) * (share > 0)
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))

    def _own(self, column: int) -> Array:
        first = int(self.slots[column])
        return self.shares[:, first : first + int(self.sizes[column]) + 1]


def require_pairs(statistic: Statistic) -> PairCounts:
    """Return the pair counts that a structure needs; raise if they were not counted."""
    if not isinstance(statistic, PairCounts):
        raise ValueError("this structure needs pairs of columns, but the model was learned without them: fit it again")
    return statistic


def mutual_information(columns: Columns, counts: PairCounts, by_class: bool = False) -> Array:
    """Return I(column; column | class) in nats, [column, column]; or within each class, [class, column, column].

    It is Σ P(a, b, class)·log P(a, b | class) / P(a | class)·P(b | class) over levels a, b and the rows that have both.
    """
    starts, count = columns.starts, columns.count
    information = np.zeros((len(counts.total), count, count))
    for k, pairs in enumerate(counts.pairs):
        by_row = by_group(np.add, pairs, starts)  # [cell, column]: rows of a cell that have the column
        n = by_group(np.add, by_row.T, starts).T
        sizes = np.diff([*starts, len(pairs)])
        spread = np.repeat(by_row, sizes, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = pairs * np.repeat(np.repeat(n, sizes, axis=0), sizes, axis=1) / (spread * spread.T)
            terms = np.where(pairs > 0, pairs * np.log(np.where(pairs > 0, ratio, 1.0)), 0.0)
        information[k] = by_group(np.add, by_group(np.add, terms, starts).T, starts).T
        if by_class:
            information[k] /= np.maximum(n, 1e-300)
    information[:, np.arange(count), np.arange(count)] = 0.0
    if by_class:
        return np.asarray(np.maximum(information, 0.0))
    rows = max(float(counts.n.max(axis=1).sum()), 1e-300)
    return np.asarray(np.maximum(information.sum(axis=0) / rows, 0.0))


def _log(share: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(share)
