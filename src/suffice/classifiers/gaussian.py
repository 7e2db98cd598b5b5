"""GaussianNB: naive Bayes for real numbers."""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.classifiers import smoothing
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.tally_classifier import CalibrationMethod, TallyClassifier
from suffice.estimation import RULES
from suffice.families.gaussian import Gaussian
from suffice.recipe import Recipe, Rule
from suffice.schema import Array, Plan


@with_constructor
class GaussianNB(TallyClassifier):
    """Naive Bayes for real numbers: a mean and a variance for each column in each class.

    p(x | class) = Πⱼ N(xⱼ; μⱼ, σⱼ² + ε), with ε = ``var_smoothing`` times the largest variance.

    Parameters
    ----------
    priors : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The class probabilities: scikit-learn's name for ``class_prior``.
    var_smoothing : float, default=1e-9
        The fraction of the largest variance of all columns that is added to every variance.
    estimate : {"mle", "map", "mean", "predictive"}, default="mle"
        How mean and variance are estimated; "predictive" integrates over them (Student's t).
    prior : number, NormalInverseGamma, Flat, one per column, "auto" or "auto-by-column", default=None
        The prior of mean and variance. A number c (by default 1) means c pseudo-rows with the mean and
        variance of all rows; "mle" does not use it.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The class probabilities; None uses the class frequencies.
    ddof : float, default=0
        Subtracted from n in the maximum-likelihood variance; 1 makes it unbiased.
    missing : {"error", "skip"}, default="error"
        Whether NaN is an error, or a missing cell that is skipped in learning and in predictions.
    plan : Plan, default=None
        The plan that says what is counted (the names and the number of columns), such as ``plan_`` of another model.
        By default it is made from the rows.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "estimate": [StrOptions(set(RULES))],
        "ddof": [Interval(Real, 0, None, closed="left")],
    }

    priors: Any = None
    var_smoothing: float = 1e-9
    estimate: Rule = "mle"
    prior: Any = None
    class_prior: Any = None
    ddof: float = 0
    missing: Literal["error", "skip"] = "error"
    plan: Plan | None = None
    calibrate: CalibrationMethod | None = None

    def _make_recipe(self) -> Recipe:
        if self.priors is not None and self.class_prior is not None:
            raise ValueError("priors and class_prior are two names for the same setting: set one of them")
        family = Gaussian(self.var_smoothing, self.ddof)
        return Recipe(
            smoothing.number_reader(self, "gaussian", accepts_sparse=False),
            self.estimate,
            1.0 if self.prior is None else self.prior,
            self.class_prior if self.priors is None else self.priors,
            family_for=lambda columns: family,
            given_plan=self.plan,
        )

    class_prior_ = smoothing.class_prior

    @property
    def theta_(self) -> Array:
        """The mean of each column in each class, shape (n_classes, n_features)."""
        return np.asarray(self._parameters.mean)

    @property
    def var_(self) -> Array:
        """The variance of each column in each class, including ``epsilon_``."""
        return np.asarray(self._parameters.variance)

    @property
    def epsilon_(self) -> float:
        """The value that ``var_smoothing`` adds to every variance."""
        return float(np.max(self._parameters.floor))
