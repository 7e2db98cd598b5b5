"""Checks of a classifier that was read from a file: its settings, what it learned, and that it can predict."""

import warnings
from typing import Any

import numpy as np

from suffice.classifiers.logistic import LogisticRegression
from suffice.classifiers.read_rows import Rows
from suffice.data.column_reader import ColumnReader
from suffice.data.files.date_parts import PARTS
from suffice.decision.calibration import Calibration
from suffice.decision.pooling import Pool
from suffice.families import FAMILIES
from suffice.families.low_rank_gaussian import LowRankGaussian
from suffice.mixtures import Mixture
from suffice.schema import Array, Cuts, Levels, Schema, Words
from suffice.statistics import Tally
from suffice.storage.field_checks import (
    Check,
    anything,
    choice,
    class_labels,
    doubles,
    either,
    instance,
    integers,
    mapping,
    number,
    optional,
    require,
    sequence,
    text,
    whole,
)
from suffice.storage.stored_kind import with_context

LARGEST = 1 << 62

# How many cells without rows settings may ask for, such as `CategoricalNB(min_categories=…)`, in all classes.
MOST_ADDED_CELLS = 1 << 22

# The products of larger coefficients with a row overflow.
MOST_WEIGHT = 1e100

# A larger model is not tried, because the estimate would take long.
MOST_TRIED_SUMS = 1 << 22

# What a classifier has learned, by the name of the attribute; settings are checked as scikit-learn checks them.
LEARNED: dict[str, Check] = {
    "tally_": instance(Tally),
    "calibration_": instance(Calibration),
    **dict.fromkeys(("target_name_", "weight_name_"), text),
    "chosen_": mapping(choice("prior"), number(0)),
    "pool_": instance(Pool),
    "held_out_": mapping(text, number()),
    "em_trace_": sequence(number(), list),
    "target_cuts_": sequence(number(), list),
    "na_values_": sequence(text, list),
    "decimal_marks_": mapping(text, choice(",", ".")),
    "date_parts_": mapping(text, sequence(choice(*PARTS), list)),
    "date_orders_": mapping(text, choice("day", "month")),
    "mixtures_": sequence(instance(Mixture)),
    "fitted_with_": sequence(anything),
    "subspace_": sequence(anything),
    "class_covariances_": doubles(3),
    "coef_": doubles(2, low=-MOST_WEIGHT, high=MOST_WEIGHT, single=True),
    "intercept_": doubles(1, low=-MOST_WEIGHT, high=MOST_WEIGHT, single=True),
    "classes_": class_labels,
    "n_iter_": either(whole(0, LARGEST), integers),
    "n_features_in_": whole(1, LARGEST),
    "feature_names_in_": instance(np.ndarray),
    "column_moments_": instance(Tally),
    "trace_": sequence(mapping(text, number())),
    "_hessian": optional(doubles(2)),
    "_feature_names_in": optional(instance(np.ndarray)),
}


def set_state(model: Any, state: dict[str, Any]) -> None:
    """Set the settings and the learned attributes of a new classifier; raise `InvalidError` if they are not right."""
    settings = set(model.get_params(deep=False))
    for name, value in state.items():
        if name in settings:
            continue
        require(name in LEARNED, f"it has {name[:40]!r}, which is not part of a model")
        with_context(LEARNED[name], name, value)
    model.__dict__ |= state
    model._validate_params()
    if isinstance(model, LogisticRegression):
        _check_logistic(model)
    else:
        _check_sums(model)


def _check_logistic(model: LogisticRegression) -> None:
    missing = [name for name in ("coef_", "intercept_", "classes_", "n_features_in_") if name not in vars(model)]
    require(not missing, f"it has no {missing[0]}" if missing else "")
    classes, columns = len(model.classes_), model.n_features_in_
    features = columns if model.lift == "linear" else columns * (columns + 3) // 2
    scores = 1 if classes == 2 else classes
    require(classes >= 2 and model.coef_.shape == (scores, features), "its coefficients have a wrong shape")
    require(model.intercept_.shape == (scores,), "its intercepts have a wrong shape")
    names = vars(model).get("feature_names_in_")
    require(names is None or names.shape == (columns,), "it does not name each column")
    moments = vars(model).get("column_moments_")
    is_right = moments is None or (
        moments.class_count.shape == (classes,) and moments.schema.blocks[0].count == columns and moments.statistics
    )
    require(bool(is_right), "its moments are those of other columns or classes")
    if isinstance(vars(model).get("n_iter_"), int):  # of a file of an earlier version
        model.n_iter_ = np.array([model.n_iter_], np.int32)
    size = scores * (features + bool(model.fit_intercept))
    if "_hessian" not in vars(model):
        model._hessian = None
    hessian = model._hessian
    require(hessian is None or hessian.shape == (size, size), "its Hessian has a wrong shape")
    _check_probabilities(model.predict_proba(np.zeros((1, columns))))


def _check_sums(model: Any) -> None:
    require("tally_" in vars(model), "it has no sums")
    tally = model.tally_
    _check_plan(model, tally)
    mixtures = vars(model).get("mixtures_", ())
    shape = (len(tally.class_count), tally.schema.blocks[0].count) if tally.schema.blocks else (0, 0)
    require(not mixtures or len(mixtures) == shape[0], "it does not have a mixture for each class")
    require(all(_width(each) == shape[1] for each in mixtures), "it has mixtures of other columns")
    for each in vars(model).get("subspace_", ())[1:]:
        require(isinstance(each, LowRankGaussian) and each.mean.shape == shape, "it has a subspace of other columns")
    covariances = vars(model).get("class_covariances_")
    require(covariances is None or covariances.shape == (*shape, shape[1]), "it has covariances of other columns")
    if sum(array.size for array in tally.arrays().values()) <= MOST_TRIED_SUMS:
        _check_probabilities(_predict_sample(model, tally.schema))


def _check_plan(model: Any, tally: Tally) -> None:
    """Check that the levels that settings ask for need no more memory than the sums."""
    least, plan, columns = getattr(model, "min_categories", None), model.plan, tally.schema.feature_count
    planned = () if plan is None else plan.blocks
    if plan is not None:
        count = sum(block.count for block in planned) if plan.features is None else len(plan.features.names)
        require(count == columns, "its plan is for other columns")
    asked = [np.broadcast_to(np.asarray(0 if least is None else least, np.float64), (columns,))]
    asked += [block.sizes for block in planned if block.sizes is not None]
    cells = sum(float(each.sum()) for each in asked) * len(tally.class_count)
    held = sum(array.size for array in tally.arrays().values())
    require(cells <= MOST_ADDED_CELLS + 2 * held, "its settings ask for too many levels")


def _width(mixture: Mixture) -> int:
    arrays = mixture.statistic.arrays()
    return int(arrays["total" if "total" in arrays else "mean"].shape[1])


def _predict_sample(model: Any, schema: Schema) -> Array:
    """Return the probabilities of two rows: one without values and one with a value in each column, or zeros."""
    recipe = model.recipe()
    if not isinstance(recipe.reader, ColumnReader):
        sample: Array = np.zeros((1, schema.feature_count))
    else:
        require(schema.features is not None, "it has no names of columns")
        sample = np.array([[None] * schema.feature_count, _values(schema)], object)
    laid_out = model.chosen_tally().schema
    rows = Rows(recipe, recipe.open(sample, laid_out, check_names=False), laid_out)
    log_proba = model.estimate_model().log_posterior(rows.blocks)
    calibration = model.fitted_calibration()
    return np.asarray(np.exp(log_proba if calibration is None else calibration(log_proba)))


def _values(schema: Schema) -> list[Any]:
    """Return a value of each column of a table."""
    found: dict[Any, Any] = {}
    for block in schema.blocks:
        for name, coding in zip(block.names or (), block.codings or (None,) * block.count, strict=True):
            value: Any = 1.0 if FAMILIES[block.family].domain.excludes(np.zeros(1))[0] else 0.0
            if isinstance(coding, Levels):
                value = coding.labels[0] if coding.labels and not isinstance(coding, Words) else "text"
            elif isinstance(coding, Cuts) and coding.edges and np.isfinite(coding.edges[0]):
                value = coding.edges[0]
            found.setdefault(name, value)
    names = schema.features.names if schema.features is not None else ()
    return [found.get(name) for name in names]


def _check_probabilities(probabilities: Array) -> None:
    is_one = np.isclose(probabilities.sum(axis=1), 1.0, atol=1e-6)
    require(np.isfinite(probabilities).all() and is_one.all(), "its probabilities do not sum to 1")


def restore(model: Any, state: dict[str, Any]) -> None:
    """Set the state of a new classifier, without the warnings of a trial prediction."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        set_state(model, state)
