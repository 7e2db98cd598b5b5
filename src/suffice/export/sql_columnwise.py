"""Terms that are a sum over columns, as SQL: tables, lines, squares and logarithms of Γ."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import gammaln

from suffice.export import sql_expressions as sql
from suffice.export.dialects import ExportError
from suffice.export.sql_cells import IN_PYTHON, Cells
from suffice.export.sql_expressions import Expression
from suffice.schema import Array
from suffice.score import (
    CompleteLinear,
    Linear,
    LogGamma,
    LogGammaOfRest,
    LogGammaOfTotal,
    LogQuadratic,
    LookUp,
    Quadratic,
)

# The expressions that are added to the score of each class.
ByClass = list[list[Expression]]

# With a scale above this, scale·(x − centre)² may overflow.
MAX_SCALE = 1e100

# If √scale·|x − centre| is less than this, its square is negligible.
NEGLIGIBLE = 1e-20

# Up to this argument Γ is moved by `SHIFT` to where Stirling's series is accurate to nine digits.
LARGE, SHIFT = 1e4, 8


def translate_look_up(term: LookUp, cells: Cells) -> ByClass:
    """Write CASE code WHEN 0 THEN table[class, 0] WHEN 1 … ELSE 0 END of each column."""
    slots = list(zip(term.starts.tolist(), (term.starts + term.sizes + 1).tolist(), strict=True))
    return [[sql.select_by_code(cells.code(j), line[a:b]) for j, (a, b) in enumerate(slots)] for line in term.table]


def translate_linear(term: Linear, cells: Cells) -> ByClass:
    """Write bias + weight·x of each column, NULL if the value is impossible; of bits x > threshold if there is one."""
    if term.veto is not None and term.limit > 0:
        raise ExportError(
            f"{cells.description}: a value makes a class infinitely likely, which no number in SQL stands for; "
            f"use a prior (alpha) greater than 0, {IN_PYTHON}"
        )
    write = _write_line if term.threshold is None else _write_bit
    parts = [term] if term.veto is None else [term, term.veto]
    is_relevant = np.logical_or.reduce([(part.weights != 0) | (part.biases != 0) for part in parts])
    return [[write(term, cells, k, int(j)) for j in np.flatnonzero(line)] for k, line in enumerate(is_relevant)]


def translate_complete_linear(term: CompleteLinear, cells: Cells) -> ByClass:
    """Write a linear term; the results of a row are NULL if one of its cells is missing."""
    total = sql.add(cells.number(j) for j in range(len(cells.names)))
    cells.query.null_conditions.append(total.is_null())
    return translate_linear(term, cells)


def _write_line(term: Linear, cells: Cells, k: int, j: int) -> Expression:
    """Write COALESCE(weight·x + bias, 0); with a veto, CASE WHEN origin + slope·x > 0 THEN NULL … END."""
    x, weight, bias = cells.number(j), float(term.weights[k, j]), float(term.biases[k, j])
    line = x * weight + bias if weight else sql.number(bias)
    slope, origin = (0.0, 0.0) if term.veto is None else (term.veto.weights[k, j], term.veto.biases[k, j])
    if slope:
        is_impossible = x > -origin / slope if slope > 0 else x < -origin / slope
        return sql.case_when([(is_impossible, -np.inf), (x.is_not_null(), line)], sql.double(0.0))
    if weight and not origin:
        return line.if_null(0.0)
    return sql.case_when([(x.is_not_null(), -np.inf if origin else line)], sql.double(0.0))


def _write_bit(term: Linear, cells: Cells, k: int, j: int) -> Expression:
    """Write CASE WHEN x > threshold THEN bias + weight WHEN x IS NOT NULL THEN bias ELSE 0 END."""
    assert term.threshold is not None

    def value(bit: int) -> float:
        if term.veto is not None and term.veto.biases[k, j] + term.veto.weights[k, j] * bit > 0:
            return -np.inf
        return float(term.biases[k, j] + term.weights[k, j] * bit)

    x = cells.number(j)
    return sql.case_when([(x > term.threshold, value(1)), (x.is_not_null(), value(0))], sql.double(0.0))


def translate_quadratic(term: Quadratic, cells: Cells) -> ByClass:
    """Write peak − scale·(x − centre − tail)² of each column."""

    def write(k: int, j: int) -> Expression:
        x, away, scale = *_away(cells, term, k, j), float(term.scale[k, j])
        value = float(term.peak[k, j]) - _scaled_square(cells, x, away, scale)
        if scale < MAX_SCALE:
            return value.if_null(0.0)
        # nearly constant: a value far from the centre is impossible, and its scaled square would overflow
        is_near = abs(away) < 1e154 / np.sqrt(scale)
        return sql.case_when([(is_near, value), (x.is_not_null(), -np.inf)], sql.double(0.0))

    return by_class_and_column(term.centre, write)


def translate_log_quadratic(term: LogQuadratic, cells: Cells) -> ByClass:
    """Write peak − exponent·log(1 + scale·(x − centre − tail)²) of each column."""

    def write(k: int, j: int) -> Expression:
        x, away, scale = *_away(cells, term, k, j), float(term.scale[k, j])
        log = sql.ln(1.0 + _scaled_square(cells, x, away, scale))
        if scale >= MAX_SCALE:
            # nearly constant: far from the centre the 1 is negligible, and the scaled square would overflow
            far = 2.0 * (0.5 * np.log(scale) + sql.ln(abs(away)))
            log = sql.case_when([(abs(away) < 1e150 / np.sqrt(scale), log), (x.is_not_null(), far)])
        return (float(term.peak[k, j]) - float(term.exponent[k, j]) * log).if_null(0.0)

    return by_class_and_column(term.centre, write)


def _away(cells: Cells, term: Quadratic | LogQuadratic, k: int, j: int) -> tuple[Expression, Expression]:
    """Write the number of a column, and its distance from the centre."""
    x, tail = cells.number(j, is_squared=True), float(term.tail[k, j])
    away = x - float(term.centre[k, j])
    return x, away - tail if tail else away


def _scaled_square(cells: Cells, x: Expression, away: Expression, scale: float) -> Expression:
    """Write scale·away²; 0 instead of a negligible square where an underflow is an error."""
    squared = scale * away * away
    if not cells.query.dialect.underflow_is_error:
        return squared
    is_far = abs(away) >= NEGLIGIBLE / np.sqrt(scale)
    return sql.case_when([(is_far, squared), (x.is_not_null(), sql.double(0.0))])


def translate_log_gamma(term: LogGamma, cells: Cells) -> ByClass:
    """Write weight·(log Γ(a + x) − log Γ(a)) of each column."""

    def write(k: int, j: int) -> Expression:
        rising = sql.add(log_rising(cells.number(j), float(term.a[k, j])))
        return (rising if term.weight == 1 else term.weight * rising).if_null(0.0)

    return by_class_and_column(term.a, write)


def translate_log_gamma_of_total(term: LogGammaOfTotal, cells: Cells) -> ByClass:
    """Write log Γ(a) − log Γ(a + n), with n the sum of all cells that are not missing."""
    if not cells.names:
        return [[] for _ in term.a]
    n = cells.block_column(1, "n", sql.add(cells.number(j).if_null(0.0) for j in range(len(cells.names))))
    return [[-sql.add(log_rising(n, a))] for a in term.a.tolist()]


def translate_log_gamma_of_rest(term: LogGammaOfRest, cells: Cells) -> ByClass:
    """Write log Γ(a + trials − x) − log Γ(a + trials) of each column."""

    def write(k: int, j: int) -> Expression:
        x = cells.number(j)
        rest = sql.case_when([(x > term.trials, 0.0), (x.is_not_null(), term.trials - x)])
        rising = sql.add(log_rising(rest, float(term.a[k, j])))
        return (rising - float(term.highest[k, j])).if_null(0.0)

    return by_class_and_column(term.a, write)


def log_rising(x: Expression, a: float) -> Iterator[Expression]:
    """Yield expressions whose sum is log Γ(a + x) − log Γ(a), by Stirling's series: few dialects have a Γ function."""
    if a > LARGE:
        # (a + x − ½)·log(1 + x/a) + x·(log a − 1) + (1/(a + x) − 1/a)/12, without a difference of large numbers
        yield (x + (a - 0.5)) * sql.ln(1.0 + x * (1 / a))
        yield x * (np.log(a) - 1)
        yield 1 / 12 / (x + a)
        yield sql.number(-1 / (12 * a))
        return
    # log Γ(y) = log Γ(r) − log(y·(y + 1)·…·(y + SHIFT − 1)) with r = y + SHIFT, and Stirling's series for log Γ(r)
    r = a + SHIFT
    yield (x + (r - 0.5)) * sql.ln(x + r)
    yield -x
    yield 1 / 12 / (x + r)
    yield -1 / 360 / sql.multiply([x + r] * 3)
    yield 1 / 1260 / sql.multiply([x + r] * 5)
    yield -sql.ln(sql.multiply(x + (a + step) for step in range(SHIFT)))
    yield sql.number(0.5 * np.log(2 * np.pi) - r - gammaln(a))


def by_class_and_column(table: Array, write: Callable[[int, int], Expression]) -> ByClass:
    """Return write(class, column) for all classes and columns of a table."""
    return [[write(k, j) for j in range(table.shape[1])] for k in range(len(table))]
