"""Scores of rows whose columns are independent given the class, added to ``scores`` [row, class].

Dense rows are taken four at a time, so that each parameter is loaded once for four rows. Every row is summed in the
same order, so that its score depends neither on the batch nor on the number of threads. Kernels return 0, or NaN if a
sum was not finite.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from suffice.kernels.compiler import Exact, Scorer
from suffice.kernels.count_rows import LARGEST

# Multiplied by this, eight bytes of 0 or 1 become eight bits of the topmost byte.
PACK = np.uint64(0x0102040810204080)
TOPMOST = np.uint64(56)


def add_four(sums, height, scores, row, k):
    """Add one sum to the score of each of up to four rows; return NaN if a sum is not finite."""
    poison = 0.0
    for r in range(height):
        poison += sums[r] * 0.0
        scores[row + r, k] += sums[r]
    return poison


@Scorer
def add_complete(x, threshold, check, weights, centres, scores):
    """Add Σⱼ w[class, j]·z, with z = x[row, j], or (x[row, j] − centre[class, j])² if there are centres.

    If there is a threshold, x is 1 above it and 0 elsewhere.
    """
    rows, columns = x.shape
    four = np.zeros((4, columns))
    poison = 0.0
    for row in range(0, rows, 4):
        height = min(4, rows - row)
        for r in range(height):
            for j in range(columns):
                four[r, j] = x[row + r, j] if threshold is None else x[row + r, j] > threshold
            if check is not None and threshold is not None:
                for j in range(columns):
                    poison += x[row + r, j] * 0.0
        for k in range(weights.shape[0]):
            sum0 = 0.0
            sum1 = 0.0
            sum2 = 0.0
            sum3 = 0.0
            for j in range(columns):
                weight = weights[k, j]
                if centres is None:
                    sum0 += four[0, j] * weight
                    sum1 += four[1, j] * weight
                    sum2 += four[2, j] * weight
                    sum3 += four[3, j] * weight
                else:
                    centre = centres[k, j]
                    sum0 += (four[0, j] - centre) * (four[0, j] - centre) * weight
                    sum1 += (four[1, j] - centre) * (four[1, j] - centre) * weight
                    sum2 += (four[2, j] - centre) * (four[2, j] - centre) * weight
                    sum3 += (four[3, j] - centre) * (four[3, j] - centre) * weight
            poison += add_four((sum0, sum1, sum2, sum3), height, scores, row, k)
    return poison


@Scorer
def add_octets(x, threshold, check, table, scores):
    """Add what ``add_complete`` adds, by a table for eight columns at a time: table[octet · 256 + bits, class]."""
    rows, columns = x.shape
    lanes = table.shape[1]
    octets = table.shape[0] // 256
    bits = np.zeros(8 * octets, np.uint8)
    words = bits.view(np.uint64)
    slots = np.zeros(octets + 2, np.int64)
    sums = np.zeros(lanes)
    poison = 0.0
    for row in range(rows):
        for j in range(columns):
            bits[j] = x[row, j] > threshold
        if check is not None:
            for j in range(columns):
                poison += x[row, j] * 0.0
        count = 0
        for octet in range(octets):  # without a branch; most octets of an image are zeros, which add nothing
            slots[count] = 256 * octet + np.int64((words[octet] * PACK) >> TOPMOST)
            count += words[octet] != 0
        slots[count] = 0  # adds nothing, if the number is odd
        for k in range(lanes):
            sums[k] = 0.0
        for place in range(0, count, 2):  # two at once: sums are read and written less often
            here = slots[place]
            after = slots[place + 1]
            for k in range(lanes):
                sums[k] += table[here, k] + table[after, k]
        for k in range(scores.shape[1]):
            scores[row, k] += sums[k]
    return poison


@Scorer
def add_present(x, weights, centres, exponents, biases, gaps, scores):
    """Add Σⱼ bias + w·z, or Σⱼ bias − exponent·log(1 + w·z) if there are exponents, with z as in ``add_complete``.

    With ``gaps``, the sum is over the cells that are not missing.
    """
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        for k in range(weights.shape[0]):
            total = 0.0
            for j in range(columns):
                value = x[row, j]
                if gaps is None or value == value:
                    z = value if centres is None else (value - centres[k, j]) * (value - centres[k, j])
                    z *= weights[k, j]
                    total += biases[k, j] + (z if exponents is None else -exponents[k, j] * math.log1p(z))
            poison += total * 0.0
            scores[row, k] += total
    return poison


def add_slots(slots, height, table, scores, row):
    """Add Σⱼ table[slots[r, j] + class] to the scores of up to four rows.

    Four rows and two classes are summed side by side, so that each slot is read for two classes.
    """
    classes = scores.shape[1]
    for k in range(0, classes - 1, 2):
        here = table[k:]
        after = table[k + 1 :]
        sum0 = sum1 = sum2 = sum3 = 0.0
        after0 = after1 = after2 = after3 = 0.0
        for j in range(slots.shape[1]):
            sum0 += here[slots[0, j]]
            sum1 += here[slots[1, j]]
            sum2 += here[slots[2, j]]
            sum3 += here[slots[3, j]]
            after0 += after[slots[0, j]]
            after1 += after[slots[1, j]]
            after2 += after[slots[2, j]]
            after3 += after[slots[3, j]]
        sums = (sum0, sum1, sum2, sum3)
        afters = (after0, after1, after2, after3)
        for r in range(height):
            scores[row + r, k] += sums[r]
            scores[row + r, k + 1] += afters[r]
    if classes % 2:
        here = table[classes - 1 :]
        sum0 = sum1 = sum2 = sum3 = 0.0
        for j in range(slots.shape[1]):
            sum0 += here[slots[0, j]]
            sum1 += here[slots[1, j]]
            sum2 += here[slots[2, j]]
            sum3 += here[slots[3, j]]
        sums = (sum0, sum1, sum2, sum3)
        for r in range(height):
            scores[row + r, classes - 1] += sums[r]


# The sums of a look-up are not regrouped: sums over adjacent columns would be collected by slow gather instructions.
@Exact
def add_coded(x, starts, sizes, table, scores):
    """Add Σⱼ table[starts[j] + code x[row, j] · classes + class]; a negative code is a missing cell.

    The slot after the last code of a column is that of unseen levels; the last slot of all is that of missing cells.
    """
    rows, columns = x.shape
    classes = scores.shape[1]
    missing = table.shape[0] - classes
    slots = np.zeros((4, columns), np.uint32)  # unsigned, so that no index is counted from the end
    for row in range(0, rows, 4):
        height = min(4, rows - row)
        for r in range(height):
            for j in range(columns):
                code = x[row + r, j]
                slots[r, j] = starts[j] + min(code, sizes[j]) * classes if code >= 0 else missing
        add_slots(slots, height, table, scores, row)


@Exact
def add_levels(x, starts, sizes, table, check, gaps, scores):
    """Add what ``add_coded`` adds for levels x[row, j], up to the first rows with an invalid level; return their start.

    Without ``check``, levels are integers; with ``gaps``, NaN is a missing cell.
    """
    rows, columns = x.shape
    classes = scores.shape[1]
    missing = table.shape[0] - classes
    slots = np.zeros((4, columns), np.uint32)
    for row in range(0, rows, 4):
        height = min(4, rows - row)
        valid = True
        for r in range(height):
            lowest = x[row, 0]
            for j in range(columns):
                if check is None:
                    lowest = min(lowest, x[row + r, j])
                elif gaps is None or x[row + r, j] == x[row + r, j]:
                    valid &= (x[row + r, j] >= 0) & (x[row + r, j] <= LARGEST)
            if check is None:
                valid &= lowest >= 0
        if not valid:
            return int(row)
        for r in range(height):
            for j in range(columns):
                if gaps is not None and x[row + r, j] != x[row + r, j]:
                    slots[r, j] = missing
                else:
                    slots[r, j] = starts[j] + (int(x[row + r, j]) if x[row + r, j] < sizes[j] else sizes[j]) * classes
        add_slots(slots, height, table, scores, row)
    return int(rows)


@Scorer
def add_linear_sparse(starts, columns, values, threshold, weights, scores):
    """Add Σⱼ w[j, class]·x[row, j] over the stored cells, as ``add_complete`` does over all."""
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
