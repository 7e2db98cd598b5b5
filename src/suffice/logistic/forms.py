"""Linear forms: a model whose log joint is linear in features, whoever found the coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax

from suffice.logistic.lift import lifted, pairs
from suffice.schema import Array, Frozen


@dataclass(frozen=True, eq=False)
class LinearForm(Frozen):
    """log P(class | x) = softmax of coefficients·features + intercepts, [class, feature] and [class].

    ``lift`` says what the features are: the columns ("linear"; where a model has a threshold, bits), their levels
    one-hot ("one-hot"), or the columns and all products of two ("quadratic").
    """

    classes: Array
    coefficients: Array
    intercepts: Array
    lift: str

    def curve(self, feature: int, values: Any) -> Array:
        """Return α(x) of one column at some values, [value, class]: what it adds to the score of each class.

        The log-odds are a generalised additive model, α₀ + Σ αᵢ(xᵢ); with products of two different columns in
        it they are none, and there is no curve.
        """
        x = np.asarray(values, np.float64)[:, None]
        if self.lift == "one-hot":
            raise ValueError("the curve of a column of levels is its coefficients, one a level")
        if self.lift != "quadratic":
            return np.asarray(x * self.coefficients[:, feature])
        count = int((np.sqrt(9 + 8 * self.coefficients.shape[1]) - 3) / 2)
        first, second = pairs(count)
        if np.any(self.coefficients[:, : len(first)][:, first != second]):
            raise ValueError("columns that vary together have no curves of their own; use a diagonal covariance")
        square = self.coefficients[:, int(np.flatnonzero((first == feature) & (second == feature))[0])]
        return np.asarray(x**2 * square + x * self.coefficients[:, len(first) + feature])

    def log_posterior(self, X: Any) -> Array:
        """Return log P(class | x) of rows; of one-hot features, X is these."""
        features = lifted(X, "quadratic" if self.lift == "quadratic" else "linear")
        return np.asarray(log_softmax(np.asarray(features @ self.coefficients.T) + self.intercepts, axis=1))
