"""Terms of the Γ function, as SQL: `LogGamma` and `LogGammaOfTotal`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln
from sqlglot import exp

from suffice.export.sql_cells import Cells
from suffice.export.sql_columnwise import ByClass, by_class_and_column
from suffice.export.sql_expressions import Expression, add, column, divide, ln, multiply, number, shift, zero_if_null
from suffice.score import LogGamma, LogGammaOfTotal

# Up to this argument Γ is moved by `SHIFT` to where Stirling's series is accurate to nine digits.
LARGE, SHIFT = 1e4, 8


def translate_log_gamma(term: LogGamma, cells: Cells) -> ByClass:
    """Write log Γ(a + x) − log Γ(a) of each column."""
    return by_class_and_column(term.a, lambda k, j: zero_if_null(add(log_rising(cells.number(j), float(term.a[k, j])))))


def translate_log_gamma_of_total(term: LogGammaOfTotal, cells: Cells) -> ByClass:
    """Write log Γ(a) − log Γ(a + n), with n the sum of all cells that are not missing."""
    if not cells.names:
        return [[] for _ in term.a]
    total = add(zero_if_null(cells.number(j)) for j in range(len(cells.names)))
    name = cells.block_column(1, "n", total)
    return [[exp.Neg(this=exp.Paren(this=add(log_rising(column(name), a))))] for a in term.a.tolist()]


def log_rising(x: Expression, a: float) -> Iterator[Expression]:
    """Yield expressions whose sum is log Γ(a + x) − log Γ(a), by Stirling's series: few dialects have a Γ function."""

    def plus(value: float) -> Expression:
        return shift(x.copy(), -value)

    if a > LARGE:
        # (a + x − ½)·log(1 + x/a) + x·(log a − 1) + (1/(a + x) − 1/a)/12, without a difference of large numbers
        yield multiply([plus(a - 0.5), ln(add([number(1.0), multiply([x.copy(), number(1 / a)])]))])
        yield multiply([x.copy(), number(np.log(a) - 1)])
        yield divide(number(1 / 12), plus(a))
        yield number(-1 / (12 * a))
        return
    # log Γ(y) = log Γ(r) − log(y·(y + 1)·…·(y + SHIFT − 1)) with r = y + SHIFT, and Stirling's series for log Γ(r)
    r = a + SHIFT
    yield multiply([plus(r - 0.5), ln(plus(r))])
    yield exp.Neg(this=x.copy())
    yield divide(number(1 / 12), plus(r))
    yield divide(number(-1 / 360), exp.Paren(this=multiply(plus(r) for _ in range(3))))
    yield divide(number(1 / 1260), exp.Paren(this=multiply(plus(r) for _ in range(5))))
    yield exp.Neg(this=ln(multiply(plus(a + step) for step in range(SHIFT))))
    yield number(0.5 * np.log(2 * np.pi) - r - float(gammaln(a)))
