"""Settings that the classifiers of counts share: the pseudo-count ``alpha``, and the class prior."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from suffice import decision
from suffice.data.reader import NumberReader
from suffice.estimation import RULES
from suffice.families import Family
from suffice.recipe import Recipe
from suffice.schema import Array

LEAST_ALPHA = 1e-10

CONSTRAINTS: dict[str, Any] = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "fit_prior": ["boolean"],
    "force_alpha": ["boolean"],
    "estimate": [StrOptions(set(RULES))],
    "epsilon": [Interval(Real, 0, None, closed="left")],
}


def prior_or_alpha(prior: Any, alpha: Any, force_alpha: bool) -> Any:
    """Return the prior if one is set, else the pseudo-counts; a tiny alpha is raised unless it is forced."""
    counts = np.asarray(alpha, np.float64)
    counts = counts if force_alpha else np.maximum(counts, LEAST_ALPHA)
    return counts if prior is None else prior


def warn_small_alpha(alpha: Any, force_alpha: bool) -> None:
    """Warn that a tiny alpha is raised, as scikit-learn does whenever it learns."""
    if not force_alpha and np.min(alpha) < LEAST_ALPHA:
        warnings.warn(
            f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged.",
            stacklevel=4,
        )


def prior_of_classes(class_prior: Any, fit_prior: bool) -> Any:
    """Return the setting of the class prior: uniform without ``fit_prior``, unless one is given."""
    return "uniform" if class_prior is None and not fit_prior else class_prior


def check_alpha(alpha: Any, columns: int) -> None:
    """Raise if pseudo-counts are negative or not finite, or if there is not one for each column."""
    values = np.asarray(alpha, np.float64)
    if values.ndim and values.shape[0] != columns:
        raise ValueError(
            "When alpha is an array, it should contains `n_features`. "
            f"Got {values.shape[0]} elements instead of {columns}."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError("All values in alpha must be greater than 0. They must be finite numbers, too.")


def count_recipe(settings: Any, family: Family, reader: NumberReader, **options: Any) -> Recipe:
    """Return the recipe of a classifier of counts; ``settings`` has the attributes that all of them share."""
    prior = prior_or_alpha(settings.prior, settings.alpha, settings.force_alpha)
    class_prior = prior_of_classes(settings.class_prior, settings.fit_prior)
    return Recipe(reader, settings.estimate, prior, class_prior, family_for=lambda columns: family, **options)


def _feature_count(classifier: Any) -> Array:
    """The sum of each column in each class, by weight."""
    return classifier.tally_.statistics[0].total  # type: ignore[no-any-return]


def _class_log_prior(classifier: Any) -> Array:
    """The log probability of each class."""
    probabilities = decision.class_prior(classifier.recipe().class_prior, classifier.classes_, classifier.class_count_)
    return decision.log(probabilities)


# Fitted attributes that several classifiers have.
feature_count = property(_feature_count)
class_log_prior = property(_class_log_prior)


def tag_counts(tags: Any, *, sparse: bool, positive: bool = False, categorical: bool = False) -> Any:
    """Return scikit-learn's tags with those of a classifier of counts."""
    tags.input_tags.sparse = sparse
    tags.input_tags.positive_only = positive
    tags.input_tags.categorical = categorical
    tags.classifier_tags.poor_score = True
    return tags
