"""Predicting: what all classifiers say of rows, and how sure they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import StrOptions

from suffice import decision
from suffice.classifiers.estimator import Estimator
from suffice.data import encode, weights_of
from suffice.decision.calibration import MAPS, Calibration
from suffice.decision.costs import cheapest, cost_matrix, rejected
from suffice.folds.held_out import predictions
from suffice.folds.splits import most_folds
from suffice.schema import Array
from suffice.statistics import Tally


class Predictor(ClassifierMixin, Estimator):  # type: ignore[misc]
    """An estimator that says to which class a row belongs, by the model of its tally."""

    _kept: ClassVar[tuple[str, ...]] = ("calibration_",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    calibrate: str | None
    calibration_: Calibration

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._parameter_constraints = {**cls._parameter_constraints, "calibrate": [None, StrOptions(set(MAPS))]}

    def predict(
        self,
        X: Any,
        *,
        costs: Any = None,
        reject_below: float | None = None,
        reject_label: Any = None,
        class_prior: Any = None,
    ) -> Array:
        """Return the most probable label of each row, or the one that costs least to say.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        costs : array-like of shape (n_classes, n_classes) or dict {(true, said): cost}, default=None
            What it costs to say a class where another is true; the label of least expected cost is returned.
        reject_below : float, default=None
            Where no class is as probable as this, ``reject_label`` is returned.
        reject_label : object, default=None
            What to say where nothing is said.
        class_prior : as in the constructor, default=None
            Probabilities of the classes where these rows come from, in place of those that were learned.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        tally = self._learned()
        classes = tally.schema.classes
        if costs is None and reject_below is None and class_prior is None and self.calibrate is None:
            return classes[self._model().most_probable(self._blocks(X, tally))]
        matrix = None if costs is None else cost_matrix(costs, classes)
        log_posterior = self.predict_log_proba(X, class_prior=class_prior)
        codes = log_posterior.argmax(axis=1) if matrix is None else cheapest(log_posterior, matrix)
        labels = classes[codes]
        return labels if reject_below is None else rejected(labels, log_posterior, reject_below, reject_label)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return log p(x, class) = log P(class) + log p(x given class).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_joint : ndarray of shape (n_samples, n_classes)
        """
        return self._model().log_joint(self._blocks(X, self._learned()))

    def predict_log_proba(self, X: Any, *, class_prior: Any = None) -> Array:
        """Return log P(class given x).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        class_prior : as in the constructor, default=None
            Probabilities of the classes where these rows come from, in place of those that were learned.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        tally, model = self._learned(), self._model()
        if class_prior is None:
            return self._calibrated(model.log_posterior(self._blocks(X, tally)))
        prior = decision.log(decision.class_prior(class_prior, tally.schema.classes, tally.class_count))
        if not np.array_equal(self._scored(prior), prior):
            raise ValueError(f"{type(self).__name__} has no use for the probabilities of the classes")
        if self.calibrate is None:
            return replace(model, class_log_prior=prior).log_posterior(self._blocks(X, tally))
        # what was calibrated stands for the prior that was learned: that is taken out, and the other put in
        learned = np.maximum(model.class_log_prior, np.log(np.finfo(np.float64).tiny))
        shifted = self._calibrated(model.log_posterior(self._blocks(X, tally))) + (prior - learned)
        return decision.log_posterior(shifted, prior)

    def predict_proba(self, X: Any, *, class_prior: Any = None) -> Array:
        """Return P(class given x).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        class_prior : as in the constructor, default=None
            Probabilities of the classes where these rows come from, in place of those that were learned.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        log_posterior = self.predict_log_proba(X, class_prior=class_prior)
        return np.exp(log_posterior, out=log_posterior)

    @property
    def _adds_up(self) -> bool:
        return self.calibrate is None

    def _calibrated(self, log_posterior: Array) -> Array:
        """Return log P(class given x) as calibrated, where that is asked for."""
        found = self._map()
        return log_posterior if found is None else np.asarray(found(log_posterior))

    def _map(self) -> Calibration | None:
        """Return what calibrates, where that is asked for, or say that it was not learned."""
        if self.calibrate is None:
            return None
        found = self.__dict__.get("calibration_")
        if found is None or found.method != self.calibrate or found.classes != self.classes_.tolist():
            raise ValueError(
                f"calibrate={self.calibrate!r} is learned by fit, and this was fitted without it, or has learned or "
                "forgotten classes since; fit again, or set calibrate=None"
            )
        return found  # type: ignore[no-any-return]

    def _learn(self, known: Tally | None, X: Any, y: Any, classes: Any, sample_weight: Any, *, whole: bool) -> Self:
        """Learn, and calibrate by predictions for rows held out; nothing is changed before all has gone well."""
        if not whole or self.calibrate is None:
            return super()._learn(known, X, y, classes, sample_weight, whole=whole)
        self._check(None)
        calibration = self._calibration(X, y, sample_weight)
        super()._learn(known, X, y, classes, sample_weight, whole=whole)
        self.calibration_ = calibration
        return self

    def _calibration(self, X: Any, y: Any, sample_weight: Any) -> Calibration:
        rows = self._opened(X, None).shape[0]  # what is wrong with X is said before what is wrong with y
        labels, codes = encode(y, owner=type(self).__name__)
        weights = weights_of(sample_weight, rows)
        if weights is not None and len(codes) == rows and not weights.all():
            there = np.flatnonzero(weights)  # a row of weight 0 is none, and has no fold to be in
            return self._calibration(_safe_indexing(X, there), _safe_indexing(y, there), weights[there])
        splits = most_folds(codes)
        if splits is None:
            counts = np.bincount(codes)
            raise ValueError(
                f"calibrate={self.calibrate!r} needs at least two rows of each class to hold one out: class "
                f"{labels.tolist()[int(counts.argmin())]!r} has 1 sample; leave it out, or set calibrate=None"
            )
        plain = clone(self).set_params(calibrate=None)
        log_proba, fold = np.empty((len(codes), len(labels))), np.empty(len(codes), np.intp)
        for place, prediction in enumerate(predictions(plain, X, y, splits, sample_weight, labels)):
            log_proba[prediction.split.test], fold[prediction.split.test] = prediction.log_proba, place
        assert self.calibrate is not None
        return Calibration.of(self.calibrate, labels, log_proba, codes, fold, weights)
