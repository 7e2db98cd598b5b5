"""The quadratic lift x → (x₁², x₁x₂, x₂², …, x₁, x₂, …), in which a quadratic boundary is linear."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from suffice.schema import Array

Lift = Literal["linear", "quadratic"]


def lift_rows(X: Any, lift: str) -> Any:
    """Return the features of rows; a sparse matrix stays sparse.

    >>> lift_rows(np.array([[2.0, 3.0]]), "quadratic").tolist()
    [[4.0, 6.0, 9.0, 2.0, 3.0]]
    """
    if lift == "linear":
        return X
    first, second = pairs(np.shape(X)[1])
    if hasattr(X, "tocsc"):
        columns = X.tocsc()
        return sp.hstack([columns[:, first].multiply(columns[:, second]), columns]).tocsr()
    X = np.asarray(X)
    return np.concatenate([X[:, first] * X[:, second], X], axis=1)


def feature_names(columns: list[str], lift: str) -> list[str]:
    """Return the names of the features of columns.

    >>> feature_names(["a", "b"], "quadratic")
    ['a²', 'a·b', 'b²', 'a', 'b']
    """
    if lift == "linear":
        return columns
    first, second = pairs(len(columns))
    products = [
        f"{columns[i]}²" if i == j else f"{columns[i]}·{columns[j]}"
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return [*products, *columns]


def pairs(count: int) -> tuple[Array, Array]:
    """Return the places of the two columns of each product."""
    first, second = np.triu_indices(count)
    return first, second
