"""Linear: a weighted sum of the columns, or of bits; and `CompleteLinear`, for rows without missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.blocks import Block, Dense, Sparse, cells_of
from suffice.kernels import score_independent
from suffice.schema import Array
from suffice.score.term import ColumnwiseTerm, OneByOne, add_products, as_doubles
from suffice.statistics.kernel_arguments import comparable

# Sums over eight columns are looked up if the table fits the cache and there are enough rows to be worth making it.
LARGEST_TABLE = 1 << 19
ROWS_WORTH_A_TABLE = 1 << 12
LANES = 4


@dataclass(frozen=True)
class Linear(ColumnwiseTerm):
    """Σⱼ biases[class, j] + weights[class, j]·xⱼ, and ``limit`` where ``veto`` is positive for any column.

    The weights are finite. A probability of 0 would be a weight of −∞, and −∞·0 is not a number; so impossible
    values are found by a second linear term.

    Parameters
    ----------
    weights, biases : arrays [class, column]
        Finite. A missing cell adds neither weight nor bias.
    veto : Linear, optional
        Marks impossible cells: column j is impossible for a class if veto.biases + veto.weights·xⱼ > 0. Its weights
        are −1, 0 or 1, its biases 0 or the number of trials. None if every value is possible.
    limit : float
        The value of the term if a cell is impossible: −∞, or +∞ for the complement family.
    threshold : float, optional
        If given, x is replaced by 1 where it is greater than the threshold and by 0 elsewhere.

    >>> term = Linear.of(np.array([[0.5, -np.inf]]))
    >>> term.contributions(Dense("example", None, np.array([[2.0, 0.0], [2.0, 1.0]])))[:, 0].tolist()
    [[1.0, 0.0], [1.0, -inf]]
    """

    weights: Array
    biases: Array
    veto: Linear | None = None
    limit: float = -np.inf
    threshold: float | None = None

    @classmethod
    def of(cls, weights: Array, biases: Array | float = 0.0, limit: float = -np.inf) -> Linear:
        """Return the term of weights that may be infinite: any x > 0 has the value ``limit`` there."""
        biases = np.broadcast_to(np.asarray(biases, np.float64), weights.shape)
        infinite = np.isinf(weights)
        if not infinite.any():
            return cls(weights, biases)
        veto = cls(infinite.astype(np.float64), np.zeros(weights.shape))
        return cls(np.where(infinite, 0.0, weights), biases, veto, limit)

    @classmethod
    def of_bits(cls, log_p: Array, log_q: Array, threshold: float | None, trials: float = 1.0) -> Linear:
        """Return Σⱼ xⱼ·log_p + (n − xⱼ)·log_q = Σⱼ n·log_q + xⱼ·(log_p − log_q); either logarithm may be −∞.

        xⱼ are bits, or successes in n trials.
        """
        never, always = np.isinf(log_p), np.isinf(log_q)
        if not (never.any() or always.any()):
            return cls(log_p - log_q, trials * log_q, threshold=threshold)
        # a success is impossible where p is 0, a failure where p is 1
        veto = cls(never.astype(np.float64) - always, trials * always.astype(np.float64), threshold=threshold)
        certain = never | always
        weights = np.where(certain, 0.0, np.where(never, 0.0, log_p) - np.where(always, 0.0, log_q))
        return cls(weights, np.where(certain, 0.0, trials * log_q), veto, threshold=threshold)

    @cached_property
    def bias(self) -> Array:
        """The sum of the biases of all columns, [class]."""
        return np.asarray(self.biases.sum(axis=1))

    @cached_property
    def by_column(self) -> Array:
        """The weights [column, class], so that those of one stored cell are adjacent in memory."""
        return np.ascontiguousarray(self.weights.T)

    @cached_property
    def octets(self) -> Array | None:
        """Σⱼ weights·xⱼ for all 256 patterns of eight columns, [octet · 256 + pattern, class]; None if too large."""
        classes, columns = self.weights.shape
        count, lanes = -(-columns // 8), -(-classes // LANES) * LANES
        if self.veto is not None or count * 256 * lanes > LARGEST_TABLE:
            return None
        weights = np.zeros((8 * count, lanes))
        weights[:columns, :classes] = self.weights.T
        patterns = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        return (patterns.astype(np.float64) @ weights.reshape(count, 8, lanes)).reshape(-1, lanes)

    def octets_for(self, block: Block) -> Array | None:
        """Return the table of `octets` if it is faster for these rows: dense rows of bits, of which there are many."""
        is_long = block.shape[0] >= ROWS_WORTH_A_TABLE and self.threshold is not None and not block.gaps
        return self.octets if is_long else None

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        limit = None if self.threshold is None else comparable(self.threshold, block.dtype)
        if isinstance(block, Sparse):
            scores += self.bias
            stored = block.stored(rows.start, rows.stop)
            work = cells_of(stored) * self.by_column.shape[1]
            if score_independent.add_linear_sparse(*stored, limit, self.by_column, scores, work=work) != 0:
                block.reject_if_not_finite(rows)
        else:
            table = self.octets_for(block)
            add_products(block, rows, scores, self.weights, self.biases, limit=limit, table=table)
        if self.veto is not None:
            vetoes = np.zeros(scores.shape)
            self.veto.add(block, rows, vetoes)
            # a row that is impossible by another term stays so
            scores[(vetoes > 0) & (scores > -np.inf)] = self.limit

    def contributions(self, block: Block) -> Array:
        x, present = as_doubles(block)
        if self.threshold is not None:
            x = (x > comparable(self.threshold, block.dtype)).astype(np.float64)
        found = self.biases + self.weights * x
        if self.veto is not None:
            found = np.where(self.veto.biases + self.veto.weights * x > 0, self.limit, found)
        return np.where(present, found, 0.0)

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> LinearProduct:
        return LinearProduct(tuple(terms))


@dataclass(frozen=True)
class CompleteLinear(Linear):
    """A linear term that has no value for a row with a missing cell: NumPy raises, and an export returns no prediction.

    >>> term = CompleteLinear.of(np.array([[0.5, 2.0]]))
    >>> term.contributions(Dense("example", None, np.array([[2.0, 1.0]]))).tolist()
    [[[1.0, 2.0]]]
    """

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        missing = block.find(rows, np.isnan) if block.gaps else None
        if missing is not None:
            block.reject_not_finite(*missing)
        super().add(block, rows, scores)


@dataclass(frozen=True)
class LinearProduct(OneByOne):
    """Several linear terms evaluated by one matrix product if the rows are dense and complete.

    Rows of bits are looked up term by term instead, which is several times faster.
    """

    members: tuple[Linear, ...]

    @cached_property
    def stacked(self) -> tuple[Array, Array]:
        """The weights [column, class] and biases [class] of all members, followed by those of their vetoes."""
        every = [*self.members, *(term.veto for term in self.members if term.veto is not None)]
        weights = np.ascontiguousarray(np.concatenate([term.weights for term in every]).T)
        return weights, np.concatenate([term.bias for term in every])

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        if not isinstance(block, Dense) or block.gaps or self.members[-1].octets_for(block) is not None:
            super().add(block, rows, scores)
            return
        weights, biases = self.stacked
        classes, threshold = len(self.members[0].weights), self.members[0].threshold
        for x, part in block.scored(rows, scores):
            bits = x if threshold is None else x > comparable(threshold, block.dtype)
            found = bits.astype(np.float64) @ weights
            found += biases
            veto = len(self.members) * classes
            part += found[:, :veto]
            for place, term in enumerate(self.members):
                if term.veto is not None:
                    own = part[:, place * classes : (place + 1) * classes]
                    # a row that is impossible by another term stays so
                    own[(found[:, veto : veto + classes] > 0) & (own > -np.inf)] = term.limit
                    veto += classes
