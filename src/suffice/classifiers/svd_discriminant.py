"""Linear discriminants by singular values, without forming the covariance matrix: solver="svd"."""

from numbers import Real
from typing import Any

import numpy as np

from suffice.blocks import Dense
from suffice.classifiers.class_covariances import explain_singular
from suffice.data import Target
from suffice.families.gaussian import ddof_error
from suffice.families.low_rank_gaussian import LowRankGaussian
from suffice.priors import check_positive
from suffice.settings import setting_text
from suffice.statistics import Tally


def check_svd(settings: Any) -> None:
    """Raise if settings ask for something that solver="svd" does not compute."""
    needs_number = settings.estimate == "mean" and not isinstance(settings.prior, Real)
    for is_wrong, reason in (
        (settings.covariance != "shared", f'is for covariance="shared", not {settings.covariance!r}'),
        (settings.estimate not in ("mle", "mean"), f'is for estimate="mle" or "mean", not {settings.estimate!r}'),
        (settings.shrinkage not in (None, 0), f"has no shrinkage, and it is {settings.shrinkage!r}"),
        (settings.reg_param != 0, f"has no reg_param, and it is {settings.reg_param!r}"),
        (settings.covariance_estimator is not None, "has no covariance_estimator"),
        (settings.missing == "skip", "skips no missing cells"),
        (needs_number, f"takes a number as prior, not {settings.prior!r}"),
    ):
        if is_wrong:
            raise ValueError(f'solver="svd" {reason}; use solver="moments"')
    if settings.estimate == "mean":
        check_positive(settings.prior, "prior")


def svd_settings(settings: Any) -> tuple[Any, ...]:
    """Return the settings that `fit` uses; changing them later has no effect."""
    return tuple(setting_text(getattr(settings, name)) for name in ("estimate", "ddof", "prior"))


def fit_subspace(settings: Any, block: Dense, target: Target, tally: Tally) -> LowRankGaussian:
    """Return the shared covariance, from the rows centred by the means of their classes."""
    moments: Any = tally.statistics[0]
    x = np.concatenate([piece for _, piece in block.pieces(0, block.shape[0])]).astype(np.float64)
    n, pooled = tally.class_count, moments.pooled()
    mean = np.where(n[:, None] > 0, moments.mean, pooled.mean)
    centred = x - mean[target.codes]
    if settings.estimate == "mle" and not centred.any():
        raise np.linalg.LinAlgError(explain_singular(settings.covariance, tally, 0))
    centred *= 1.0 if target.weights is None else np.sqrt(target.weights)[:, None]
    if settings.estimate == "mle":
        variance, rows = moments.m2.sum(axis=0) / n.sum(), n.sum() - settings.ddof * (n > 0).sum()
        if rows <= 0:
            raise ddof_error(settings.ddof)
        scale = np.sqrt(np.where(variance > 0, variance, 1.0))
        return LowRankGaussian.of(centred, mean, scale, rows=rows, pseudo=0.0)
    pseudo, variance, distance = float(settings.prior), pooled.m2[0] / pooled.n.max(), mean - pooled.mean
    scale = np.sqrt(np.where(variance > 0, variance, max(float(variance.max()), 1e-300)))
    pull = np.sqrt(pseudo * n / (pseudo + n))[:, None] * distance
    posterior = pooled.mean + distance * (n / (pseudo + n))[:, None]
    return LowRankGaussian.of(np.vstack([centred, pull]), posterior, scale, rows=n.sum(), pseudo=pseudo)
