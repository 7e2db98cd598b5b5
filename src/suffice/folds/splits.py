"""Splits: which rows are learned and which are predicted, from folds or from scikit-learn's splitters."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.validation import _num_samples

from suffice.data import as_labels, encode
from suffice.schema import Array


@dataclass(frozen=True)
class IndexSplit:
    """A split given by the indices of the rows that are learned and of those that are predicted."""

    train: Array
    test: Array


@dataclass(frozen=True)
class FoldSplit:
    """The split that predicts one fold and learns all others; ``fold_of`` is the fold of each row."""

    fold_of: Array
    fold: int

    @property
    def train(self) -> Array:
        return np.flatnonzero(self.fold_of != self.fold)

    @cached_property
    def test(self) -> Array:
        return np.flatnonzero(self.fold_of == self.fold)


Split = IndexSplit | FoldSplit


def make_splits(cv: Any, X: Any, y: Any, groups: Any = None) -> list[Split]:
    """Return the splits of a number of folds, a splitter, or pairs of row indices (train, test)."""
    rows = _num_samples(X)
    labels = as_labels(y, "cross_validate")
    if len(labels) != rows:
        raise ValueError(f"X has {rows} rows and y has {len(labels)}: they must have the same length")
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return stratified(labels, int(cv))
    if isinstance(cv, str):
        raise ValueError(f"cv={cv!r} is not known; it is a number of folds, a splitter, or pairs of row indices")
    pairs = check_cv(cv, labels, classifier=True).split(np.zeros(rows), labels, groups)
    splits: list[Split] = [IndexSplit(_indices(train, rows), _indices(test, rows)) for train, test in pairs]
    if not splits:
        raise ValueError("cv yields no splits; it is a number of folds, a splitter, or pairs of indices (train, test)")
    for place, split in enumerate(splits):
        if not (len(split.train) and len(split.test)):
            raise ValueError(
                f"split {place} has {len(split.train)} rows to learn from and {len(split.test)} to predict"
            )
    return splits


def _indices(given: Any, rows: int) -> Array:
    """Return row indices from 0; raise if one is out of range. Negative indices count from the last row."""
    indices = np.asarray(given)
    if len(indices) and not (-rows <= indices.min() and indices.max() < rows):
        wrong = indices.max() if indices.max() >= rows else indices.min()
        raise ValueError(f"cv names row {wrong}, but there are {rows} rows")
    return indices % rows if len(indices) and indices.min() < 0 else indices


def check_weights(splits: list[Split], weights: Array | None) -> None:
    """Raise if all rows that a split learns, or all that it predicts, have weight 0."""
    if weights is None:
        return
    for place, split in enumerate(splits):
        for rows, verb in ((split.train, "learns"), (split.test, "predicts")):
            if not weights[rows].any():
                raise ValueError(f"split {place} {verb} only rows of weight 0: leave such rows out, or use another cv")


def stratified(labels: Array, folds: int) -> list[Split]:
    """Return folds with the same share of each class: those of scikit-learn's StratifiedKFold.

    >>> [split.test.tolist() for split in stratified(np.array(["a", "a", "b", "b"]), 2)]
    [[0, 2], [1, 3]]
    """
    if folds < 2:
        raise ValueError(f"cv={folds}: there must be at least 2 folds")
    classes, codes = encode(labels, owner="cross_validate")
    counts = np.bincount(codes)
    rarest = int(counts.argmin())
    if counts[rarest] < folds:
        few = int(counts[rarest])
        way = f"cv={few}" if few > 1 else "a splitter, such as KFold(10, shuffle=True)"
        raise ValueError(
            f"class {classes.tolist()[rarest]!r} has {few} rows, too few for cv={folds}: each fold needs one; "
            f"use {way}, or leave the class out"
        )
    fold_of = np.empty(len(codes), np.intp)
    for fold, (_, test) in enumerate(StratifiedKFold(folds).split(codes[:, None], codes)):
        fold_of[test] = fold
    return [FoldSplit(fold_of, fold) for fold in range(folds)]


def shuffled_folds(labels: Array, wanted: int = 10) -> list[Split] | None:
    """Return up to ``wanted`` shuffled folds, at most as many as the rarest class has rows; None if that is below 2."""
    _, counts = np.unique(labels, return_counts=True)
    folds = min(int(counts.min()), wanted)
    if folds < 2:
        return None
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    return [IndexSplit(train, test) for train, test in splitter.split(np.zeros(len(labels)), labels)]


def repeats_rows(splits: list[Split]) -> bool:
    """Return whether a split learns a row more than once, as a bootstrap does."""
    return any(isinstance(split, IndexSplit) and bool((np.bincount(split.train) > 1).any()) for split in splits)
