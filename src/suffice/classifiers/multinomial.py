"""MultinomialNB and ComplementNB: naive Bayes for counts, such as words."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from suffice.classifiers.discrete import DiscreteNB, FeatureCounts
from suffice.families.complement import Complement
from suffice.families.multinomial import DirichletMultinomial, Multinomial, MultinomialParameters
from suffice.schema import Array, Columns


class MultinomialNB(FeatureCounts, DiscreteNB):
    """Naive Bayes for counts, such as words: the share of each column in all that a class counts.

    p(x given class) ∝ Πⱼ pⱼ^xⱼ, with pⱼ = (countⱼ + α) / Σᵢ (countᵢ + α).

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to each column.
    force_alpha : bool, default=True
        Take alpha as it is, even below 1e-10.
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
    >>> from suffice import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 1], [0, 3]], ["a", "b"])
    >>> import numpy as np
    >>> np.exp(model.feature_log_prob_).round(3).tolist()
    [[0.6, 0.4], [0.2, 0.8]]
    """

    _family = "multinomial"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        estimate: str = "mean",
        prior: Any = None,
        epsilon: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        super().__init__(alpha, force_alpha, fit_prior, class_prior, estimate, prior, epsilon)
        self.calibrate = calibrate

    def _estimator(self, columns: Columns) -> Multinomial:
        return Multinomial(self.epsilon)

    @property
    def feature_log_prob_(self) -> Array:
        """The log of each column's share in each class; of complements, the weights."""
        parameters = self._model().parameters[0]
        assert isinstance(parameters, (MultinomialParameters, DirichletMultinomial))
        return parameters.log_p

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class ComplementNB(MultinomialNB):
    """Naive Bayes for counts in classes of unequal size: a row goes where its complement fits least.

    score(class) = −Σⱼ xⱼ·log p̃ⱼ, with p̃ⱼ the share of column j in all other classes (Rennie et al.
    2003). A score, not a probability.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to each column.
    force_alpha : bool, default=True
        Take alpha as it is, even below 1e-10.
    fit_prior : bool, default=True
        Used only where there is a single class.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        Used only where there is a single class.
    norm : bool, default=False
        Divide the weights of each class by their sum.
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
    >>> from suffice import ComplementNB
    >>> ComplementNB().fit([[2, 1], [0, 3]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "complement"
    _parameter_constraints: ClassVar[dict[str, Any]] = {**DiscreteNB._parameter_constraints, "norm": ["boolean"]}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        estimate: str = "mean",
        prior: Any = None,
        epsilon: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            estimate=estimate,
            prior=prior,
            epsilon=epsilon,
        )
        self.norm = norm
        self.calibrate = calibrate

    def _estimator(self, columns: Columns) -> Complement:
        return Complement(self.epsilon, self.norm)

    def _scored(self, class_log_prior: Array) -> Array:
        return class_log_prior if class_log_prior.shape[-1] == 1 else np.zeros(class_log_prior.shape)

    @property
    def feature_all_(self) -> Array:
        """How much of each column there was in all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))
