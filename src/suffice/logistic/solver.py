"""Newton's method: steps that solve Hessian·step = −gradient until the loss does not decrease."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.logistic.loss import Problem
from suffice.schema import Array

# Up to this many parameters, and cells of X, the Hessian is formed and solved in each step. Beyond, it is only
# multiplied with vectors, and an approximation of it is factored.
FACTORED = 400  # solved by NumPy: the threads of SciPy's own library compete with those of NumPy's
SMALL = 1 << 20
# Beyond this many features only the diagonal of the approximation is used: the whole would be larger than the rows.
WIDE = 2500
MOST_INNER, MOST_HALVINGS = 250, 40
DIVERGED = 1e3
OVERFLOW = "the numbers of X, or 1/C, are so large that their products overflow; rescale the columns"


@dataclass(frozen=True)
class Solution:
    """The result of Newton's method.

    Attributes
    ----------
    parameters : array of shape (n_features + intercept, n_scores)
        The parameters at the minimum of the loss.
    probabilities : array of shape (n_rows, n_scores)
        P(class | x) of each row.
    trace : tuple of dict
        "objective", largest entry of the "gradient", and length of the "step" that follows, of each step.
    converged, separated, drifting : bool
        Whether the gradient vanished, whether the classes are separated perfectly, and whether some coefficients would
        grow without limit.
    """

    parameters: Array
    probabilities: Array
    trace: tuple[dict[str, float], ...]
    converged: bool
    separated: bool
    drifting: bool = False

    def problems(self, has_penalty: bool) -> list[str]:
        """Return messages if coefficients would grow without limit or the iteration did not converge."""
        messages = []
        if self.drifting and has_penalty:
            messages.append(
                "some coefficients would grow nearly without end: all rows of a class have weight 0, or the penalty is "
                "too small to hold them; leave such rows out, or lower C"
            )
        elif self.drifting:
            messages.append(
                "some coefficients have no most likely value and would grow without end: a column, or a combination of "
                "columns, has only one class on one side; set C"
            )
        if self.separated:
            messages.append(
                "the classes are separated perfectly: without a penalty coefficients grow without end; those found "
                "so far are kept. Set C"
            )
        elif not self.converged:
            messages.append(
                f"not converged after {len(self.trace) - 1} steps (max_iter): the largest entry of the gradient is "
                f"{self.trace[-1]['gradient']:.3g}; increase max_iter, or scale the columns"
            )
        return messages


@dataclass(frozen=True)
class Point:
    """Parameters, with the probabilities, log P(own class), loss and gradient of the loss that they give."""

    parameters: Array
    p: Array
    log_own: Array
    value: float
    gradient: Array

    @classmethod
    def at(cls, problem: Problem, parameters: Array) -> Point:
        p, log_own, gradient = problem.evaluate(parameters)
        return cls(parameters, p, log_own, problem.value(parameters, log_own), gradient)


def newton(problem: Problem, start: Array, *, steps: int, tolerance: float) -> Solution:
    """Return the parameters that minimise the loss.

    A step is halved until the loss decreases enough. The iteration ends when the largest entry of the gradient, per
    unit of weight, is at most ``tolerance``, or when a step gains less than rounding.
    """
    point = Point.at(problem, start)
    if not (np.isfinite(point.value) and np.isfinite(point.gradient).all()):
        raise ValueError(OVERFLOW)
    weight, trace = float(problem.row_weights.sum()), list[dict[str, float]]()
    is_exact = problem.shape[0] * problem.shape[1] <= FACTORED and bool(np.prod(problem.X.shape) <= SMALL)
    for step in range(steps + 1):
        trace.append(_trace_line(point))
        converged = trace[-1]["gradient"] <= tolerance * weight
        separated = _is_separated(problem, point, weight)
        if converged or separated or step == steps:
            break
        if is_exact:
            direction = _solve_exactly(problem, point.p, point.gradient)
        else:
            if step == 0 or (step <= 2 and problem.scores > 1):
                solve = _preconditioner(problem, point.p)
            # the accuracy grows as the gradient vanishes, so that the steps still converge superlinearly
            accuracy = min(0.1, np.sqrt(trace[-1]["gradient"] / trace[0]["gradient"]))
            direction = _solve_by_conjugate_gradients(problem, point.p, point.gradient, solve, accuracy)
        if not np.isfinite(direction).all():
            raise ValueError(OVERFLOW)
        slope, before = float((point.gradient * direction).sum()), point.value
        point, trace[-1]["step"] = _search_line(problem, point, direction, slope)
        if point.value >= before and abs(slope) <= 1e-14 * max(abs(point.value), 1e-300):
            trace.append(_trace_line(point))
            converged = True
            break
    drifting = is_exact and converged and not separated and _is_drifting(problem, point)
    return Solution(point.parameters, point.p, tuple(trace), converged, separated, drifting)


def _trace_line(point: Point) -> dict[str, float]:
    return {"objective": point.value, "gradient": float(np.abs(point.gradient).max()), "step": 0.0}


def _is_separated(problem: Problem, point: Point, weight: float) -> bool:
    """Return whether all rows are on the right side and, without a penalty, the loss tends to 0."""
    if problem.penalty != 0 or point.value >= 1e-3 * weight:
        return False
    return bool(point.log_own[problem.row_weights > 0].min() > np.log(0.5))


def _is_drifting(problem: Problem, point: Point) -> bool:
    """Return whether the loss decreases without limit: a Newton step still moves scores where the gradient is 0."""
    moved = problem.linear(_solve_exactly(problem, point.p, point.gradient))
    return bool(np.abs(moved[problem.row_weights > 0]).max() > 0.05)


def _search_line(problem: Problem, point: Point, direction: Array, slope: float) -> tuple[Point, float]:
    """Return the point after a step, and the share of the step: halved until the loss decreases enough."""
    share = 1.0
    for _ in range(MOST_HALVINGS):
        new = Point.at(problem, point.parameters + share * direction)
        if new.value <= point.value + 1e-4 * share * slope or abs(slope) * share <= 1e-15 * abs(point.value):
            break
        share /= 2
    return new, share


def _solve_exactly(problem: Problem, p: Array, gradient: Array) -> Array:
    """Return −H⁻¹·gradient with the whole Hessian H."""
    size, scores = problem.shape
    hessian = problem.hessian(p)
    if scores > 1:
        # adding a constant to all scores does not change the loss, so H is singular; the gradient has no such part
        level = np.diagonal(hessian).reshape(scores, size).mean(axis=0)
        places = np.arange(size)
        hessian.reshape(scores, size, scores, size)[:, places, :, places] += level[:, None, None] / scores
    scaled, scale = _scale_to_unit_diagonal(hessian, 1e-12)
    flat = gradient.T.ravel() / scale
    return np.asarray(-(np.linalg.solve(scaled, flat) / scale).reshape(scores, size).T)


def _scale_to_unit_diagonal(matrix: Array, ridge: float) -> tuple[Array, Array]:
    """Return the matrix with rows and columns divided by a scale, and a ridge on its diagonal; and the scale."""
    diagonal = np.diagonal(matrix)
    scale = np.sqrt(np.where(diagonal > 1e-290, diagonal, 1.0))
    return matrix / (scale[:, None] * scale) + ridge * np.eye(len(scale)), scale


def _preconditioner(problem: Problem, p: Array) -> Callable[[Array], Array]:
    """Return a function that solves with Xᵀ·diag(w·mean P(1 − P))·X + λ·I, in place of each class's block of H.

    Like the bound ½(I − 11ᵀ/K) ⊗ XᵀX it needs one factorization for all classes, but with the current row weights.
    """
    spread = (p * (1 - p)).mean(axis=1) if problem.scores > 1 else (p * (1 - p))[:, 0]
    weights = problem.row_weights * np.maximum(spread, 1e-8)
    if problem.shape[0] > WIDE:
        diagonal = problem.squares(weights) + problem.penalty + 1e-12
        return lambda residual: residual / diagonal[:, None]
    gram = problem.gram(weights)
    gram[np.diag_indices(len(gram))] += problem.penalty
    scaled, scale = _scale_to_unit_diagonal(gram, 1e-8)  # the ridge is for columns that are linearly dependent
    inverse = np.linalg.inv(scaled) / (scale[:, None] * scale)
    return lambda residual: np.asarray(inverse @ residual)


def _solve_by_conjugate_gradients(
    problem: Problem, p: Array, gradient: Array, solve: Callable[[Array], Array], accuracy: float
) -> Array:
    """Return an approximation of −H⁻¹·gradient by preconditioned conjugate gradients."""
    found = np.zeros_like(gradient)
    residual = -gradient
    preconditioned = solve(residual)
    direction, size = preconditioned, float((residual * preconditioned).sum())
    goal, smallest = accuracy**2 * size, size
    for _ in range(MOST_INNER):
        product = problem.hessian_product(p, direction)
        curvature = float((direction * product).sum())
        if curvature <= 0:
            break
        found = found + (size / curvature) * direction
        residual = residual - (size / curvature) * product
        preconditioned = solve(residual)
        new = float((residual * preconditioned).sum())
        smallest = min(smallest, new)
        # a residual that grows so much is rounding, which the preconditioner amplifies where columns are dependent
        if new <= goal or new > DIVERGED * smallest:
            break
        direction, size = preconditioned + (new / size) * direction, new
    return found
