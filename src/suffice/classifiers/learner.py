"""Learning: everything a classifier does with data before anything is predicted."""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from suffice import store
from suffice.blocks import Block
from suffice.data import Table, Target, as_block, as_labels
from suffice.data.engines import memory
from suffice.folds.training_sums import HeldOut, Run, Split, Trained, runs, trained
from suffice.schema import Array, Columns, merged_classes
from suffice.statistics import Statistic, Tally
from suffice.statistics.cancellation import lost_in_rounding


class Learner(BaseEstimator):  # type: ignore[misc]
    """An estimator whose only learned state is ``tally_``: it learns, forgets and merges."""

    _family: ClassVar[str]
    _sparse: ClassVar[bool] = True
    _setting_names: ClassVar[tuple[str, ...]] = ()
    _kept: ClassVar[tuple[str, ...]] = ()  # what a fit has chosen beside the tally, and more rows do not change
    _counts_by: ClassVar[tuple[str, ...]] = ()  # the settings that decide what is counted

    tally_: Tally

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._setting_names = tuple(cls._get_param_names())

    @abstractmethod
    def _check(self, tally: Tally | None) -> None:
        """Raise what is wrong with the settings, by themselves and for a tally: before they are used."""

    def _columns(self, block: Block) -> Columns:
        """Return how the columns of a block are to be counted."""
        return Columns(self._family, block.shape[1], block.names)

    def _opened(self, X: Any, known: Tally | None) -> Any:
        """Return X as something that has a shape and can be read: its form is checked, not yet its values."""
        return self._block(X, known)

    def _tallied(self, opened: Any, target: Target, known: Tally | None, whole: bool) -> Tally:
        """Return the tally of rows to be learned or forgotten, which are all there will be or some of many."""
        columns, sizes = self._columns(opened), None if known is None else known.schema.blocks[0].sizes
        if sizes is not None and columns.sizes is None:
            columns = replace(columns, sizes=sizes)  # the levels known already have their places
        tally = memory.tally(Table((opened,), target), (columns,), trimmed=sizes is None)
        met = tally.schema.blocks[0].sizes
        grown = sizes is not None and met is not None and not np.array_equal(sizes, met)
        return tally.trimmed() if grown else tally

    def _trained(self, opened: Any, target: Target, run: Run) -> list[Trained]:
        """Return what each split of a run has learned, all in one pass, and how rows are read for it."""
        tallies = trained(run, Table((opened,), target), (self._columns(opened),))
        return [Trained(tally, lambda rows: (opened.take(rows),)) for tally in tallies]

    def _held_out(self, X: Any, y: Any, sample_weight: Any, splits: Iterable[Split]) -> Iterator[HeldOut]:
        """Yield for each split what its training rows add up to, and its test rows as that reads them."""
        self._check(None)
        opened = self._opened(X, None)
        target = Target.of(opened.shape[0], y, sample_weight, None, type(self).__name__)
        for run in runs(splits, opened.shape[0]):
            for split, its in zip(run.splits, self._trained(opened, target, run), strict=True):
                yield HeldOut(split, its.tally, self._scorable(its.tally.schema.blocks, its.read(split.test)))

    def _with(self, tally: Tally) -> Self:
        """Return a classifier with these settings that has learned just this."""
        other = type(self).__new__(type(self))
        other.__dict__ = {name: getattr(self, name) for name in self._setting_names}
        other.tally_ = tally
        return other

    def _reads_for(self, other: Any) -> bool:
        """Say whether what this one would count of rows is all that another needs."""
        return type(other) is type(self) and all(
            comparable(getattr(self, name)) == comparable(getattr(other, name)) for name in self._counts_by
        )

    @property
    def _adds_up(self) -> bool:
        """Whether all that is learned is the tally, so that folds can be learned by sums alone."""
        return True

    def _scorable(self, columns: tuple[Columns, ...], cells: tuple[Block, ...]) -> tuple[Block, ...]:
        """Return what is scored of cells that were read."""
        return cells

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y, and from nothing else: what was known is forgotten.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
        """
        earlier = {name: self.__dict__[name] for name in self._kept if name in self.__dict__}
        self._learn(None, X, y, None, sample_weight, whole=True)
        for name, value in earlier.items():
            if self.__dict__.get(name) is value:  # it was chosen for other rows
                del self.__dict__[name]
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from more rows: any batches, in any order, give what ``fit`` gives on all of them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row. A label met for the first time is a new class.
        classes : array-like, default=None
            Labels to know from the start. Where given, y may hold no others.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.
        decay : float, default=None
            What a row that is known already still counts, from 0 to 1: with 0.99 a row that came a hundred
            calls ago counts 0.37. None forgets nothing.

        Returns
        -------
        self : object
        """
        known = self.tally_ if self.__sklearn_is_fitted__() else None
        if decay is not None:
            checked_decay(decay)
            known = None if known is None else known * decay
        return self._learn(known, X, y, classes, sample_weight, whole=False)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is as if it had never met them.

        A class whose last row goes is no longer a class. Rows that were never learned are an error,
        where the sums can tell, and leave the model as it was.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row, as it was learned.

        Returns
        -------
        self : object
        """
        left = self._without(X, y, sample_weight)
        lost = lost_in_rounding(self.tally_, left) if len(left.class_count) else None
        if lost is not None:
            warnings.warn(
                f"of {lost[0]} in class {lost[1]!r} so much was forgotten that its spread is lost in rounding: "
                "fit again on the rows that stay",
                UserWarning,
                stacklevel=2,
            )
        self.tally_ = left
        return self

    def _without(self, X: Any, y: Any, sample_weight: Any) -> Tally:
        """Return what is left of the tally without some rows."""
        known = self._learned()
        opened = self._opened(X, known)
        target = Target.of(opened.shape[0], y, sample_weight, known.schema.classes, type(self).__name__)
        left = known - self._tallied(opened, target, known, whole=False)
        if len(left.class_count):
            self._check(left)
        return left

    def __add__(self, other: Self) -> Self:
        """Return a classifier with this one's settings that has learned what both have."""
        if type(other) is not type(self):
            return NotImplemented
        both = self._with(self._learned() + other._learned())
        both.__dict__ |= {name: self.__dict__[name] for name in self._kept if name in self.__dict__}
        both._check(both.tally_)
        return both

    def __radd__(self, other: object) -> Self:
        # lets sum(models) start from its 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write what was learned, and the settings, to a file that `suffice.load` reads.

        Parameters
        ----------
        path : str or path
            The file; one that is there already is replaced when all of the new one is on the disk.

        Returns
        -------
        path : Path
        """
        self._learned()
        return store.save(self, path)

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self._learned().schema.classes

    @property
    def class_count_(self) -> Array:
        """The number of rows of each class, by weight."""
        return self._learned().class_count

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return self._learned().schema.feature_count

    @property
    def feature_names_in_(self) -> Array:
        """The names of the columns; there only if they were learned from a frame with string names."""
        names = self._learned().schema.feature_names
        if names is None:
            raise AttributeError(f"this {type(self).__name__} was fitted on columns without names")
        return np.array(names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tally_") and len(self.tally_.class_count) > 0

    def _learn(self, known: Tally | None, X: Any, y: Any, classes: Any, sample_weight: Any, *, whole: bool) -> Self:
        """Learn on top of what is known; nothing is changed before all of it has gone well."""
        self._check(known)
        opened = self._opened(X, known)
        labels = None if known is None else known.schema.classes
        if classes is not None:
            labels = self._declared(classes, labels)
        target = Target.of(opened.shape[0], y, sample_weight, labels, type(self).__name__)
        if classes is not None and labels is not None and len(target.classes) > len(labels):
            strange = np.setdiff1d(target.classes, labels)
            raise ValueError(f"The target label(s) {strange} in y do not exist in the initial classes {labels}")
        tally = self._tallied(opened, target, known, whole)
        tally = tally if known is None else known + tally
        if known is None or tally.schema is not known.schema:
            self._check(tally)
        self.tally_ = tally
        return self

    def _declared(self, classes: Any, known: Array | None) -> Array:
        """Return the labels that ``classes=`` allows."""
        declared = as_labels(classes, type(self).__name__)
        labels = np.unique(declared)
        if known is not None and (len(labels) < len(declared) or len(merged_classes(known, labels)) > len(labels)):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        return labels

    def _block(self, X: Any, known: Tally | None) -> Block:
        """Return X as a block whose columns are those already known, if any are."""
        block = as_block(X, owner=type(self).__name__, sparse=self._sparse)
        if known is not None:
            columns = known.schema.blocks[0]
            if not (type(X) is np.ndarray and block.shape[1] == columns.count and columns.names is None):
                validate_data(self, X, reset=False, skip_check_array=True)
        return block

    def _learned(self) -> Tally:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. "
                "Call 'fit' with appropriate arguments before using this estimator."
            )
        return self.tally_

    @property
    def _statistic(self) -> Statistic:
        return self._learned().statistics[0]


def checked_decay(decay: float) -> float:
    """Return what a known row still counts, or say that it is no share."""
    if isinstance(decay, bool) or not isinstance(decay, Real) or not 0 <= decay <= 1:
        raise ValueError(f"decay is what a known row still counts, a number from 0 to 1, not {decay!r}")
    return float(decay)


def comparable(value: Any) -> Any:
    """Return a setting in a form that can be compared, an array by its contents."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_dataclass(value) and not isinstance(value, type):  # a prior, a structure, how texts are read
        return (type(value), *(comparable(getattr(value, each.name)) for each in fields(value)))
    if isinstance(value, Mapping):
        return tuple((key, comparable(each)) for key, each in value.items())
    array = np.asarray(value)
    if array.dtype.kind != "O":
        return array.shape, array.tobytes()
    # itself, and not its address: that of one that is gone may be another's
    return tuple(comparable(each) for each in array) if array.ndim else value
