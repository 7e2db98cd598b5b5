"""Proximal Newton: minimises the loss with a penalty of absolute values, under which many coefficients are exactly 0.

The objective is loss + λ₁·Σ |W|, with the loss of `Problem`; intercepts are not penalised. Each step minimises the
quadratic approximation of the loss with the same absolute values, by coordinate descent, over the coefficients that are
not 0 or should not be. Where the signs stay the same, this is Newton's method on these coefficients.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.kernels import lasso_descent
from suffice.logistic.loss import Problem
from suffice.logistic.solver import MOST_HALVINGS, OVERFLOW, Point, Solution
from suffice.schema import Array

# The number of parameters that are changed in one step, those furthest from their optimum.
MOST_CHANGED = 4000

# Coordinate descent has so many sweeps at a time, which find the parameters that are not 0. Between them, so many exact
# minima with given signs are tried: where columns are nearly dependent, sweeps alone need thousands.
SWEEPS, MINIMA, MOST_ROUNDS = 100, 20, 20

# The accuracy of coordinate descent relative to the violation before the step.
INNER_ACCURACY = 1e-2


def proximal_newton(problem: Problem, absolute: float, start: Array, *, steps: int, tolerance: float) -> Solution:
    """Return the parameters that minimise loss + absolute·Σ |W|.

    The iteration ends when no entry of the (sub)gradient, per unit of weight, is larger than ``tolerance``, or when a
    step gains less than rounding.

    Parameters
    ----------
    problem : Problem
        The loss, with its ridge penalty.
    absolute : float
        λ₁, more than 0.
    start : array of shape (n_features + intercept, n_scores)
        The parameters to start at.
    steps : int
        The largest number of steps.
    tolerance : float
        The largest entry of the gradient at the end.
    """
    penalty = np.full(problem.shape, absolute)
    if problem.intercept:
        penalty[-1] = 0.0
    point, weight, trace = Point.at(problem, start), float(problem.row_weights.sum()), list[dict[str, float]]()
    for step in range(steps + 1):
        gradient = point.gradient
        if not (np.isfinite(point.value) and np.isfinite(gradient).all()):
            raise ValueError(OVERFLOW)
        violation = _violation(point.parameters, gradient, penalty)
        objective = point.value + float((penalty * np.abs(point.parameters)).sum())
        trace.append({"objective": objective, "gradient": float(violation.max()), "step": 0.0})
        converged = trace[-1]["gradient"] <= tolerance * weight
        if converged or step == steps:
            break
        direction = _direction(problem, point, gradient, penalty, violation)
        decrease = float((gradient * direction).sum()) + _growth(point.parameters, direction, penalty)
        if abs(decrease) <= 1e-14 * abs(objective):  # a step gains less than rounding
            converged = True
            break
        point, trace[-1]["step"] = _search_line(problem, point, direction, penalty, decrease)
    return Solution(point.parameters, point.p, tuple(trace), converged, separated=False)


def _violation(parameters: Array, gradient: Array, penalty: Array) -> Array:
    """Return how far each entry of the gradient is from the range that is optimal."""
    at_zero = np.maximum(np.abs(gradient) - penalty, 0.0)
    return np.asarray(np.where(parameters == 0, at_zero, np.abs(gradient + np.sign(parameters) * penalty)))


def _growth(parameters: Array, direction: Array, penalty: Array) -> float:
    """Return by how much the penalty grows in a step."""
    return float((penalty * (np.abs(parameters + direction) - np.abs(parameters))).sum())


def _direction(problem: Problem, point: Point, gradient: Array, penalty: Array, violation: Array) -> Array:
    """Return the step that minimises the quadratic approximation over the parameters that should change."""
    changing = (point.parameters != 0) | (violation > 0) | (penalty == 0)
    if changing.sum() > MOST_CHANGED:
        furthest = np.argsort(-np.where(changing, violation, -1.0).ravel(), kind="stable")[:MOST_CHANGED]
        changing = np.zeros(changing.size, bool)
        changing[furthest] = True
        changing = changing.reshape(violation.shape)
    places = [np.flatnonzero(changing[:, score]) for score in range(problem.scores)]
    hessian = problem.hessian_at(point.p, places)
    slopes, start, weights = (array.T[changing.T] for array in (gradient, point.parameters, penalty))
    found = _minimize(hessian, slopes, start, weights, INNER_ACCURACY * float(violation.max()))
    direction = np.zeros(problem.shape)
    direction.T[changing.T] = found
    return direction


def _minimize(hessian: Array, gradient: Array, start: Array, penalty: Array, accuracy: float) -> Array:
    """Return d that minimises gradient·d + ½·dᵀ·hessian·d + Σ penalty·|start + d|."""
    found, product = np.zeros(len(start)), np.zeros(len(start))
    for _ in range(MOST_ROUNDS):
        arrays = (hessian, gradient, start, penalty, found, product)
        lasso_descent.descend(*arrays, accuracy, SWEEPS, work=10 * len(start) ** 2)
        goal = start + found
        for _ in range(MINIMA):
            goal, is_minimum = _move(hessian, gradient + product, goal, penalty)
            product = hessian @ (goal - start)
            if is_minimum:
                break
        found = goal - start
        if _violation(goal, gradient + product, penalty).max() <= accuracy:
            break
    return found


def _move(hessian: Array, slope: Array, goal: Array, penalty: Array) -> tuple[Array, bool]:
    """Return the lowest point on the way to the minimum with the signs of ``goal``, and whether that is the minimum.

    ``slope`` is the gradient of the quadratic at ``goal``. Parameters that are 0 stay so.
    """
    held = (goal != 0) | (penalty == 0)
    here, weights, own = goal[held], penalty[held], slope[held]
    part = hessian[np.ix_(held, held)]
    scale = np.sqrt(np.diagonal(part))
    scaled = part / (scale[:, None] * scale) + 1e-13 * np.eye(len(scale))
    step = np.linalg.solve(scaled, -(own + weights * np.sign(here)) / scale) / scale
    if not np.isfinite(step).all():
        return goal, True
    crossed = np.flatnonzero((np.sign(here + step) != np.sign(here)) & (weights > 0))
    moved = goal.copy()
    if not len(crossed):
        moved[held] = here + step
        return moved, True
    # the objective along the step is a parabola between the places where a parameter is 0
    places = -here[crossed] / step[crossed]
    crossed, places = crossed[np.argsort(places)], np.sort(places)
    bend = float(step @ part @ step)
    bends = 2 * weights[crossed] * np.abs(step[crossed])
    slopes = float(step @ (own + weights * np.sign(here))) + np.append(0.0, np.cumsum(bends))
    before = slopes + bend * np.append(places, 1.0)
    last = int(np.argmax(np.append(before[:-1] + bends, np.inf) >= 0))  # where the objective begins to grow
    share = 1.0 if last == len(places) else float(places[last])
    if before[last] > 0:
        moved[held] = here + (share - before[last] / bend) * step
    else:
        moved[held] = here + share * step
        if last < len(places):
            moved[np.flatnonzero(held)[crossed[last]]] = 0.0
    return moved, False


def _search_line(
    problem: Problem, point: Point, direction: Array, penalty: Array, decrease: float
) -> tuple[Point, float]:
    """Return the point after a step, and the share of the step: halved until the objective decreases enough."""
    share = 1.0
    for _ in range(MOST_HALVINGS):
        new = Point.at(problem, point.parameters + share * direction)
        gain = new.value - point.value + _growth(point.parameters, share * direction, penalty)
        if gain <= 1e-4 * share * decrease or abs(decrease) * share <= 1e-15 * abs(point.value):
            break
        share /= 2
    # a parameter that the step takes to 0 is 0, not rounding
    parameters = np.where(point.parameters + direction == 0, 0.0, new.parameters) if share == 1 else new.parameters
    return replace(new, parameters=parameters), share
