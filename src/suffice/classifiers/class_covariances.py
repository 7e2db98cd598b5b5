"""Covariances of classes: those of a covariance_estimator, singular ones, and those of few rows."""

from typing import Any

import numpy as np
from sklearn.base import clone

from suffice.blocks import Dense
from suffice.caller_warnings import warn_caller
from suffice.data import Target
from suffice.schema import Array
from suffice.score.term import all_rows
from suffice.statistics import Tally
from suffice.structures.covariances import PAIRED


def check_estimator(settings: Any) -> None:
    """Raise if settings ask for something that a covariance_estimator does not compute."""
    if settings.shrinkage is not None:
        raise ValueError("covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.")
    for is_wrong, reason in (
        (settings.reg_param != 0, f"reg_param={settings.reg_param!r}, which regularizes the same covariance"),
        (settings.covariance not in PAIRED, f'covariance="{settings.covariance}", which has no covariances'),
        (settings.estimate == "predictive", 'estimate="predictive", which integrates over the covariance'),
        (settings.missing == "skip", 'missing="skip": it needs complete rows'),
    ):
        if is_wrong:
            raise ValueError(f"covariance_estimator cannot be used with {reason}")


def estimate_by_class(estimator: Any, block: Dense, target: Target) -> Array:
    """Return the covariance of the rows of each class by an estimator, [class, column, column]."""
    weights = target.weights
    if weights is not None and (weights != weights[:1]).any():
        raise ValueError("covariance_estimator takes no weights of rows: fit without sample_weight")
    x, name = all_rows(block).astype(np.float64, copy=False), type(estimator).__name__
    found = np.zeros((len(target.classes), x.shape[1], x.shape[1]))
    for k, label in enumerate(target.classes.tolist()):
        fitted = clone(estimator, safe=False)
        fitted.fit(x[target.codes == k])
        if not hasattr(fitted, "covariance_"):
            raise ValueError(f"covariance_estimator={name} does not have a covariance_ attribute after fit")
        matrix = np.asarray(fitted.covariance_, np.float64)
        if matrix.shape != found.shape[1:] or not np.isfinite(matrix).all():
            raise ValueError(
                f"covariance_estimator={name} gave class {label!r} a covariance of shape {matrix.shape} in place of "
                f"{found.shape[1:]}, or one that is not finite"
            )
        found[k] = matrix
    return found


def explain_singular(covariance: str, tally: Tally, place: int) -> str:
    """Return the message of an error: why the covariance of a class is singular, and what to do."""
    shared, columns = covariance == "shared", tally.schema.blocks[0].count
    whose = "the classes" if shared else f"class {tally.schema.classes.tolist()[place]!r}"
    rows = tally.class_count.sum() if shared else tally.class_count[place]
    reason = (
        f"The covariance matrix of {whose} is not full rank (singular: {rows:g} rows, {columns} columns, which may be "
        "constant or linearly dependent), so that its maximum-likelihood estimate has no density"
    )
    if shared and rows <= len(tally.class_count):
        reason = "The number of samples must be more than the number of classes: no class has a row to spare"
    elif rows == 1:
        reason = f"y has only 1 sample in {whose}, which has no covariance"
    return f'{reason}; use estimate="mean" with a prior, shrinkage=0.1 or "oas", or covariance="diagonal"'


def warn_few_rows(tally: Tally) -> None:
    """Warn if a class has so few rows that its covariance is mostly the prior's."""
    columns, rows = tally.schema.blocks[0].count, tally.statistics[0].n[:, 0]
    few = np.flatnonzero(rows <= columns)
    if len(few):
        warn_caller(
            f"class {tally.schema.classes.tolist()[few[0]]!r} has {rows[few[0]]:g} rows for {columns} columns: "
            'much of its covariance is the prior\'s; consider shrinkage="oas", or covariance="shared"'
        )
