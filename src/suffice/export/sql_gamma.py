"""Terms of the Γ function, as SQL: `LogGamma` and `LogGammaOfTotal`."""

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

from suffice.export.sql_cells import Cells
from suffice.export.sql_columnwise import ByClass, by_class_and_column
from suffice.export.sql_expressions import Expression, add, ln, multiply, number
from suffice.score import LogGamma, LogGammaOfTotal

# Up to this argument Γ is moved by `SHIFT` to where Stirling's series is accurate to nine digits.
LARGE, SHIFT = 1e4, 8


def translate_log_gamma(term: LogGamma, cells: Cells) -> ByClass:
    """Write weight·(log Γ(a + x) − log Γ(a)) of each column."""

    def write(k: int, j: int) -> Expression:
        rising = add(log_rising(cells.number(j), float(term.a[k, j])))
        return (rising if term.weight == 1 else term.weight * rising).if_null(0.0)

    return by_class_and_column(term.a, write)


def translate_log_gamma_of_total(term: LogGammaOfTotal, cells: Cells) -> ByClass:
    """Write log Γ(a) − log Γ(a + n), with n the sum of all cells that are not missing."""
    if not cells.names:
        return [[] for _ in term.a]
    n = cells.block_column(1, "n", add(cells.number(j).if_null(0.0) for j in range(len(cells.names))))
    return [[-add(log_rising(n, a))] for a in term.a.tolist()]


def log_rising(x: Expression, a: float) -> Iterator[Expression]:
    """Yield expressions whose sum is log Γ(a + x) − log Γ(a), by Stirling's series: few dialects have a Γ function."""
    if a > LARGE:
        # (a + x − ½)·log(1 + x/a) + x·(log a − 1) + (1/(a + x) − 1/a)/12, without a difference of large numbers
        yield (x + (a - 0.5)) * ln(1.0 + x * (1 / a))
        yield x * (np.log(a) - 1)
        yield 1 / 12 / (x + a)
        yield number(-1 / (12 * a))
        return
    # log Γ(y) = log Γ(r) − log(y·(y + 1)·…·(y + SHIFT − 1)) with r = y + SHIFT, and Stirling's series for log Γ(r)
    r = a + SHIFT
    yield (x + (r - 0.5)) * ln(x + r)
    yield -x
    yield 1 / 12 / (x + r)
    yield -1 / 360 / multiply([x + r] * 3)
    yield 1 / 1260 / multiply([x + r] * 5)
    yield -ln(multiply(x + (a + step) for step in range(SHIFT)))
    yield number(0.5 * np.log(2 * np.pi) - r - gammaln(a))
