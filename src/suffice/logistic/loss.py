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

ALL = slice(None)

# Number of cells that a thread multiplies at a time. The threads are not those of BLAS: on a busy machine these wait
# for each other in loops, and a fit took ten times as long as with one thread. A block has several strips, which stay
# in the cache of a core between two products with vectors.
STRIP, BLOCK = 1 << 16, 1 << 19


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
        found = np.empty((len(self.codes), parameters.shape[1]))

        def multiply(rows: slice) -> None:
            found[rows] = self._multiply(self._doubles(rows), parameters)

        map_threads(multiply, self._blocks)
        return found

    def _multiply(self, X: Any, parameters: Array) -> Array:
        """Return X·W + b for some rows."""
        if not self.intercept:
            return np.asarray(X @ parameters)
        return np.asarray(X @ parameters[:-1] + parameters[-1])

    def transposed_product(self, residuals: Array) -> Array:
        """Return Xᵀ·residuals, with their sums as the last row if there are intercepts."""
        found = self._transposed(residuals)
        return np.vstack([found, residuals.sum(axis=0)]) if self.intercept else found

    def _transposed(self, residuals: Array) -> Array:
        """Return Xᵀ·residuals."""
        return self._sum_over_rows(lambda rows: np.asarray(self._doubles(rows).T @ residuals[rows]))

    def _transform(self, parameters: Array, residuals: Callable[[slice, Array], Array]) -> Array:
        """Return Xᵀ·residuals(X·W + b), with the sums of residuals as the last row if there are intercepts.

        X is read once: each strip is multiplied twice while it is in the cache.
        """

        def multiply(rows: slice) -> Array:
            X = self._doubles(rows)
            found = residuals(rows, self._multiply(X, parameters))
            product = np.asarray(X.T @ found)
            return np.vstack([product, found.sum(axis=0)]) if self.intercept else product

        return self._sum_over_strips(multiply)

    @property
    def _is_sparse(self) -> bool:
        return hasattr(self.X, "tocsr")

    @cached_property
    def _blocks(self) -> list[slice]:
        """Ranges of rows for the threads; they do not depend on the number of threads."""
        return self._split(slice(0, max(len(self.codes), 1)), BLOCK)

    def _split(self, rows: slice, cells: int) -> list[slice]:
        """Return parts of a range of rows with about this many cells; of a sparse matrix, return the range."""
        if self._is_sparse:
            return [rows]
        step = max(cells // max(self.X.shape[1], 1), 64)
        return [slice(first, min(first + step, rows.stop)) for first in range(rows.start, rows.stop, step)]

    def _doubles(self, rows: slice) -> Any:
        """Return a range of rows in double precision."""
        return self.X if self._is_sparse else np.asarray(self.X[rows], np.float64)

    def _sum_over_rows(self, function: Callable[[slice], Array]) -> Array:
        """Return the sum of a function of blocks of rows, in their order."""
        return np.asarray(reduce(iadd, stream_threads(function, self._blocks)))

    def _sum_over_strips(self, function: Callable[[slice], Array]) -> Array:
        """Return the sum of a function of strips of rows, in their order."""
        return self._sum_over_rows(lambda rows: reduce(iadd, map(function, self._split(rows, STRIP))))

    def penalty_gradient(self, parameters: Array) -> Array:
        """Return λ·W, 0 for intercepts."""
        found = self.penalty * parameters
        if self.intercept:
            found[-1] = 0.0
        return np.asarray(found)

    def probabilities(self, z: Array, rows: slice = ALL) -> tuple[Array, Array]:
        """Return P(class | x) as [row, score], and log P(own class | x), of rows with the scores ``z``."""
        codes = self.codes[rows]
        if self.offset is not None:
            offset = self.offset[rows]
            z = z + (offset[:, 1:] - offset[:, :1] if self.scores == 1 else offset)
        if self.scores == 1:
            signed = np.where(codes == 1, z[:, 0], -z[:, 0])
            # −log(1 + exp −s) by functions that NumPy vectorises; logaddexp takes ten times as long
            return expit(z), np.minimum(signed, 0.0) - np.log1p(np.exp(-np.abs(signed)))
        log_p = log_softmax(z, axis=1)
        return np.exp(log_p), log_p[np.arange(len(z)), codes]

    def evaluate(self, parameters: Array) -> tuple[Array, Array, Array]:
        """Return `probabilities` at some parameters, and the gradient of the loss, Xᵀ·w·(P − y) + λ·W."""
        p, log_own = np.empty((len(self.codes), self.scores)), np.empty(len(self.codes))

        def residuals(rows: slice, z: Array) -> Array:
            p[rows], log_own[rows] = self.probabilities(z, rows)
            return self.row_weights[rows, None] * (p[rows] - self.indicators[rows])

        gradient = self._transform(parameters, residuals)
        return p, log_own, gradient + self.penalty_gradient(parameters)

    def value(self, parameters: Array, log_own: Array) -> float:
        """Return the loss."""
        return float(-(self.row_weights @ log_own) + 0.5 * (parameters * self.penalty_gradient(parameters)).sum())

    def hessian_product(self, p: Array, direction: Array) -> Array:
        """Return Hessian·D without forming the Hessian: Xᵀ·w·(P∘(d − Σ P∘d)) + λ·D, where d = X·D."""

        def residuals(rows: slice, d: Array) -> Array:
            own = p[rows]
            inner = own * (1 - own) * d if self.scores == 1 else own * (d - (own * d).sum(axis=1, keepdims=True))
            return np.asarray(self.row_weights[rows, None] * inner)

        return self._transform(direction, residuals) + self.penalty_gradient(direction)

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
