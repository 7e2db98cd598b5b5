"""LogisticRegression: the softmax that naive Bayes is, fitted directly."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from suffice import store
from suffice.data import Target, as_block, weights_of
from suffice.logistic.forms import LinearForm
from suffice.logistic.lift import LIFTS, lifted, names
from suffice.logistic.loss import Problem
from suffice.logistic.solver import Solution, generative_start, newton, standard_errors, tempered
from suffice.schema import Array

# Where the Hessian takes no more steps than this it is kept, for standard errors.
CHEAP = 1 << 29


class LogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression by Newton-Raphson, started from its generative twin.

    log P(class | x) = softmax(βᵀx + γ), with the β of least −Σ log P(own class | x) + |β|² / 2C.

    Parameters
    ----------
    C : float or None, default=1.0
        The inverse of the ridge penalty (the variance of a Gaussian prior, MAP); None: no penalty (MLE).
    fit_intercept : bool, default=True
        Whether there is a γ, which is not penalised.
    lift : {"linear", "quadratic"}, default="linear"
        What β multiplies: the columns, or the columns and all products of two.
    start : {"generative", "zero"} or LinearForm, default="generative"
        Where Newton starts: at linear discriminants, at nothing, or at a generative model (`from_generative`).
    max_iter : int, default=100
        The most steps.
    tol : float, default=1e-11
        It is done when no entry of the gradient, for each row, is larger.

    Examples
    --------
    >>> from suffice import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> round(model.score(X, y), 2), model.n_iter_ < 10
    (0.97, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [None, Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "lift": [StrOptions(set(LIFTS))],
        "start": [StrOptions({"generative", "zero"}), LinearForm],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    coef_: Array
    intercept_: Array
    classes_: Array
    n_iter_: int
    trace_: tuple[dict[str, float], ...]
    fitted_with_: tuple[str, bool]

    def __init__(
        self,
        *,
        C: float | None = 1.0,
        fit_intercept: bool = True,
        lift: str = "linear",
        start: Any = "generative",
        max_iter: int = 100,
        tol: float = 1e-11,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.lift = lift
        self.start = start
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    def from_generative(cls, model: Any, **settings: Any) -> Self:
        """Return a regression that will start where a generative model stands.

        Parameters
        ----------
        model : classifier
            A fitted model that has `as_linear`.
        **settings : dict
            Other settings.

        Returns
        -------
        regression : LogisticRegression
        """
        form = model.as_linear()
        return cls(**{"lift": "quadratic" if form.lift == "quadratic" else "linear", "start": form, **settings})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.

        Returns
        -------
        self : object
        """
        self._validate_params()
        # nothing of a model that was fitted before is changed until all has gone well
        fresh = clone(self)
        rows = fresh._rows(X, reset=True)
        target = Target.of(rows.shape[0], y, sample_weight, None, type(self).__name__)
        classes = len(target.classes)
        if classes < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{target.classes.tolist()[0]!r}"
            )
        penalty = 0.0 if self.C is None else 1.0 / self.C
        problem = Problem(lifted(rows, self.lift), target.codes, target.weights, classes, penalty, self.fit_intercept)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found out, and said
            start = tempered(problem, self._started(problem, target.classes))
            solution = newton(problem, start, steps=self.max_iter, tolerance=self.tol)
        size = problem.shape[0] * problem.shape[1]
        hessian = problem.hessian(solution.probabilities) if rows.shape[0] * size**2 <= CHEAP else None
        self._tell(solution)  # which raises where warnings are errors
        lines = solution.parameters[:-1] if self.fit_intercept else solution.parameters
        self.coef_ = np.ascontiguousarray(lines.T)
        self.intercept_ = solution.parameters[-1].copy() if self.fit_intercept else np.zeros(problem.scores)
        self.classes_, self.n_iter_, self.trace_ = target.classes, len(solution.trace) - 1, solution.trace
        self._hessian, self.fitted_with_ = hessian, self._fixed()
        self.n_features_in_ = fresh.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(fresh, "feature_names_in_"):
            self.feature_names_in_ = fresh.feature_names_in_
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the scores: the log-odds of the second class, or one score a class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        self._check_fitted()
        scores = np.asarray(lifted(self._rows(X, reset=False), self.lift) @ self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: Any) -> Array:
        """Return log P(class given x).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)], axis=1)
        return np.asarray(log_softmax(scores, axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Return P(class given x).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """Return the most probable label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write what was learned, and the settings, to a file that `suffice.load` reads.

        Parameters
        ----------
        path : str or path
            The file; one that is there already is replaced when all of the new one is on the disk.

        Returns
        -------
        path : Path
        """
        check_is_fitted(self)
        return store.save(type(self).__name__, vars(self), path)

    def as_linear(self) -> LinearForm:
        """Return the coefficients as a linear form, one line a class."""
        self._check_fitted()
        coefficients, intercepts = self.coef_, self.intercept_
        if len(self.classes_) == 2:
            coefficients, intercepts = np.vstack([0 * coefficients, coefficients]), np.append(0.0, intercepts)
        return LinearForm(self.classes_, coefficients, intercepts, self.lift)

    def summary(self, level: float = 0.95, X: Any = None, sample_weight: Any = None) -> list[dict[str, Any]]:
        """Return a line for each coefficient: estimate, standard error, z, p-value and interval (Laplace).

        The posterior is taken as Gaussian about its mode, with the inverse of the Hessian as covariance.

        Parameters
        ----------
        level : float, default=0.95
            The probability that an interval holds.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            The rows that were learned. Needed where there were so many that the Hessian was not worked out.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        lines : list of dict
        """
        self._check_fitted()
        hessian = self._hessian if X is None else self._information(X, sample_weight)
        if hessian is None:
            raise ValueError("the Hessian of so many rows and coefficients was not worked out: pass summary(X=…)")
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not be {level!r}")
        errors = standard_errors(hessian, len(self.intercept_))
        columns = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        features = names([str(name) for name in columns], self.lift) + ["(intercept)"] * self.fit_intercept
        labels = (self.classes_[1:] if len(self.classes_) == 2 else self.classes_).tolist()
        estimates = np.hstack([self.coef_, self.intercept_[:, None]]) if self.fit_intercept else self.coef_
        wide = stats.norm.ppf((1 + level) / 2)
        lines = []
        for place, (estimate, error) in enumerate(zip(estimates.ravel(), errors, strict=True)):
            z = estimate / error
            lines.append(
                {
                    "class": labels[place // len(features)],
                    "feature": features[place % len(features)],
                    "estimate": float(estimate),
                    "error": float(error),
                    "z": float(z),
                    "p": float(2 * stats.norm.sf(abs(z))),
                    "lower": float(estimate - wide * error),
                    "upper": float(estimate + wide * error),
                }
            )
        return lines

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fixed(self) -> tuple[str, bool]:
        """Return the settings that say what the coefficients multiply."""
        return self.lift, bool(self.fit_intercept)

    def _check_fitted(self) -> None:
        check_is_fitted(self)
        if getattr(self, "fitted_with_", self._fixed()) != self._fixed():
            raise ValueError("lift and fit_intercept take effect when it is fitted: fit it again")

    def _information(self, X: Any, sample_weight: Any) -> Array:
        """Return the Hessian of the loss at the coefficients, for rows of any class."""
        rows = lifted(self._rows(X, reset=False), self.lift)
        codes, penalty = np.zeros(rows.shape[0], np.intp), 0.0 if self.C is None else 1.0 / self.C
        weights = weights_of(sample_weight, rows.shape[0])
        problem = Problem(rows, codes, weights, len(self.classes_), penalty, self.fit_intercept)
        lines = np.vstack([self.coef_.T, self.intercept_]) if self.fit_intercept else self.coef_.T
        return problem.hessian(problem.probabilities(problem.linear(lines))[0])

    def _rows(self, X: Any, reset: bool) -> Any:
        rows = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        block = as_block(rows, owner=type(self).__name__, sparse=True)
        with np.errstate(over="ignore", invalid="ignore"):
            total = rows.sum()
        if not np.isfinite(total):
            replace(block, names=getattr(self, "feature_names_in_", None)).reject_if_not_finite(slice(0, rows.shape[0]))
        return rows

    def _started(self, problem: Problem, classes: Array) -> Array:
        """Return where Newton starts."""
        if isinstance(self.start, str):
            return generative_start(problem) if self.start == "generative" else np.zeros(problem.shape)
        form = self.start
        if form.classes.tolist() != classes.tolist() or form.coefficients.shape[1] != problem.X.shape[1]:
            raise ValueError(
                f"start is for {form.coefficients.shape[1]} features and classes {form.classes.tolist()}, and there "
                f"are {problem.X.shape[1]} and {classes.tolist()}"
            )
        lines = np.vstack([form.coefficients.T, form.intercepts])
        lines = lines[:, 1:] - lines[:, :1] if problem.scores == 1 else lines - lines.mean(axis=1, keepdims=True)
        lines = lines if problem.intercept else lines[:-1]
        return np.where(np.isfinite(lines), lines, 0.0)

    def _tell(self, solution: Solution) -> None:
        """Warn of what did not go to its end."""
        if solution.drifting and self.C is not None:
            # the penalty holds all but intercepts
            warnings.warn(
                "some coefficients would grow nearly without end: all rows of a class have weight 0, or the penalty is "
                "too small to hold them; leave such rows out, or lower C",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif solution.drifting:
            warnings.warn(
                "some coefficients have no most likely value and would grow without end: a column, or a combination of "
                "columns, has only one class on one side; set C",
                ConvergenceWarning,
                stacklevel=3,
            )
        if solution.separated:
            warnings.warn(
                "the classes are separated perfectly: without a penalty coefficients grow without end; those found "
                "so far are kept. Set C",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not solution.converged:
            warnings.warn(
                f"not converged after {self.max_iter} steps (max_iter): the largest entry of the gradient is "
                f"{solution.trace[-1]['gradient']:.3g}; increase max_iter, or scale the columns",
                ConvergenceWarning,
                stacklevel=3,
            )
