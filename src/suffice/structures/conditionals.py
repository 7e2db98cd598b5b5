"""Conditional tables: p(level | level of another column, class) from pair counts and pseudo-rows.

By default the estimate given a parent's level starts from m pseudo-rows of the estimate without the parent:
(pairs + m·p(level | class)) / (n(parent's level) + m). A rare level of the parent changes the estimate little. With
Laplace's pseudo-rows it starts from the pseudo-counts of the prior: (pairs + α) / (n(parent's level) + Σα).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from suffice.families.categorical import CategoricalParameters, insert_unseen
from suffice.families.dirichlet import mode_weights
from suffice.schema import Array, Columns, by_group
from suffice.statistics import PairCounts, Statistic
from suffice.structures.structure import Rule, Subject

# The number of pseudo-rows of p(level | class), or the pseudo-counts of the prior.
Backoff = float | Literal["laplace"]

# The information between columns is computed for about so many pairs of cells at a time.
STRIP = 1 << 18


def check_backoff(backoff: Any, *words: str) -> None:
    """Raise if a back-off is neither a positive number of rows nor one of some words."""
    if isinstance(backoff, str) and backoff in words:
        return
    if isinstance(backoff, str) or not backoff > 0:
        raise ValueError(
            f"backoff is {''.join(f'{word!r} or ' for word in words)}a number of rows, more than 0, not {backoff!r}"
        )


@dataclass(frozen=True)
class Conditionals:
    """Pair counts of a block, and the probabilities of its levels without a parent, ``shares`` [class, slot].

    Each column has a slot for each level and one for unseen levels, which has probability 0 in a closed column.
    ``alpha`` [class or 1, slot] are the pseudo-counts of the prior if ``backoff`` is "laplace" and there is a prior.
    ``class_count`` is the number of rows of each class.
    """

    columns: Columns
    counts: PairCounts
    shares: Array
    rule: Rule
    backoff: Backoff
    alpha: Array | None = None
    class_count: Array | None = None

    @classmethod
    def of(cls, rule: Rule, subject: Subject, prior: Any, backoff: Backoff) -> Conditionals:
        """Return the conditional tables of pair counts, by a rule or drawn from the posterior."""
        columns, counts = subject.columns, require_pairs(subject.statistic)
        naive = subject.independent(rule, prior)
        assert isinstance(naive, CategoricalParameters)
        other = np.where(columns.open > 0, np.exp(naive.log_unseen), 0.0)
        shares = insert_unseen(np.exp(naive.log_p), other, naive.sizes)
        alpha = None
        if backoff == "laplace" and rule != "mle":
            seen, unseen = subject.prior_hyperparameters(prior)
            alpha = insert_unseen(seen, unseen * columns.open, naive.sizes)
        return cls(columns, counts, shares, rule, backoff, alpha, subject.class_count)

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
        return _log(self._conditional(column, pairs, share[:, None, :]))

    def every(self) -> Array:
        """Return log p(slot | any slot, class), [class, parent's slot, slot], and `roots` where both are the same."""
        sizes = self.sizes
        levels = np.delete(np.arange(self.shares.shape[1]), np.cumsum(sizes + 1) - 1)
        pairs = np.zeros((len(self.shares), self.shares.shape[1], self.shares.shape[1]))
        pairs[np.ix_(np.arange(len(pairs)), levels, levels)] = self.counts.pairs
        for column, (first, size) in enumerate(zip(self.slots.tolist(), sizes.tolist(), strict=True)):
            here = pairs[:, :, first : first + size + 1]  # one column at a time: its numbers stay in the cache
            here[...] = _log(self._conditional(column, here, self._own(column)[:, None]))
        diagonal = np.arange(pairs.shape[1])
        pairs[:, diagonal, diagonal] = self.roots()
        return pairs

    def roots(self) -> Array:
        """Return log p(slot | class) of a column that is the parent of all others, [class, slot].

        With Laplace's pseudo-rows it is log p(slot, class) − log p(class), where the joint probability of both has
        pseudo-counts, too: (count + α) / (rows + classes·Σα). That of the class is (rows of the class + α) / (rows +
        classes·α), with the mean α of all levels.
        """
        if self.alpha is None:
            return _log(self.shares)
        classes, positive = len(self.shares), self.alpha[self.alpha > 0]
        alpha = float(positive.mean()) if len(positive) else 0.0
        n = np.broadcast_to(self.counts.n, (classes, self.columns.count))
        whole = by_group(np.add, self.alpha, self.slots)
        rows = n.max(axis=1) if self.class_count is None else self.class_count
        with np.errstate(divide="ignore", invalid="ignore"):  # a class without rows, under a pseudo-count of 0
            joint = (n + whole) / (n.sum(axis=0) + classes * whole)
            added = np.log(joint) - np.log((rows + alpha) / (rows.sum() + classes * alpha))[:, None]
        is_smooth = np.isfinite(added) & [rule != "mle" for rule in self.rule_by_column]
        return np.asarray(_log(self.shares) + np.repeat(np.where(is_smooth, added, 0.0), self.sizes + 1, axis=1))

    @property
    def rule_by_column(self) -> tuple[str | np.random.Generator, ...]:
        """The rule of each column."""
        return self.rule if isinstance(self.rule, tuple) else (self.rule,) * self.columns.count

    def _conditional(self, column: int, pairs: Array, share: Array) -> Array:
        """Return the probabilities of a column's levels given each level of the parent, by the rule or drawn."""
        rule, whole = self.rule_by_column[column], pairs.sum(axis=-1, keepdims=True)
        if rule == "mle":
            return _divide(pairs, whole, share)
        if self.alpha is None:
            assert not isinstance(self.backoff, str)
            pseudo, weight = self.backoff * share, np.asarray(self.backoff)
        else:
            pseudo = self.alpha[:, None, self._slots_of(column)]
            weight = pseudo.sum(axis=-1, keepdims=True)
        if isinstance(rule, np.random.Generator):
            drawn = np.maximum(rule.standard_gamma(pairs + pseudo), 1e-300) * (share > 0)
            return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))
        if self.alpha is not None and rule == "map":
            weights = mode_weights(pairs + pseudo)
            return _divide(weights, weights.sum(axis=-1, keepdims=True), share)
        return _divide(pairs + pseudo, whole + weight, share)

    def _own(self, column: int) -> Array:
        return self.shares[:, self._slots_of(column)]

    def _slots_of(self, column: int) -> slice:
        first = int(self.slots[column])
        return slice(first, first + int(self.sizes[column]) + 1)


def _divide(weights: Array, whole: Array, otherwise: Array) -> Array:
    """Return the shares of the whole; ``otherwise`` where there is nothing to divide."""
    if whole.all():
        return np.asarray(weights / whole)
    return np.where(whole > 0, weights / np.where(whole > 0, whole, 1.0), otherwise)


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
    sizes = np.diff(starts, append=columns.width)
    owner = np.repeat(np.arange(count), sizes)  # the column of each cell
    # a few columns at a time: their temporary arrays stay in the cache, and those of all would be as large as the pairs
    strip = starts * columns.width // STRIP
    bounds = [0, *(np.flatnonzero(np.diff(strip)) + 1).tolist(), count]
    for k, pairs in enumerate(counts.pairs):
        by_row = by_group(np.add, pairs, starts)  # [cell, column]: rows of a cell that have the column
        n = by_group(np.add, by_row.T, starts).T
        for first, last in pairwise(bounds):
            own = slice(int(starts[first]), int(starts[last - 1] + sizes[last - 1]))
            here, of = pairs[own], owner[own]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = here * np.repeat(n[of], sizes, axis=1) / (np.repeat(by_row[own], sizes, axis=1) * by_row.T[of])
                terms = np.where(here > 0, here * np.log(np.where(here > 0, ratio, 1.0)), 0.0)
            within = by_group(np.add, terms, starts).T
            information[k, first:last] = by_group(np.add, within, starts[first:last] - starts[first]).T
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
