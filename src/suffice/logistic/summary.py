"""The table of coefficients with standard errors, p-values and intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from suffice.records import Records
from suffice.schema import Array

LEAST_CURVATURE = 1e-12  # smaller eigenvalues, relative to the largest, are rounding


def coefficient_table(
    estimates: Array, hessian: Array, labels: Sequence[Any], features: Sequence[str], level: float
) -> Records:
    """Return one line for each coefficient, of ``estimates`` [label, feature] and the Hessian of the loss."""
    errors = standard_errors(hessian, len(labels)).reshape(estimates.shape)
    z, half = estimates / errors, stats.norm.ppf((1 + level) / 2) * errors
    figures = {"estimate": estimates, "error": errors, "z": z, "p": 2 * stats.norm.sf(np.abs(z))}
    figures |= {"lower": estimates - half, "upper": estimates + half}
    return Records(
        {"class": label, "feature": feature, **{name: float(values[k, j]) for name, values in figures.items()}}
        for k, label in enumerate(labels)
        for j, feature in enumerate(features)
    )


def standard_errors(hessian: Array, scores: int) -> Array:
    """Return the square roots of the diagonal of H⁻¹; infinite for parameters that the rows do not determine.

    H is scaled by feature first, so that a column in small units is not taken for a null space.
    """
    diagonal = np.diagonal(hessian).reshape(scores, -1).mean(axis=0)
    scale = np.tile(np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), scores)
    curvature, axes = np.linalg.eigh(hessian / (scale[:, None] * scale))
    flat = curvature <= LEAST_CURVATURE * curvature[-1]
    variance = (axes[:, ~flat] ** 2 / curvature[~flat]).sum(axis=1)
    # with one score per class, adding a constant to all scores changes nothing; such directions do not count
    undetermined = axes[:, flat].reshape(scores, len(diagonal), -1)
    undetermined = undetermined - undetermined.mean(axis=0) if scores > 1 else undetermined
    known = (undetermined**2).sum(axis=-1).ravel() < LEAST_CURVATURE
    return np.where(known, np.sqrt(variance) / scale, np.inf)
