"""Logistic regression with the conventions of scikit-learn."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast, get_args

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from suffice import decision, storage
from suffice.blocks import Block, Dense, Sparse
from suffice.classifiers.concurrency import on_snapshot, take_snapshot
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.predict_table import predict_source
from suffice.classifiers.tally_classifier import Dialect, FloatType, InputType
from suffice.data import Table, Target, weights_of
from suffice.data.engines import memory
from suffice.data.reader import NumberReader
from suffice.decision.class_weights import weight_classes
from suffice.explain import Explanation, column_title
from suffice.export import Style, to_onnx, to_sql
from suffice.families.family import Parameters
from suffice.logistic.forms import Lift, LinearForm, feature_names, lift_rows
from suffice.logistic.loss import Problem
from suffice.logistic.proximal import proximal_newton
from suffice.logistic.solver import newton
from suffice.logistic.starts import generative_start, parameters_of_scores, scale_start
from suffice.logistic.summary import coefficient_table
from suffice.model import Model
from suffice.records import Records
from suffice.schema import Array, Columns, Schema
from suffice.score import CompleteLinear, Products, Score
from suffice.score.term import all_rows
from suffice.statistics import Moments, Tally
from suffice.storage.atomic_write import replace_file

# The Hessian is kept for standard errors if it takes no more multiplications than this.
CHEAP = 1 << 29


@dataclass(frozen=True)
class Coefficients(Parameters):
    """The coefficients of a logistic regression, [class, feature], as parameters of a `Model`.

    The features are the columns, after their products, if there are any.
    """

    coefficients: Array
    count: int
    biases: Array | None = None  # added to the product with each column, [class, column]

    def score(self) -> Score:
        products, lines = np.split(self.coefficients, [self.coefficients.shape[1] - self.count], axis=1)
        line = CompleteLinear.of(np.ascontiguousarray(lines))
        if self.biases is not None:
            line = replace(line, biases=self.biases)
        return Score((line, Products.of(products, self.count)) if products.size else (line,))

    @property
    def n_parameters(self) -> int:
        return int(self.coefficients[1:].size)


class LinearRows(NamedTuple):
    """Rows as the model scores them, and their cells as the user would write them."""

    opened: Block
    names: list[Any]
    values: list[list[Any]]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The rows, which are one block of numbers."""
        return (self.opened,)


@with_constructor
class LogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression, fitted by Newton's method from the solution of a generative model.

    P(class | x) = softmax(coef·x + intercept), where the coefficients minimise −Σ log P(own class | x) + |coef|² / 2C.
    With ``l1_ratio`` r, the penalty is ((1 − r)·|coef|² / 2 + r·Σ |coef|) / C. For two classes there is one score, the
    log-odds of the second class.

    Parameters
    ----------
    C : float or None, default=1.0
        Inverse of the penalty. For a ridge penalty, it is the variance of a Gaussian prior of the coefficients (MAP).
        None and infinity mean no penalty (maximum likelihood).
    l1_ratio : float, default=0.0
        Share of absolute values in the penalty: 0 is ridge, 1 is lasso (a Laplace prior), between is the elastic net.
        With more than 0, coefficients of features that predict little are exactly 0.
    class_weight : dict, "balanced" or None, default=None
        Factor of the weight of the rows of each class; "balanced" gives all classes the same total weight.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised.
    lift : {"linear", "quadratic"}, default="linear"
        The features: the columns, or the columns and all products of two.
    start : {"generative", "zero"} or LinearForm, default="generative"
        Where the iteration starts: at linear discriminants, at 0, or at the linear form of a generative model
        (see `from_generative`). With ``l1_ratio`` more than 0, "generative" starts at 0.
    warm_start : bool, default=False
        Whether ``fit`` starts at the coefficients of the fit before, if classes and columns are the same.
    max_iter : int, default=100
        Largest number of Newton steps.
    tol : float, default=1e-11
        The iteration ends when no entry of the gradient, per unit of weight, is larger.

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
        "objective", largest entry of the "gradient" and length of the following "step", for each step and the end.
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
            To be fitted.

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
        rows = _as_finite_numbers(block)
        target = Target.of(rows.shape[0], y, sample_weight, None, type(self).__name__)
        classes = len(target.classes)
        if classes < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{target.classes.tolist()[0]!r}"
            )
        weights = weight_classes(self.class_weight, target.classes, target.codes, target.weights)
        problem = self._problem(rows, target.codes, weights, classes)
        with np.errstate(over="ignore", invalid="ignore"):  # newton raises if something overflows
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
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
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
    def decision_function(self, X: Any) -> Array:
        """Return the scores: the log-odds of the second class, or one score per class.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        self._check_fitted()
        scores = np.asarray(lift_rows(self._rows(X), self.lift) @ self.coef_.T + self.intercept_)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: Any) -> Array:
        """Return log P(class | x).

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)], axis=1)
        return np.asarray(log_softmax(scores, axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x).

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return np.exp(self.predict_log_proba(X))

    @on_snapshot
    def predict(self, X: Any) -> Array:
        """Return the most probable label of each row.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        log_proba = self.predict_log_proba(X)
        return np.asarray(self.classes_[decision.first_of_highest(log_proba)])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model to a file that `suffice.load` reads.

        Parameters
        ----------
        path : str or path
            The file. An existing file is replaced only after the new one is completely written.

        Returns
        -------
        Path
            The path of the file.
        """
        return replace_file(path, self.file_content())

    @on_snapshot
    def file_content(self) -> bytes:
        """Return the content of the file that `save` writes.

        Returns
        -------
        bytes
            The content.
        """
        self._check_fitted()
        return storage.file_content(type(self).__name__, vars(self))

    @on_snapshot
    def as_linear(self) -> LinearForm:
        """Return the model in linear form, with one row of coefficients per class.

        Returns
        -------
        LinearForm
            Classes, coefficients, intercepts and lift.
        """
        self._check_fitted()
        return LinearForm(self.classes_, *self._lines(), self.lift)

    @property
    def schema_(self) -> Schema:
        """The classes, and the columns as one block of numbers."""
        self._check_fitted()
        names = vars(self).get("feature_names_in_")
        columns = Columns("linear", self.n_features_in_, None if names is None else tuple(names.tolist()))
        return Schema(self.classes_, (columns,))

    @on_snapshot
    def read_rows(self, X: Any) -> LinearRows:
        """Return rows as the model reads them, matched with the columns that were learned.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            Rows.

        Returns
        -------
        LinearRows
            The rows as a block, the names of the columns, and the cells.
        """
        opened = self._reader().open(X, self.schema_)
        return LinearRows(opened, *self._reader().list_cells(opened, self.schema_))

    @on_snapshot
    def explain(self, X: Any) -> Explanation:
        """Return what each column contributes to the score of each class, compared with the mean of the column.

        A column contributes coef·(x − mean), so a cell at the mean contributes 0. What is left of the score is the
        "(prior)", the score of a row of means. With ``lift="quadratic"``, squares and products are features of their
        own, compared with those of the means.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            Rows. All contributions are kept in memory, so pass a few.

        Returns
        -------
        Explanation
            With ``contributions`` [row, class, feature], ``log_odds(row)``, ``sentence(row)`` and ``to_frame()``, as
            other classifiers return it.

        Examples
        --------
        >>> from suffice import LogisticRegression
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> [(name, value, round(nats, 2)) for name, value, nats in model.explain([[3.0]]).log_odds()[1:]]
        [('column 0', 3.0, 1.44)]
        """
        self._check_fitted()
        rows, (coefficients, intercepts) = self.read_rows(X), self._lines()
        reference = lift_rows(self._column_means()[None], self.lift)[0]
        features = lift_rows(np.array(rows.values, np.float64).reshape(len(rows.values), -1), self.lift)
        contributions = (features - reference)[:, None, :] * coefficients
        prior = intercepts + coefficients @ reference
        names = feature_names([column_title(name) for name in rows.names], self.lift)
        scores, log_proba = prior + contributions.sum(axis=-1), self.predict_log_proba(X).astype(np.float64)
        return Explanation(self.classes_.tolist(), names, features.tolist(), prior, contributions, scores, log_proba)

    def as_model(self, *, centred: bool = False) -> Model:
        """Return the model that exports translate: log P(class | x) is its score, up to a constant of the row.

        Parameters
        ----------
        centred : bool, default=False
            Whether the means of the columns are subtracted from them, but not from products; scores are the same.

        Returns
        -------
        Model
            With the intercepts as log prior, from which the largest is subtracted, and a linear or quadratic score.
        """
        form = self.as_linear()
        prior, parameters = form.intercepts, Coefficients(form.coefficients, self.n_features_in_)
        if centred:
            lines = form.coefficients[:, form.coefficients.shape[1] - self.n_features_in_ :]
            biases = -lines * self._column_means()
            prior, parameters = prior - biases.sum(axis=1), replace(parameters, biases=biases)
        return Model(self.schema_.blocks, prior - prior.max(), (parameters,))

    def _column_means(self) -> Array:
        """Return the mean of each column over all rows; 0 for models of files that do not have it."""
        moments: Any = vars(self).get("column_moments_")
        return np.zeros(self.n_features_in_) if moments is None else moments.statistics[0].pooled().mean[0]

    def to_sql(
        self,
        dialect: Dialect = "duckdb",
        *,
        table: str | Sequence[str] = "rows",
        columns: Sequence[str] | None = None,
        style: Style = "auto",
        prefix: str | Sequence[str] = "suffice_model",
        view: bool = True,
    ) -> str:
        """Return SQL that gives each row of a table its label and P(class | x), as ``predict_proba`` does.

        Columns are found by name (x0, x1, … if they were learned without names). If a cell of a row is NULL, NaN or
        infinite, the label and the probabilities of the row are NULL; ``predict`` raises an error there.

        Parameters
        ----------
        dialect : str, default="duckdb"
            The database, as in ``BayesClassifier.to_sql``.
        table : str or sequence of str, default="rows"
            The table's name, after its schema and catalogue, if any: "shop.orders" or ("shop", "orders").
        columns : sequence of str, default=None
            The columns of the table, if they are known: no new column gets the name of one of them.
        style : {"auto", "select", "tables"}, default="auto"
            One SELECT that contains all coefficients, or a script with tables of them.
        prefix : str or sequence of str, default="suffice_model"
            The name of the view of a script, and the beginning of the names of its tables; it may have a schema.
        view : bool, default=True
            Whether a script ends with CREATE VIEW, or with the SELECT of the view.

        Returns
        -------
        str
            A query or a view of all columns of the table, ``prediction``, and ``p(label)`` of each class; with ``_1``
            after the name if a column has that name already.

        Examples
        --------
        >>> import sqlite3
        >>> from suffice import LogisticRegression
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> base = sqlite3.connect(":memory:")
        >>> _ = base.execute("CREATE TABLE shops AS SELECT 3.0 AS x0 UNION ALL SELECT NULL")
        >>> [row[:2] for row in base.execute(model.to_sql("sqlite", table="shops"))]
        [(3.0, 'yes'), (None, None)]
        >>> base.close()
        """
        classes = self.classes_.tolist()
        return to_sql(self.as_model(), classes, dialect, table, None, columns, style, prefix, view)

    def to_onnx(self, dtype: FloatType = "float32", *, types: Mapping[str, InputType] | None = None) -> Any:
        """Return an ONNX model that gives each row its label and P(class | x), as ``predict_proba`` does.

        Inputs and outputs are those of ``BayesClassifier.to_onnx``. The probabilities of a row with a cell that is NaN
        or infinite are NaN; ``predict`` raises an error there.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default="float32"
            The type of numbers and of the probabilities. Both are computed in double precision.
        types : mapping of {str: str}, default=None
            The types of some columns, if they are to have others: "float32", "float64", "int64" or "bool".

        Returns
        -------
        model : onnx.ModelProto

        Examples
        --------
        >>> from suffice import LogisticRegression
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> [each.name for each in model.to_onnx().graph.output]
        ['label', 'probabilities']
        """
        return to_onnx(self.as_model(), self.classes_.tolist(), dtype=dtype, types=types, features=self.n_features_in_)

    def predict_table(self, source: Any) -> Any:
        """Return a table with the prediction and the probability of each class as new columns.

        Parameters
        ----------
        source : data frame, path, or table of an engine
            As in ``BayesClassifier.fit_table``; columns that were not learned are passed through. Columns learned
            without names are called x0, x1, ….

        Returns
        -------
        table : of the same kind
            With ``prediction`` and ``p(label)`` of each class, as ``BayesClassifier.predict_table`` returns it. A
            database computes the SQL of ``to_sql``, in which a row with a missing cell has no prediction; elsewhere a
            missing cell is an error, as in ``predict``.
        """
        self._check_fitted()
        return predict_source(self, source)

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
            A class, if there are more than two: the lines are then the differences to its coefficients, which are the
            log-odds of each other class against it. For two classes the first one always is the reference.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _snapshot(self) -> Self:
        """Return the model as it is now, which no other thread changes."""
        return take_snapshot(self)

    def _fixed(self) -> tuple[str, bool]:
        """Return the settings that determine which features have coefficients."""
        return self.lift, bool(self.fit_intercept)

    def _lines(self) -> tuple[Array, Array]:
        """Return coefficients and intercepts as doubles with one row per class."""
        coefficients, intercepts = self.coef_.astype(np.float64), self.intercept_.astype(np.float64)
        if len(self.classes_) > 2:
            return coefficients, intercepts
        return np.vstack([0 * coefficients, coefficients]), np.append(0.0, intercepts)

    def _check_fitted(self) -> None:
        """Raise if the model is not fitted, or was fitted with other settings."""
        check_is_fitted(self)
        if getattr(self, "fitted_with_", self._fixed()) != self._fixed():
            raise ValueError("lift or fit_intercept was changed after fitting: fit it again")

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

    def _rows(self, X: Any) -> Any:
        """Return rows, whose columns are those that were learned, as numbers in single or double precision."""
        return _as_finite_numbers(self._reader().open(X, self.schema_))

    def _reader(self) -> NumberReader:
        return NumberReader(type(self).__name__, "linear")

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


def _as_finite_numbers(block: Block) -> Any:
    """Return a block as an array in single or double precision or a sparse matrix of doubles; raise if not finite."""
    if isinstance(block, Sparse):
        rows = block.matrix.astype(np.float64, copy=False)
    else:
        rows = all_rows(cast(Dense, block))
        rows = rows.astype(rows.dtype if rows.dtype == np.float32 else np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(rows.sum()):
            block.reject_if_not_finite(slice(0, rows.shape[0]))
    return rows
