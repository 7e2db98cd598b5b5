"""Models that are linear in features of the columns: in the columns, or in the columns and all products of two.

A quadratic boundary is linear in the quadratic lift x → (x₁², x₁x₂, x₂², …, x₁, x₂, …).
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax

from suffice.schema import Array, Frozen

Lift = Literal["linear", "quadratic"]


def lift_rows(X: Any, lift: str) -> Any:
    """Return the features of rows; a sparse matrix stays sparse.

    >>> lift_rows(np.array([[2.0, 3.0]]), "quadratic").tolist()
    [[4.0, 6.0, 9.0, 2.0, 3.0]]
    """
    if lift == "linear":
        return X
    first, second = np.triu_indices(np.shape(X)[1])
    if hasattr(X, "tocsc"):
        columns = X.tocsc()
        return sp.hstack([columns[:, first].multiply(columns[:, second]), columns]).tocsr()
    X = np.asarray(X, np.float64)  # products in single precision would lose digits
    return np.concatenate([X[:, first] * X[:, second], X], axis=1)


def feature_names(columns: list[str], lift: str) -> list[str]:
    """Return the names of the features of columns.

    >>> feature_names(["a", "b"], "quadratic")
    ['a²', 'a·b', 'b²', 'a', 'b']
    """
    if lift == "linear":
        return columns
    pairs = combinations_with_replacement(range(len(columns)), 2)
    return [f"{columns[i]}²" if i == j else f"{columns[i]}·{columns[j]}" for i, j in pairs] + columns


@dataclass(frozen=True, eq=False)
class LinearForm(Frozen):
    """A classifier in linear form: P(class | x) = softmax of coefficients·features + intercepts.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Labels.
    coefficients : array of shape (n_classes, n_features)
        Coefficients.
    intercepts : array of shape (n_classes,)
        Intercepts.
    lift : {"linear", "quadratic", "one-hot"}
        The features: the columns (as bits, if the model has a threshold), the columns and all products of two, or the
        levels of the columns in one-hot coding.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> form = model.as_linear()
    >>> np.exp(form.log_posterior([[0, 1]])).round(2).tolist(), model.predict_proba([[0, 1]]).round(2).tolist()
    ([[0.36, 0.64]], [[0.36, 0.64]])
    """

    classes: Array
    coefficients: Array
    intercepts: Array
    lift: str

    def log_posterior(self, X: Any) -> Array:
        """Return log P(class | x).

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Rows; one-hot features if ``lift`` is "one-hot".

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Log probabilities.
        """
        features = lift_rows(X, "quadratic" if self.lift == "quadratic" else "linear")
        return np.asarray(log_softmax(np.asarray(features @ self.coefficients.T) + self.intercepts, axis=1))
