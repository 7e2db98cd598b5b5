"""Comparing: how well several models predict rows that they have not learned, on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from suffice.folds.assessment import Assessment, all_assessed, assessed
from suffice.folds.held_out import adds_up, by_sums, predictions
from suffice.folds.splits import repeats_rows
from suffice.folds.training_sums import Split
from suffice.schema import Array


@dataclass(frozen=True)
class Scores:
    """What is found of each predicted row, fold after fold, and the time that learning and predicting took."""

    rows: Array
    fold: Array
    assessment: Assessment
    fit_time: float
    predict_time: float

    def mean(self, values: Array, weights: Array | None) -> float:
        """Return the mean of what was found of all rows."""
        return float(np.average(values, weights=None if weights is None else weights[self.rows]))

    def by_fold(self, values: Array, weights: Array | None) -> Array:
        """Return the mean of what was found in each fold."""
        mine = np.ones(len(self.rows)) if weights is None else weights[self.rows]
        return np.bincount(self.fold, values * mine) / np.maximum(np.bincount(self.fold, mine), 1e-300)


def scores_of(
    models: Sequence[Any],
    X: Any,
    y: Any,
    codes: Array,
    classes: Array,
    sample_weight: Any,
    splits: Sequence[Split],
    tick: Callable[[int], None] = lambda folds: None,
) -> list[Scores]:
    """Return the scores of each model; those that count the same share one pass over the rows.

    ``tick`` is told of every few folds that are done.
    """
    found: dict[int, Scores] = {}
    for places in _groups(models, repeats_rows(list(splits))):
        some = [models[place] for place in places]
        how = _by_sums if by_sums(some[0], splits) else _by_fitting
        scores = how(some, X, y, codes, classes, sample_weight, splits, tick)
        found |= zip(places, scores, strict=True)
    return [found[place] for place in range(len(models))]


def _groups(models: Sequence[Any], refit: bool) -> list[list[int]]:
    """Return the models in groups, the first of which counts all that the others need."""
    left, groups = list(range(len(models))), []
    while left:
        leads = {place: [] if refit else _led(models, place, left) for place in left}
        leader = max(left, key=lambda place: len(leads[place]))
        group = [leader, *(place for place in leads[leader] if place != leader)]
        groups.append(group)
        left = [place for place in left if place not in group]
    return groups


def _led(models: Sequence[Any], leader: int, left: list[int]) -> list[int]:
    model = models[leader]
    return [p for p in left if adds_up(model) and adds_up(models[p]) and model._reads_for(models[p])]


def _by_sums(
    models: Sequence[Any],
    X: Any,
    y: Any,
    codes: Array,
    classes: Array,
    sample_weight: Any,
    splits: Sequence[Split],
    tick: Callable[[int], None],
) -> list[Scores]:
    for model in models:
        model._check(None)
    assessments: list[list[Assessment]] = [[] for _ in models]
    fit_time, predict_time = np.zeros(len(models)), 0.0
    started = perf_counter()
    for held_out in models[0]._held_out(X, y, sample_weight, splits):
        fit_time += perf_counter() - started
        estimated = []
        for place, model in enumerate(models):
            started = perf_counter()
            estimated.append(model._estimated(held_out.tally))
            fit_time[place] += perf_counter() - started
        started = perf_counter()
        known = np.searchsorted(classes, held_out.tally.schema.classes)
        place_of = np.full(len(classes), -1)  # a class that a fold has not learned has no place in it
        place_of[known] = np.arange(len(known))
        truth = place_of[codes[held_out.split.test]]
        for mine, its in zip(assessments, all_assessed(estimated, held_out.blocks, truth), strict=True):
            mine.append(its)
        predict_time += perf_counter() - started
        tick(len(models))
        started = perf_counter()
    rows, fold = _rows(splits)
    share = predict_time / len(models)
    return [
        Scores(rows, fold, _joined(its), float(time), share) for its, time in zip(assessments, fit_time, strict=True)
    ]


def _by_fitting(
    models: Sequence[Any],
    X: Any,
    y: Any,
    codes: Array,
    classes: Array,
    sample_weight: Any,
    splits: Sequence[Split],
    tick: Callable[[int], None],
) -> list[Scores]:
    scores = []
    rows, fold = _rows(splits)
    for model in models:
        assessments, times = [], np.zeros(2)
        for prediction in predictions(model, X, y, splits, sample_weight, classes):
            assessments.append(assessed(prediction.log_proba, codes[prediction.split.test]))
            times += (prediction.fit_time, prediction.predict_time)
            tick(1)
        scores.append(Scores(rows, fold, _joined(assessments), float(times[0]), float(times[1])))
    return scores


def _rows(splits: Sequence[Split]) -> tuple[Array, Array]:
    tests = [split.test for split in splits]
    return np.concatenate(tests), np.repeat(np.arange(len(tests)), [len(test) for test in tests])


def _joined(parts: Sequence[Assessment]) -> Assessment:
    names = ("log_loss", "brier", "confidence", "right")
    return Assessment(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
