"""Newton-Raphson: steps that solve Hessian·step = −gradient, until nothing is gained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from suffice.logistic.loss import Problem
from suffice.schema import Array

# Up to this many parameters, and cells, the Hessian is formed and factored for each step; beyond, it is only
# multiplied with, and what is factored is something like it.
SMALL = 1 << 20
# Beyond so many features not even that: a square of them would be larger than the rows.
WIDE = 2500
FACTORED = 400  # NumPy solves, not SciPy: two libraries with threads of their own get in each other's way
MOST_INNER, MOST_HALVINGS = 250, 40
LEAST_CURVATURE = 1e-12  # of the largest: less is rounding
OVERFLOW = "the numbers of X, or 1/C, are so large that their products overflow; rescale the columns"


@dataclass(frozen=True)
class Solution:
    """The parameters found, what each step came to, and how it ended."""

    parameters: Array
    probabilities: Array
    trace: tuple[dict[str, float], ...]
    converged: bool
    separated: bool
    drifting: bool = False


def newton(problem: Problem, start: Array, *, steps: int, tolerance: float) -> Solution:
    """Return the parameters of least loss.

    A step is taken whole if the loss falls enough by it, else halved. It is done when the largest entry of the
    gradient, for each unit of weight, is below the tolerance, or a step gains less than rounding.
    """
    parameters = start
    p, log_own = problem.probabilities(problem.linear(parameters))
    value, gradient = problem.value(parameters, log_own), problem.gradient(parameters, p)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        raise ValueError(OVERFLOW)
    counted = problem.each > 0
    weight, trace, converged, separated, first = float(problem.each.sum()), list[dict[str, float]](), False, False, 0.0
    small = problem.shape[0] * problem.shape[1] <= FACTORED and np.prod(problem.X.shape) <= SMALL
    solve = None if small else _preconditioner(problem, p)
    for step in range(steps + 1):
        steepness = float(np.abs(gradient).max())
        first = first or steepness
        trace.append({"objective": value, "gradient": steepness, "step": 0.0})
        converged = steepness <= tolerance * weight
        separated = problem.penalty == 0 and bool(log_own[counted].min() > np.log(0.5)) and value < 1e-3 * weight
        if converged or separated or step == steps:
            break
        if small:
            direction = _solved(problem, p, gradient)
        else:
            if 0 < step <= 2 and problem.scores > 1:
                solve = _preconditioner(problem, p)
            assert solve is not None
            direction = _conjugate(problem, p, gradient, solve, min(0.1, np.sqrt(steepness / first)))
        if not np.isfinite(direction).all():
            raise ValueError(OVERFLOW)
        slope, share = float((gradient * direction).sum()), 1.0
        for _ in range(MOST_HALVINGS):
            tried = parameters + share * direction
            p, log_own = problem.probabilities(problem.linear(tried))
            new = problem.value(tried, log_own)
            if new <= value + 1e-4 * share * slope or abs(slope) * share <= 1e-15 * abs(value):
                break
            share /= 2
        trace[-1]["step"] = share
        gained, parameters, value = value - new, tried, new
        gradient = problem.gradient(parameters, p)
        if gained <= 0 and abs(slope) <= 1e-14 * max(abs(value), 1e-300):
            trace.append({"objective": value, "gradient": float(np.abs(gradient).max()), "step": 0.0})
            converged = True
            break
    drifting = False
    if small and converged and not separated:
        # where the loss falls for ever, a Newton step still moves scores by about 1 when the gradient has vanished
        moved = problem.linear(_solved(problem, p, gradient))
        drifting = bool(np.abs(moved[counted]).max() > 0.05)
    return Solution(parameters, p, tuple(trace), converged, separated, drifting)


def standard_errors(hessian: Array, scores: int) -> Array:
    """Return the roots of the diagonal of H⁻¹, infinite for what the rows do not tell.

    H is scaled by feature first, the same for all scores: a column in small units is no null space.
    """
    diagonal = np.diagonal(hessian).reshape(scores, -1).mean(axis=0)
    scale = np.tile(np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), scores)
    curvature, axes = np.linalg.eigh(hessian / (scale[:, None] * scale))
    flat = curvature <= LEAST_CURVATURE * curvature[-1]
    variance = (axes[:, ~flat] ** 2 / curvature[~flat]).sum(axis=1)
    # where every class has a score, adding the same to all of them changes nothing: that is no want of rows
    untold = axes[:, flat].reshape(scores, len(diagonal), -1)
    untold = untold - untold.mean(axis=0) if scores > 1 else untold
    known = (untold**2).sum(axis=-1).ravel() < LEAST_CURVATURE
    return np.where(known, np.sqrt(variance) / scale, np.inf)


def _solved(problem: Problem, p: Array, gradient: Array) -> Array:
    """Return −H⁻¹·gradient by a factor of H."""
    size, scores = problem.shape
    hessian = problem.hessian(p)
    if scores > 1:
        # adding the same to all scores changes nothing, so H has no inverse; the gradient has no such part
        level = np.diagonal(hessian).reshape(scores, size).mean(axis=0)
        cells = hessian.reshape(scores, size, scores, size)
        places = np.arange(size)
        cells[:, places, :, places] += level[:, None, None] / scores
    diagonal = np.diagonal(hessian).copy()
    scale = np.sqrt(np.where(diagonal > 1e-290, diagonal, 1.0))
    hessian /= scale[:, None] * scale
    hessian[np.diag_indices(len(hessian))] += 1e-12
    flat = gradient.T.ravel() / scale
    return np.asarray(-(np.linalg.solve(hessian, flat) / scale).reshape(scores, size).T)


def _preconditioner(problem: Problem, p: Array) -> Callable[[Array], Array]:
    """Return what solves with Xᵀ·diag(w·mean P(1 − P))·X + λ·I in place of each class's part of H.

    Of the bound ½(I − 11ᵀ/K) ⊗ XᵀX it keeps that one factor serves all classes, and takes the weights of
    rows where they are now.
    """
    spread = (p * (1 - p)).mean(axis=1) if problem.scores > 1 else (p * (1 - p))[:, 0]
    weights = problem.each * np.maximum(spread, 1e-8)
    if problem.shape[0] > WIDE:
        diagonal = problem.squares(weights) + problem.penalty + 1e-12
        return lambda residual: residual / diagonal[:, None]
    gram = problem.gram(weights)
    gram[np.diag_indices(len(gram))] += problem.penalty
    diagonal = np.diagonal(gram)
    scale = np.sqrt(np.where(diagonal > 1e-290, diagonal, 1.0))
    gram /= scale[:, None] * scale
    gram[np.diag_indices(len(gram))] += 1e-8  # columns that say the same leave no other way out
    inverse = np.linalg.inv(gram) / (scale[:, None] * scale)
    return lambda residual: np.asarray(inverse @ residual)


def _conjugate(problem: Problem, p: Array, gradient: Array, solve: Callable[[Array], Array], accuracy: float) -> Array:
    """Return an approximate −H⁻¹·gradient by conjugate gradients."""
    found = np.zeros_like(gradient)
    residual = -gradient
    turned = solve(residual)
    direction, size = turned, float((residual * turned).sum())
    goal = accuracy**2 * size
    for _ in range(MOST_INNER):
        curved = problem.curved(p, direction)
        bend = float((direction * curved).sum())
        if bend <= 0:
            break
        found = found + (size / bend) * direction
        residual = residual - (size / bend) * curved
        turned = solve(residual)
        new = float((residual * turned).sum())
        if new <= goal:
            break
        direction, size = turned + (new / size) * direction, new
    return found


def tempered(problem: Problem, start: Array) -> Array:
    """Return a start scaled to the least loss: generative twins point the right way, but are too sure of it.

    Scores scale with the parameters, so that no product with the rows is needed for each scale tried.
    """
    if not start.any():
        return start
    z, ridge = problem.linear(start), 0.5 * float((start * problem.penalised(start)).sum())

    def loss(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        return float(-(problem.each @ problem.probabilities(scale * z)[1])) + ridge * scale**2

    best = minimize_scalar(loss, bounds=(-8.0, 2.0), method="bounded", options={"xatol": 0.02})
    return start * float(np.exp(best.x))


def generative_start(problem: Problem) -> Array:
    """Return where the generative twin stands: Gaussian classes with one covariance (linear discriminants)."""
    start = np.zeros(problem.shape)
    weight = problem.each
    counts = np.bincount(problem.codes, weight, minlength=problem.classes)
    if not problem.intercept or (counts == 0).any() or problem.X.shape[1] > 2000:
        return start
    shares = counts / counts.sum()
    own = np.zeros((len(weight), problem.classes))
    own[np.arange(len(weight)), problem.codes] = weight
    means = np.asarray(problem.X.T @ own).T / counts[:, None]
    gram = problem.gram(weight)[:-1, :-1]
    within = (gram - (means.T * counts) @ means) / counts.sum()
    spread = np.diagonal(gram) / counts.sum()
    spread = np.where(spread > 0, spread, 1.0)
    within[np.diag_indices(len(within))] += 1e-6 * spread + problem.penalty / counts.sum()
    if not np.isfinite(within).all():
        return start
    scale = np.sqrt(np.diagonal(within))
    slopes = np.linalg.solve(within / (scale[:, None] * scale), means.T / scale[:, None]) / scale[:, None]
    intercepts = np.log(shares) - 0.5 * (means.T * slopes).sum(axis=0)
    if problem.scores == 1:
        start[:-1, 0], start[-1, 0] = slopes[:, 1] - slopes[:, 0], intercepts[1] - intercepts[0]
    else:
        start[:-1], start[-1] = slopes - slopes.mean(axis=1, keepdims=True), intercepts - intercepts.mean()
    return start
