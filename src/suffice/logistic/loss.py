"""The loss of logistic regression, its gradient, and its Hessian by products of cache-sized blocks.

Scores are z = X·W + b, [row, score]: one score for two classes (the log-odds of the second), one per class for more.
The loss is Σ w·(log Σ exp z − z of the own class) + ½·λ·|W|²; intercepts are not penalised.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import iadd
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax

from suffice.parallel import map_threads, stream_threads
from suffice.schema import Array

# Number of cells that a thread multiplies at a time, so that they stay in cache. The threads are not those of BLAS: on
# a busy machine these wait for each other in loops, and a fit took ten times as long as with one thread.
BLOCK = 1 << 19


@dataclass(frozen=True)
class Problem:
    """The minimisation problem. Its parameters are an array [feature (and a last row of intercepts), score].

    Attributes
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        Features. All results are doubles; an array in single precision is not copied as a whole.
    codes : array of shape (n_rows,)
        Code of the class of each row.
    weights : array of shape (n_rows,) or None
        Weight of each row.
    classes : int
        Number of classes.
    penalty : float
        The penalty λ.
    intercept : bool
        Whether there are intercepts.
    offset : array of shape (n_rows, n_classes) or None
        What is added to the scores of each row: those of a model from which the coefficients are changes.
    """

    X: Any
    codes: Array
    weights: Array | None
    classes: int
    penalty: float
    intercept: bool
    offset: Array | None = None

    @property
    def scores(self) -> int:
        return 1 if self.classes == 2 else self.classes

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[1] + self.intercept, self.scores

    @cached_property
    def row_weights(self) -> Array:
        return np.ones(len(self.codes)) if self.weights is None else self.weights

    @cached_property
    def indicators(self) -> Array:
        """1 for the class of each row, [row, score]."""
        return np.eye(self.classes)[self.codes][:, -self.scores :]

    def linear(self, parameters: Array) -> Array:
        """Return X·W + b."""
        lines = parameters[:-1] if self.intercept else parameters
        if self._is_sparse:
            found = np.asarray(self.X @ lines)
        else:
            found = np.empty((len(self.codes), lines.shape[1]))
            map_threads(lambda part: np.matmul(self._doubles(part), lines, out=found[part]), self._parts)
        return found + parameters[-1] if self.intercept else found

    def transposed_product(self, residuals: Array) -> Array:
        """Return Xᵀ·residuals, with their sums as the last row if there are intercepts."""
        found = self._transposed(residuals)
        return np.vstack([found, residuals.sum(axis=0)]) if self.intercept else found

    def _transposed(self, residuals: Array) -> Array:
        """Return Xᵀ·residuals."""
        if self._is_sparse:
            return np.asarray(self.X.T @ residuals)
        return self._sum_over_rows(lambda part: self._doubles(part).T @ residuals[part])

    @property
    def _is_sparse(self) -> bool:
        return hasattr(self.X, "tocsr")

    @cached_property
    def _parts(self) -> list[slice]:
        """Ranges of rows whose cells fit into the cache; they do not depend on the number of threads."""
        step = max(BLOCK // max(self.X.shape[1], 1), 64)
        return [slice(first, first + step) for first in range(0, max(len(self.codes), 1), step)]

    def _doubles(self, part: slice) -> Array:
        """Return a range of rows in double precision."""
        return np.asarray(self.X[part], np.float64)

    def _sum_over_rows(self, function: Callable[[slice], Array]) -> Array:
        """Return the sum of a function of ranges of rows, in their order."""
        return np.asarray(reduce(iadd, stream_threads(function, self._parts)))

    def penalty_gradient(self, parameters: Array) -> Array:
        """Return λ·W, 0 for intercepts."""
        found = self.penalty * parameters
        if self.intercept:
            found[-1] = 0.0
        return np.asarray(found)

    def probabilities(self, z: Array) -> tuple[Array, Array]:
        """Return P(class | x) as [row, score], and each row's log P(own class | x)."""
        if self.offset is not None:
            z = z + (self.offset[:, 1:] - self.offset[:, :1] if self.scores == 1 else self.offset)
        if self.scores == 1:
            signed = np.where(self.codes == 1, z[:, 0], -z[:, 0])
            return expit(z), -np.logaddexp(0.0, -signed)
        log_p = log_softmax(z, axis=1)
        return np.exp(log_p), log_p[np.arange(len(z)), self.codes]

    def value(self, parameters: Array, log_own: Array) -> float:
        """Return the loss."""
        return float(-(self.row_weights @ log_own) + 0.5 * (parameters * self.penalty_gradient(parameters)).sum())

    def gradient(self, parameters: Array, p: Array) -> Array:
        """Return Xᵀ·w·(P − y) + λ·W."""
        residuals = self.row_weights[:, None] * (p - self.indicators)
        return self.transposed_product(residuals) + self.penalty_gradient(parameters)

    def hessian_product(self, p: Array, direction: Array) -> Array:
        """Return Hessian·D without forming the Hessian: Xᵀ·w·(P∘(d − Σ P∘d)) + λ·D, where d = X·D."""
        d = self.linear(direction)
        if self.scores == 1:
            inner = p * (1 - p) * d
        else:
            inner = p * (d - (p * d).sum(axis=1, keepdims=True))
        return self.transposed_product(self.row_weights[:, None] * inner) + self.penalty_gradient(direction)

    def gram(self, weights: Array) -> Array:
        """Return Xᵀ·diag(weights)·X with a row and column for the intercept, a block of rows at a time."""
        if self._is_sparse:
            found = (self.X.T @ self.X.multiply(weights[:, None]).tocsr()).toarray()
        else:
            roots = np.sqrt(weights)[:, None]

            def square(part: slice) -> Array:
                rows = self.X[part] * roots[part]
                return np.asarray(rows.T @ rows)

            found = self._sum_over_rows(square)
        if not self.intercept:
            return np.asarray(found)
        edge = self._transposed(weights)
        return np.block([[found, edge[:, None]], [edge, weights.sum()]])

    def hessian_at(self, p: Array, places: list[Array]) -> Array:
        """Return the Hessian of some parameters only: ``places`` are the rows of the parameters of each score."""
        starts = np.cumsum([0, *map(len, places)])
        found = np.zeros((starts[-1], starts[-1]))
        ranges = [slice(first, last) for first, last in pairwise(starts.tolist())]
        for a in range(self.scores):
            for b in range(a + 1):
                spread = p[:, a] * ((1 - p[:, a]) if a == b else p[:, b])
                block = self._products(self.row_weights * spread, places[a], places[b])
                found[ranges[a], ranges[b]] = block if a == b else -block
                found[ranges[b], ranges[a]] = found[ranges[a], ranges[b]].T
        ridge = self.penalty_gradient(np.ones(self.shape))
        found[np.diag_indices(len(found))] += np.concatenate([ridge[rows, a] for a, rows in enumerate(places)])
        return found

    def _products(self, weights: Array, mine: Array, others: Array) -> Array:
        """Return Xᵀ·diag(weights)·X for some features on each side; the place after the last is the intercept."""
        features = self.X.shape[1]
        left, right = mine[mine < features], others[others < features]
        found = np.empty((len(mine), len(others)))
        core = found[: len(left), : len(right)]
        if self._is_sparse:
            core[:] = (self.X[:, left].T @ self.X[:, right].multiply(weights[:, None]).tocsr()).toarray()
        elif len(left) == features == len(right) and (weights >= 0).all():
            core[:] = replace(self, intercept=False).gram(weights)
        else:
            w = weights[:, None]
            core[:] = self._sum_over_rows(lambda part: self.X[part, left].T @ (self.X[part, right] * w[part]))
        if len(left) < len(mine) or len(right) < len(others):
            edge = np.append(self._transposed(weights), weights.sum())
            found[len(left) :] = edge[others]
            found[:, len(right) :] = edge[mine, None]
        return found

    def squares(self, weights: Array) -> Array:
        """Return the diagonal of `gram`."""
        if self._is_sparse:
            found = np.asarray(self.X.power(2).T @ weights).ravel()
        else:
            found = self._sum_over_rows(lambda part: weights[part] @ self._doubles(part) ** 2)
        return np.append(found, weights.sum()) if self.intercept else found

    def hessian(self, p: Array) -> Array:
        """Return the whole Hessian, [score × feature, score × feature]: blocks Xᵀ·w·P(δ − P)·X + λ·I."""
        size, scores = self.shape
        found = np.zeros((scores, size, scores, size))
        for a in range(scores):
            found[a, :, a] = self.gram(self.row_weights * p[:, a] * (1 - p[:, a]))
            for b in range(a):
                found[a, :, b] = found[b, :, a] = -self.gram(self.row_weights * p[:, a] * p[:, b])
        hessian = found.reshape(scores * size, scores * size)
        hessian[np.diag_indices(len(hessian))] += self.penalty_gradient(np.ones(self.shape)).T.ravel()
        return hessian
