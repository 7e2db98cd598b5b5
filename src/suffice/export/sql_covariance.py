"""Multivariate densities as SQL: `TriangularSolve` and `LowRank`."""

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from suffice.export.sql_cells import Cells
from suffice.export.sql_columnwise import ByClass
from suffice.export.sql_expressions import Expression, add, case_when, double, integer, ln, square
from suffice.schema import Array
from suffice.score import LowRank, TriangularSolve

# Up to this many columns each of the 2ⁿ patterns of missing cells has an expression of its own.
MAX_PATTERN_COLUMNS = 6

# A smaller coefficient adds nothing, because no number is greater than 1e100. A smaller mean is 0 to any deviation.
MIN_COEFFICIENT, MIN_MEAN = 1e-130, 1e-160


def translate_triangular_solve(term: TriangularSolve, cells: Cells) -> ByClass:
    """Write the log density of the cells that are not missing.

    With few columns there is one expression for each pattern of missing cells. With many columns the result of a row
    is NULL if some cells are missing and others are not.
    """
    size, classes = term.mean.shape[1], range(len(term.mean))
    if size > MAX_PATTERN_COLUMNS:
        return _complete_rows(cells, [_log_density(term, cells, k, range(size)) for k in classes], allow_empty=True)
    pattern = _add_up_missing(cells, [1 << j for j in range(size)])
    # the last pattern, in which all cells are missing, adds 0
    present = {code: [j for j in range(size) if not code >> j & 1] for code in range((1 << size) - 1)}
    by_pattern = [
        [(integer(code), _log_density(term, cells, k, places)) for code, places in present.items()] for k in classes
    ]
    return [[case_when(densities, double(0.0), key=pattern)] for densities in by_pattern]


def translate_low_rank(term: LowRank, cells: Cells) -> ByClass:
    """Write what differs between classes: with a shared covariance Σ it is linear in x.

    The slopes are Σ⁻¹·(mean − middle), with ``middle`` the mean of all classes' means.
    """
    middle = term.mean.mean(axis=0)
    away = term.mean - middle
    slopes = term.slopes(away)
    biases = -0.5 * (away * slopes).sum(axis=1)
    lines = [_line(cells, range(len(middle)), middle, *pair) for pair in zip(slopes, biases.tolist(), strict=True)]
    return _complete_rows(cells, lines, allow_empty=False)


def _complete_rows(cells: Cells, densities: list[Expression], *, allow_empty: bool) -> ByClass:
    """Write densities of rows without a missing cell; the result of other rows is NULL.

    With ``allow_empty`` a row in which all cells are missing adds 0 instead.
    """
    size = len(cells.names)
    count = _add_up_missing(cells, [1] * size)
    condition = count > integer(0)
    if allow_empty:
        condition = Expression(exp.And(this=condition.node, expression=(count < integer(size)).node))
    cells.query.null_conditions.append(condition)
    return [[case_when([(integer(0), density)], double(0.0), key=count)] for density in densities]


def _add_up_missing(cells: Cells, values: list[int]) -> Expression:
    """Add a column with the sum of the values of all missing cells; return the reference to it."""
    addends = [case_when([(_number(cells, j).is_null(), integer(value))], integer(0)) for j, value in enumerate(values)]
    return cells.block_column(1, "e", add(addends))


def _log_density(term: TriangularSolve, cells: Cells, k: int, places: Sequence[int]) -> Expression:
    """Write the log density of some columns: peak − f(|L⁻¹·(x − mean)|²), with L·Lᵀ their covariance."""
    lower = np.linalg.cholesky(term.covariance_of(k)[np.ix_(places, places)])
    inverse = np.linalg.inv(lower)
    mean = term.mean[k, places]
    if len(term.covariance) == 1 and term.dof is None:
        # shared by all classes: the squares of x cancel, and the rest is linear
        middle = term.mean.mean(axis=0)[places]
        slopes = inverse.T @ (inverse @ (mean - middle))
        return _line(cells, places, middle, slopes, -0.5 * float((mean - middle) @ slopes))
    rows = (_products(cells, places, mean, row) for row in inverse)
    squares = add(square(add(row), cells.query.dialect) for row in rows)
    size, log_det = len(places), 2 * float(np.log(np.diagonal(lower)).sum())
    peak = float(term.log_density(np.zeros(()), log_det, size, k))
    if term.dof is None:
        return peak - 0.5 * squares
    dof = float(term.dof[k])
    return peak - (dof + size) / 2 * ln(1.0 + 1 / dof * squares)


def _line(cells: Cells, places: Sequence[int], middle: Array, slopes: Array, bias: float) -> Expression:
    """Write Σⱼ slopeⱼ·(xⱼ − middleⱼ) + bias."""
    return add([*_products(cells, places, middle, slopes), double(bias)])


def _products(cells: Cells, places: Sequence[int], middle: Array, factors: Array) -> list[Expression]:
    """Write factorⱼ·(xⱼ − middleⱼ) of each column, without those that add nothing."""
    return [
        factor * (_number(cells, j) - (origin if abs(origin) >= MIN_MEAN else 0.0))
        for j, factor, origin in zip(places, factors.tolist(), middle.tolist(), strict=True)
        if abs(factor) >= MIN_COEFFICIENT
    ]


def _number(cells: Cells, j: int) -> Expression:
    return cells.number(j, is_squared=True)
