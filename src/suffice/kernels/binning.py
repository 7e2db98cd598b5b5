"""The bin of each number."""

# mypy: allow-untyped-defs, allow-untyped-calls

from suffice.kernels.compiler import Kernel


@Kernel
def cut(x, edges, ends, places, codes):
    """Write the number of edges at or below each value to ``codes``; −1 for a missing value.

    ``edges`` are those of all columns, ``ends`` the place after the last edge of each column, and ``places`` the column
    of ``codes`` that is written. Return NaN if a value is infinite.
    """
    rows, columns = x.shape
    poison = 0.0
    for row in range(rows):
        first = 0
        for j in range(columns):
            value = x[row, j]
            last = ends[j]
            code = -1
            if value == value:
                poison += value * 0.0
                low = first
                high = last
                while low < high:
                    middle = (low + high) // 2
                    if edges[middle] <= value:
                        low = middle + 1
                    else:
                        high = middle
                code = low - first
            codes[row, places[j]] = code
            first = last
    return poison
