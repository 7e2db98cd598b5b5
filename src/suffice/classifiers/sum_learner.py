"""SumLearner: a classifier learns, forgets and merges by adding and subtracting sums."""

import os
import warnings
from abc import abstractmethod
from numbers import Real
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from suffice.classifiers.concurrency import on_snapshot, one_at_a_time, take_snapshot
from suffice.classifiers.receipt import Receipt
from suffice.data import Target, as_labels
from suffice.families import FAMILIES
from suffice.pooled_model import AnyModel
from suffice.recipe import Recipe, Rows
from suffice.schema import Array, Plan, Schema, merged_classes
from suffice.settings import comparable
from suffice.statistics import Tally
from suffice.statistics.cancellation import check_digits
from suffice.statistics.remainder import check_remainder

if TYPE_CHECKING:
    from suffice.folds.hold_out import HeldOut


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
READING = ("na_values_", "decimal_marks_", "date_parts_")


class SumLearner(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator over a `Recipe` and a `Tally`: it learns, forgets and merges by adding sums.

    Everything that is learned is in ``tally_`` and in the attributes listed in `_extra_attributes`. The recipe and
    the estimated model are derived from the settings and the tally when they are needed.

    Threads may share a classifier. Methods that change it (``fit``, ``partial_fit``, ``forget``, ``fit_table``) wait
    for each other, so no row is lost. A method that predicts, explains, exports or saves does not wait: it uses what
    was learned when it was called, before or after a change as a whole. Settings must not be changed meanwhile.
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

    # -- learning ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y; everything that was learned before is discarded.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
        """
        return self._fit(X, y, sample_weight)

    @one_at_a_time
    def _fit(self, X: Any, y: Any, sample_weight: Any, checkpoint: str | os.PathLike[str] | None = None) -> Self:
        recipe, extras = self._choose_recipe(X, y, sample_weight)
        opened = recipe.open(X)
        target = Target.of(opened.shape[0], y, sample_weight, None, recipe.owner)
        self._check_classes(target.classes)
        recipe, tally, tuned, held_out = self._tune(recipe, opened, target, recipe.tally(opened, target))
        chosen = recipe.lay_out(tally)
        self._check(recipe, chosen)
        extras |= tuned | self._learn_extras(recipe, opened, target, tally, checkpoint)
        extras |= self._calibrate(recipe, X, y, sample_weight, held_out)
        return self._finish_fit(tally, extras, recipe, chosen)

    def _finish_fit(self, tally: Tally, extras: dict[str, Any], recipe: Recipe, chosen: Tally) -> Self:
        """Take over what `fit` has learned, if a model can be estimated from it."""
        learned = self._snapshot()
        learned._set_learned(tally, extras, recipe, chosen)
        learned.__dict__.pop("_feature_names_in", None)
        learned._check_estimate(recipe)
        self.__dict__ = learned.__dict__
        self._warn_after_learning()
        return self

    @one_at_a_time
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from more rows. Under one plan, batches in any order give the same sums as all rows at once.

        The first batch makes the plan (``plan_``): which columns are counted, and in which cells numbers are counted.
        Later batches are counted by it. Pass ``plan=`` to start from the plan of another model.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row. A label seen for the first time is a new class.
        classes : array-like, default=None
            All labels that may occur. If given, y may contain no others.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.
        decay : float, default=None
            The factor from 0 to 1 by which all earlier rows are weighted down first: with 0.99, a row learned a
            hundred calls ago counts 0.37. None keeps their weight.

        Returns
        -------
        self : object
        """
        known = self.tally_ if self.__sklearn_is_fitted__() else None
        if decay is not None:
            check_decay(decay)
            known = None if known is None else known * decay
        recipe, extras = self._choose_recipe(X, y, sample_weight, is_complete=False)
        schema = None if known is None else known.schema
        opened = self._open(recipe, X, schema)
        target = self._target(opened.shape[0], y, sample_weight, classes, schema)
        tally = recipe.tally(opened, target, known, is_complete=False)
        if known is None:
            self._check_classes(target.classes)
            recipe, tally, tuned, _ = self._tune(recipe, opened, target, tally, is_complete=False)
            extras |= tuned
        else:
            tally = known + tally
        if known is None or tally.schema is not known.schema:
            self._check(recipe, recipe.lay_out(tally))
        self._set_learned(tally, self._learned_extras() | extras, recipe)
        self._warn_after_learning()
        return self

    @one_at_a_time
    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, strict: bool = True) -> Self:
        """Unlearn rows: subtract their sums, which leaves the sums of the other rows.

        What is left are the sums of the other rows: counts exactly, moments to about 1e-9. The plan is kept: which
        columns are counted, in which cells, where decision trees split, and the weights of a pool. A class or level
        whose last row is forgotten is dropped. If the model is a sum of models that were planned apart, its trees are
        dropped, with a warning: it cannot tell which of them have counted the rows.

        Rows that cannot have been learned are an error, and the model is left unchanged. Sums can tell this only where
        they contradict the rows: a row that was never learned, or that was forgotten before, is accepted if other
        rows have its values. A `receipt` tells whether rows have been forgotten already.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row, as it was learned.
        strict : bool, default=True
            Whether the sums that are left must also be possible together: no more cells of a column than rows, no
            more pairs of levels than rows of each level, no negative variance in any direction. False checks only
            each sum by itself, which is faster where single rows are forgotten one by one.

        Returns
        -------
        self : object
        """
        self._set_learned(self.tally_without(X, y, sample_weight, strict=strict), self._learned_extras())
        return self

    @on_snapshot
    def receipt(self, X: Any, y: Any, sample_weight: Any = None) -> Receipt:
        """Return the record of rows to forget, with digests of the model before and after; nothing is forgotten.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row, as it was learned.

        Returns
        -------
        receipt : Receipt
            ``forget`` with the same rows leads to its ``digest_after``. Rows that cannot have been learned are an
            error, as in ``forget``.
        """
        return Receipt.of(self, self.tally_without(X, y, sample_weight), X, y, sample_weight)

    @on_snapshot
    def tally_without(self, X: Any, y: Any, sample_weight: Any = None, *, strict: bool = True) -> Tally:
        """Return the tally without some of the rows that were learned; the classifier is not changed.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row, as it was learned.
        strict : bool, default=True
            As in ``forget``.

        Returns
        -------
        tally : Tally
        """
        known, recipe = self._fitted_tally(), self.recipe()
        if known.has_partial_trees:
            warnings.warn(
                "the model is a sum of models whose decision trees were planned apart, so it cannot tell which of its "
                "trees have counted the rows: without these rows it has no trees; to keep them, forget the rows before "
                "the models are added, or let all models count by one plan (plan=)",
                UserWarning,
                stacklevel=3,
            )
            known, _ = known.split_trees()
        opened = self._open(recipe, X, known.schema)
        target = Target.of(opened.shape[0], y, sample_weight, known.schema.classes, recipe.owner)
        left = known - recipe.tally(opened, target, known, is_complete=False)
        if strict:
            blocks = left.schema.blocks
            bits = [FAMILIES[block.family].cells == "bits" and block.sizes is None for block in blocks]
            check_remainder(known, left, bits)
        check_digits(left)
        if len(left.class_count):
            self._check(recipe, recipe.lay_out(left))
        return left

    def has_learned(self, X: Any, y: Any) -> bool:
        """Return whether the sums of these rows are the sums that were learned: then they are the training rows.

        Sums cannot tell whether some of the training rows are among the rows, or among others.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, dict or list of dict
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.

        Returns
        -------
        has_learned : bool

        Examples
        --------
        >>> from suffice import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [5.0]], ["a", "a", "b"])
        >>> model.has_learned([[5.0], [2.0], [1.0]], ["b", "a", "a"]), model.has_learned([[1.0]], ["a"])
        (True, False)
        """
        known, recipe = self._fitted_tally(), self.recipe()
        opened = self._open(recipe, X, known.schema)
        target = Target.of(opened.shape[0], y, None, known.schema.classes, recipe.owner)
        counts = np.bincount(target.codes, minlength=len(target.classes))
        if not np.array_equal(counts, known.class_count):
            return False
        return recipe.tally(opened, target, known, is_complete=False).isclose(known)

    @on_snapshot
    def __add__(self, other: Self) -> Self:
        """Return a classifier with the settings of this one that has learned the rows of both."""
        if type(other) is not type(self):
            return NotImplemented
        other = other._snapshot()
        merged = self.with_tally(self._fitted_tally() + other._fitted_tally())
        merged.__dict__ |= {name: other.__dict__[name] for name in READING if name in other.__dict__}
        merged.__dict__ |= self._learned_extras()
        merged.__dict__.pop("held_out_", None)  # it was not measured on the rows of both
        pools = [each.__dict__["pool_"] for each in (self, other) if "pool_" in each.__dict__]
        if pools:
            merged.__dict__["pool_"] = pools[0].merge(pools[-1])
        merged._check(merged.recipe(), merged.chosen_tally())
        return merged

    def __radd__(self, other: object) -> Self:
        # sum(models) starts from 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the settings and everything that was learned to a file that `suffice.load` reads.

        Parameters
        ----------
        path : str or path
            The file. An existing file is replaced only after the new one is completely written, and only by a model
            that can predict. Use `suffice.open` to change a file that other processes may change, too.

        Returns
        -------
        path : Path
        """
        from suffice.storage.atomic_write import replace_file

        return replace_file(path, self.file_content())

    @on_snapshot
    def file_content(self) -> bytes:
        """Return the content of the file that `save` writes; raise if no model can be estimated from what was learned.

        Returns
        -------
        content : bytes
        """
        self.estimate_model()
        from suffice import storage

        return storage.file_content(type(self).__name__, self.__getstate__())

    def _choose_recipe(
        self, X: Any, y: Any, sample_weight: Any, *, is_complete: bool = True
    ) -> tuple[Recipe, dict[str, Any]]:
        """Return the recipe to learn with, and the attributes that hold the settings chosen from these rows."""
        return self.recipe(), {}

    def _tune(
        self, recipe: Recipe, opened: Any, target: Target, tally: Tally, *, is_complete: bool = True
    ) -> tuple[Recipe, Tally, dict[str, Any], "HeldOut | None"]:
        """Return recipe and tally with what is tuned on held-out rows, the attributes that hold it, and these rows.

        ``is_complete`` is False if more rows may follow.
        """
        return recipe, tally, {}, None

    def _learn_extras(
        self,
        recipe: Recipe,
        opened: Any,
        target: Target,
        tally: Tally,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """Return the attributes that `fit` learns besides the tally."""
        return {}

    @abstractmethod
    def _calibrate(
        self, recipe: Recipe, X: Any, y: Any, sample_weight: Any, held_out: "HeldOut | None"
    ) -> dict[str, Any]:
        """Return the attribute that holds the calibration, or nothing without ``calibrate``."""

    def _warn_after_learning(self) -> None:
        """Warn about settings that were changed in order to learn."""

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

    def _target(self, rows: int, y: Any, sample_weight: Any, classes: Any, schema: Schema | None) -> Target:
        """Return the labels of a batch as codes; new labels are added to the known classes."""
        known, owner = None if schema is None else schema.classes, type(self).__name__
        if classes is None:
            return Target.of(rows, y, sample_weight, known, owner)
        declared = as_labels(classes, owner)
        labels = np.unique(declared)
        if known is not None and (len(labels) < len(declared) or len(merged_classes(known, labels)) > len(labels)):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        target = Target.of(rows, y, sample_weight, labels, owner)
        if len(target.classes) > len(labels):
            unknown = np.setdiff1d(target.classes, labels)
            raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {labels}")
        return target

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


def check_decay(decay: float) -> float:
    """Return the decay factor; raise if it is not a number from 0 to 1."""
    if isinstance(decay, bool) or not isinstance(decay, Real) or not 0 <= decay <= 1:
        raise ValueError(f"decay is the factor by which earlier rows are weighted, from 0 to 1, not {decay!r}")
    return float(decay)
