"""SumLearner: a classifier learns, forgets and merges by adding and subtracting sums."""

from __future__ import annotations

import os
from abc import abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.caller_warnings import warn_caller
from suffice.classifiers.concurrency import on_snapshot, one_at_a_time
from suffice.classifiers.learned_state import READING, LearnedState
from suffice.data import Target, as_labels
from suffice.families import FAMILIES
from suffice.recipe import Recipe
from suffice.schema import Schema, merged_classes
from suffice.statistics import Tally
from suffice.statistics.cancellation import check_digits

if TYPE_CHECKING:
    from suffice.classifiers.receipt import Receipt
    from suffice.folds.hold_out import HeldOut


class SumLearner(LearnedState):
    """A scikit-learn estimator over a `Recipe` and a `Tally`: it learns, forgets and merges by adding sums.

    Threads may share a classifier. Methods that change it (``fit``, ``partial_fit``, ``forget``, ``fit_table``) wait
    for each other, so no row is lost. A method that predicts, explains, exports or saves does not wait: it uses what
    was learned when it was called, before or after a change as a whole. Settings must not be changed meanwhile.
    """

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
        from suffice.classifiers.receipt import Receipt

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
            warn_caller(
                "the model is a sum of models whose decision trees were planned apart, so it cannot tell which of its "
                "trees have counted the rows: without these rows it has no trees; to keep them, forget the rows before "
                "the models are added, or let all models count by one plan (plan=)"
            )
            known, _ = known.split_trees()
        opened = self._open(recipe, X, known.schema)
        target = Target.of(opened.shape[0], y, sample_weight, known.schema.classes, recipe.owner)
        left = known - recipe.tally(opened, target, known, is_complete=False)
        if strict:
            blocks = left.schema.blocks
            bits = [FAMILIES[block.family].cells == "bits" and block.sizes is None for block in blocks]
            from suffice.statistics.remainder import check_remainder

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

    def _choose_recipe(
        self, X: Any, y: Any, sample_weight: Any, *, is_complete: bool = True
    ) -> tuple[Recipe, dict[str, Any]]:
        """Return the recipe to learn with, and the attributes that hold the settings chosen from these rows."""
        return self.recipe(), {}

    def _tune(
        self, recipe: Recipe, opened: Any, target: Target, tally: Tally, *, is_complete: bool = True
    ) -> tuple[Recipe, Tally, dict[str, Any], HeldOut | None]:
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
        self, recipe: Recipe, X: Any, y: Any, sample_weight: Any, held_out: HeldOut | None
    ) -> dict[str, Any]:
        """Return the attribute that holds the calibration, or nothing without ``calibrate``."""

    def _warn_after_learning(self) -> None:
        """Warn about settings that were changed in order to learn."""

    def _target(self, rows: int, y: Any, sample_weight: Any, classes: Any, schema: Schema | None) -> Target:
        """Return the labels of a batch as codes; new labels are added to the known classes."""
        known, owner = None if schema is None else schema.classes, type(self).__name__
        if classes is None:
            return Target.of(rows, y, sample_weight, known, owner)
        declared = as_labels(classes, owner)
        labels = known if known is not None and np.array_equal(declared, known) else np.unique(declared)
        if known is not None and (len(labels) < len(declared) or len(merged_classes(known, labels)) > len(labels)):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        target = Target.of(rows, y, sample_weight, labels, owner)
        if len(target.classes) > len(labels):
            unknown = np.setdiff1d(target.classes, labels)
            raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {labels}")
        return target


def check_decay(decay: float) -> float:
    """Return the decay factor; raise if it is not a number from 0 to 1."""
    if isinstance(decay, bool) or not isinstance(decay, Real) or not 0 <= decay <= 1:
        raise ValueError(f"decay is the factor by which earlier rows are weighted, from 0 to 1, not {decay!r}")
    return float(decay)
