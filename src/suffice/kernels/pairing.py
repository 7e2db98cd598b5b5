"""Pairs of columns, counted by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.compiling import Kernel

# The bits of a word are counted by adding neighbours: of two, of four, of eight, and all by a product.
ODD, TWOS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
ALL = np.uint64(0x0101010101010101)
ONE, TWO, FOUR, TOPMOST = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@Kernel
def count_pairs(x: Any, codes: Any, weights: Any, starts: Any, pairs: Any) -> None:
    """Count each two codes of a row, the lower half of pairs[class, cell, cell]; a negative one is empty."""
    rows, columns = x.shape
    cells = np.zeros(columns, np.intp)
    for row in range(rows):
        k = codes[row]
        weight = 1.0 if weights is None else weights[row]
        met = 0
        for j in range(columns):
            if x[row, j] >= 0:
                cells[met] = starts[j] + x[row, j]
                met += 1
        for i in range(met):
            a = cells[i]
            for j in range(i + 1):
                pairs[k, a, cells[j]] += weight


@Kernel
def count_common_bits(bits: Any, common: Any) -> None:
    """Count the ones that each two lines of bits share: bits[column, word], the lower half of common."""
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
            common[i, j] = total
