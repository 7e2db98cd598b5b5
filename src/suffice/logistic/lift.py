"""Lifts: x → (x₁², x₁x₂, x₂², …, x₁, x₂, …), in which a quadratic boundary is linear."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from suffice.schema import Array

LIFTS = ("linear", "quadratic")


def lifted(X: Any, lift: str) -> Any:
    """Return the features that a lift makes of rows; a sparse matrix stays sparse.

    >>> lifted(np.array([[2.0, 3.0]]), "quadratic").tolist()
    [[4.0, 6.0, 9.0, 2.0, 3.0]]
    """
    if lift == "linear":
        return X
    first, second = pairs(np.shape(X)[1])
    if sp.issparse(X):
        columns = _by_column(X)
        return sp.hstack([columns[:, first].multiply(columns[:, second]), columns]).tocsr()
    X = np.asarray(X)
    return np.concatenate([X[:, first] * X[:, second], X], axis=1)


def _by_column(X: Any) -> Any:
    return X.tocsc()


def names(columns: list[str], lift: str) -> list[str]:
    """Return the names of the features that a lift makes of columns.

    >>> names(["a", "b"], "quadratic")
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
    """Return the two columns of each product, in order."""
    first, second = np.triu_indices(count)
    return first, second
