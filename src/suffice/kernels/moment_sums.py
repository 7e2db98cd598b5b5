"""First and second moments for each class, in one pass over the rows."""

from typing import Any

from suffice.kernels.compiler import Kernel


@Kernel
def add_squares(x: Any, codes: Any, limit: int, partial: Any, partial_squares: Any, sums: Any, squares: Any) -> None:
    """Sum bytes and their squares as whole numbers, which is exact and needs no shift."""
    rows, columns = x.shape
    for first in range(0, rows, limit):
        for row in range(first, min(first + limit, rows)):
            k = codes[row]
            for j in range(columns):
                value = x[row, j]
                partial[k, j] += value
                partial_squares[k, j] += value * value
        for k in range(sums.shape[0]):
            for j in range(columns):
                sums[k, j] += partial[k, j]
                squares[k, j] += partial_squares[k, j]
                partial[k, j] = 0
                partial_squares[k, j] = 0


@Kernel
def add_deviations(x: Any, codes: Any, weights: Any, shift: Any, has_shift: Any, sums: Any, squares: Any) -> float:
    """Sum the deviations from a shift and their squares: Σ(x − s) and Σ(x − s)².

    The shift of a class is its first row, so that the squares lose few digits; Σx² would lose all of them in a column
    with mean 1e9. Return NaN if a row with weight 0 has a value that is not finite; in other rows it shows in the sums.
    """
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        k = codes[row]
        if weights is not None and weights[row] == 0:
            for j in range(columns):
                poison += x[row, j] * 0.0
            continue
        if not has_shift[k]:
            has_shift[k] = 1
            for j in range(columns):
                shift[k, j] = x[row, j]
        if weights is None:
            for j in range(columns):
                deviation = x[row, j] - shift[k, j]
                sums[k, j] += deviation
                squares[k, j] += deviation * deviation
        else:
            weight = weights[row]
            for j in range(columns):
                deviation = x[row, j] - shift[k, j]
                sums[k, j] += weight * deviation
                squares[k, j] += weight * deviation * deviation
    return poison


@Kernel
def add_deviations_present(
    x: Any, codes: Any, weights: Any, shift: Any, has_shift: Any, n: Any, sums: Any, squares: Any
) -> None:
    """Sum the deviations and squares of the present cells as ``add_deviations`` does, and their weights to ``n``."""
    rows, columns = x.shape
    for row in range(rows):
        k = codes[row]
        weight = 1.0 if weights is None else weights[row]
        if weight == 0:
            continue
        for j in range(columns):
            value = x[row, j]
            if value == value:
                if not has_shift[k, j]:
                    has_shift[k, j] = 1
                    shift[k, j] = value
                deviation = value - shift[k, j]
                n[k, j] += weight
                sums[k, j] += weight * deviation
                squares[k, j] += weight * deviation * deviation
