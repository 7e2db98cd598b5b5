"""BernoulliNB: naive Bayes for binary columns."""

from numbers import Real
from typing import Any, ClassVar, Literal

from sklearn.utils._param_validation import Interval

from suffice.classifiers import smoothing
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.tally_classifier import CalibrationMethod, TallyClassifier
from suffice.families.bernoulli import Bernoulli
from suffice.recipe import Recipe, Rule
from suffice.schema import Plan


@with_constructor
class BernoulliNB(TallyClassifier):
    """Naive Bayes for binary columns: the probability of a 1 in each column of each class.

    p(x | class) = Πⱼ pⱼ^xⱼ·(1 − pⱼ)^(1 − xⱼ), with pⱼ = (ones + α) / (rows + 2α).

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to the ones and to the zeros.
    force_alpha : bool, default=True
        If False, a pseudo-count below 1e-10 is raised to 1e-10.
    binarize : float or None, default=0.0
        Values above this count as 1, others as 0; None expects zeros and ones.
    fit_prior : bool, default=True
        Whether to use class frequencies as class probabilities; otherwise they are uniform.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The class probabilities.
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How the probability of a 1 is estimated.
    prior : number, Beta, MEstimate, Flat, one per column, "auto" or "auto-by-column", default=None
        The prior of the probability of a 1; None uses ``alpha``, and "mle" uses none.
    epsilon : float, default=0.0
        Added to p and to 1 − p before taking logarithms, so that "mle" has no log 0.
    missing : {"error", "skip"}, default="error"
        Whether NaN is an error, or a missing cell that is skipped in learning and in predictions; a sparse
        matrix has none.
    plan : Plan, default=None
        The plan that says what is counted (the names and the number of columns, and ``binarize``), such as ``plan_``
        of another model. By default it is made from the rows.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> import numpy as np
    >>> np.exp(model.feature_log_prob_).round(3).tolist()
    [[0.75, 0.5], [0.333, 0.667]]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **smoothing.CONSTRAINTS,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    alpha: Any = 1.0
    force_alpha: bool = True
    binarize: float | None = 0.0
    fit_prior: bool = True
    class_prior: Any = None
    estimate: Rule = "mean"
    prior: Any = None
    epsilon: float = 0.0
    missing: Literal["error", "skip"] = "error"
    plan: Plan | None = None
    calibrate: CalibrationMethod | None = None

    def _make_recipe(self) -> Recipe:
        threshold = None if self.binarize is None else float(self.binarize)
        reader = smoothing.number_reader(self, "bernoulli", threshold=threshold)
        return smoothing.count_recipe(self, Bernoulli(self.epsilon), reader)

    _check = smoothing.check_counts
    _warn_after_learning = smoothing.warn_small_alpha
    feature_count_ = smoothing.feature_count
    feature_log_prob_ = smoothing.feature_log_prob
    class_log_prior_ = smoothing.class_log_prior

    def __sklearn_tags__(self) -> Any:
        return smoothing.tag_counts(super().__sklearn_tags__(), sparse=True)
