"""LinearPredictor: predictions, explanations and exports of a fitted linear model."""

from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from suffice import decision
from suffice.blocks import Block, Dense, Sparse
from suffice.classifiers.concurrency import on_snapshot, take_snapshot
from suffice.classifiers.deployable import Deployable
from suffice.classifiers.read_rows import LinearRows
from suffice.data.reader import NumberReader
from suffice.explain import Explanation, column_title
from suffice.families.family import Parameters
from suffice.logistic.forms import Lift, LinearForm, feature_names, lift_rows
from suffice.model import Model
from suffice.schema import Array, Columns, Schema
from suffice.score import CompleteLinear, Products, Score
from suffice.score.term import all_rows


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


class LinearPredictor(Deployable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that predicts with coefficients of its columns, or of the columns and their products."""

    lift: Lift
    fit_intercept: bool
    coef_: Array
    intercept_: Array

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

    def exported_model(self) -> tuple[Model, None]:
        """Return the model that exports translate, and no calibration; raise if it is not fitted.

        Returns
        -------
        model : Model
        calibration : None
        """
        return self.as_model(), None

    def _checked_state(self) -> dict[str, Any]:
        self._check_fitted()
        return dict(vars(self))

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

    def _rows(self, X: Any) -> Any:
        """Return rows, whose columns are those that were learned, as numbers in single or double precision."""
        return as_finite_numbers(self._reader().open(X, self.schema_))

    def _reader(self) -> NumberReader:
        return NumberReader(type(self).__name__, "linear")


def as_finite_numbers(block: Block) -> Any:
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
