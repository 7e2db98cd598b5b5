"""PoissonNB: naive Bayes for numbers of events."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from suffice import decision
from suffice.classifiers.base import TallyClassifier
from suffice.classifiers.discrete import FeatureCounts
from suffice.estimation import RULES
from suffice.families.poisson import NegativeBinomial, Poisson, PoissonParameters
from suffice.schema import Array, Columns


class PoissonNB(FeatureCounts, TallyClassifier):
    """Naive Bayes for numbers of events: the rate of each column in each class.

    p(x given class) = Πⱼ λⱼ^xⱼ·e^−λⱼ / xⱼ!, with λⱼ = (events + shape) / (rows + rate).

    Parameters
    ----------
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How the rates are read off the counts; "predictive" averages over them (negative binomial).
    prior : number, Gamma, Flat, one a column, "auto" or "auto-by-column", default=None
        What was believed of the rates; a number c (by default 1) stands for Gamma(c, c): c rows of one
        event each. "mle" has no use for it.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The probabilities of the classes; None takes their shares of the rows.
    epsilon : float, default=0.0
        Added to every rate before its logarithm is taken: a guard for "mle".
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` makes probabilities honest, by predictions for rows held out; None leaves them as they are.

    Examples
    --------
    >>> from suffice import PoissonNB
    >>> model = PoissonNB(estimate="mle").fit([[1, 5], [3, 7], [9, 1]], ["calm", "calm", "busy"])
    >>> model.rate_.tolist()
    [[9.0, 1.0], [2.0, 6.0]]
    """

    _family = "poisson"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimate": [StrOptions(set(RULES))],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        estimate: str = "mean",
        prior: Any = None,
        class_prior: Any = None,
        epsilon: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.estimate = estimate
        self.prior = prior
        self.class_prior = class_prior
        self.epsilon = epsilon
        self.calibrate = calibrate

    def _estimator(self, columns: Columns) -> Poisson:
        return Poisson(self.epsilon)

    @property
    def rate_(self) -> Array:
        """The rate of each column in each class."""
        parameters = self._model().parameters[0]
        assert isinstance(parameters, (PoissonParameters, NegativeBinomial))
        return parameters.rate

    @property
    def class_prior_(self) -> Array:
        """The probability of each class."""
        return np.exp(self._model().class_log_prior)

    @property
    def class_log_prior_(self) -> Array:
        """The log probability of each class."""
        return decision.log(decision.class_prior(self.class_prior, self.classes_, self.class_count_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags
