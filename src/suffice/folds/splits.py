"""Splits: which rows are learned and which are predicted, from folds or from scikit-learn's splitters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from suffice.caller_warnings import warn_caller
from suffice.data import as_labels, encode
from suffice.data.column_names import list_names
from suffice.schema import Array

# Weights of more than this many copies in all are taken as they are: doubles do not count beyond it.
MOST_COPIES = 2.0**53


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


def make_splits(cv: Any, X: Any, y: Any, groups: Any = None, *, seeds: Sequence[int | None] = (None,)) -> list[Split]:
    """Return the splits of a number of folds, a splitter, or pairs of row indices (train, test).

    A number of folds gives one set of folds for each seed: shuffled, or in the order of the rows if it is None.
    """
    rows = _num_samples(X)
    labels = as_labels(y, "cross_validate")
    if len(labels) != rows:
        raise ValueError(f"X has {rows} rows and y has {len(labels)}: they must have the same length")
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return [split for seed in seeds for split in stratified(labels, int(cv), seed)]
    if isinstance(cv, str):
        raise ValueError(f"cv={cv!r} is not known; it is a number of folds, a splitter, or pairs of row indices")
    from sklearn.model_selection import check_cv  # a fit needs none of it, and it takes long to import

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


def stratified(labels: Array, folds: int, seed: int | None = None) -> list[Split]:
    """Return folds with the same share of each class: those of scikit-learn's StratifiedKFold.

    A class with fewer rows than folds is missing in some of them, with a warning. Rows are shuffled if there is a seed.

    >>> [split.test.tolist() for split in stratified(np.array(["a", "a", "b", "b"]), 2)]
    [[0, 2], [1, 3]]
    """
    if folds < 2:
        raise ValueError(f"cv={folds}: there must be at least 2 folds")
    classes, codes = encode(labels, owner="cross_validate")
    counts = np.bincount(codes, minlength=1)
    if counts.max() < folds:
        most = int(counts.max())
        raise ValueError(
            f"cv={folds}: no class has as many rows as there are folds; the largest has {most}, so use "
            f"{f'cv={most}, or ' if most > 1 else ''}a splitter, such as KFold(5, shuffle=True), or get more rows"
        )
    rare = np.flatnonzero(counts < folds).tolist()
    if rare:
        shown = list_names([f"{classes.tolist()[k]!r} ({int(counts[k])})" for k in rare], 5)
        warn_caller(
            f"{'a class has' if len(rare) == 1 else f'{len(rare)} classes have'} fewer rows than cv={folds} folds: "
            f"{shown}; some folds have no row of them"
        )
    small = codes.astype(np.min_scalar_type(len(counts)))  # which are sorted in linear time
    by_class = np.split(np.argsort(small, kind="stable"), np.cumsum(counts)[:-1])
    fold_of, dealt, rng = np.empty(len(codes), np.intp), 0, None if seed is None else np.random.RandomState(seed)
    # as scikit-learn does it: classes are dealt to the folds in the order of their first rows
    for rows in sorted(by_class, key=lambda rows: int(rows[0])):
        its = np.sort(np.arange(dealt, dealt + len(rows)) % folds)
        if rng is not None:
            rng.shuffle(its)
        fold_of[rows], dealt = its, dealt + len(rows)
    return [FoldSplit(fold_of, fold) for fold in range(folds)]


@dataclass(frozen=True)
class DealtRows:
    """Rows that were dealt to folds; a row whose weight is split occurs once for each of its folds.

    ``rows`` are the indices of the rows, ``fold_of`` their folds, and ``weights`` their weights, or None.
    """

    rows: Array
    fold_of: Array
    weights: Array | None

    @property
    def splits(self) -> list[Split]:
        """The split of each fold, in positions of ``rows``; none if there is only one fold."""
        folds = int(self.fold_of.max(initial=0)) + 1
        return [FoldSplit(self.fold_of, fold) for fold in range(folds)] if folds > 1 else []


def deal_rows(keys: Array, codes: Array, weights: Array | None, folds: int) -> DealtRows:
    """Return the rows of positive weight, dealt to folds class by class.

    The rows are sorted by class and key, and dealt to the folds one by one, so that each class is spread evenly,
    however rare it is. Weights that are whole numbers (after division by a common factor) are numbers of copies, which
    are dealt one by one, too. So neither the order of the rows matters, nor rows of weight 0, nor whether a row is
    repeated or weighted. With other weights, each row is in one fold.

    Parameters
    ----------
    keys : array [row]
        A number for each row that depends on its cells only, as `row_keys` returns it.
    codes : array [row]
        The classes of the rows.
    weights : array [row] or None
        The weights of the rows.
    folds : int
        The largest number of folds.

    Examples
    --------
    >>> keys, codes = np.array([3, 1, 2]), np.array([0, 0, 1])
    >>> deal_rows(keys, codes, None, 2).fold_of.tolist()
    [1, 0, 0]
    >>> dealt = deal_rows(keys, codes, np.array([1.0, 2.0, 0.0]), 2)
    >>> dealt.rows.tolist(), dealt.fold_of.tolist(), dealt.weights.tolist()
    ([0, 1, 1], [0, 0, 1], [1.0, 1.0, 1.0])
    """
    held = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
    order = held[np.lexsort((keys[held], codes[held]))]
    copies = np.ones(len(order), np.int64) if weights is None else _copies(weights[order])
    total = int(copies.sum())
    if total == len(order):
        fold_of = np.empty(len(codes), np.intp)
        fold_of[order] = np.arange(len(order)) % folds
        return DealtRows(held, fold_of[held], None if weights is None else weights[held])
    assert weights is not None
    ends = np.cumsum(copies)
    # how many of the places t from start to end have t % folds = fold: [row, fold]
    upto = [-(-(places[:, None] - np.arange(folds)) // folds) for places in (ends, ends - copies)]
    counts = np.zeros((len(codes), folds))
    counts[order] = (upto[0] - upto[1]) * (weights[order] / copies)[:, None]
    rows, fold_of = np.nonzero(counts)
    return DealtRows(rows, fold_of, counts[rows, fold_of])


def _copies(weights: Array) -> Array:
    """Return the number of copies that weights stand for: 1 of each row if they are not all whole numbers."""
    if not (weights == np.floor(weights)).all() or weights.sum() > MOST_COPIES:
        return np.ones(len(weights), np.int64)
    whole = weights.astype(np.int64)
    return np.asarray(whole // max(int(np.gcd.reduce(whole)), 1))


def repeats_rows(splits: list[Split]) -> bool:
    """Return whether a split learns a row more than once, as a bootstrap does."""
    return any(isinstance(split, IndexSplit) and bool((np.bincount(split.train) > 1).any()) for split in splits)
