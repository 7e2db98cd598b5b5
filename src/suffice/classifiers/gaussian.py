"""GaussianNB: naive Bayes for real numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from suffice import decision
from suffice.classifiers.base import TallyClassifier
from suffice.families.gaussian import Gaussian, GaussianParameters
from suffice.model import Model
from suffice.schema import Array, Schema
from suffice.tallies import Moments, Tally


class GaussianNB(TallyClassifier):
    """Naive Bayes for real numbers: a mean and a variance for each column in each class.

    p(x given class) = Πⱼ N(xⱼ; μⱼ, σⱼ² + ε), with ε = ``var_smoothing`` times the largest variance.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        The probabilities of the classes; None takes their shares of the rows.
    var_smoothing : float, default=1e-9
        The portion of the largest variance of all columns that is added to each.

    Examples
    --------
    >>> from suffice import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["low", "low", "high", "high"])
    >>> model.predict([[1.8]]).tolist(), model.theta_.tolist()
    (['low'], [[5.5], [1.5]])
    >>> _ = model.forget([[2.0]], ["low"])
    >>> model.theta_.tolist()
    [[5.5], [1.0]]
    """

    _family = "gaussian"
    _sparse = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _check_settings(self, schema: Schema) -> None:
        if self.priors is None:
            return
        priors = np.asarray(self.priors, np.float64)
        if len(priors) != len(schema.classes):
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError(f"The sum of the priors should be 1. It is {priors.sum():g}.")
        if bool(np.any(priors < 0)):
            raise ValueError("Priors must be non-negative.")

    def _estimated(self, tally: Tally) -> Model:
        moments = tally.statistics[0]
        assert isinstance(moments, Moments)
        prior = (
            decision.empirical_prior(tally.class_count) if self.priors is None else np.asarray(self.priors, np.float64)
        )
        return Model(tally.schema.blocks[0], decision.log(prior), Gaussian().estimate(moments, self.var_smoothing))

    @property
    def _parameters(self) -> GaussianParameters:
        parameters: GaussianParameters = self._model().parameters
        return parameters

    @property
    def theta_(self) -> Array:
        """The mean of each column in each class."""
        return self._parameters.mean

    @property
    def var_(self) -> Array:
        """The variance of each column in each class, floor included."""
        return self._parameters.variance

    @property
    def epsilon_(self) -> float:
        """The floor that is added to every variance."""
        return self._parameters.floor

    @property
    def class_prior_(self) -> Array:
        """The probability of each class."""
        return np.exp(self._model().class_log_prior)
