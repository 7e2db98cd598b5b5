"""PoissonNB: naive Bayes for numbers of events."""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.classifiers import smoothing
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.tally_classifier import CalibrationMethod, TallyClassifier
from suffice.estimation import RULES
from suffice.families.poisson import Poisson
from suffice.recipe import Recipe, Rule
from suffice.schema import Array, Plan


@with_constructor
class PoissonNB(TallyClassifier):
    """Naive Bayes for numbers of events: the rate of each column in each class.

    p(x | class) = Πⱼ λⱼ^xⱼ·e^−λⱼ / xⱼ!, with λⱼ = (events + shape) / (rows + rate).

    Parameters
    ----------
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How the rates are estimated; "predictive" integrates over them (negative binomial).
    prior : number, Gamma, Flat, one per column, "auto" or "auto-by-column", default=None
        The prior of the rates. A number c (by default 1) stands for Gamma(c, c): c pseudo-rows of one event each;
        "mle" does not use it.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The class probabilities; None uses the class frequencies.
    epsilon : float, default=0.0
        Added to every rate before taking logarithms, so that "mle" has no log 0.
    missing : {"error", "skip"}, default="error"
        Whether NaN is an error, or a missing cell that is skipped in learning and in predictions; a sparse
        matrix has none.
    plan : Plan, default=None
        The plan that says what is counted (the names and the number of columns), such as ``plan_`` of another model.
        By default it is made from the rows.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not.

    Examples
    --------
    >>> from suffice import PoissonNB
    >>> model = PoissonNB(estimate="mle").fit([[1, 5], [3, 7], [9, 1]], ["calm", "calm", "busy"])
    >>> model.rate_.tolist()
    [[9.0, 1.0], [2.0, 6.0]]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimate": [StrOptions(set(RULES))],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    estimate: Rule = "mean"
    prior: Any = None
    class_prior: Any = None
    epsilon: float = 0.0
    missing: Literal["error", "skip"] = "error"
    plan: Plan | None = None
    calibrate: CalibrationMethod | None = None

    def _make_recipe(self) -> Recipe:
        family = Poisson(self.epsilon)
        return Recipe(
            smoothing.number_reader(self, "poisson"),
            self.estimate,
            1.0 if self.prior is None else self.prior,
            self.class_prior,
            family_for=lambda columns: family,
            given_plan=self.plan,
        )

    feature_count_ = smoothing.feature_count
    class_log_prior_ = smoothing.class_log_prior
    class_prior_ = smoothing.class_prior

    @property
    def rate_(self) -> Array:
        """The rate of each column in each class."""
        parameters: Any = self.estimate_model().parameters[0]
        return np.asarray(parameters.rate)

    def __sklearn_tags__(self) -> Any:
        return smoothing.tag_counts(super().__sklearn_tags__(), sparse=True, positive=True)
