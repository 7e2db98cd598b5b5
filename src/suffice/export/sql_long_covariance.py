"""`TriangularSolve` and `LowRank` as joins with the factors of each pattern of missing cells."""

from itertools import combinations

import numpy as np

from suffice.export.sql_covariance import MIN_COEFFICIENT, MIN_MEAN
from suffice.export.sql_expressions import TINY, Expression
from suffice.export.sql_long_cells import LongCells
from suffice.export.sql_long_columnwise import by_class
from suffice.schema import Array
from suffice.score import LowRank, TriangularSolve

# Numbers of the factors of all patterns: patterns with few missing cells come first.
MAX_FACTORS = 200_000

# The pattern of a row that has no factors. Patterns are sums of powers of 2, for as many columns as fit a double.
MAX_PATTERN_COLUMNS = 50


def translate_triangular_solve(term: TriangularSolve, cells: LongCells) -> list[Expression]:
    """Add the log density of the cells that are not missing: peak − f(|L⁻¹·(x − mean)|²), with L·Lᵀ their covariance.

    Each pattern of missing cells has factors L⁻¹ of its own, as far as they are few enough; the result of other
    rows is NULL.
    """
    query, row, classes = cells.query, cells.query.id, range(cells.query.class_count)
    patterns = _patterns(term)
    factors, peaks = _factors(term, patterns)
    table = query.parameters.add_arrays(query.new_name("factors"), *factors)
    densities = query.parameters.add_arrays(query.new_name("densities"), *peaks)
    array = cells.numbers(is_squared=True)
    missing = _missing(
        cells, array, [1 << j if term.mean.shape[1] <= MAX_PATTERN_COLUMNS else 1 for j in range(term.mean.shape[1])]
    )
    parts = ", ".join(f"r.{name}" for name in query.parts(array))
    keyed = query.add_common("patterns", f'SELECT r.{row}, {parts}, {missing} AS "pattern" FROM {query.cells} AS r')
    x = query.pick("r", array, 'p."col"')
    carried = ", ".join(f"p.f{k}, p.m{k}" for k in classes)
    inner = (
        f'SELECT r.{row}, p."line", {x} AS "x", {carried} '
        f'FROM {keyed} AS r JOIN {table} AS p ON p."pattern" = r."pattern"'
    )
    products = ", ".join(f'SUM(p.f{k} * (p."x" - p.m{k})) AS "z{k}"' for k in classes)
    solved = query.add_common(
        "solved", f'SELECT p.{row}, p."line", {products} FROM ({inner}) AS p GROUP BY p.{row}, p."line"'
    )
    squares = ", ".join(f"SUM({_square(cells, f'z.z{k}')}) AS d{k}" for k in classes)
    distances = query.add_common("distances", f"SELECT z.{row}, {squares} FROM {solved} AS z GROUP BY z.{row}")
    results = ", ".join(
        f'CASE WHEN d.{row} IS NULL THEN p.p{k} ELSE {_density(term, k)} END AS "c{k}"' for k in classes
    )
    found = query.join_scores(
        "density",
        f'SELECT r.{row}, {results} FROM {keyed} AS r JOIN {densities} AS p ON p."pattern" = r."pattern" '
        f"LEFT JOIN {distances} AS d ON d.{row} = r.{row}",
    )
    if len(patterns) < 1 << term.mean.shape[1]:
        query.null_conditions.append(_is_unknown(cells, found))
    return found


def _density(term: TriangularSolve, k: int) -> str:
    """Return the log density from d², the square of the distance."""
    return f"p.p{k} - 0.5e0 * d.d{k}" if term.dof is None else f"p.p{k} - p.e{k} * LN(1e0 + p.n{k} * d.d{k})"


def translate_low_rank(term: LowRank, cells: LongCells) -> list[Expression]:
    """Add what differs between classes: with a shared covariance Σ it is linear in x."""
    query, row = cells.query, cells.query.id
    middle = term.mean.mean(axis=0)
    away = term.mean - middle
    slopes = term.slopes(away)
    biases = -0.5 * (away * slopes).sum(axis=1)
    count = len(middle)
    values = {"m": middle} | by_class("s", slopes) | by_class("b", np.repeat(biases[:, None] / count, count, axis=1))
    table = query.parameters.add_arrays(query.new_name("slopes"), {"col": np.arange(1, count + 1)}, values)
    array = cells.numbers(is_squared=True)
    x = query.pick("r", array, 'p."col"')
    names = ", ".join(f'p."{name}"' for name in values)
    inner = f'SELECT r.{row}, {x} AS "x", {names} FROM {query.cells} AS r CROSS JOIN {table} AS p'
    sums = ", ".join(f'SUM(p.b{k} + p.s{k} * (p."x" - p."m")) AS "c{k}"' for k in range(query.class_count))
    text = f'SELECT p.{row}, {sums} FROM ({inner}) AS p GROUP BY p.{row} HAVING COUNT(p."x") = {count}'
    found = query.join_scores("line", text)
    query.null_conditions.append(_is_unknown(cells, found))
    return found


def _is_unknown(cells: LongCells, found: list[Expression]) -> Expression:
    """Return the condition that a row has no density, as a column of the stage of scores."""
    return cells.query.add_unknown(found[0])


def _patterns(term: TriangularSolve) -> list[tuple[int, ...]]:
    """Return the columns that are missing, for as many patterns as are allowed, and always for all or none."""
    count = term.mean.shape[1]
    size = count * (count + 1) // 2 * len(term.mean)
    found: list[tuple[int, ...]] = [(), tuple(range(count))] if count else [()]
    for missing in range(1, count if count <= MAX_PATTERN_COLUMNS else 1):
        own = list(combinations(range(count), missing))
        if (len(found) + len(own)) * size > MAX_FACTORS:
            break
        found += own
    return found


Arrays = tuple[dict[str, Array], dict[str, Array]]


def _factors(term: TriangularSolve, patterns: list[tuple[int, ...]]) -> tuple[Arrays, Arrays]:
    """Return L⁻¹ and the mean for each pattern, line and column; and the peak for each pattern, with Student's t."""
    classes, count = range(len(term.mean)), term.mean.shape[1]
    codes, keys, values, peaks = [], [np.zeros((0, 3), np.int64)], [np.zeros((0, 2 * len(classes)))], []
    for missing in patterns:
        code = sum(1 << j if count <= MAX_PATTERN_COLUMNS else 1 for j in missing)
        places = np.setdiff1d(np.arange(count), missing).astype(np.intp)
        inverses, tops = zip(*(_invert(term, k, places) for k in classes), strict=True)
        dof = np.ones(len(classes)) if term.dof is None else term.dof
        codes.append(code)
        peaks.append([tops, (dof + len(places)) / 2, 1 / dof])
        i, j = np.tril_indices(len(places))
        keys.append(np.stack([np.full(len(i), code), i, places[j] + 1], axis=1))
        factors, means = np.stack(inverses)[:, i, j].T, term.mean[:, places[j]].T
        small = (np.abs(factors) < MIN_COEFFICIENT, np.abs(means) < MIN_MEAN)
        values.append(np.hstack([np.where(small[0], 0.0, factors), np.where(small[1], 0.0, means)]))
    key, value, top = np.concatenate(keys), np.concatenate(values), np.array(peaks, np.float64)
    found = {f"{name}{k}": value[:, len(classes) * place + k] for place, name in enumerate("fm") for k in classes}
    names = "p" if term.dof is None else "pen"
    facts = {f"{name}{k}": top[:, place, k] for place, name in enumerate(names) for k in classes}
    lines = {"pattern": key[:, 0], "line": key[:, 1], "col": key[:, 2]}
    return (lines, found), ({"pattern": np.array(codes, np.int64)}, facts)


def _invert(term: TriangularSolve, k: int, places: Array) -> tuple[Array, float]:
    """Return L⁻¹ of some columns, and the log density at their mean, 0 without columns."""
    if not len(places):
        return np.zeros((0, 0)), 0.0
    lower = np.linalg.cholesky(term.covariance_of(k)[np.ix_(places, places)])
    log_det = 2 * float(np.log(np.diagonal(lower)).sum())
    return np.linalg.inv(lower), float(term.log_density(np.zeros(()), log_det, len(places), k))


def _missing(cells: LongCells, array: str, values: list[int]) -> str:
    """Return the sum of the values of all missing cells."""
    parts = cells.query.elements("r", array)
    addends = [f"CASE WHEN {part} IS NULL THEN {value} ELSE 0 END" for part, value in zip(parts, values, strict=True)]
    return " + ".join(addends) or "0"


def _square(cells: LongCells, z: str) -> str:
    if not cells.query.dialect.underflow_is_error:
        return f"{z} * {z}"
    return f"(ABS({z}) + {TINY!r}) * (ABS({z}) + {TINY!r})"
