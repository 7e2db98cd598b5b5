"""Numbers cut into bins."""

from __future__ import annotations

from typing import Any

from suffice.kernels.compiler import Kernel


@Kernel
def cut(x: Any, edges: Any, ends: Any, places: Any, codes: Any) -> float:
    """Write the number of cuts at or below each value, −1 where there is no value.

    ``ends`` is where each column's cuts end among all of them, ``places`` where its codes are written.
    NaN comes back where a value is infinite.
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
