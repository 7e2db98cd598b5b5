"""What the four classifiers of counts have in common: pseudo-counts and class priors."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from suffice import decision
from suffice.classifiers.base import TallyClassifier
from suffice.estimation import RULES
from suffice.schema import Array
from suffice.statistics import Counts, Tally

LEAST_ALPHA = 1e-10


class DiscreteNB(TallyClassifier):
    """A classifier of counts, smoothed by the pseudo-count ``alpha``."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "force_alpha": ["boolean"],
        "estimate": [StrOptions(set(RULES))],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        alpha: Any,
        force_alpha: bool,
        fit_prior: bool,
        class_prior: Any,
        estimate: str,
        prior: Any,
        epsilon: float,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.prior = prior
        self.epsilon = epsilon

    def _check_settings(self, tally: Tally) -> None:
        alpha, columns = np.asarray(self.alpha, np.float64), tally.schema.blocks[0].count
        if alpha.ndim and alpha.shape[0] != columns:
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {columns}."
            )
        if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError("All values in alpha must be greater than 0. They must be finite numbers, too.")
        super()._check_settings(tally)

    def _learn(self, *arguments: Any, whole: bool) -> Self:
        learned = super()._learn(*arguments, whole=whole)
        if np.min(self.alpha) < LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=3,
            )
        return learned

    def _default_prior(self) -> Any:
        alpha = np.asarray(self.alpha, np.float64)
        return alpha if self.force_alpha else np.maximum(alpha, LEAST_ALPHA)

    def _class_prior(self) -> Any:
        return "uniform" if self.class_prior is None and not self.fit_prior else self.class_prior

    @property
    def class_log_prior_(self) -> Array:
        """The log probability of each class."""
        return decision.log(decision.class_prior(self._class_prior(), self.classes_, self.class_count_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.classifier_tags.poor_score = True
        return tags


class FeatureCounts:
    """The attributes of a classifier that counts one thing a column."""

    _statistic: Counts

    @property
    def feature_count_(self) -> Array:
        """How much of each column there was in each class, by weight."""
        return self._statistic.total
