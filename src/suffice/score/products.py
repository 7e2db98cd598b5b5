"""`Products`: a weighted sum of the products of two columns."""

from dataclasses import dataclass

import numpy as np

from suffice.blocks import Block, Dense, Sparse
from suffice.schema import Array
from suffice.score.term import Term, as_doubles


@dataclass(frozen=True)
class Products(Term):
    """Σᵢⱼ weights[class, i, j]·xᵢ·xⱼ, for rows without a missing cell: NumPy raises, and an export predicts nothing.

    ``weights`` are symmetric.

    >>> term = Products.of(np.array([[2.0, 3.0, 1.0]]), 2)
    >>> scores = np.zeros((1, 1))
    >>> term.add(Dense("example", None, np.array([[2.0, 5.0]])), slice(0, 1), scores)
    >>> scores.tolist()  # 2·4 + 3·10 + 1·25
    [[63.0]]
    """

    weights: Array

    is_columnwise = True

    @classmethod
    def of(cls, coefficients: Array, count: int) -> "Products":
        """Return the term of coefficients [class, pair], in the order of the upper triangle of a matrix."""
        rows, columns = np.triu_indices(count)
        weights = np.zeros((len(coefficients), count, count))
        weights[:, rows, columns] = coefficients / 2
        return cls(weights + weights.swapaxes(1, 2))

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        missing = block.find(rows, np.isnan) if block.gaps else None
        if missing is not None:
            block.reject_not_finite(*missing)
        if isinstance(block, Sparse):
            self._add_products(block.matrix[rows].toarray().astype(np.float64), scores)
            return
        assert isinstance(block, Dense)
        for x, part in block.scored(rows, scores):
            self._add_products(x.astype(np.float64), part)

    def contributions(self, block: Block) -> Array:
        x, _ = as_doubles(block)
        return np.asarray(x * np.einsum("nki,kij->nkj", np.repeat(x, len(self.weights), axis=1), self.weights))

    def _add_products(self, x: Array, scores: Array) -> None:
        for k, weights in enumerate(self.weights):
            scores[:, k] += ((x @ weights) * x).sum(axis=1)
