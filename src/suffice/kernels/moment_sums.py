"""First and second moments for each class, in one pass over the rows."""

# mypy: allow-untyped-defs, allow-untyped-calls

from suffice.kernels.compiler import Kernel
from suffice.kernels.count_rows import move


@Kernel
def add_squares(x, codes, limit, partial, partial_squares, sums, squares):
    """Sum bytes and their squares as whole numbers, which is exact and needs no shift."""
    rows, columns = x.shape
    for first in range(0, rows, limit):
        for row in range(first, min(first + limit, rows)):
            k = codes[row]
            for j in range(columns):
                value = x[row, j]
                partial[k, j] += value
                partial_squares[k, j] += value * value
        move(partial, sums)
        move(partial_squares, squares)


@Kernel
def add_deviations(x, codes, weights, shift, has_shift, sums, squares):
    """Sum the deviations from a shift and their squares: Σ(x − s) and Σ(x − s)².

    The shift of a class is its first row, so that the squares lose few digits; Σx² would lose all of them in a column
    with mean 1e9. Return NaN if a row with weight 0 has a value that is not finite; in other rows it shows in the sums.
    """
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        k = codes[row]
        weight = 1.0 if weights is None else weights[row]
        if weight == 0:
            for j in range(columns):
                poison += x[row, j] * 0.0
            continue
        if not has_shift[k]:
            has_shift[k] = 1
            for j in range(columns):
                shift[k, j] = x[row, j]
        for j in range(columns):
            deviation = x[row, j] - shift[k, j]
            sums[k, j] += weight * deviation
            squares[k, j] += weight * deviation * deviation
    return poison


@Kernel
def add_deviations_present(x, codes, weights, shift, has_shift, n, sums, squares):
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
