"""The bin of each number, and the choice of cells."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from suffice.kernels.compiler import Kernel

# Numbers of a column that are cut together: each step is a loop over so many, without branches, in vector registers.
TOGETHER = 256

# The bits of a number without its sign.
LARGEST_INTEGER = (1 << 63) - 1

# The edges of a column are compared one after the other with all numbers if there are at most FEW_EDGES: reading other
# edges for each number, as a binary search does, is slower in vector registers. Not in a piece with fewer numbers than
# MANY, for which the kernel may not be compiled yet.
FEW_EDGES, MANY = 64, 50_000


@Kernel
def cut(x, edges, ends, places, codes):
    """Write the number of edges at or below each value to ``codes``; −1 for a missing value.

    ``edges`` are those of all columns, ``ends`` the place after the last edge of each column, and ``places`` the column
    of ``codes`` that is written. Return NaN if a value is infinite.
    """
    rows, columns = x.shape
    poison = 0.0
    values = np.empty(min(TOGETHER, rows))
    found = np.empty(min(TOGETHER, rows), np.intp)
    for top in range(0, rows, TOGETHER):
        count = min(TOGETHER, rows - top)
        first = 0
        for j in range(columns):
            for row in range(count):
                value = x[top + row, j]
                values[row] = value
                found[row] = first
                poison += value * 0.0 if value == value else 0.0
            length = ends[j] - first
            if length <= FEW_EDGES and rows * columns >= MANY:
                for edge in range(first, ends[j] - 3, 4):  # four at once: `found` is read and written less often
                    a, b, c, d = edges[edge], edges[edge + 1], edges[edge + 2], edges[edge + 3]
                    for row in range(count):
                        value = values[row]
                        found[row] += (a <= value) + (b <= value) + (c <= value) + (d <= value)
                for edge in range(ends[j] - length % 4, ends[j]):
                    for row in range(count):
                        found[row] += edges[edge] <= values[row]
                length = 0
            while length > 0:
                half = (length + 1) >> 1
                for row in range(count):
                    low = found[row]
                    found[row] = low + half * (edges[low + half - 1] <= values[row])
                length -= half
            for row in range(count):
                codes[top + row, places[j]] = found[row] - first if values[row] == values[row] else -1
            first = ends[j]
    return poison


def key_of(bits):
    """Return the integer key of a double, which has the order of the numbers, from its bits."""
    return ((bits & LARGEST_INTEGER) ^ (bits >> 63)) - (bits >> 63)


@Kernel
def split_cells(numbers, held, below, edges, sizes, intervals):
    """Append the edges at which the cells of each column are split to ``edges``, and their number to ``sizes``.

    ``numbers`` are the bits of the sorted numbers, [column, row], of which the first ``held`` are not missing.
    ``below`` is the weight of the rows before each, in one line if it is the same for all columns. ``intervals`` is a
    buffer for the first row and the row after the last of each cell.
    """
    for column in range(numbers.shape[0]):
        line = column if below.shape[0] > 1 else 0
        intervals[0, 0] = 0
        intervals[1, 0] = held[column]
        count = 1 if held[column] > 0 else 0  # of cells that may be split
        cells = count
        while count > 0 and cells < intervals.shape[1]:
            best = 0
            most = -1.0
            for place in range(count):
                weight = below[line, intervals[1, place]] - below[line, intervals[0, place]]
                if weight > most or (weight == most and intervals[0, place] < intervals[0, best]):
                    most = weight
                    best = place
            first = intervals[0, best]
            last = intervals[1, best]
            low = key_of(numbers[column, first])
            high = key_of(numbers[column, last - 1])
            if low == high:  # one value cannot be split: the last cell takes its place
                count -= 1
                intervals[0, best] = intervals[0, count]
                intervals[1, best] = intervals[1, count]
            else:
                # the key with the most trailing zeros that is above low and not above high
                edge = 0
                if low >= 0 or high < 0:
                    bits = low ^ high
                    bits |= bits >> 1  # all bits up to the highest that differs
                    bits |= bits >> 2
                    bits |= bits >> 4
                    bits |= bits >> 8
                    bits |= bits >> 16
                    bits |= bits >> 32
                    edge = high & ~(bits >> 1)
                start = first
                stop = last
                while start < stop:
                    middle = (start + stop) // 2
                    if key_of(numbers[column, middle]) < edge:
                        start = middle + 1
                    else:
                        stop = middle
                intervals[1, best] = start
                intervals[0, count] = start
                intervals[1, count] = last
                count += 1
                cells += 1
                edges[column, sizes[column]] = edge
                sizes[column] += 1
