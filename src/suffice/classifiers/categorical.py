"""CategoricalNB: naive Bayes for levels coded by whole numbers."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from suffice.classifiers.discrete import DiscreteNB
from suffice.families.categorical import Categorical, CategoricalParameters
from suffice.schema import Array, Columns, Schema
from suffice.statistics import Counts, Tally


class CategoricalNB(DiscreteNB):
    """Naive Bayes for categories coded 0, 1, …: the probability of each level of each column.

    p(x given class) = Πⱼ p[j, xⱼ], with p[j, level] = (count + α) / (rows + α·levels). A level never
    met has α / (rows + α·(levels + 1)).

    Parameters
    ----------
    alpha : float, default=1.0
        The pseudo-count added to each level.
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
    min_categories : int or array-like of shape (n_features,), default=None
        The least number of levels of each column.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` makes probabilities honest, by predictions for rows held out; None leaves them as they are.

    Examples
    --------
    >>> from suffice import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 2], [1, 0], [1, 1]], ["a", "b", "b"])
    >>> model.n_categories_.tolist(), model.predict([[0, 7]]).tolist()
    ([2, 3], ['a'])
    """

    _family = "categorical"
    _sparse = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        estimate: str = "mean",
        prior: Any = None,
        epsilon: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        super().__init__(alpha, force_alpha, fit_prior, class_prior, estimate, prior, epsilon)
        self.min_categories = min_categories
        self.calibrate = calibrate

    def _estimator(self, columns: Columns) -> Categorical:
        return Categorical(self.epsilon)

    def _laid_out(self, tally: Tally) -> Tally:
        if self.min_categories is None:
            return tally
        columns, least = tally.schema.blocks[0], np.asarray(self.min_categories)
        assert columns.sizes is not None
        if least.dtype.kind != "i":
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (columns.count,):
            raise ValueError(
                f"'min_categories' should have shape ({columns.count},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        sizes = np.maximum(columns.sizes, least).astype(np.intp)
        return tally.on(Schema(tally.schema.classes, (replace(columns, sizes=sizes),)))

    @property
    def _parameters(self) -> CategoricalParameters:
        parameters = self._model().parameters[0]
        assert isinstance(parameters, CategoricalParameters)
        return parameters

    @property
    def n_categories_(self) -> Array:
        """The number of levels of each column."""
        return self._parameters.sizes

    @property
    def category_count_(self) -> list[Array]:
        """How often each level was seen in each class: an array [class, level] a column."""
        counts = self._laid_out(self._learned()).statistics[0]
        assert isinstance(counts, Counts)
        return np.split(counts.total, np.cumsum(self.n_categories_)[:-1], axis=1)

    @property
    def feature_log_prob_(self) -> list[Array]:
        """The log probability of each level in each class: an array [class, level] a column."""
        return self._parameters.by_column

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags
