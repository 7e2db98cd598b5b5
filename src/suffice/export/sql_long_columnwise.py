"""Terms that are a sum over columns, as joins with tables of their parameters: one row for each column or level."""

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from suffice.export.dialects import ExportError
from suffice.export.sql_cells import IN_PYTHON
from suffice.export.sql_columnwise import LARGE, SHIFT
from suffice.export.sql_expressions import TINY, Expression
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_parameters import number_text
from suffice.schema import Array
from suffice.score import (
    CompleteLinear,
    Linear,
    LogGamma,
    LogGammaOfRest,
    LogGammaOfTotal,
    LogQuadratic,
    LookUp,
    Products,
    Quadratic,
)

# √scale·|x − centre| above this has no square, and makes a class impossible.
MAX_DEVIATION = "1e150"

# Smaller products of two cells count as 0.
MIN_PRODUCT = "1e-150"

IMPOSSIBLE_TEXT = number_text(-np.inf)


def by_class(name: str, table: Array) -> dict[str, Array]:
    """Return the columns of an array [class, row] by their names, c0, c1, …."""
    return {f"{name}{k}": line for k, line in enumerate(np.asarray(table, np.float64))}


def add_slots(cells: LongCells, sizes: Array) -> str:
    """Add the table of the slots of a block's cells that are not missing: row, column and slot; return its name."""
    query, key = cells.query, ("slots", cells.first)
    if key not in query.known:
        count = len(sizes)
        ends = np.cumsum(sizes + 1)
        columns = query.parameters.add_arrays(
            f"columns{cells.first}", {"col": np.arange(1, count + 1)}, {"slot": ends - sizes - 1}
        )
        code = query.pick("r", cells.codes(count), 'd."col"')
        text = (
            f'SELECT r.{query.id}, d."col", CAST(d."slot" AS BIGINT) + {code} AS "slot" '
            f"FROM {query.cells} AS r CROSS JOIN {columns} AS d WHERE {code} IS NOT NULL"
        )
        query.known[key] = query.add_common(f"slots{cells.first}", text)
    return str(query.known[key])


def translate_look_up(term: LookUp, cells: LongCells) -> list[Expression]:
    """Add Σⱼ table[class, slot of xⱼ]."""
    query, slots = cells.query, add_slots(cells, term.sizes)
    table = query.parameters.add_arrays(
        query.new_name("levels"), {"slot": np.arange(term.table.shape[1])}, by_class("c", term.table)
    )
    sums = ", ".join(f'SUM(p."c{k}") AS "c{k}"' for k in range(query.class_count))
    text = (
        f'SELECT s.{query.id}, {sums} FROM {slots} AS s JOIN {table} AS p ON p."slot" = s."slot" GROUP BY s.{query.id}'
    )
    return query.join_scores("look_up", text)


def translate_linear(term: Linear, cells: LongCells) -> list[Expression]:
    """Add Σⱼ bias + weight·x, of bits x > threshold if there is one; impossible values have `IMPOSSIBLE`."""
    if term.veto is not None and term.limit > 0:
        raise ExportError(
            f"{cells.description}: a value makes a class infinitely likely, which no number in SQL stands for; "
            f"use a prior (alpha) greater than 0, {IN_PYTHON}"
        )
    has_biases = bool(term.biases.any())
    values = by_class("w", term.weights) | (by_class("b", term.biases) if has_biases else {})
    if term.veto is not None:
        values |= by_class("v", term.veto.weights) | by_class("o", term.veto.biases)

    def write(x: str, k: int) -> str:
        if term.threshold is not None:
            x = f"(CASE WHEN {x} > {number_text(term.threshold)} THEN 1e0 ELSE 0e0 END)"
        line = f'p."b{k}" + p."w{k}" * {x}' if has_biases else f'p."w{k}" * {x}'
        if term.veto is None:
            return line
        return f'CASE WHEN p."o{k}" + p."v{k}" * {x} > 0 THEN {IMPOSSIBLE_TEXT} ELSE {line} END'

    return sum_columns("linear", cells, values, write)


def translate_complete_linear(term: CompleteLinear, cells: LongCells) -> list[Expression]:
    """Add Σⱼ bias + weight·x; the results of a row are NULL if one of its cells is missing."""
    values = by_class("w", term.weights) | by_class("b", term.biases)
    found = sum_columns("linear", cells, values, lambda x, k: f'p."b{k}" + p."w{k}" * {x}', is_complete=True)
    cells.query.null_conditions.append(cells.query.add_unknown(found[0]))
    return found


def translate_products(term: Products, cells: LongCells) -> list[Expression]:
    """Add Σᵢ≤ⱼ weight·xᵢ·xⱼ; a linear term beside it sees to rows with missing cells."""
    query, (i, j) = cells.query, np.triu_indices(term.weights.shape[1])
    weights = np.where(i == j, 1.0, 2.0) * term.weights[:, i, j]
    table = query.parameters.add_arrays(
        query.new_name("products"), {"one": i + 1, "other": j + 1}, by_class("w", weights)
    )
    array = cells.numbers(is_squared=True)
    x, y = (query.pick("r", array, f'p."{name}"') for name in ("one", "other"))
    carried = ", ".join(f'p."w{k}"' for k in range(query.class_count))
    inner = f'SELECT r.{query.id}, {x} * {y} AS "x", {carried} FROM {query.cells} AS r CROSS JOIN {table} AS p'
    # a product with a smaller number may be too small for a double, which is an error in PostgreSQL
    is_negligible = f'ABS(p."x") < {MIN_PRODUCT}'
    sums = ", ".join(
        f'SUM(CASE WHEN {is_negligible} THEN 0e0 ELSE p."w{k}" * p."x" END) AS "c{k}"' for k in range(query.class_count)
    )
    return query.join_scores("products", f"SELECT p.{query.id}, {sums} FROM ({inner}) AS p GROUP BY p.{query.id}")


def translate_quadratic(term: Quadratic, cells: LongCells) -> list[Expression]:
    """Add Σⱼ peak − scale·(x − centre − tail)²."""

    def write(x: str, k: int) -> str:
        z = deviation(cells, x, k)
        return f'CASE WHEN {z} < {MAX_DEVIATION} THEN p."p{k}" - {z} * {z} ELSE {IMPOSSIBLE_TEXT} END'

    return sum_columns("quadratic", cells, squares(term) | by_class("p", term.peak), write, is_squared=True)


def translate_log_quadratic(term: LogQuadratic, cells: LongCells) -> list[Expression]:
    """Add Σⱼ peak − exponent·log(1 + scale·(x − centre − tail)²)."""

    def write(x: str, k: int) -> str:
        z = deviation(cells, x, k)
        log = f"CASE WHEN {z} < {MAX_DEVIATION} THEN LN(1e0 + {z} * {z}) ELSE 2e0 * LN({z}) END"
        return f'p."p{k}" - p."e{k}" * {log}'

    values = squares(term) | by_class("p", term.peak) | by_class("e", term.exponent)
    return sum_columns("log_quadratic", cells, values, write, is_squared=True)


def squares(term: Quadratic | LogQuadratic) -> dict[str, Array]:
    """Return the centres, their tails and the roots of the scales."""
    return by_class("m", term.centre) | by_class("t", term.tail) | by_class("r", np.sqrt(term.scale))


def deviation(cells: LongCells, x: str, k: int) -> str:
    """Return √scale·|x − centre − tail|; with a tiny addend where the underflow of its square is an error."""
    found = f'ABS(p."r{k}" * ({x} - p."m{k}" - p."t{k}"))'
    return f"({found} + {TINY!r})" if cells.query.dialect.underflow_is_error else found


def translate_log_gamma(term: LogGamma, cells: LongCells) -> list[Expression]:
    """Add weight·Σⱼ (log Γ(a + x) − log Γ(a))."""

    def write(x: str, k: int) -> str:
        rising = log_rising(x, f'p."a{k}"', f'p."g{k}"')
        return rising if term.weight == 1 else f"{number_text(term.weight)} * ({rising})"

    return sum_columns("log_gamma", cells, gammas(term.a), write)


def translate_log_gamma_of_total(term: LogGammaOfTotal, cells: LongCells) -> list[Expression]:
    """Add log Γ(a) − log Γ(a + n), with n the sum of all cells that are not missing."""
    query = cells.query
    table = query.parameters.add_arrays(query.new_name("total"), {"one": [1]}, gammas(term.a[:, None]))
    results = (f'-({log_rising("t.n", f"p.a{k}", f"p.g{k}")}) AS "c{k}"' for k in range(query.class_count))
    text = f"SELECT t.{query.id}, {', '.join(results)} FROM {cells.add_totals()} AS t CROSS JOIN {table} AS p"
    return query.join_scores("total", text)


def translate_log_gamma_of_rest(term: LogGammaOfRest, cells: LongCells) -> list[Expression]:
    """Add Σⱼ log Γ(a + trials − x) − log Γ(a + trials)."""
    trials = number_text(term.trials)

    def write(x: str, k: int) -> str:
        rest = f"(CASE WHEN {x} > {trials} THEN 0e0 ELSE {trials} - {x} END)"
        rising = log_rising(rest, f'p."a{k}"', f'p."g{k}"')
        return f'{rising} - p."h{k}"'

    return sum_columns("rest", cells, gammas(term.a) | by_class("h", term.highest), write)


def gammas(a: Array) -> dict[str, Array]:
    """Return a, and the constant of Stirling's series."""
    r = a + SHIFT
    constant = np.where(a > LARGE, -1 / (12 * a), 0.5 * np.log(2 * np.pi) - r - gammaln(a))
    return by_class("a", a) | by_class("g", constant)


def log_rising(x: str, a: str, constant: str) -> str:
    """Return log Γ(a + x) − log Γ(a) by Stirling's series, as in `sql_columnwise.log_rising`."""
    r = f"({x} + {a} + {SHIFT}e0)"
    product = " * ".join(f"({x} + {a} + {step}e0)" for step in range(SHIFT))
    large = f"({x} + {a} - 0.5e0) * LN(1e0 + {x} / {a}) + {x} * (LN({a}) - 1e0) + 1e0 / (12e0 * ({x} + {a}))"
    cube, fifth = f"({r} * {r} * {r})", f"({r} * {r} * {r} * {r} * {r})"
    series = f"1e0 / (12e0 * {r}) - 1e0 / (360e0 * {cube}) + 1e0 / (1260e0 * {fifth})"
    small = f"({r} - 0.5e0) * LN({r}) - {x} + {series} - LN({product})"
    return f"CASE WHEN {a} > {number_text(LARGE)} THEN {large} ELSE {small} END + {constant}"


def sum_columns(
    name: str,
    cells: LongCells,
    values: dict[str, Array],
    write: Callable[[str, int], str],
    *,
    is_squared: bool = False,
    is_complete: bool = False,
) -> list[Expression]:
    """Add the sum over the columns that are not missing of what ``write`` returns for a cell and a class.

    If ``is_complete``, rows with a missing cell have no sum.
    """
    query, count = cells.query, cells.width
    table = query.parameters.add_arrays(query.new_name(name), {"col": np.arange(1, count + 1)}, values)
    inner = cells.unpivot(table, values, is_squared=is_squared)
    sums = ", ".join(f'SUM({write("p.x", k)}) AS "c{k}"' for k in range(query.class_count))
    text = f'SELECT p.{query.id}, {sums} FROM ({inner}) AS p WHERE p."x" IS NOT NULL GROUP BY p.{query.id}'
    if is_complete:
        text += f" HAVING COUNT(*) = {count}"
    return query.join_scores(name, text)
