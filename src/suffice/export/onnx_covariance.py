"""Multivariate Gaussians and Student's t, as ONNX: `TriangularSolve` and `LowRank`."""

from __future__ import annotations

import numpy as np

from suffice.export.onnx_cells import Cells
from suffice.export.onnx_graph import Tensor
from suffice.export.onnx_pairs import replace_rows
from suffice.schema import Array
from suffice.score import LowRank, TriangularSolve, log_rising

# With more columns, rows with missing cells have no probabilities: elimination takes the square of their memory.
MOST_ELIMINATED = 64


def translate_triangular_solve(term: TriangularSolve, cells: Cells) -> Tensor:
    """Write the log density, of the columns that are there; NaN for a missing cell among too many columns."""
    (factors, logs), graph, columns = term.factors, cells.graph, term.mean.shape[1]
    is_small = columns <= MOST_ELIMINATED
    x = cells.filled if is_small else cells.numbers
    squares = [
        graph.add("ReduceSumSquare", (x - mean) @ np.ascontiguousarray(factors[k if len(factors) > 1 else 0]), [1])
        for k, mean in enumerate(term.mean)
    ]
    tables = _SizeTables(term)
    complete = tables.log_density(graph.concat(squares), logs, np.array([[columns]]))
    if not is_small:
        return complete
    return replace_rows(
        complete,
        cells.is_missing.any(1),
        lambda rows: _eliminate(term, tables, cells.filled.take(rows), cells.present.take(rows)),
    )


class _SizeTables:
    """What the log density adds for each number of columns that are there, [size, class]."""

    def __init__(self, term: TriangularSolve) -> None:
        self.dof = term.dof
        sizes = np.arange(term.mean.shape[1] + 1)[:, None]
        if term.dof is None:
            self.peaks = -0.5 * np.log(2 * np.pi) * np.broadcast_to(sizes, (len(sizes), len(term.mean)))
            return
        rising = np.stack([log_rising(term.dof / 2, size / 2) for size in sizes.ravel().tolist()])
        self.peaks = rising - 0.5 * sizes * np.log(term.dof * np.pi)
        self.exponents = (term.dof + sizes) / 2

    def log_density(self, squares: Tensor, log_det: Tensor | Array, size: Tensor | Array) -> Tensor:
        """Write the log density from d² and log det [row, class], and the number of columns [row, 1]."""
        graph = squares.graph

        def take(table: Array) -> Tensor:
            return graph.add("Gather", table, size).squeeze(1)

        peak = take(self.peaks) - 0.5 * log_det
        if self.dof is None:
            return peak - squares * 0.5
        return peak - take(self.exponents) * (squares / self.dof).log1p()


def _eliminate(term: TriangularSolve, tables: _SizeTables, x: Tensor, present: Tensor) -> Tensor:
    """Write the log density of the present columns, [row, class].

    In each row, the correlations of a missing column are 0, and its distance from the mean is 0, so that it adds
    nothing to d² or to log det. Gaussian elimination takes one column after the other off the matrices
    [row, class or 1, column, column].
    """
    graph, columns = x.graph, term.mean.shape[1]
    deviations = np.sqrt(np.diagonal(term.covariance, axis1=1, axis2=2))
    correlations = term.covariance / (deviations[:, :, None] * deviations[:, None, :])
    there = present.expand(1)
    matrix = there.expand(3) * there.expand(2) * (correlations - np.eye(columns)) + np.eye(columns)
    away = (x.expand(1) - term.mean) / deviations * there
    squares = log_det = None
    for j in range(columns):
        pivot, first = matrix.part(0, 1, 2).squeeze(2).part(0, 1, 2), away.part(0, 1, 2)
        square, log = first * first / pivot, pivot.log()
        squares, log_det = (square, log) if squares is None or log_det is None else (squares + square, log_det + log)
        if j == columns - 1:
            break
        line = matrix.part(0, 1, 2).squeeze(2).part(1, columns, 2)
        factor = line / pivot
        away = away.part(1, columns, 2) - factor * first
        matrix = matrix.part(1, columns, 2).part(1, columns, 3) - factor.expand(3) * line.expand(2)
    assert squares is not None
    assert log_det is not None
    scale = present @ np.ascontiguousarray(2 * np.log(deviations).T)
    size = graph.add("Round", present.sum(1, keep=True)).cast("int64")
    return tables.log_density(squares.squeeze(2), log_det.squeeze(2) + scale, size)


def translate_low_rank(term: LowRank, cells: Cells) -> Tensor:
    """Write the log density of a Gaussian whose covariance is never formed; NaN for rows with missing cells."""
    graph, middle = cells.graph, term.mean.mean(axis=0)
    away = cells.numbers - middle
    along, places = away @ term.whitening, (term.mean - middle) @ term.whitening
    found = []
    for k in range(len(places)):
        along_axes = along - places[k]
        squares = graph.add("ReduceSumSquare", along_axes, [1])
        if term.floor > 0:
            whole = graph.add("ReduceSumSquare", (away - (term.mean[k] - middle)) / term.scale, [1])
            within = along_axes * along_axes @ term.spread[:, None]
            squares = squares + (whole - within).at_least(0.0) / term.floor
        found.append(squares)
    return (graph.concat(found) + term.log_normaliser) * -0.5
