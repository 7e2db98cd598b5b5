"""Settings that classifiers of numbers share: how they are read, the pseudo-count ``alpha``, and the class prior."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from suffice import decision
from suffice.caller_warnings import warn_caller
from suffice.data.reader import NumberReader
from suffice.estimation import RULES
from suffice.families import Family
from suffice.recipe import Recipe
from suffice.schema import Array
from suffice.statistics import Tally

LEAST_ALPHA = 1e-10

CONSTRAINTS: dict[str, Any] = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "fit_prior": ["boolean"],
    "force_alpha": ["boolean"],
    "estimate": [StrOptions(set(RULES))],
    "epsilon": [Interval(Real, 0, None, closed="left")],
}


def number_reader(settings: Any, family: str, **options: Any) -> NumberReader:
    """Return the reader of a classifier of numbers; a plan that is set has the threshold, and whether pairs count."""
    if settings.plan is not None:
        columns = settings.plan.blocks[0]
        options |= {"threshold": columns.threshold, "pairs": columns.pairs, "fourths": columns.fourths}
    return NumberReader(type(settings).__name__, family, skips_missing=settings.missing == "skip", **options)


def count_recipe(settings: Any, family: Family, reader: NumberReader, **options: Any) -> Recipe:
    """Return the recipe of a classifier of counts; ``settings`` has the attributes that all of them share.

    Without a prior, the pseudo-counts are used; a tiny alpha is raised unless it is forced.
    """
    alpha = np.asarray(settings.alpha, np.float64)
    alpha = alpha if settings.force_alpha else np.maximum(alpha, LEAST_ALPHA)
    prior = alpha if settings.prior is None else settings.prior
    is_uniform = settings.class_prior is None and not settings.fit_prior
    class_prior = "uniform" if is_uniform else settings.class_prior
    options |= {"family_for": lambda columns: family, "given_plan": settings.plan}
    return Recipe(reader, settings.estimate, prior, class_prior, **options)


def warn_small_alpha(settings: Any) -> None:
    """Warn that a tiny alpha is raised, as scikit-learn does whenever it learns."""
    if not settings.force_alpha and np.min(settings.alpha) < LEAST_ALPHA:
        warn_caller(
            f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged."
        )


def check_counts(settings: Any, recipe: Recipe, tally: Tally) -> None:
    """Raise if pseudo-counts are not finite numbers from 0 up, one for each column, or if the priors do not fit."""
    values, columns = np.asarray(settings.alpha, np.float64), tally.schema.blocks[0].count
    if values.ndim and values.shape[0] != columns:
        raise ValueError(
            "When alpha is an array, it should contains `n_features`. "
            f"Got {values.shape[0]} elements instead of {columns}."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError("All values in alpha must be greater than 0. They must be finite numbers, too.")
    recipe.check(tally)


def _feature_count(classifier: Any) -> Array:
    """The weighted sum of each column in each class, [class, column]."""
    return classifier.tally_.statistics[0].total  # type: ignore[no-any-return]


def _class_log_prior(classifier: Any) -> Array:
    """The log probability of each class."""
    probabilities = decision.class_prior(classifier.recipe().class_prior, classifier.classes_, classifier.class_count_)
    return decision.log(probabilities)


def _feature_log_prob(classifier: Any) -> Array:
    """For each class and column: log P(1) (BernoulliNB), the log share of all counts (MultinomialNB), or the weight."""
    return classifier.estimate_model().parameters[0].log_p  # type: ignore[no-any-return]


def _class_prior(classifier: Any) -> Array:
    """The probability of each class."""
    return np.asarray(np.exp(classifier.estimate_model().class_log_prior))


# Fitted attributes that several classifiers have.
feature_count = property(_feature_count)
feature_log_prob = property(_feature_log_prob)
class_log_prior = property(_class_log_prior)
class_prior = property(_class_prior)


def tag_counts(tags: Any, *, sparse: bool, positive: bool = False, categorical: bool = False) -> Any:
    """Return scikit-learn's tags with those of a classifier of counts."""
    tags.input_tags.sparse = sparse
    tags.input_tags.positive_only = positive
    tags.input_tags.categorical = categorical
    tags.classifier_tags.poor_score = True
    return tags
