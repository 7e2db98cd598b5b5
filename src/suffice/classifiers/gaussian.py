"""GaussianNB: naive Bayes for real numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.classifiers.base import TallyClassifier
from suffice.estimation import RULES
from suffice.families.gaussian import Gaussian, GaussianParameters, StudentT
from suffice.schema import Array, Columns


class GaussianNB(TallyClassifier):
    """Naive Bayes for real numbers: a mean and a variance for each column in each class.

    p(x given class) = Πⱼ N(xⱼ; μⱼ, σⱼ² + ε), with ε = ``var_smoothing`` times the largest variance.

    Parameters
    ----------
    priors : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The probabilities of the classes, as ``class_prior``: scikit-learn's name for it.
    var_smoothing : float, default=1e-9
        The portion of the largest variance of all columns that is added to each.
    estimate : {"mle", "map", "mean", "predictive"}, default="mle"
        How mean and variance are read off the data; "predictive" averages over them (Student's t).
    prior : number, NormalInverseGamma, Flat, one a column, "auto" or "auto-by-column", default=None
        What was believed of mean and variance; a number (by default 1) stands for that many rows like
        those of all classes together. "mle" has no use for it.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The probabilities of the classes; None takes their shares of the rows.
    ddof : float, default=0
        What is taken off n in the most likely variance; 1 makes it unbiased.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` makes probabilities honest, by predictions for rows held out; None leaves them as they are.

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
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "estimate": [StrOptions(set(RULES))],
        "ddof": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        estimate: str = "mle",
        prior: Any = None,
        class_prior: Any = None,
        ddof: float = 0,
        calibrate: str | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.estimate = estimate
        self.prior = prior
        self.class_prior = class_prior
        self.ddof = ddof
        self.calibrate = calibrate

    def _class_prior(self) -> Any:
        if self.priors is not None and self.class_prior is not None:
            raise ValueError("priors and class_prior are two names for one thing: set one of them")
        return self.class_prior if self.priors is None else self.priors

    def _estimator(self, columns: Columns) -> Gaussian:
        return Gaussian(self.var_smoothing, self.ddof)

    @property
    def _parameters(self) -> GaussianParameters | StudentT:
        parameters = self._model().parameters[0]
        assert isinstance(parameters, (GaussianParameters, StudentT))
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
        return float(np.max(self._parameters.floor))

    @property
    def class_prior_(self) -> Array:
        """The probability of each class."""
        return np.exp(self._model().class_log_prior)
