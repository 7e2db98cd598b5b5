"""Counts of pairs of levels, for each class."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from suffice.kernels.compiler import Kernel

# Masks to count the bits of a word: sums of two, four and eight bits, and a product that adds all eight bytes.
ODD, TWOS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
ALL = np.uint64(0x0101010101010101)
ONE, TWO, FOUR, TOPMOST = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@Kernel
def count_pairs(x, codes, weights, starts, pairs):
    """Count each pair of codes of a row in the lower half of pairs[class, cell, cell]; a negative code is missing."""
    rows, columns = x.shape
    cells = np.zeros(columns, np.intp)
    for row in range(rows):
        k = codes[row]
        weight = 1.0 if weights is None else weights[row]
        count = 0
        for j in range(columns):
            if x[row, j] >= 0:
                cells[count] = starts[j] + x[row, j]
                count += 1
        for i in range(count):
            a = cells[i]
            for j in range(i + 1):
                pairs[k, a, cells[j]] += weight


@Kernel
def count_bit_pairs(bits, rows, ones, pairs):
    """Count pairs of columns with two levels, from bits[column, word] to pairs[cell, cell].

    Cells 2j and 2j + 1 stand for column j = 0 and 1. Only rows where both columns are 1 are counted; the other three
    counts follow from the number of ``rows`` and of ``ones`` of each column.
    """
    columns, words = bits.shape
    for i in range(columns):
        for j in range(i + 1):
            total = np.uint64(0)
            for word in range(words):
                both = bits[i, word] & bits[j, word]
                both = both - ((both >> ONE) & ODD)
                both = (both & TWOS) + ((both >> TWO) & TWOS)
                both = (both + (both >> FOUR)) & FOURS
                total += (both * ALL) >> TOPMOST
            shared = float(total)
            first = ones[i] - shared
            second = ones[j] - shared
            neither = rows - ones[i] - ones[j] + shared
            for a, b, count in ((1, 1, shared), (1, 0, first), (0, 1, second), (0, 0, neither)):
                pairs[2 * i + a, 2 * j + b] = count
                pairs[2 * j + b, 2 * i + a] = count
