"""Predictions for rows that were held out: by sums where all that is learned is a tally, else by fitting again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from suffice.data import as_labels, weights_of
from suffice.folds.splits import repeats_rows
from suffice.folds.training_sums import HeldOut, Split
from suffice.parallel import spread
from suffice.schema import Array

AT_ONCE = 16


@dataclass(frozen=True)
class Prediction:
    """What a split's model says of its test rows: log P(class given x), and the code of the most probable class."""

    split: Split
    model: Any
    log_proba: Array
    codes: Array
    fit_time: float
    predict_time: float


def adds_up(model: Any) -> bool:
    """Say whether all that a model learns is a tally."""
    return bool(getattr(model, "_adds_up", False))


def by_sums(model: Any, splits: Sequence[Split]) -> bool:
    """Say whether what a model learns in each split is a sum over its rows, each taken once."""
    return adds_up(model) and not repeats_rows(list(splits))


def predictions(
    model: Any, X: Any, y: Any, splits: Sequence[Split], sample_weight: Any, classes: Array
) -> Iterator[Prediction]:
    """Yield the predictions of each split, with a column for each of the classes."""
    how = _by_sums if by_sums(model, splits) else _by_fitting
    yield from how(model, X, y, splits, sample_weight, classes)


def _by_sums(
    model: Any, X: Any, y: Any, splits: Sequence[Split], sample_weight: Any, classes: Array
) -> Iterator[Prediction]:
    def predicted(fold: tuple[HeldOut, Any, Any]) -> tuple[Array, Array, float]:
        held_out, its, estimated = fold
        started = perf_counter()
        log_proba = in_columns(estimated.log_posterior(held_out.blocks), its.classes_, classes)
        return log_proba, log_proba.argmax(axis=1), perf_counter() - started

    started = perf_counter()
    for some in _few(model._held_out(X, y, sample_weight, splits)):
        # estimates are many small steps of Python, for which threads would but wait for each other
        folds = [(held_out, its := model._with(held_out.tally), its._model()) for held_out in some]
        each = (perf_counter() - started) / len(some)
        found = spread(predicted, folds) if len(folds) > 1 else map(predicted, folds)
        for (held_out, its, _), (log_proba, codes, taken) in zip(folds, found, strict=True):
            yield Prediction(held_out.split, its, log_proba, codes, each, taken)
        started = perf_counter()


def _few(held_out: Iterator[HeldOut]) -> Iterator[list[HeldOut]]:
    """Yield a few folds at a time, each of which one thread predicts; one by one where a fold takes them all."""
    some: list[HeldOut] = []
    for its in held_out:
        some.append(its)
        if len(some) == AT_ONCE or any(columns.pairs for columns in its.tally.schema.blocks):
            yield some
            some = []
    if some:
        yield some


def _by_fitting(
    model: Any, X: Any, y: Any, splits: Sequence[Split], sample_weight: Any, classes: Array
) -> Iterator[Prediction]:
    labels = as_labels(y, type(model).__name__)
    weights = weights_of(sample_weight, len(labels))
    for split in splits:
        started = perf_counter()
        fold = clone(model)
        chosen = {} if weights is None else {"sample_weight": weights[split.train]}
        fold.fit(_safe_indexing(X, split.train), labels[split.train], **chosen)
        fitted = perf_counter()
        rows = _safe_indexing(X, split.test)
        if hasattr(fold, "predict_log_proba"):
            found = fold.predict_log_proba(rows)
        else:
            with np.errstate(divide="ignore"):
                found = np.log(fold.predict_proba(rows))
        log_proba = in_columns(np.asarray(found), fold.classes_, classes)
        yield Prediction(split, fold, log_proba, log_proba.argmax(axis=1), fitted - started, perf_counter() - fitted)


def in_columns(log_proba: Array, met: Array, classes: Array) -> Array:
    """Return log probabilities with a column for every class: −∞ for those that were never met."""
    if len(met) == len(classes):
        return log_proba
    wide = np.full((len(log_proba), len(classes)), -np.inf)
    wide[:, np.searchsorted(classes, met)] = log_proba
    return wide
