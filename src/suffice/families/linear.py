"""Families whose log likelihood is linear in x: one matrix product, in blocks that stay in cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.kernels import scoring
from suffice.scans import comparable, finite_check
from suffice.schema import Array, Frozen
from suffice.tables import Block, Dense, Sparse, cells_of


@dataclass(frozen=True)
class Linear(Frozen):
    """log p(x given class) = bias + Σⱼ weights·xⱼ, and −∞ (``limit``) where ``veto`` is met.

    The weights are finite. A probability of zero would be a weight of −∞, and −∞ times 0 is not a
    number; so what is impossible is counted apart, by a second product with 0s and 1s.
    """

    weights: Array
    bias: Array
    veto: Linear | None = None
    limit: float = -np.inf

    @classmethod
    def of(cls, weights: Array, bias: Array | float = 0.0, limit: float = -np.inf) -> Linear:
        """Return the parameters from weights that may be infinite."""
        classes = len(weights)
        bias = np.broadcast_to(np.asarray(bias, np.float64), classes)
        infinite = np.isinf(weights)
        if not infinite.any():
            return cls(weights, bias)
        veto = cls(infinite.astype(np.float64), np.zeros(classes))
        return cls(np.where(infinite, 0.0, weights), bias, veto, limit)

    @cached_property
    def by_column(self) -> Array:
        """The weights [column, class]: what a sparse row looks up lies together."""
        return np.ascontiguousarray(self.weights.T)

    def add(self, block: Block, rows: slice, threshold: float | None, scores: Array) -> None:
        """Add the log likelihood of a range of rows to the scores."""
        scores += self.bias
        limit = None if threshold is None else comparable(threshold, block.dtype)
        if isinstance(block, Sparse):
            stored = block.stored(rows.start, rows.stop)
            work = cells_of(stored) * self.by_column.shape[1]
            poison = scoring.add_linear_sparse(*stored, limit, self.by_column, scores, work=work)
        else:
            assert isinstance(block, Dense)
            check, poison = finite_check(block), 0.0
            for x, part in block.scored(rows, scores):
                poison += scoring.add_linear(x, limit, check, self.weights, part, work=x.size * len(self.weights))
        if poison != 0:
            block.reject_if_not_finite(rows)
        if self.veto is not None:
            vetoes = np.zeros(scores.shape)
            self.veto.add(block, rows, threshold, vetoes)
            scores[vetoes > 0] += self.limit
