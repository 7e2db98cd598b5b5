"""The table of coefficients with standard errors, p-values and intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from suffice.records import Records
from suffice.schema import Array

LEAST_CURVATURE = 1e-12  # smaller eigenvalues, relative to the largest, are rounding


def coefficient_table(
    estimates: Array,
    hessian: Array,
    labels: Sequence[Any],
    features: Sequence[str],
    level: float,
    reference: int | None = None,
) -> Records:
    """Return one line for each coefficient, of ``estimates`` [label, feature] and the Hessian of the loss.

    With a ``reference``, the position of a label, the lines are differences to the coefficients of that label.
    """
    errors = standard_errors(hessian, len(labels), reference)
    if reference is not None:
        estimates = np.delete(estimates - estimates[reference], reference, axis=0)
        labels = [label for k, label in enumerate(labels) if k != reference]
    z, half = estimates / errors, stats.norm.ppf((1 + level) / 2) * errors
    figures = {"estimate": estimates, "error": errors, "z": z, "p": 2 * stats.norm.sf(np.abs(z))}
    figures |= {"lower": estimates - half, "upper": estimates + half}
    return Records(
        {"class": label, "feature": feature, **{name: float(values[k, j]) for name, values in figures.items()}}
        for k, label in enumerate(labels)
        for j, feature in enumerate(features)
    )


def standard_errors(hessian: Array, scores: int, reference: int | None = None) -> Array:
    """Return the square roots of the diagonal of H⁻¹, [score, feature]; infinite if the rows do not determine one.

    H is scaled by feature first, so that a column in small units is not taken for a null space. With a ``reference``,
    they are the errors of the differences to the parameters of that score.
    """
    diagonal = np.diagonal(hessian).reshape(scores, -1).mean(axis=0)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    whole = np.tile(scale, scores)
    curvature, axes = np.linalg.eigh(hessian / (whole[:, None] * whole))
    flat = curvature <= LEAST_CURVATURE * curvature[-1]
    axes = axes.reshape(scores, len(scale), -1)
    if reference is not None:
        axes = np.delete(axes - axes[reference], reference, axis=0)
    variance = (axes[..., ~flat] ** 2 / curvature[~flat]).sum(axis=-1)
    # with one score per class, adding a constant to all scores changes nothing; such directions do not count
    undetermined = axes[..., flat]
    undetermined = undetermined - undetermined.mean(axis=0) if scores > 1 and reference is None else undetermined
    known = (undetermined**2).sum(axis=-1) < LEAST_CURVATURE
    return np.where(known, np.sqrt(variance) / scale, np.inf)
