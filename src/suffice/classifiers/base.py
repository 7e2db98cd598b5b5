"""Predicting: what all classifiers say of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin

from suffice import decision
from suffice.classifiers.estimator import Estimator
from suffice.logistic.forms import LinearForm
from suffice.model import Model
from suffice.schema import Array
from suffice.structures import Subject
from suffice.tallies import Tally

# How many probabilities are drawn at once for an interval: the rows are taken a few at a time.
DRAWN_CELLS = 1 << 22


class TallyClassifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """A classifier that asks the model of its tally."""

    def predict(self, X: Any) -> Array:
        """Return the most probable label of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        tally = self._learned()
        return tally.schema.classes[self._model().most_probable(self._blocks(X, tally))]

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

    def predict_log_proba(self, X: Any) -> Array:
        """Return log P(class given x).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self._model().log_posterior(self._blocks(X, self._learned()))

    def predict_proba(self, X: Any) -> Array:
        """Return P(class given x).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        log_posterior = self.predict_log_proba(X)
        return np.exp(log_posterior, out=log_posterior)

    def score_samples(self, X: Any) -> Array:
        """Return log p(x), the log probability (density) of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_p : ndarray of shape (n_samples,)
        """
        return np.asarray(logsumexp(self.predict_joint_log_proba(X), axis=1))

    def sample(self, n_samples: int = 1, *, random_state: int | None = None) -> tuple[Array, Array]:
        """Return rows and labels drawn from the model.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows.
        random_state : int or None, default=None
            The seed.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        """
        if n_samples < 1:
            raise ValueError(f"n_samples must be 1 or more, not {n_samples!r}")
        rng = np.random.default_rng(random_state)
        blocks, codes = self._model().sample(n_samples, rng)
        tally = self._learned()
        return self._decoded(tally, blocks, rng), tally.schema.classes[codes]

    def as_linear(self) -> LinearForm:
        """Return the coefficients of the softmax that this model is.

        Naive Bayes of bits, counts and levels, and Gaussians with one covariance, are linear in their columns
        (levels one-hot, numbers above a threshold as bits); other Gaussians are linear in the columns and all
        products of two.

        Returns
        -------
        form : LinearForm
            With exactly this model's posteriors.
        """
        model = self._model()
        if len(model.parameters) != 1:
            raise ValueError("columns of several families have no linear form together")
        with np.errstate(invalid="ignore", divide="ignore"):
            lift, coefficients, biases = model.parameters[0].as_linear()
        if not (np.isfinite(coefficients).all() and np.isfinite(biases).all()):
            raise ValueError(
                "something has a probability of 0, which no finite coefficient of a linear form gives; "
                'use estimate="mean" with a prior of more than 0'
            )
        return LinearForm(self.classes_, coefficients, biases + model.class_log_prior, lift)

    def _decoded(self, tally: Tally, blocks: tuple[Array, ...], rng: np.random.Generator) -> Array:
        """Return drawn cells as a user would have passed them."""
        return blocks[0]

    def predict_interval(
        self, X: Any, level: float = 0.9, *, draws: int = 200, random_state: int | None = 0
    ) -> tuple[Array, Array]:
        """Return bounds between which P(class given x) lies with probability ``level``.

        The parameters are drawn many times from their posterior, the shares of the classes with them
        where these were counted, and each draw gives a P(class given x) of its own.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        level : float, default=0.9
            The probability that the interval holds the true P(class given x), if the model is right.
        draws : int, default=200
            How many times the parameters are drawn.
        random_state : int or None, default=0
            The seed.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples, n_classes)
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not be {level!r}")
        if draws < 2:
            raise ValueError(f"draws must be 2 or more, not {draws!r}")
        tally = self._learned()
        blocks = self._blocks(X, tally)
        subjects = self._subjects(tally)
        priors = self._priors(tally)
        quantiles = [(1 - level) / 2, (1 + level) / 2]
        seed = np.random.SeedSequence(random_state)
        step = max(DRAWN_CELLS // (draws * len(tally.class_count)), 1)
        bounds = []
        for first in range(0, blocks[0].shape[0], step):
            last, rng = min(first + step, blocks[0].shape[0]), np.random.default_rng(seed)
            rows = tuple(block.between(first, last) for block in blocks)
            drawn = [np.exp(self._drawn(tally, subjects, priors, rng).log_posterior(rows)) for _ in range(draws)]
            bounds.append(np.quantile(drawn, quantiles, axis=0))
        lower, upper = np.concatenate(bounds, axis=1)
        return lower, upper

    def _drawn(
        self, tally: Tally, subjects: Sequence[Subject], priors: Sequence[Any], rng: np.random.Generator
    ) -> Model:
        """Return a model drawn from what is believed of the parameters."""
        shares = decision.drawn_class_prior(self._class_prior(), tally.schema.classes, tally.class_count, rng)
        structure, pairs = self._structure(), zip(subjects, priors, strict=True)
        parameters = tuple(structure.drawn(subject, prior, rng) for subject, prior in pairs)
        return Model(tuple(subject[1] for subject in subjects), self._scored(decision.log(shares)), parameters)
