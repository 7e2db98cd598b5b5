"""BernoulliNB: naive Bayes for yes and no."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from suffice.blocks import Block
from suffice.classifiers.discrete import DiscreteNB, FeatureCounts
from suffice.families.bernoulli import Bernoulli, BernoulliParameters
from suffice.schema import Array, Columns


class BernoulliNB(FeatureCounts, DiscreteNB):
    """Naive Bayes for yes and no: the probability of a 1 in each column of each class.

    p(x given class) = Πⱼ pⱼ^xⱼ·(1 − pⱼ)^(1 − xⱼ), with pⱼ = (ones + α) / (rows + 2α).

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to the ones and to the zeros.
    force_alpha : bool, default=True
        Take alpha as it is, even below 1e-10.
    binarize : float or None, default=0.0
        Values above it count as 1, others as 0; None takes them as they are.
    fit_prior : bool, default=True
        Take the classes' shares of the rows as their probabilities; else they are equal.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The probabilities of the classes.
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How the probabilities are read off the counts.
    prior : number, Prior, one a column, "auto" or "auto-by-column", default=None
        What was believed of them; None takes alpha. "mle" has no use for it.
    epsilon : float, default=0.0
        Added to every probability before its logarithm is taken: a guard for "mle".
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` makes probabilities honest, by predictions for rows held out; None leaves them as they are.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> import numpy as np
    >>> np.exp(model.feature_log_prob_).round(3).tolist()
    [[0.75, 0.5], [0.333, 0.667]]
    """

    _family = "bernoulli"
    _counts_by = ("binarize",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        estimate: str = "mean",
        prior: Any = None,
        epsilon: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        super().__init__(alpha, force_alpha, fit_prior, class_prior, estimate, prior, epsilon)
        self.binarize = binarize
        self.calibrate = calibrate

    def _columns(self, block: Block) -> Columns:
        return replace(super()._columns(block), threshold=None if self.binarize is None else float(self.binarize))

    def _estimator(self, columns: Columns) -> Bernoulli:
        return Bernoulli(self.epsilon)

    @property
    def feature_log_prob_(self) -> Array:
        """Log p, the log probability of a 1 in each column of each class."""
        parameters = self._model().parameters[0]
        assert isinstance(parameters, BernoulliParameters)
        return parameters.log_p
