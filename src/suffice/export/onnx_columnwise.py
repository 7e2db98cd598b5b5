"""Terms that are sums over columns, as ONNX.

A translator returns a tensor [row, class]. Classes are written one after the other, so that no tensor is larger than
[row, column].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.export.onnx_cells import Cells
from suffice.export.onnx_graph import Tensor
from suffice.schema import Array, starts_of
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
from suffice.statistics.kernel_arguments import comparable

# Values of so many columns are looked up at once.
COLUMNS_AT_ONCE = 16

# The arguments of log Γ are raised by so much, from where on Stirling's series has all digits of a double.
SHIFT = 8

# The coefficients of 1/z, 1/z³, 1/z⁵, … in Stirling's series.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def translate_look_up(term: LookUp, cells: Cells) -> Tensor:
    """Write Σⱼ table[class, starts[j] + min(code, sizes[j])]; a missing cell adds 0."""
    return look_up(term.table, term.sizes, cells.read_slots(np.ones(len(term.sizes))))


def look_up(table: Array, sizes: Array, codes: Tensor) -> Tensor:
    """Write the sum over columns of what a table [class, slot] holds for the code of each."""
    ends = np.cumsum(sizes + 1)
    wide = np.insert(table, ends, 0.0, axis=1)  # after the slots of a column, one for its missing cells
    slots = codes.graph.where(codes < 0, sizes + 1, codes) + starts_of(sizes + 2)
    return sum_rows(np.ascontiguousarray(wide.T), slots.transpose(), len(sizes))


def sum_rows(table: Array | Tensor, places: Tensor, count: int) -> Tensor:
    """Write the sum of the rows of a table [place, class] at places [column, row], as a tensor [row, class].

    Sums over the first axis are several times as fast as those over another one.
    """
    parts = []
    for first in range(0, count, COLUMNS_AT_ONCE):
        last = min(first + COLUMNS_AT_ONCE, count)
        own = places if last - first == count else places.part(first, last, 0)
        parts.append(places.graph.add("Gather", table, own).sum(0))
    return places.graph.total(parts)


def translate_linear(term: Linear, cells: Cells) -> Tensor:
    """Write Σⱼ biases + weights·xⱼ, and ``limit`` where ``veto`` is positive."""
    x = cells.filled
    if term.threshold is not None:
        limit = float(comparable(term.threshold, np.dtype(cells.inputs.dtype)))
        x = (cells.numbers > limit).cast("float64")
    found = _sum_products(term, x, cells)
    if term.veto is None:
        return found
    return cells.graph.where(_sum_products(term.veto, x, cells) > 0.0, term.limit, found)


def translate_complete_linear(term: CompleteLinear, cells: Cells) -> Tensor:
    """Write a linear term that is NaN for a row with a missing cell."""
    is_incomplete = cells.is_missing.any(1, keep=True)
    return cells.graph.where(is_incomplete, np.nan, translate_linear(term, cells))


def translate_products(term: Products, cells: Cells) -> Tensor:
    """Write Σᵢⱼ weights·xᵢ·xⱼ; a linear term beside it sees to rows with missing cells."""
    x = cells.filled
    return cells.graph.concat([((x @ weights) * x).sum(1, keep=True) for weights in term.weights])


def _sum_products(term: Linear, x: Tensor, cells: Cells) -> Tensor:
    found = x @ np.ascontiguousarray(term.weights.T)
    return found + cells.present @ np.ascontiguousarray(term.biases.T) if term.biases.any() else found


def translate_quadratic(term: Quadratic, cells: Cells) -> Tensor:
    """Write Σⱼ peak − scale·(xⱼ − centre − tail)²."""

    def write(k: int) -> Tensor:
        away = _distance(term, k, cells)
        return weigh(away * away, -term.scale[k])

    return _by_class(term.peak, write, cells)


def translate_log_quadratic(term: LogQuadratic, cells: Cells) -> Tensor:
    """Write Σⱼ peak − exponent·log(1 + scale·(xⱼ − centre − tail)²)."""

    def write(k: int) -> Tensor:
        away = _distance(term, k, cells)
        return weigh((away * away * term.scale[k]).log1p(), -term.exponent[k])

    return _by_class(term.peak, write, cells)


def _distance(term: Quadratic | LogQuadratic, k: int, cells: Cells) -> Tensor:
    """Write x − centre − tail, 0 for a missing cell."""
    away: Tensor = cells.filled - term.centre[k]
    if term.tail[k].any():
        away = away - term.tail[k]
    return away * cells.present


def weigh(x: Tensor, weights: Array) -> Tensor:
    """Write the weighted sum of the columns of x, [row, 1]."""
    return x @ weights[:, None]


def _by_class(peak: Array, write: Callable[[int], Tensor], cells: Cells) -> Tensor:
    found = cells.graph.concat([write(k) for k in range(len(peak))])
    return found + cells.present @ np.ascontiguousarray(peak.T)


def translate_log_gamma(term: LogGamma, cells: Cells) -> Tensor:
    """Write weight·Σⱼ (log Γ(a + xⱼ) − log Γ(a)); a missing cell is a count of 0, which adds 0."""
    parts = [log_rising(a, cells.filled).sum(1, keep=True) for a in term.a]
    return cells.graph.concat(parts) * term.weight


def translate_log_gamma_of_rest(term: LogGammaOfRest, cells: Cells) -> Tensor:
    """Write Σⱼ (log Γ(a + trials − xⱼ) − log Γ(a + trials)); a missing cell is a count of 0, which adds 0."""
    rest = cells.graph.where(cells.filled > term.trials, 0.0, term.trials - cells.filled)
    parts = [(log_rising(a, rest) - high).sum(1, keep=True) for a, high in zip(term.a, term.highest, strict=True)]
    return cells.graph.concat(parts)


def translate_log_gamma_of_total(term: LogGammaOfTotal, cells: Cells) -> Tensor:
    """Write log Γ(a) − log Γ(a + Σⱼ xⱼ)."""
    return -log_rising(term.a, cells.filled.sum(1, keep=True))


def log_rising(a: Array, x: Tensor) -> Tensor:
    """Write log Γ(a + x) − log Γ(a) for x ≥ 0, by Stirling's formula for b = a + `SHIFT`.

    log Γ(b + x) − log Γ(b) = (b + x − ½)·log(1 + x/b) + x·log b − x + S(b + x) − S(b), with the series S. What the
    shift adds is subtracted as log Πᵢ (a + x + i)/(a + i).
    """
    b = a + SHIFT
    top: Tensor = x + b
    inverse = 1.0 / top
    square = inverse * inverse
    series = square * STIRLING[-1] + STIRLING[-2]
    for coefficient in STIRLING[-3::-1]:
        series = series * square + coefficient
    stirling: Tensor = (top - 0.5) * (x / b).log1p() + x * (np.log(b) - 1.0) + series * inverse
    shift = x * (1 / (a + 1)) + 1.0
    for i in range(2, SHIFT):
        shift = shift * (x * (1 / (a + i)) + 1.0)
    start = sum(coefficient / b ** (2 * i + 1) for i, coefficient in enumerate(STIRLING))
    return stirling - start - shift.log() - ((x + a).log() - np.log(a))
