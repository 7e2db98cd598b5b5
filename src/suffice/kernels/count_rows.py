"""Counts and sums for each class, in one pass over the rows and without temporary arrays of their size.

All kernels take ``x``, the rows, ``codes``, the class of each row, and ``weights``, the weight of each row or None.
``partial`` are narrow accumulators that are added to ``counts`` every ``limit`` rows, before they overflow.
Numba removes the branch of an argument that is None.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from suffice.kernels.compiler import Kernel

LARGEST = 1.7976931348623157e308


def move(partial, counts):
    """Add narrow accumulators to the counts, and set them to 0."""
    for k in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            counts[k, j] += partial[k, j]
            partial[k, j] = 0


@Kernel
def count_above(x, codes, weights, threshold, check, limit, partial, counts):
    """Count the cells above the threshold; return NaN if a value is not finite."""
    rows, columns = x.shape
    poison = 0.0
    for first in range(0, rows, limit):
        for row in range(first, min(first + limit, rows)):
            k = codes[row]
            weight = 1.0 if weights is None else weights[row]
            for j in range(columns):
                if check is not None:
                    poison += x[row, j] * 0.0
                if weights is None:
                    partial[k, j] += x[row, j] > threshold
                else:
                    partial[k, j] += weight if x[row, j] > threshold else 0.0
        move(partial, counts)
    return poison


@Kernel
def add_up(x, codes, weights, most, limit, partial, counts):
    """Sum each column; return whether a value is negative or more than ``most``."""
    rows, columns = x.shape
    outside = False
    for first in range(0, rows, limit):
        for row in range(first, min(first + limit, rows)):
            k = codes[row]
            weight = 1.0 if weights is None else weights[row]
            for j in range(columns):
                outside |= x[row, j] < 0
                if most is not None:
                    outside |= x[row, j] > most
                partial[k, j] += x[row, j] if weights is None else weight * x[row, j]
        move(partial, counts)
    return outside


@Kernel
def add_up_present(x, codes, weights, threshold, most, n, counts):
    """Do what ``count_above`` does if there is a threshold, else what ``add_up`` does, for the cells that are present.

    Their weights are added to ``n``.
    """
    rows, columns = x.shape
    outside = False
    for row in range(rows):
        k = codes[row]
        weight = 1.0 if weights is None else weights[row]
        for j in range(columns):
            value = x[row, j]
            if value == value:
                n[k, j] += weight
                if threshold is not None:
                    counts[k, j] += weight if value > threshold else 0.0
                else:
                    outside |= value < 0
                    if most is not None:
                        outside |= value > most
                    counts[k, j] += weight * value
    return outside


@Kernel
def add_up_squares(x, codes, weights, n, counts, squares):
    """Sum each column and its squares, of the cells that are present; return whether a value is negative."""
    rows, columns = x.shape
    outside = False
    for row in range(rows):
        k = codes[row]
        weight = 1.0 if weights is None else weights[row]
        for j in range(columns):
            value = x[row, j] * 1.0
            if value == value:
                outside |= value < 0
                n[k, j] += weight
                counts[k, j] += weight * value
                squares[k, j] += weight * (value * value)
    return outside


@Kernel
def add_up_squares_sparse(starts, columns, values, codes, weights, counts, squares):
    """Sum the stored cells of each column and their squares; return whether a value is negative."""
    outside = False
    for row in range(codes.shape[0]):
        k = codes[row]
        weight = 1.0 if weights is None else weights[row]
        for p in range(starts[row], starts[row + 1]):
            value = values[p] * 1.0
            outside |= value < 0
            counts[k, columns[p]] += weight * value
            squares[k, columns[p]] += weight * (value * value)
    return outside


@Kernel
def count_coded(x, codes, weights, starts, counts):
    """Count each code of each column; a negative code is a missing cell."""
    rows, columns = x.shape
    for row in range(rows):
        k = codes[row]
        weight = 1.0 if weights is None else weights[row]
        for j in range(columns):
            code = x[row, j]
            if code >= 0:
                counts[k, starts[j] + code] += weight


@Kernel
def count_levels(x, codes, weights, gaps, first, starts, room, counts, fractions):
    """Count each level of each column from row ``first`` on; return the first row that is not counted.

    That is a row with a level that is negative or not less than the ``room`` of its column. Levels with a fraction are
    truncated, and ``fractions[0]`` is set. With ``gaps``, NaN is a missing cell, which is skipped.
    """
    rows, columns = x.shape
    for row in range(first, rows):
        fits = True
        for j in range(columns):
            value = x[row, j]
            if gaps is None or value == value:
                fits &= (value >= 0) & (value < room[j])
        if not fits:
            return int(row)
        k = codes[row]
        for j in range(columns):
            if gaps is not None and x[row, j] != x[row, j]:
                continue
            level = int(x[row, j])
            if level != x[row, j]:
                fractions[0] = 1
            counts[k, starts[j] + level] += 1 if weights is None else weights[row]
    return int(rows)


@Kernel
def count_above_sparse(starts, columns, values, codes, weights, threshold, counts):
    """Count the stored cells above the threshold; return NaN if a value is not finite."""
    poison = 0.0
    for row in range(codes.shape[0]):
        k = codes[row]
        for p in range(starts[row], starts[row + 1]):
            poison += values[p] * 0.0
            if values[p] > threshold:
                counts[k, columns[p]] += 1.0 if weights is None else weights[row]
    return poison


@Kernel
def add_up_sparse(starts, columns, values, codes, weights, most, counts):
    """Sum the stored cells of each column; return whether a value is negative or more than ``most``."""
    outside = False
    for row in range(codes.shape[0]):
        k = codes[row]
        for p in range(starts[row], starts[row + 1]):
            outside |= values[p] < 0
            if most is not None:
                outside |= values[p] > most
            counts[k, columns[p]] += values[p] if weights is None else weights[row] * values[p]
    return outside
