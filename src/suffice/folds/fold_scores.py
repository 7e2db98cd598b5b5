"""Scores of many learners on the same folds; recipes with the same counts share one pass over the rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any

import numpy as np

from suffice.folds.assessment import Assessment, assess_models, assess_predictions
from suffice.folds.fold_tallies import fold_tallies
from suffice.folds.held_out import FitFunction, estimate_fold, in_columns, open_rows, predict_by_refitting
from suffice.folds.splits import Split
from suffice.pooled_model import AnyModel
from suffice.recipe import Recipe
from suffice.schema import Array


@dataclass(frozen=True)
class FoldScores:
    """The assessment of each predicted row, fold after fold, and the time that learning and predicting took.

    ``log_proba`` are the predictions, log P(class | x), if they were kept.
    """

    rows: Array
    fold: Array
    assessment: Assessment
    fit_time: float
    predict_time: float
    log_proba: Array | None = None

    def mean(self, values: Array, weights: Array | None) -> float:
        """Return the mean of a measure over all rows."""
        return float(np.average(values, weights=None if weights is None else weights[self.rows]))


@dataclass(frozen=True)
class LabelledRows:
    """Rows, their labels (as given and as codes of the classes), and their weights."""

    X: Any
    y: Any
    classes: Array
    codes: Array
    weights: Array | None


def score_folds(
    learners: Sequence[Recipe | FitFunction],
    data: LabelledRows,
    splits: Sequence[Split],
    tick: Callable[[int], None] = lambda folds: None,
    *,
    keeps_predictions: bool = False,
) -> list[FoldScores]:
    """Return the scores of each learner on the same splits.

    Recipes are learned by sums, and those with the same counts share a pass. Fit functions are called for each split.
    ``tick`` is called with the number of folds that were just finished. Predictions are kept where they are needed for
    more than the assessment of single rows.
    """
    scores: dict[int, FoldScores] = {}
    recipes = {place: learner for place, learner in enumerate(learners) if isinstance(learner, Recipe)}
    for places in _group(recipes):
        group = [recipes[place] for place in places]
        scores |= zip(places, _score_by_sums(group, data, splits, tick, keeps_predictions), strict=True)
    for place, learner in enumerate(learners):
        if not isinstance(learner, Recipe):
            scores[place] = _score_by_refitting(learner, data, splits, tick, keeps_predictions)
    return [scores[place] for place in range(len(learners))]


def _group(recipes: dict[int, Recipe]) -> list[list[int]]:
    """Return groups of recipes; the tally of the first of a group contains all counts that the others need."""
    left, groups = list(recipes), []
    while left:
        covered = {leader: [place for place in left if recipes[leader].covers(recipes[place])] for leader in left}
        leader = max(left, key=lambda place: len(covered[place]))
        group = [leader, *(place for place in covered[leader] if place != leader)]
        groups.append(group)
        left = [place for place in left if place not in group]
    return groups


def _score_by_sums(
    recipes: Sequence[Recipe], data: LabelledRows, splits: Sequence[Split], tick: Callable[[int], None], keeps: bool
) -> list[FoldScores]:
    """Return the scores of a group of recipes, estimated from tallies of the first."""
    assessments: list[list[Assessment]] = [[] for _ in recipes]
    kept: list[list[Array]] = [[] for _ in recipes]
    fit_time, predict_time = np.zeros(len(recipes)), 0.0
    started = perf_counter()
    opened, target = open_rows(recipes[0], data.X, data.y, data.weights)
    for fold in fold_tallies(recipes[0], opened, target, splits):
        fit_time += perf_counter() - started
        models = []
        for place, recipe in enumerate(recipes):
            started = perf_counter()
            models.append(estimate_fold(recipe, fold.tally))
            fit_time[place] += perf_counter() - started
        started = perf_counter()
        known = np.searchsorted(data.classes, fold.tally.schema.classes)
        code_in_fold = np.full(len(data.classes), -1)  # −1: the class is not in the fold's training rows
        code_in_fold[known] = np.arange(len(known))
        truth = code_in_fold[data.codes[fold.split.test]]
        for places in _same_columns(models):
            group = [models[place] for place in places]
            blocks = fold.test_blocks(recipes[places[0]], group[0].columns)
            if keeps:
                for place in places:
                    log_proba = models[place].log_posterior(blocks)
                    kept[place].append(in_columns(log_proba, fold.tally.schema.classes, data.classes))
                    assessments[place].append(assess_predictions(kept[place][-1], data.codes[fold.split.test]))
                continue
            assessed = assess_models(group, blocks, truth, len(data.classes))
            for place, assessment in zip(places, assessed, strict=True):
                assessments[place].append(assessment)
        predict_time += perf_counter() - started
        tick(len(recipes))
        started = perf_counter()
    share = predict_time / len(recipes)
    found = zip(assessments, kept, fit_time, strict=True)
    return [_fold_scores(folds, splits, float(time), share, log_proba) for folds, log_proba, time in found]


def _same_columns(models: Sequence[AnyModel]) -> list[list[int]]:
    """Return groups of models with the same columns, whose rows are read once."""
    groups: list[list[int]] = []
    for place, model in enumerate(models):
        group = next((group for group in groups if models[group[0]].columns == model.columns), None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return groups


def _score_by_refitting(
    learner: FitFunction, data: LabelledRows, splits: Sequence[Split], tick: Callable[[int], None], keeps: bool
) -> FoldScores:
    assessments, kept, times = [], list[Array](), np.zeros(2)
    for prediction in predict_by_refitting(learner, data.X, data.y, splits, data.weights, data.classes):
        assessments.append(assess_predictions(prediction.log_proba, data.codes[prediction.split.test]))
        if keeps:
            kept.append(prediction.log_proba)
        times += (prediction.fit_time, prediction.predict_time)
        tick(1)
    return _fold_scores(assessments, splits, float(times[0]), float(times[1]), kept)


def _fold_scores(
    parts: Sequence[Assessment], splits: Sequence[Split], fit_time: float, predict_time: float, kept: Sequence[Array]
) -> FoldScores:
    tests = [split.test for split in splits]
    fold = np.repeat(np.arange(len(tests)), [len(test) for test in tests])
    joined = Assessment(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Assessment)))
    log_proba = np.concatenate(kept) if kept else None
    return FoldScores(np.concatenate(tests), fold, joined, fit_time, predict_time, log_proba)
