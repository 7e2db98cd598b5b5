"""Where Newton's method starts."""

import numpy as np
from scipy.optimize import minimize_scalar

from suffice.logistic.loss import Problem
from suffice.schema import Array


def scale_start(problem: Problem, start: Array) -> Array:
    """Return the start multiplied by the number that minimises the loss: generative models are overconfident.

    Scores are proportional to the parameters, so that X is multiplied once only.
    """
    if not start.any():
        return start
    z, ridge = problem.linear(start), 0.5 * float((start * problem.penalty_gradient(start)).sum())

    def loss(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        return float(-(problem.row_weights @ problem.probabilities(scale * z)[1])) + ridge * scale**2

    best = minimize_scalar(loss, bounds=(-8.0, 2.0), method="bounded", options={"xatol": 0.02})
    return start * float(np.exp(best.x))


def generative_start(problem: Problem) -> Array:
    """Return the parameters of linear discriminants: Gaussian classes with one covariance matrix."""
    start = np.zeros(problem.shape)
    weight = problem.row_weights
    counts = np.bincount(problem.codes, weight, minlength=problem.classes)
    if not problem.intercept or (counts == 0).any() or problem.X.shape[1] > 2000:
        return start
    shares = counts / counts.sum()
    indicators = np.eye(problem.classes)[problem.codes] * weight[:, None]
    means = problem.transposed_product(indicators)[:-1].T / counts[:, None]
    gram = problem.gram(weight)[:-1, :-1]
    within = (gram - (means.T * counts) @ means) / counts.sum()
    spread = np.diagonal(gram) / counts.sum()
    ridge = 1e-6 * np.where(spread > 0, spread, 1.0) + problem.penalty / counts.sum()
    within[np.diag_indices(len(within))] += ridge
    if not np.isfinite(within).all():
        return start
    scale = np.sqrt(np.diagonal(within))
    slopes = np.linalg.solve(within / (scale[:, None] * scale), means.T / scale[:, None]) / scale[:, None]
    intercepts = np.log(shares) - 0.5 * (means.T * slopes).sum(axis=0)
    return parameters_of_scores(problem, np.vstack([slopes, intercepts]))


def parameters_of_scores(problem: Problem, lines: Array) -> Array:
    """Return the parameters of the scores from lines [feature (and a last row of intercepts), class]."""
    lines = lines[:, 1:] - lines[:, :1] if problem.scores == 1 else lines - lines.mean(axis=1, keepdims=True)
    return lines[: problem.shape[0]]
