"""LearnedState: what a classifier has learned, and the recipe and the model that follow from it."""

from __future__ import annotations

from abc import abstractmethod
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from suffice.classifiers.concurrency import on_snapshot, take_snapshot
from suffice.classifiers.read_rows import Rows
from suffice.recipe import Recipe
from suffice.schema import Array, Plan, Schema
from suffice.settings import comparable
from suffice.statistics import Tally
from suffice.statistics.cancellation import check_digits

if TYPE_CHECKING:
    from suffice.pooled_model import AnyModel


class _Cache:
    """The recipe, the chosen tally and the model of one classifier, kept until its settings or its tally change.

    Threads that predict with the same classifier compute them once; ``lock`` is held meanwhile.
    """

    def __init__(self) -> None:
        self.lock = RLock()

    settings: Any = None
    recipe: Any = None
    tally: Any = None
    chosen: Any = None
    model: Any = None


# How cells of files are read, if it is not as by default; see `TallyClassifier`.
READING = ("na_values_", "decimal_marks_", "date_parts_", "date_orders_")


class LearnedState(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator whose state is a `Tally`, and the attributes listed in `_extra_attributes`.

    The recipe and the estimated model are derived from the settings and the tally when they are needed.
    """

    _setting_names: ClassVar[tuple[str, ...]] = ()
    # set by fit, kept when more rows are learned
    _extra_attributes: ClassVar[tuple[str, ...]] = (
        *("calibration_", "target_name_", "weight_name_", "target_cuts_", *READING),
    )

    tally_: Tally

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._setting_names = tuple(cls._get_param_names())

    # -- the recipe, and the model that it estimates -----------------------------------------------

    @abstractmethod
    def _make_recipe(self) -> Recipe:
        """Return the recipe for the settings; each of them has been validated by itself."""

    def recipe(self) -> Recipe:
        """Return the recipe for the settings: how rows are read and counted, and how parameters are estimated.

        Returns
        -------
        recipe : Recipe
        """
        settings, cache = self._comparable_settings(), self.__dict__.get("_cache") or _Cache()
        with cache.lock:
            if cache.settings != settings:
                self._validate_params()
                cache.recipe = self._make_recipe()
                cache.settings, cache.tally = settings, None
            return cache.recipe  # type: ignore[no-any-return]

    def additive_recipe(self) -> Recipe | None:
        """Return the recipe if sums are all that is learned, so that folds can be learned by sums; else None.

        Returns
        -------
        recipe : Recipe or None
        """
        return self.recipe() if self._is_additive() else None

    def estimate_model(self) -> AnyModel:
        """Return the model that is estimated from the tally with the present settings.

        Returns
        -------
        model : Model or PooledModel
        """
        cache = self._cached()
        with cache.lock:
            chosen = self.chosen_tally()
            if cache.model is None:
                self._check(cache.recipe, chosen)
                cache.model = self._estimate(cache.recipe, chosen)
            return cache.model  # type: ignore[no-any-return]

    def chosen_tally(self) -> Tally:
        """Return the tally in the layout of the model: each column in the form that was chosen from the sums.

        Returns
        -------
        tally : Tally
            ``tally_`` holds numbers in cells, beside their moments. Here a number is either Gaussian or in bins.
        """
        tally, cache = self._fitted_tally(), self._cached()
        with cache.lock:
            recipe = self.recipe()
            if cache.tally is not tally:
                check_digits(tally)
                cache.chosen, cache.model = recipe.lay_out(tally), None
                cache.tally = tally
            return cache.chosen  # type: ignore[no-any-return]

    def _cached(self) -> _Cache:
        return self.__dict__.setdefault("_cache", _Cache())  # type: ignore[no-any-return]

    @on_snapshot
    def read_rows(self, X: Any) -> Rows:
        """Return rows as the model reads them, matched with the columns that were learned.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.

        Returns
        -------
        rows : Rows
        """
        recipe, schema = self.recipe(), self.chosen_tally().schema
        return Rows(recipe, self._open(recipe, X, schema), schema)

    def with_tally(self, tally: Tally) -> Self:
        """Return a classifier with these settings that has learned a tally and nothing else.

        Parameters
        ----------
        tally : Tally
            The sums, such as those of a fold.

        Returns
        -------
        classifier : object
        """
        other = type(self)(**{name: getattr(self, name) for name in self._setting_names})
        other._set_learned(tally, {})
        return other

    def _is_additive(self) -> bool:
        """Return whether sums are all that is learned."""
        return True

    def _check_classes(self, classes: Array) -> None:
        """Raise if settings name classes that are not among those that are learned first."""

    def _check(self, recipe: Recipe, tally: Tally) -> None:
        """Raise if the settings do not fit the classes and columns of a laid out tally."""
        recipe.check(tally)

    def _estimate(self, recipe: Recipe, tally: Tally) -> AnyModel:
        return recipe.estimate(tally)

    # -- changes of what was learned ------------------------------------------------------------------

    def _set_learned(
        self, tally: Tally, extras: dict[str, Any], recipe: Recipe | None = None, chosen: Tally | None = None
    ) -> None:
        """Replace everything that was learned; called only after everything has succeeded."""
        kept = {name: value for name, value in self.__dict__.items() if name not in self._extra_attributes}
        cache = _Cache()
        if recipe is not None:
            cache.settings, cache.recipe = self._comparable_settings(), recipe
        if chosen is not None:
            cache.tally, cache.chosen = tally, chosen
        # one assignment: another thread that predicts finds everything as it was before, or as it is after
        self.__dict__ = {**kept, **extras, "_cache": cache, "tally_": tally}

    def _snapshot(self) -> Self:
        """Return this classifier as it is now: changes of the one do not change the other."""
        self._cached()  # shared, so that what is estimated for the one serves the other
        return take_snapshot(self)

    def _check_estimate(self, recipe: Recipe) -> None:
        """Raise if no model can be estimated: by maximum likelihood, a covariance may be singular."""
        if recipe.uses_maximum_likelihood:
            self.estimate_model()

    def _learned_extras(self) -> dict[str, Any]:
        """Return what was learned besides the tally."""
        return {name: self.__dict__[name] for name in self._extra_attributes if name in self.__dict__}

    def _comparable_settings(self) -> tuple[Any, ...]:
        return tuple([comparable(getattr(self, name)) for name in self._setting_names])

    def _open(self, recipe: Recipe, X: Any, schema: Schema | None) -> Any:
        return recipe.open(X, schema, check_names="_feature_names_in" not in self.__dict__)

    # -- what was learned --------------------------------------------------------------------------

    @property
    def plan_(self) -> Plan:
        """What was counted: the columns, the cells of numbers, levels and words. Other models can count by it, too."""
        schema = self._fitted_tally().schema
        return Plan(schema.blocks, schema.features, self.recipe().pool, is_marked=True)

    @property
    def schema_(self) -> Schema:
        """The classes, and the blocks of columns that were counted."""
        return self._fitted_tally().schema

    @property
    def classes_(self) -> Array:
        """The class labels, sorted."""
        return self._fitted_tally().schema.classes

    @property
    def class_count_(self) -> Array:
        """The number of rows of each class, by weight."""
        return self._fitted_tally().class_count

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return self._fitted_tally().schema.feature_count

    @property
    def feature_names_in_(self) -> Array:
        """The names of the columns; defined only if the model was fitted on columns with string names."""
        if "_feature_names_in" in self.__dict__:
            return self.__dict__["_feature_names_in"]  # type: ignore[no-any-return]
        names = self._fitted_tally().schema.feature_names
        if names is None:
            raise AttributeError(f"this {type(self).__name__} was fitted on columns without names")
        return np.array(names, dtype=object)

    @feature_names_in_.setter
    def feature_names_in_(self, names: Any) -> None:
        # shap sets it to None to pass arrays to a model that was fitted on a frame
        self.__dict__["_feature_names_in"] = names

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tally_") and len(self.tally_.class_count) > 0

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return {name: value for name, value in state.items() if name not in ("_cache", "_change_lock")}

    def _fitted_tally(self) -> Tally:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. "
                "Call 'fit' with appropriate arguments before using this estimator."
            )
        return self.tally_
