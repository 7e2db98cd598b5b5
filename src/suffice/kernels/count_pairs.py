"""Counts of pairs of levels, for each class."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from suffice.kernels.compiler import Kernel

# Masks to count the bits of a word: sums of two, four and eight bits, and a product that adds all eight bytes.
ODD, TWOS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
ALL = np.uint64(0x0101010101010101)
ONE, TWO, FOUR, TOPMOST = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


# Cells of rows that are counted together. The counts of one column with all others stay in the cache meanwhile.
TOGETHER = 1 << 16


@Kernel
def count_pairs(x, codes, weights, starts, pairs):
    """Count each pair of codes of a row in the lower half of pairs[class, cell, cell]; a negative code is missing.

    The last cell of the last axis is that of missing codes.
    """
    rows, columns = x.shape
    missing = pairs.shape[1]
    strip = max(min(TOGETHER // columns, rows), 1)
    cells = np.empty((strip, columns), np.uint32)
    for top in range(0, rows, strip):
        count = min(strip, rows - top)
        for row in range(count):
            for j in range(columns):
                code = x[top + row, j]
                cells[row, j] = starts[j] + code if code >= 0 else missing
        for i in range(columns):
            for row in range(count):
                a = cells[row, i]
                if a < missing:
                    k = codes[top + row]
                    weight = 1 if weights is None else weights[top + row]
                    for j in range(i + 1):
                        pairs[k, a, cells[row, j]] += weight


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
