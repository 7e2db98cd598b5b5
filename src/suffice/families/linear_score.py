"""Families whose log likelihood is linear in x: one matrix product, in blocks that stay in cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.blocks import Block, Sparse, cells_of
from suffice.families.family import add_by_piece
from suffice.kernels import score_independent
from suffice.schema import Array, Frozen
from suffice.statistics.scan import comparable, finite_check


@dataclass(frozen=True)
class Linear(Frozen):
    """log p(x given class) = Σⱼ biases + weights·xⱼ, and −∞ (``limit``) where ``veto`` is met.

    The weights are finite. A probability of zero would be a weight of −∞, and −∞ times 0 is not a
    number; so what is impossible is counted apart, by a second product with 0s and 1s.
    """

    weights: Array
    biases: Array
    veto: Linear | None = None
    limit: float = -np.inf

    @classmethod
    def of(cls, weights: Array, biases: Array | float = 0.0, limit: float = -np.inf) -> Linear:
        """Return the parameters from weights that may be infinite."""
        biases = np.broadcast_to(np.asarray(biases, np.float64), weights.shape)
        infinite = np.isinf(weights)
        if not infinite.any():
            return cls(weights, biases)
        veto = cls(infinite.astype(np.float64), np.zeros(weights.shape))
        return cls(np.where(infinite, 0.0, weights), biases, veto, limit)

    @cached_property
    def bias(self) -> Array:
        """The sum of the biases of all columns."""
        return np.asarray(self.biases.sum(axis=1))

    @cached_property
    def by_column(self) -> Array:
        """The weights [column, class]: what a sparse row looks up lies together."""
        return np.ascontiguousarray(self.weights.T)

    def add(self, block: Block, rows: slice, threshold: float | None, scores: Array) -> None:
        """Add the log likelihood of a range of rows to the scores."""
        limit = None if threshold is None else comparable(threshold, block.dtype)
        if isinstance(block, Sparse):
            scores += self.bias
            stored = block.stored(rows.start, rows.stop)
            work = cells_of(stored) * self.by_column.shape[1]
            if score_independent.add_linear_sparse(*stored, limit, self.by_column, scores, work=work) != 0:
                block.reject_if_not_finite(rows)
        else:
            check, classes = finite_check(block), len(self.weights)

            def whole(x: Array, part: Array) -> float:
                part += self.bias
                return score_independent.add_linear(x, limit, check, self.weights, part, work=x.size * classes)  # type: ignore[no-any-return]

            def present(x: Array, part: Array) -> float:
                return score_independent.add_linear_present(x, self.weights, self.biases, part, work=x.size * classes)  # type: ignore[no-any-return]

            add_by_piece(block, rows, scores, whole, present)
        if self.veto is not None:
            vetoes = np.zeros(scores.shape)
            self.veto.add(block, rows, threshold, vetoes)
            # what is impossible in one block is impossible, however certain another is
            scores[(vetoes > 0) & (scores > -np.inf)] = self.limit
