"""CategoricalNB: naive Bayes for levels coded by whole numbers."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval

from suffice.classifiers import smoothing
from suffice.classifiers.constructor import with_constructor
from suffice.classifiers.tally_classifier import CalibrationMethod, TallyClassifier
from suffice.families.categorical import Categorical
from suffice.recipe import Recipe, Rule
from suffice.schema import Array, Columns, Plan


@with_constructor
class CategoricalNB(TallyClassifier):
    """Naive Bayes for categories coded 0, 1, …: the probability of each level of each column.

    p(x | class) = Πⱼ p[j, xⱼ], with p[j, level] = (count + α) / (rows + α·levels). A level that
    was not in the training data has α / (rows + α·(levels + 1)).

    Parameters
    ----------
    alpha : float, default=1.0
        The pseudo-count added to each level.
    force_alpha : bool, default=True
        If False, a pseudo-count below 1e-10 is raised to 1e-10.
    fit_prior : bool, default=True
        Whether class probabilities are the class frequencies; otherwise they are uniform.
    class_prior : array-like, dict, "empirical", "uniform", number or Prior, default=None
        The class probabilities.
    min_categories : int or array-like of shape (n_features,), default=None
        The minimum number of levels of each column.
    estimate : {"mle", "map", "mean", "predictive"}, default="mean"
        How the probabilities of the levels are estimated.
    prior : number, Dirichlet, MEstimate, Flat, one per column, "auto" or "auto-by-column", default=None
        The prior of the probabilities of the levels; None uses ``alpha``, and "mle" uses none.
    epsilon : float, default=0.0
        Added to every level's probability before taking logarithms, so that "mle" has no log 0.
    missing : {"error", "skip"}, default="error"
        Whether NaN is an error, or a missing cell that is skipped in learning and in predictions.
    plan : Plan, default=None
        The plan that says what is counted (the names, the number and the levels of columns), such as ``plan_`` of
        another model. By default it is made from the rows.
    calibrate : {"temperature", "vector", "isotonic"}, default=None
        How ``fit`` calibrates probabilities on held-out predictions; by default it does not.

    Examples
    --------
    >>> from suffice import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 2], [1, 0], [1, 1]], ["a", "b", "b"])
    >>> model.n_categories_.tolist(), model.predict([[0, 7]]).tolist()
    ([2, 3], ['a'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **smoothing.CONSTRAINTS,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    alpha: float = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    min_categories: int | Sequence[int] | Array | None = None
    estimate: Rule = "mean"
    prior: Any = None
    epsilon: float = 0.0
    missing: Literal["error", "skip"] = "error"
    plan: Plan | None = None
    calibrate: CalibrationMethod | None = None

    def _make_recipe(self) -> Recipe:
        reader = smoothing.number_reader(self, "categorical", accepts_sparse=False)
        count_levels = None if self.plan is None and self.min_categories is None else self._count_levels
        return smoothing.count_recipe(self, Categorical(self.epsilon), reader, count_levels=count_levels)

    def _count_levels(self, columns: Columns) -> Array:
        """Return the number of levels of each column: those with rows, those of the plan, or ``min_categories``."""
        assert columns.sizes is not None
        planned = None if self.plan is None else self.plan.blocks[0].sizes
        least = np.asarray(1 if self.min_categories is None else self.min_categories)
        if least.dtype.kind != "i":
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (columns.count,):
            raise ValueError(
                f"'min_categories' should have shape ({columns.count},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.asarray(np.maximum(columns.sizes, least if planned is None else np.maximum(planned, least)))

    _check = smoothing.check_counts
    _warn_after_learning = smoothing.warn_small_alpha
    class_log_prior_ = smoothing.class_log_prior

    @property
    def n_categories_(self) -> Array:
        """The number of levels of each column."""
        return np.asarray(self._parameters.sizes)

    @property
    def category_count_(self) -> list[Array]:
        """The number of rows with each level, by class: one array [class, level] for each column."""
        counts: Any = self.chosen_tally().statistics[0]
        return np.split(counts.total, np.cumsum(self.n_categories_)[:-1], axis=1)

    @property
    def feature_log_prob_(self) -> list[Array]:
        """The log probability of each level, by class: one array [class, level] for each column."""
        return list(self._parameters.by_column)

    def __sklearn_tags__(self) -> Any:
        return smoothing.tag_counts(super().__sklearn_tags__(), sparse=False, positive=True, categorical=True)
