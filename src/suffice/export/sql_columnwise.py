"""Terms that are a sum over columns, as SQL: `LookUp`, `Linear`, `Quadratic` and `LogQuadratic`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sqlglot import exp

from suffice.export.dialects import ExportError
from suffice.export.sql_cells import Cells
from suffice.export.sql_expressions import (
    Expression,
    add,
    double,
    is_not_null,
    ln,
    log_probability,
    multiply,
    number,
    searched_case,
    select_by_code,
    shift,
    subtract,
    zero_if_null,
)
from suffice.schema import Array
from suffice.score import Linear, LogQuadratic, LookUp, Quadratic

# The expressions that are added to the score of each class.
ByClass = list[list[Expression]]

# With a scale above this, (x − centre)² may overflow once it is scaled.
MAX_SCALE = 1e100

# If √scale·|x − centre| is less than this, its square is negligible.
NEGLIGIBLE = 1e-20


def translate_look_up(term: LookUp, cells: Cells) -> ByClass:
    """Write CASE code WHEN 0 THEN table[class, 0] WHEN 1 … ELSE 0 END of each column."""
    slots = list(zip(term.starts.tolist(), (term.starts + term.sizes + 1).tolist(), strict=True))
    return [
        [select_by_code(cells.code(j), map(log_probability, line[a:b])) for j, (a, b) in enumerate(slots)]
        for line in term.table
    ]


def translate_linear(term: Linear, cells: Cells) -> ByClass:
    """Write bias + weight·x of each column, NULL if the value is impossible; of bits x > threshold if there is one."""
    if term.veto is not None and term.limit > 0:
        raise ExportError(
            f"{cells.description}: a value makes a class infinitely likely, which no number in SQL stands for; "
            "use a prior (alpha) greater than 0"
        )
    return [
        [_bit(term, cells, k, j) if term.threshold is not None else _line(term, cells, k, j) for j in columns]
        for k, columns in enumerate(map(np.flatnonzero, _is_relevant(term)))
    ]


def _is_relevant(term: Linear) -> Array:
    """Return where a column adds anything to the score of a class, [class, column]."""
    parts = [term] if term.veto is None else [term, term.veto]
    return np.asarray(sum((part.weights != 0) | (part.biases != 0) for part in parts))


def _bit(term: Linear, cells: Cells, k: int, j: int) -> Expression:
    """Write CASE WHEN x > threshold THEN bias + weight WHEN x IS NOT NULL THEN bias ELSE 0 END."""

    def value(bit: int) -> Expression:
        if term.veto is not None and term.veto.biases[k, j] + term.veto.weights[k, j] * bit > 0:
            return exp.null()
        return number(term.biases[k, j] + term.weights[k, j] * bit)

    is_one = cells.number(j) > number(term.threshold)
    return searched_case([(is_one, value(1)), (is_not_null(cells.number(j)), value(0))], double(0.0))


def _line(term: Linear, cells: Cells, k: int, j: int) -> Expression:
    """Write COALESCE(weight·x + bias, 0); with a veto, CASE WHEN x is impossible THEN NULL … END."""
    weight, bias = float(term.weights[k, j]), float(term.biases[k, j])
    parts = [multiply([cells.number(j), number(weight)])] if weight else []
    line = add([*parts, number(bias)] if bias or not parts else parts)
    slope, origin = (0.0, 0.0) if term.veto is None else (term.veto.weights[k, j], term.veto.biases[k, j])
    if not (slope or origin):
        return zero_if_null(line) if weight else searched_case([(is_not_null(cells.number(j)), line)], double(0.0))
    is_present = is_not_null(cells.number(j))
    if slope:  # origin + slope·x > 0
        kind = exp.GT if slope > 0 else exp.LT
        is_impossible = kind(this=cells.number(j), expression=number(-origin / slope))
        return searched_case([(is_impossible, exp.null()), (is_present, line)], double(0.0))
    return searched_case([(is_present, exp.null())], double(0.0))


def translate_quadratic(term: Quadratic, cells: Cells) -> ByClass:
    """Write peak − scale·(x − centre)² of each column."""

    def write(k: int, j: int) -> Expression:
        centre, scale = float(term.centre[k, j]), float(term.scale[k, j])
        value = subtract(number(term.peak[k, j]), _scaled_square(cells, j, centre, scale))
        if scale < MAX_SCALE:
            return zero_if_null(value)
        # nearly constant: a value far from the centre is impossible, and its scaled square would overflow
        x = cells.number(j, is_squared=True)
        is_near = exp.Abs(this=shift(x, centre)) < number(1e154 / np.sqrt(scale))
        return searched_case([(is_near, value), (is_not_null(x), exp.null())], double(0.0))

    return by_class_and_column(term.centre, write)


def translate_log_quadratic(term: LogQuadratic, cells: Cells) -> ByClass:
    """Write peak − exponent·log(1 + scale·(x − centre)²) of each column."""

    def write(k: int, j: int) -> Expression:
        centre, scale = float(term.centre[k, j]), float(term.scale[k, j])
        log = ln(add([number(1.0), _scaled_square(cells, j, centre, scale)]))
        if scale >= MAX_SCALE:
            # nearly constant: far from the centre the 1 is negligible, and the scaled square would overflow
            x = cells.number(j, is_squared=True)
            distance = exp.Abs(this=shift(x, centre))
            far = multiply([number(2.0), exp.Paren(this=add([number(0.5 * np.log(scale)), ln(distance)]))])
            log = searched_case([(distance < number(1e150 / np.sqrt(scale)), log), (is_not_null(x), far)])
        return zero_if_null(subtract(number(term.peak[k, j]), multiply([number(term.exponent[k, j]), log])))

    return by_class_and_column(term.centre, write)


def _scaled_square(cells: Cells, j: int, centre: float, scale: float) -> Expression:
    """Write scale·(x − centre)²; 0 instead of a negligible square where an underflow is an error."""

    def distance() -> Expression:
        return shift(cells.number(j, is_squared=True), centre)

    squared = multiply([number(scale), distance(), distance()])
    if not cells.query.dialect.underflow_is_error:
        return squared
    is_far = exp.GTE(this=exp.Abs(this=distance()), expression=number(NEGLIGIBLE / np.sqrt(scale)))
    is_present = is_not_null(cells.number(j, is_squared=True))
    return searched_case([(is_far, squared), (is_present, double(0.0))])


def by_class_and_column(table: Array, write: Callable[[int, int], Expression]) -> ByClass:
    """Return write(class, column) for all classes and columns of a table."""
    return [[write(k, j) for j in range(table.shape[1])] for k in range(len(table))]
