"""The bin of each number."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from suffice.kernels.compiler import Kernel

# Numbers of a column that are cut together: each step is a loop over so many, without branches, in vector registers.
TOGETHER = 256


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
