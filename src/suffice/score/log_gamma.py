"""LogGamma, LogGammaOfTotal and LogFactorial: terms of counts whose rates or shares are averaged over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from suffice.blocks import Block, Dense, Sparse, cells_of
from suffice.kernels import score_predictive
from suffice.schema import Array
from suffice.score.term import ColumnwiseTerm, Term, as_doubles


@dataclass(frozen=True)
class LogGamma(ColumnwiseTerm):
    """weight·Σⱼ (log Γ(a + xⱼ) − log Γ(a)), with counts xⱼ from 0 to 1e15.

    Parameters
    ----------
    a : array [class, column]
        Positive. A missing cell adds 0.
    weight : float, default=1.0
        A factor, such as −1 for Γ in a denominator.

    >>> term = LogGamma(np.array([[1.0]]))
    >>> round(term.contributions(Dense("example", None, np.array([[4.0]]))).item(), 6)  # log 4!
    3.178054
    """

    a: Array
    weight: float = 1.0

    @cached_property
    def arrays(self) -> tuple[Array, Array]:
        """The arguments of the kernel: a and log Γ(a)."""
        return self.a, np.asarray(gammaln(self.a))

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        dense, sparse = score_predictive.add_log_gamma, score_predictive.add_log_gamma_sparse
        if self.weight == 1:
            _add_counts(block, rows, scores, self.arrays, dense, sparse)
            return
        found = np.zeros(scores.shape)
        _add_counts(block, rows, found, self.arrays, dense, sparse)
        scores += self.weight * found

    def contributions(self, block: Block) -> Array:
        return np.asarray(self.weight * log_rising(self.a, as_doubles(block)[0]))

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> Term:
        if len({term.weight for term in terms}) > 1:
            return super().side_by_side(terms)
        return cls(np.concatenate([term.a for term in terms]), terms[0].weight)


@dataclass(frozen=True)
class LogGammaOfTotal(ColumnwiseTerm):
    """log Γ(a) − log Γ(a + n), with n = Σⱼ xⱼ the total of a row; a missing cell counts as 0.

    Each column's contribution is its share xⱼ / n of the term.

    Parameters
    ----------
    a : array [class] (or [row, class])
        Positive.
    """

    a: Array

    @cached_property
    def arrays(self) -> tuple[Array, Array]:
        """The arguments of the kernel: a and log Γ(a)."""
        return self.a, np.asarray(gammaln(self.a))

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        dense, sparse = score_predictive.add_log_gamma_of_total, score_predictive.add_log_gamma_of_total_sparse
        _add_counts(block, rows, scores, self.arrays, dense, sparse)

    def contributions(self, block: Block) -> Array:
        x, _ = as_doubles(block)
        total = x.sum(axis=-1, keepdims=True)
        return np.asarray(-x / np.where(total > 0, total, 1.0) * log_rising(self.a[..., None], total))

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> LogGammaOfTotal:
        return cls.concatenated(terms)


@dataclass(frozen=True)
class LogFactorial(ColumnwiseTerm):
    """−Σⱼ log xⱼ!, the same for all classes; a missing cell adds 0. It has no parameters."""

    is_class_independent = True

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        if isinstance(block, Sparse):
            stored = block.stored(rows.start, rows.stop)
            score_predictive.add_factorials_sparse(*stored, scores, work=cells_of(stored))
            return
        assert isinstance(block, Dense)
        for x, part in block.scored(rows, scores):
            score_predictive.add_factorials(x, part, work=x.size)

    def contributions(self, block: Block) -> Array:
        return np.asarray(-gammaln(as_doubles(block)[0] + 1))

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> LogFactorial:
        return cls()


def log_rising(a: Array, x: Array | float) -> Array:
    """Return log Γ(a + x) − log Γ(a), accurate even if a is so large that the two are almost equal.

    >>> float(log_rising(np.array(1e16), 2.0) - 2 * np.log(1e16))
    0.0
    """
    large, small = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    found = np.empty(large.size)
    logs = np.broadcast_to(gammaln(a), large.shape)
    score_predictive.fill_log_rising(*map(np.ravel, (large, small, logs)), found, work=found.size)
    return found.reshape(large.shape)


def _add_counts(block: Block, rows: slice, scores: Array, arrays: tuple[Array, Array], dense: Any, sparse: Any) -> None:
    """Add to the scores by a kernel of dense or of sparse counts, and raise if a value is not a count."""
    if not block.shape[1]:
        return
    classes = len(arrays[0])
    if isinstance(block, Sparse):
        stored = block.stored(rows.start, rows.stop)
        poison = sparse(*stored, *arrays, scores, work=cells_of(stored) * classes)
    else:
        assert isinstance(block, Dense)
        poison, gaps = 0.0, True if block.gaps else None
        for x, part in block.scored(rows, scores):
            poison += dense(x, *arrays, gaps, part, work=x.size * classes)
    if poison != 0:
        block.reject_if_not_finite(rows)
        block.reject_uncountable(rows)
