"""MultinomialNB and ComplementNB: naive Bayes for counts, such as words."""

from typing import Any, ClassVar

import numpy as np

from suffice.classifiers import smoothing
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.tally_classifier import CalibrationMethod, TallyClassifier
from suffice.families.complement import Complement
from suffice.families.multinomial import Multinomial
from suffice.recipe import Recipe, Rule
from suffice.schema import Array, Plan


@with_constructor
class MultinomialNB(TallyClassifier):
    """Naive Bayes for counts, such as words: the share of each column in the total count of a class.

    p(x | class) ∝ Πⱼ pⱼ^xⱼ, with pⱼ = (countⱼ + α) / Σᵢ (countᵢ + α).

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to each column.
    force_alpha : bool, default=True
        If False, a pseudo-count below 1e-10 is raised to 1e-10.
    fit_prior : bool, default=True
        Whether to take class frequencies as class probabilities; otherwise they are uniform.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The class probabilities.
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How the share of each column is estimated; "predictive" integrates over the shares.
    prior : number, Dirichlet, MEstimate, Flat, one per column, "auto" or "auto-by-column", default=None
        The prior of the shares; None uses ``alpha``, and "mle" uses none.
    epsilon : float, default=0.0
        Added to every share before taking logarithms, so that "mle" has no log 0.
    plan : Plan, default=None
        The plan that says what is counted (the names and the number of columns), such as ``plan_`` of another model.
        By default it is made from the rows.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not.

    Examples
    --------
    >>> from suffice import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 1], [0, 3]], ["a", "b"])
    >>> import numpy as np
    >>> np.exp(model.feature_log_prob_).round(3).tolist()
    [[0.6, 0.4], [0.2, 0.8]]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = smoothing.CONSTRAINTS

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    estimate: Rule = "mean"
    prior: Any = None
    epsilon: float = 0.0
    plan: Plan | None = None
    calibrate: CalibrationMethod | None = None

    def _make_recipe(self) -> Recipe:
        reader = smoothing.number_reader(self, "multinomial")
        return smoothing.count_recipe(self, Multinomial(self.epsilon), reader)

    _check = smoothing.check_counts
    _warn_after_learning = smoothing.warn_small_alpha
    feature_count_ = smoothing.feature_count
    feature_log_prob_ = smoothing.feature_log_prob
    class_log_prior_ = smoothing.class_log_prior

    def __sklearn_tags__(self) -> Any:
        return smoothing.tag_counts(super().__sklearn_tags__(), sparse=True, positive=True)


@with_constructor
class ComplementNB(TallyClassifier):
    """Naive Bayes for counts in classes of unequal size: each class is scored by the counts of all other classes.

    score(class) = −Σⱼ xⱼ·log p̃ⱼ, with p̃ⱼ the share of column j in all other classes (Rennie et al.
    2003). This is a score, not a probability.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to each column.
    force_alpha : bool, default=True
        If False, a pseudo-count below 1e-10 is raised to 1e-10.
    fit_prior : bool, default=True
        Used only if there is a single class.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        Used only if there is a single class.
    norm : bool, default=False
        Whether to divide the weights of each class by their sum.
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How the shares in the other classes are estimated; "predictive" is the same as "mean" here.
    prior : number, Dirichlet, MEstimate, Flat, one per column, "auto" or "auto-by-column", default=None
        The prior of these shares; None uses ``alpha``, and "mle" uses none.
    epsilon : float, default=0.0
        Added to each of these shares before taking logarithms, so that "mle" has no log 0.
    plan : Plan, default=None
        The plan that says what is counted (the names and the number of columns), such as ``plan_`` of another model.
        By default it is made from the rows.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not.

    Examples
    --------
    >>> from suffice import ComplementNB
    >>> ComplementNB().fit([[2, 1], [0, 3]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**smoothing.CONSTRAINTS, "norm": ["boolean"]}

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    norm: bool = False
    estimate: Rule = "mean"
    prior: Any = None
    epsilon: float = 0.0
    plan: Plan | None = None
    calibrate: CalibrationMethod | None = None

    def _make_recipe(self) -> Recipe:
        family, reader = Complement(self.epsilon, self.norm), smoothing.number_reader(self, "complement")
        return smoothing.count_recipe(self, family, reader, class_prior_is_scored=False)

    _check = smoothing.check_counts
    _warn_after_learning = smoothing.warn_small_alpha
    feature_count_ = smoothing.feature_count
    feature_log_prob_ = smoothing.feature_log_prob
    class_log_prior_ = smoothing.class_log_prior

    def __sklearn_tags__(self) -> Any:
        return smoothing.tag_counts(super().__sklearn_tags__(), sparse=True, positive=True)

    @property
    def feature_all_(self) -> Array:
        """The total count of each column in all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))
