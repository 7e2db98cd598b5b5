"""Models whose log joint probability is linear in features of the columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax

from suffice.logistic.lift import lift_rows
from suffice.schema import Array, Frozen


@dataclass(frozen=True, eq=False)
class LinearForm(Frozen):
    """A classifier in linear form: P(class | x) = softmax of coefficients·features + intercepts.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Labels.
    coefficients : array of shape (n_classes, n_features)
        Coefficients.
    intercepts : array of shape (n_classes,)
        Intercepts.
    lift : {"linear", "quadratic", "one-hot"}
        The features: the columns (as bits, if the model has a threshold), the columns and all products of two, or the
        levels of the columns in one-hot coding.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> form = model.as_linear()
    >>> np.exp(form.log_posterior([[0, 1]])).round(2).tolist(), model.predict_proba([[0, 1]]).round(2).tolist()
    ([[0.36, 0.64]], [[0.36, 0.64]])
    """

    classes: Array
    coefficients: Array
    intercepts: Array
    lift: str

    def log_posterior(self, X: Any) -> Array:
        """Return log P(class | x).

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Rows; one-hot features if ``lift`` is "one-hot".

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Log probabilities.
        """
        features = lift_rows(X, "quadratic" if self.lift == "quadratic" else "linear")
        return np.asarray(log_softmax(np.asarray(features @ self.coefficients.T) + self.intercepts, axis=1))
