"""Logistic regression with the conventions of scikit-learn."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.blocks import Block, Sparse
from suffice.caller_warnings import warn_caller
from suffice.classifiers.concurrency import on_snapshot
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.linear_predictor import LinearPredictor, as_finite_numbers
from suffice.data import Table, Target, weights_of
from suffice.data.engines import memory
from suffice.decision.class_weights import weight_classes
from suffice.logistic.forms import Lift, LinearForm, feature_names, lift_rows
from suffice.logistic.loss import Problem
from suffice.logistic.proximal import proximal_newton
from suffice.logistic.solver import newton
from suffice.logistic.starts import generative_start, parameters_of_scores, scale_start
from suffice.logistic.summary import coefficient_table
from suffice.parallel import one_blas_thread
from suffice.records import Records
from suffice.schema import Array, Columns, Schema
from suffice.statistics import Moments, Tally

# The Hessian is kept for standard errors if it takes no more multiplications than this.
CHEAP = 1 << 29


@with_constructor
class LogisticRegression(LinearPredictor):
    """Logistic regression, fitted by Newton's method from the solution of a generative model.

    P(class | x) = softmax(coef·x + intercept), where the coefficients minimise −Σ log P(own class | x) + |coef|² / 2C.
    With ``l1_ratio`` r, the penalty is ((1 − r)·|coef|² / 2 + r·Σ |coef|) / C. For two classes there is one score, the
    log-odds of the second class.

    Parameters
    ----------
    C : float or None, default=1.0
        Inverse strength of the penalty. For a ridge penalty, it is the variance of a Gaussian prior of the
        coefficients (MAP). None and infinity mean no penalty (maximum likelihood).
    l1_ratio : float, default=0.0
        Share of the absolute values in the penalty: 0 is ridge, 1 is lasso (a Laplace prior), and values between are
        elastic nets. If it is more than 0, coefficients of features that predict little are exactly 0.
    class_weight : dict, "balanced" or None, default=None
        Factors by which the weights of the rows of each class are multiplied; "balanced" gives all classes the same
        total weight.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised.
    lift : {"linear", "quadratic"}, default="linear"
        The features: the columns, or the columns and all products of two.
    start : {"generative", "zero"} or LinearForm, default="generative"
        Where the iteration starts: at linear discriminants, at 0, or at the linear form of a generative model
        (see `from_generative`). If ``l1_ratio`` is more than 0, "generative" starts at 0.
    warm_start : bool, default=False
        Whether ``fit`` starts at the coefficients of the previous fit, if classes and columns are the same.
    max_iter : int, default=100
        Maximum number of Newton steps.
    tol : float, default=1e-11
        The iteration ends when the largest entry of the gradient, divided by the total weight, is at most this.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the (lifted) features, in the precision of X if that is single or double. They are always
        computed in double precision.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_iter_ : ndarray of shape (1,)
        Number of Newton steps.
    trace_ : tuple of dict
        "objective", largest entry of the "gradient" and length of the following "step", for each step and at the end.
    fitted_with_ : tuple
        The settings ``lift`` and ``fit_intercept`` at the time of fitting.
    column_moments_ : Tally
        Mean and variance of each column in each class, from which explanations and reports start.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they are strings.

    Examples
    --------
    >>> from suffice import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> round(model.score(X, y), 2), model.n_iter_.item() < 10
    (0.97, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [None, Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "fit_intercept": ["boolean"],
        "lift": [StrOptions(set(get_args(Lift)))],
        "start": [StrOptions({"generative", "zero"}), LinearForm],
        "warm_start": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    C: float | None = 1.0
    l1_ratio: float = 0.0
    class_weight: dict[Any, float] | Literal["balanced"] | None = None
    fit_intercept: bool = True
    lift: Lift = "linear"
    start: Literal["generative", "zero"] | LinearForm = "generative"
    warm_start: bool = False
    max_iter: int = 100
    tol: float = 1e-11

    @classmethod
    def from_generative(cls, model: Any, **settings: Any) -> Self:
        """Return an unfitted regression whose iteration starts at the coefficients of a generative model.

        Parameters
        ----------
        model : classifier
            A fitted model with a method `as_linear`.
        **settings : dict
            Other parameters of the regression.

        Returns
        -------
        LogisticRegression
            The unfitted regression.

        Examples
        --------
        >>> from suffice import GaussianNB, LogisticRegression
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> LogisticRegression.from_generative(GaussianNB().fit(X, y)).lift
        'quadratic'
        """
        form = model.as_linear()
        return cls(**{"lift": "quadratic" if form.lift == "quadratic" else "linear", "start": form, **settings})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients that minimise the loss.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        LogisticRegression
            The fitted model itself.
        """
        self._validate_params()
        block = self._reader().open(X)
        rows = as_finite_numbers(block)
        target = Target.of(rows.shape[0], y, sample_weight, None, type(self).__name__)
        classes = len(target.classes)
        if classes < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{target.classes.tolist()[0]!r}"
            )
        weights = weight_classes(self.class_weight, target.classes, target.codes, target.weights)
        problem = self._problem(rows, target.codes, weights, classes)
        # newton raises if something overflows; the rows are distributed over threads, each of which multiplies alone
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            start, is_warm = self._find_start(problem, target.classes)
            absolute = self.l1_ratio * self._penalty
            if absolute == 0:
                start = start if is_warm else scale_start(problem, start)
                solution = newton(problem, start, steps=self.max_iter, tolerance=self.tol)
            else:
                solution = proximal_newton(problem, absolute, start, steps=self.max_iter, tolerance=self.tol)
        size = problem.shape[0] * problem.shape[1]
        hessian = problem.hessian(solution.probabilities) if rows.shape[0] * size**2 <= CHEAP else None
        for message in solution.problems(self._penalty > 0):  # before anything is set: warnings may be errors
            warn_caller(message, ConvergenceWarning)
        learned = self._snapshot()
        learned.__dict__.pop("feature_names_in_", None)
        learned.n_features_in_ = block.shape[1]
        if block.names is not None:
            learned.feature_names_in_ = np.array(block.names, dtype=object)
        parameters = _centre(problem, solution.parameters, is_invariant=absolute == 0)
        lines = parameters[:-1] if self.fit_intercept else parameters
        dtype = np.float32 if block.dtype == np.float32 else np.float64
        learned.coef_ = np.ascontiguousarray(lines.T, dtype=dtype)
        learned.intercept_ = (parameters[-1] if self.fit_intercept else np.zeros(problem.scores)).astype(dtype)
        learned.classes_, learned.trace_ = target.classes, solution.trace
        learned.n_iter_ = np.array([len(solution.trace) - 1], np.int32)
        learned._hessian, learned.fitted_with_ = hessian, self._fixed()
        learned.column_moments_ = _sum_moments(block, target)
        self.__dict__ = learned.__dict__  # at once: other threads may fit it or predict with it
        return self

    @on_snapshot
    def summary(
        self, level: float = 0.95, X: Any = None, sample_weight: Any = None, *, reference: Any = None
    ) -> Records:
        """Return the table of coefficients: estimate, standard error, z, p-value and interval.

        It is the Laplace approximation: a Gaussian posterior about its mode, whose covariance is the inverse Hessian.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the intervals.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            The training rows. Needed if there were so many that ``fit`` did not keep the Hessian.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        reference : object, default=None
            A class, if there are more than two: the lines are then the differences from its coefficients, which are the
            log-odds of each other class against it. For two classes, the first one is always the reference.

        Returns
        -------
        list of dict
            Keys "class", "feature", "estimate", "error", "z", "p", "lower" and "upper"; one for each coefficient. It
            has ``to_frame()``, and is shown as a table in a notebook.

        Examples
        --------
        >>> from suffice import LogisticRegression
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> [line["feature"] for line in model.summary()]
        ['x0', '(intercept)']
        """
        self._check_fitted()
        if self._penalty * self.l1_ratio:
            raise ValueError("coefficients under a penalty of absolute values have no standard errors: set l1_ratio=0")
        hessian = self._hessian if X is None else self._hessian_of(X, sample_weight)
        if hessian is None:
            raise ValueError("the data are so large that fit did not keep the Hessian: pass summary(X=…)")
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not be {level!r}")
        columns = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        features = feature_names([str(name) for name in columns], self.lift) + ["(intercept)"] * self.fit_intercept
        labels = (self.classes_[1:] if len(self.classes_) == 2 else self.classes_).tolist()
        estimates = np.hstack([self.coef_, self.intercept_[:, None]]) if self.fit_intercept else self.coef_
        place = None
        if reference is not None:
            if reference not in labels or len(labels) == 1:
                raise ValueError(f"reference must be one of more than two classes, not {reference!r}")
            place = labels.index(reference)
        return coefficient_table(estimates, hessian, labels, features, level, place)

    def _problem(self, rows: Any, codes: Array, weights: Array | None, classes: int) -> Problem:
        penalty = (1.0 - self.l1_ratio) * self._penalty
        return Problem(lift_rows(rows, self.lift), codes, weights, classes, penalty, self.fit_intercept)

    @property
    def _penalty(self) -> float:
        """1/C, which is 0 without a penalty."""
        return 0.0 if self.C is None else 1.0 / self.C

    def _hessian_of(self, X: Any, sample_weight: Any) -> Array:
        """Return the Hessian of the loss at the coefficients; it does not depend on the labels of the rows."""
        rows = self._rows(X)
        count = rows.shape[0]
        problem = self._problem(rows, np.zeros(count, np.intp), weights_of(sample_weight, count), len(self.classes_))
        lines = np.vstack([self.coef_.T, self.intercept_]) if self.fit_intercept else self.coef_.T
        return problem.hessian(problem.probabilities(problem.linear(lines))[0])

    def _find_start(self, problem: Problem, classes: Array) -> tuple[Array, bool]:
        """Return the parameters at which the iteration starts, and whether they are those of the fit before."""
        form, is_warm = self.start, False
        if self.warm_start and hasattr(self, "coef_"):
            lines, same = self._lines(), np.array_equal(self.classes_, classes) and self.fitted_with_ == self._fixed()
            if same and lines[0].shape[1] == problem.X.shape[1]:
                form, is_warm = LinearForm(classes, *lines, self.lift), True
        if isinstance(form, str):
            is_generative = form == "generative" and not self.l1_ratio
            return (generative_start(problem) if is_generative else np.zeros(problem.shape)), False
        if form.classes.tolist() != classes.tolist() or form.coefficients.shape[1] != problem.X.shape[1]:
            raise ValueError(
                f"start has {form.coefficients.shape[1]} features and classes {form.classes.tolist()}, but the data "
                f"have {problem.X.shape[1]} features and classes {classes.tolist()}"
            )
        found = parameters_of_scores(problem, np.vstack([form.coefficients.T, form.intercepts]))
        return np.where(np.isfinite(found), found, 0.0), is_warm


def _centre(problem: Problem, parameters: Array, *, is_invariant: bool) -> Array:
    """Return parameters of one score per class that sum to 0 over the classes, as far as that changes nothing.

    Adding a constant to all scores changes no probability, nor does it change the penalty of intercepts, which have
    none. ``is_invariant`` is True if the sum of the coefficients is 0 at the minimum, but for rounding, or arbitrary.
    """
    if problem.scores == 1:
        return parameters
    centred = parameters - parameters.mean(axis=1, keepdims=True)
    if not is_invariant:
        centred[: problem.X.shape[1]] = parameters[: problem.X.shape[1]]
    return np.asarray(centred)


def _sum_moments(block: Block, target: Target) -> Tally:
    """Return the moments of the columns by class."""
    columns = Columns("gaussian", block.shape[1], block.names)
    if not isinstance(block, Sparse):
        return memory.tally(Table((block,), target), (columns,))
    indicators = np.eye(len(target.classes))[target.codes]
    indicators = indicators if target.weights is None else indicators * target.weights[:, None]
    matrix, n = block.matrix.astype(np.float64, copy=False), indicators.sum(axis=0)[:, None]
    sums, squares = (np.asarray(each.T @ indicators).T for each in (matrix, matrix.power(2)))
    moments = Moments.about(n, np.zeros(sums.shape), sums, squares)
    return Tally(Schema(target.classes, (columns,)), n[:, 0], (moments,))
