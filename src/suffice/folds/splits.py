"""Splitting: which rows are learned and which are predicted, as scikit-learn's splitters say."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.validation import _num_samples

from suffice.data import as_labels, encode
from suffice.folds.training_sums import Fold, Rows, Split
from suffice.schema import Array


def splits_of(cv: Any, X: Any, y: Any, groups: Any = None) -> list[Split]:
    """Return the splits of a number of folds, a splitter, or pairs of rows (train, test)."""
    rows = _num_samples(X)
    labels = as_labels(y, "cross_validate")
    if len(labels) != rows:
        raise ValueError(f"X has {rows} rows and y has {len(labels)}: they must be as many")
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return stratified(labels, int(cv))
    if isinstance(cv, str):
        raise ValueError(f"cv={cv!r} is not known here; it is a number of folds, a splitter, or pairs of rows")
    pairs = check_cv(cv, labels, classifier=True).split(np.zeros(rows), labels, groups)
    splits: list[Split] = [Rows(_places(train, rows), _places(test, rows)) for train, test in pairs]
    if not splits:
        raise ValueError("cv has no splits: it is a number of folds, a splitter, or pairs of rows (train, test)")
    for place, split in enumerate(splits):
        if not (len(split.train) and len(split.test)):
            raise ValueError(
                f"split {place} has {len(split.train)} rows to learn from and {len(split.test)} to predict"
            )
    return splits


def _places(some: Any, rows: int) -> Array:
    """Return places of rows as they are counted from the first; some may be counted from the last."""
    places = np.asarray(some)
    if len(places) and not (-rows <= places.min() and places.max() < rows):
        raise ValueError(f"cv names row {places.max() if places.max() >= rows else places.min()}, and there are {rows}")
    return places % rows if len(places) and places.min() < 0 else places


def check_weights(splits: list[Split], weights: Array | None) -> None:
    """Raise if a split has no weight to learn from, or to score."""
    for place, split in enumerate([] if weights is None else splits):
        for rows, what in ((split.train, "learns"), (split.test, "predicts")):
            if weights is not None and not weights[rows].any():
                raise ValueError(
                    f"split {place} {what} rows of weight 0 alone: leave such rows out, or split otherwise"
                )


def stratified(labels: Array, folds: int) -> list[Split]:
    """Return folds with the same share of each class, those of scikit-learn's StratifiedKFold.

    >>> [split.test.tolist() for split in stratified(np.array(["a", "a", "b", "b"]), 2)]
    [[0, 2], [1, 3]]
    """
    if folds < 2:
        raise ValueError(f"cv={folds}: there must be at least 2 folds")
    classes, codes = encode(labels, owner="cross_validate")
    counts = np.bincount(codes)
    least = int(counts.argmin())
    if counts[least] < folds:
        few = int(counts[least])
        way = f"cv={few}" if few > 1 else "a splitter, such as KFold(10, shuffle=True)"
        raise ValueError(
            f"class {classes.tolist()[least]!r} has {few} rows, too few for cv={folds} folds with one of it in each; "
            f"use {way}, or leave the class out"
        )
    fold_of = np.empty(len(codes), np.intp)
    # rows of one class after the other are dealt out in turn; classes in the order in which they are met
    order = np.argsort(codes.astype(np.min_scalar_type(len(classes))), kind="stable")
    starts = np.cumsum(counts) - counts
    place = 0
    for k in np.argsort(order[starts]):
        turns = np.bincount((place + np.arange(counts[k])) % folds, minlength=folds)
        fold_of[order[starts[k] : starts[k] + counts[k]]] = np.repeat(np.arange(folds), turns)
        place += counts[k]
    return [Fold(fold_of, fold) for fold in range(folds)]


def most_folds(labels: Array, wanted: int = 10) -> list[Split] | None:
    """Return as many shuffled folds as the rarest class has rows for, ten at most; None if for less than two."""
    _, counts = np.unique(labels, return_counts=True)
    folds = min(int(counts.min()), wanted)
    if folds < 2:
        return None
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    return [Rows(train, test) for train, test in splitter.split(np.zeros(len(labels)), labels)]


def repeats_rows(splits: list[Split]) -> bool:
    """Say whether a split learns from a row more than once, as a bootstrap does."""
    return any(not isinstance(split, Fold) and bool((np.bincount(split.train) > 1).any()) for split in splits)
