"""Scores of rows whose columns are independent given the class, added to ``scores`` [row, class].

Dense rows are taken four at a time, so that each parameter is loaded once for four rows. Every row is summed in the
same order, so that its score depends neither on the batch nor on the number of threads. Kernels return 0, or NaN if a
sum was not finite.
"""

from typing import Any

import numpy as np

from suffice.kernels.compiler import Scorer
from suffice.kernels.count_rows import LARGEST

# Multiplied by this, eight bytes of 0 or 1 become eight bits of the topmost byte.
PACK = np.uint64(0x0102040810204080)
TOPMOST = np.uint64(56)


@Scorer
def add_linear(x: Any, threshold: Any, check: Any, weights: Any, scores: Any) -> float:
    """Add Σⱼ w[class, j]·x[row, j], where x is 1 above the threshold and 0 elsewhere if there is a threshold."""
    rows, columns = x.shape
    four = np.zeros((4, columns))
    poison = 0.0
    for row in range(0, rows, 4):
        height = min(4, rows - row)
        for r in range(height):
            if threshold is None:
                for j in range(columns):
                    four[r, j] = x[row + r, j]
            else:
                for j in range(columns):
                    four[r, j] = x[row + r, j] > threshold
                if check is not None:
                    for j in range(columns):
                        poison += x[row + r, j] * 0.0
        for k in range(weights.shape[0]):
            sum0 = 0.0
            sum1 = 0.0
            sum2 = 0.0
            sum3 = 0.0
            for j in range(columns):
                weight = weights[k, j]
                sum0 += four[0, j] * weight
                sum1 += four[1, j] * weight
                sum2 += four[2, j] * weight
                sum3 += four[3, j] * weight
            poison += sum0 * 0.0
            scores[row, k] += sum0
            if height > 1:
                poison += sum1 * 0.0
                scores[row + 1, k] += sum1
            if height > 2:
                poison += sum2 * 0.0
                scores[row + 2, k] += sum2
            if height > 3:
                poison += sum3 * 0.0
                scores[row + 3, k] += sum3
    return poison


@Scorer
def add_octets(x: Any, threshold: Any, check: Any, table: Any, scores: Any) -> float:
    """Add what ``add_linear`` adds, by a table for eight columns at a time: table[octet, bits, class]."""
    rows, columns = x.shape
    octets, _, lanes = table.shape
    bits = np.zeros(8 * octets, np.uint8)
    words = bits.view(np.uint64)
    sums = np.zeros(lanes)
    poison = 0.0
    for row in range(rows):
        for j in range(columns):
            bits[j] = x[row, j] > threshold
        if check is not None:
            for j in range(columns):
                poison += x[row, j] * 0.0
        for k in range(lanes):
            sums[k] = 0.0
        for octet in range(octets):
            if words[octet] != 0:  # most octets of an image are zeros, which add nothing
                pattern = (words[octet] * PACK) >> TOPMOST
                for k in range(lanes):
                    sums[k] += table[octet, pattern, k]
        for k in range(scores.shape[1]):
            scores[row, k] += sums[k]
    return poison


@Scorer
def add_gaussian(x: Any, means: Any, halved_precisions: Any, scores: Any) -> float:
    """Add −Σⱼ (x[row, j] − μ[class, j])² / 2σ²[class, j]."""
    rows, columns = x.shape
    four = np.zeros((4, columns))
    poison = 0.0
    for row in range(0, rows, 4):
        height = min(4, rows - row)
        for r in range(height):
            for j in range(columns):
                four[r, j] = x[row + r, j]
        for k in range(means.shape[0]):
            sum0 = 0.0
            sum1 = 0.0
            sum2 = 0.0
            sum3 = 0.0
            for j in range(columns):
                mean = means[k, j]
                scale = halved_precisions[k, j]
                sum0 += (four[0, j] - mean) * (four[0, j] - mean) * scale
                sum1 += (four[1, j] - mean) * (four[1, j] - mean) * scale
                sum2 += (four[2, j] - mean) * (four[2, j] - mean) * scale
                sum3 += (four[3, j] - mean) * (four[3, j] - mean) * scale
            poison += sum0 * 0.0
            scores[row, k] -= sum0
            if height > 1:
                poison += sum1 * 0.0
                scores[row + 1, k] -= sum1
            if height > 2:
                poison += sum2 * 0.0
                scores[row + 2, k] -= sum2
            if height > 3:
                poison += sum3 * 0.0
                scores[row + 3, k] -= sum3
    return poison


@Scorer
def add_linear_present(x: Any, weights: Any, biases: Any, scores: Any) -> float:
    """Add Σⱼ b[class, j] + w[class, j]·x[row, j] over the cells that are not missing."""
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        for k in range(weights.shape[0]):
            total = 0.0
            for j in range(columns):
                value = x[row, j]
                total += biases[k, j] + weights[k, j] * value if value == value else 0.0
            poison += total * 0.0
            scores[row, k] += total
    return poison


@Scorer
def add_gaussian_present(x: Any, means: Any, halved_precisions: Any, peaks: Any, scores: Any) -> float:
    """Add Σⱼ peak[class, j] − (x[row, j] − μ[class, j])² / 2σ²[class, j] over the cells that are not missing."""
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        for k in range(means.shape[0]):
            total = 0.0
            for j in range(columns):
                value = x[row, j]
                deviation = value - means[k, j]
                total += peaks[k, j] - deviation * deviation * halved_precisions[k, j] if value == value else 0.0
            poison += total * 0.0
            scores[row, k] += total
    return poison


@Scorer
def add_coded(x: Any, starts: Any, sizes: Any, table: Any, scores: Any) -> None:
    """Add Σⱼ table[column j's code x[row, j], class]; a negative code is a missing cell and adds 0.

    The slot after the last code of a column is that of unseen levels.
    """
    rows, columns = x.shape
    for row in range(rows):
        for j in range(columns):
            code = x[row, j]
            if code >= 0:
                slot = starts[j] + (code if code < sizes[j] else sizes[j])
                for k in range(table.shape[1]):
                    scores[row, k] += table[slot, k]


@Scorer
def add_levels(x: Any, starts: Any, sizes: Any, table: Any, scores: Any) -> int:
    """Add Σⱼ table[class, column j's level x[row, j]], up to the first row with an invalid level; return it.

    The slot after the last level of a column is that of unseen levels.
    """
    rows, columns = x.shape
    slots = np.zeros(columns, np.intp)
    for row in range(rows):
        valid = True
        for j in range(columns):
            valid &= (x[row, j] >= 0) & (x[row, j] <= LARGEST)
        if not valid:
            return int(row)
        for j in range(columns):
            slots[j] = starts[j] + (int(x[row, j]) if x[row, j] < sizes[j] else sizes[j])
        for k in range(table.shape[0]):
            total = 0.0
            for j in range(columns):
                total += table[k, slots[j]]
            scores[row, k] += total
    return int(rows)


@Scorer
def add_linear_sparse(starts: Any, columns: Any, values: Any, threshold: Any, weights: Any, scores: Any) -> float:
    """Add Σⱼ w[j, class]·x[row, j] over the stored cells, as ``add_linear`` does over all."""
    poison = 0.0
    for row in range(scores.shape[0]):
        for p in range(starts[row], starts[row + 1]):
            poison += values[p] * 0.0
            if threshold is None:
                value = values[p] * 1.0
            else:
                value = 1.0 if values[p] > threshold else 0.0
            column = columns[p]
            for k in range(scores.shape[1]):
                scores[row, k] += value * weights[column, k]
    return poison
