"""Comparison of models by their predictions of held-out rows."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning

from suffice.classifiers.bayes import BayesClassifier
from suffice.data import encode, weights_of
from suffice.evaluation.comparison_table import Comparison
from suffice.evaluation.learners import additive_recipe, fit_copy, learner_of
from suffice.evaluation.metrics import Metric, find_metrics, score_predictions
from suffice.evaluation.verdicts import Estimates, estimate_by_folds, estimate_by_rows, judge
from suffice.folds.fold_scores import FoldScores, LabelledRows, score_folds
from suffice.folds.held_out import open_rows
from suffice.folds.pool_components import LEAST_ROWS, MOST_CLASSES
from suffice.folds.recipe_choice import PRIORS, structures_for
from suffice.folds.splits import Split, check_weights, make_splits
from suffice.progress import Progress
from suffice.recipe import Recipe

# Structures of pairs are compared with several priors and rules if all pairs have at most this many counts.
MOST_PAIRS = 1 << 20

BASELINE = "(baseline)"


def compare(
    X: Any,
    y: Any,
    models: Any = None,
    *,
    families: Any = "auto",
    cv: Any = 10,
    repeats: int = 1,
    scoring: Any = None,
    sort_by: str | None = None,
    margin: float | Mapping[str, float] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    progress: bool = True,
) -> Comparison:
    """Return how well several models predict rows that they have not learned, on the same folds.

    Models with the same counts (structures, rules and priors of one classifier) share one pass over the rows. Models
    that learn more than sums are fitted again for each fold.

    Each model is compared with the best one in each metric. If the 95 % interval of the difference lies within
    ``margin``, the two are "practically equal"; if it does not contain 0, the model is "worse"; else it is
    "undecided", and more rows are needed. The intervals hold for all pairs of models at once, for each metric by
    itself, for models that are learned from as many rows as those of the folds. A baseline always predicts the class
    frequencies of the training rows.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The labels.
    models : dict {name: classifier} or list of classifiers, default=None
        The models; by default structures, rules and priors of BayesClassifier, and its default, a pool, which is
        fitted again for each fold. Any classifier with ``predict_proba`` can be compared, including scikit-learn's.
    families : "auto", "any", str or dict {column: family}, default="auto"
        The families of the columns, as in `BayesClassifier`, if ``models`` is None.
    cv : int, splitter, or iterable of pairs (train, test), default=10
        The number of stratified folds of shuffled rows, a splitter, or the row indices of each split.
    repeats : int, default=1
        How often the rows are shuffled and divided into folds, if ``cv`` is a number.
    scoring : str, list or dict of scikit-learn's scorers, default=None
        The metrics, such as "neg_log_loss", "accuracy", "neg_brier_score", "roc_auc", "average_precision", "f1_macro",
        or "calibration_error"; by default log-loss, accuracy, Brier score and calibration error. Losses are shown
        as positive numbers, without "neg_" in their name. Metrics that are not a mean over rows, such as ROC AUC, are
        averaged over the folds.
    sort_by : str, default=None
        The metric that sorts; by default the first one.
    margin : float or dict {metric: float}, default=None
        The largest difference that does not matter; by default 0.01, and 0.005 for the Brier score.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, for splitters that keep groups together.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of each row, in learning and in scoring.
    random_state : int, default=0
        The seed of the folds.
    progress : bool, default=True
        Whether to show progress on a terminal when it takes longer than a second.

    Returns
    -------
    comparison : Comparison
        With ``table``, ``baseline``, ``best_`` (the best model, fitted on all rows), ``plot()`` and ``to_frame()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant, GaussianNB, compare
    >>> comparison = compare(*load_iris(return_X_y=True), {"naive": GaussianNB(), "full": GaussianDiscriminant()})
    >>> [(line["model"], round(line["accuracy"], 2), line["verdict"]) for line in comparison.table]
    [('full', 0.98, 'best'), ('naive', 0.95, 'undecided')]
    """
    metrics = _sort_metrics(find_metrics(scoring), sort_by)
    margins = _find_margins(metrics, margin)
    if repeats < 1 or (repeats > 1 and not isinstance(cv, (int, np.integer))):
        raise ValueError(f"repeats={repeats!r} is how often a number of folds, cv=10, is drawn: 1 or more")
    if models is not None and families != "auto":
        raise ValueError(f"families={families!r} is for the default models: set it in each of the given models instead")
    named = _named(_candidates(X, y, families) if models is None else models)
    if BASELINE in named:
        raise ValueError(f"models has the name {BASELINE!r}, which is the one of the baseline: use another")
    classes, codes = encode(y, owner="compare")
    weights = weights_of(sample_weight, len(codes))
    splits = make_splits(cv, X, y, groups, seeds=range(random_state, random_state + repeats))
    check_weights(splits, weights)
    learners, done = [learner_of(model, splits) for model in named.values()], list[int]()
    keeps = any(metric.of_rows is None for metric in metrics)
    with Progress("comparing", len(named) * len(splits), progress) as line:

        def tick(folds: int) -> None:
            done.append(folds)
            line.say(sum(done))

        data = LabelledRows(X, y, classes, codes, weights)
        scores = score_folds(learners, data, splits, tick, keeps_predictions=keeps)
    # the baseline needs no columns
    alone = LabelledRows(codes[:, None], y, classes, codes, weights)
    with np.errstate(divide="ignore"):
        base = [learner_of(DummyClassifier(strategy="prior"), splits)]
        scores += score_folds(base, alone, splits, keeps_predictions=keeps)
    lines: list[dict[str, Any]] = [{"model": name} for name in (*named, BASELINE)]
    for metric in metrics:
        estimates = _estimate(metric, scores, alone, splits)
        verdicts = judge(estimates, margins[metric.name], is_loss=metric.is_loss)
        for place, verdict in enumerate(verdicts):
            lines[place] |= _figures(metric.name, estimates, place) | {f"{metric.name}_verdict": verdict}
    for line_, score in zip(lines, scores, strict=True):
        line_ |= {"verdict": line_[f"{metrics[0].name}_verdict"]}
        line_ |= {"fit_time": score.fit_time / len(splits), "predict_time": score.predict_time / len(splits)}
    first, sign = metrics[0].name, 1 if metrics[0].is_loss else -1
    order = sorted(range(len(named)), key=lambda place: (sign * lines[place][first], place))
    models = list(named.values())
    fitted = _fit_all([models[place] for place in order], X, y, sample_weight)
    for place, model in zip(order, fitted, strict=True):
        lines[place]["parameters"] = getattr(model, "n_parameters_", None)
        lines[place]["refitted"] = not isinstance(learners[place], Recipe)
    lines[-1] |= {"parameters": len(classes) - 1, "refitted": False}
    is_number = isinstance(cv, (int, np.integer))
    folds = f"{cv} shuffled folds" if is_number else f"{len(splits)} splits"
    folds += f", drawn {repeats} times" if repeats > 1 else ""
    table = [lines[place] for place in order]
    return Comparison(table, lines[-1], fitted[0], metrics, margins, f"{len(codes):,} rows in {folds}")


def _sort_metrics(metrics: list[Metric], sort_by: str | None) -> list[Metric]:
    """Return the metrics; the first is the one that sorts."""
    if sort_by is None:
        return metrics
    (wanted,) = find_metrics(sort_by)
    return [wanted, *(metric for metric in metrics if metric.name != wanted.name)]


def _find_margins(metrics: list[Metric], margin: float | Mapping[str, float] | None) -> dict[str, float]:
    """Return the margin of each metric."""
    found = {metric.name: metric.margin for metric in metrics}
    if isinstance(margin, Mapping):
        for name, value in margin.items():
            (metric,) = find_metrics(name)
            if metric.name not in found:
                raise ValueError(f"margin={{…}} names {name!r}, which is not a metric of scoring: {', '.join(found)}")
            found[metric.name] = float(value)
    elif margin is not None:
        found = dict.fromkeys(found, float(margin))
    if any(not value >= 0 for value in found.values()):
        raise ValueError(f"margin={margin!r} must not be negative")
    return found


def _estimate(metric: Metric, scores: Sequence[FoldScores], data: LabelledRows, splits: Sequence[Split]) -> Estimates:
    """Return the metric of each model and its difference to the best; the last of the scores is the baseline."""
    rows, models = scores[0].rows, len(scores) - 1
    predicted, learned = len(np.unique(rows)), float(np.mean([len(split.train) for split in splits]))
    weights = np.ones(len(rows)) if data.weights is None else data.weights[rows]
    if metric.of_rows is not None:
        values = np.array([metric.of_rows(each.assessment, weights) for each in scores])
        if len(rows) > predicted:
            # the predictions of one row depend on each other: its mean counts once
            counts = np.bincount(rows, weights)
            used = np.flatnonzero(np.bincount(rows))
            sums = np.array([np.bincount(rows, weights * line)[used] for line in values])
            values, weights = sums / np.maximum(counts[used], 1e-300), counts[used]
        return estimate_by_rows(
            values, weights, models, predicted / learned, is_loss=metric.is_loss, is_share=metric.is_share
        )
    sign = -1 if metric.is_loss else 1  # scorers are to be maximised
    by_fold = [_score_by_fold(metric.scorer, each, data, len(splits)) for each in scores[:-1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the baseline predicts one class only
        by_fold.append(_score_by_fold(metric.scorer, scores[-1], data, len(splits)))
    overlap = float(np.mean([len(split.test) / len(split.train) for split in splits]))
    return estimate_by_folds(sign * np.array(by_fold), overlap, predicted, models, is_loss=metric.is_loss)


def _score_by_fold(scorer: Any, scores: FoldScores, data: LabelledRows, folds: int) -> list[float]:
    """Return what a scorer of scikit-learn says of the predictions of each fold."""
    assert scores.log_proba is not None
    found = []
    for fold in range(folds):
        here = scores.fold == fold
        rows = scores.rows[here]
        weights = None if data.weights is None else data.weights[rows]
        found.append(score_predictions(scorer, data.classes, scores.log_proba[here], data.codes[rows], weights))
    return found


def _figures(name: str, estimates: Estimates, place: int) -> dict[str, float]:
    keys = (name, f"{name}_half_width", f"{name}_difference", f"{name}_difference_half_width")
    columns = (estimates.value, estimates.half_width, estimates.difference, estimates.difference_half_width)
    return {key: float(column[place]) for key, column in zip(keys, columns, strict=True)}


def _candidates(X: Any, y: Any, families: Any) -> dict[str, Any]:
    """Return BayesClassifiers with several rules, priors, and structures that suit the size of the table; and a pool.

    Structures of pairs have variants only where the tables of all pairs are small: elsewhere a variant takes longer
    than all other models together.
    """
    candidate = partial(BayesClassifier, families=families)
    recipe = candidate(structure="averaged").recipe()
    opened, target = open_rows(recipe, X, y, None)
    columns, _ = recipe.read(opened, recipe.plan(opened, target), target)
    pairs = len(target.classes) * sum(block.width**2 for block in columns if block.pairs and block.codings)
    models: dict[str, Any] = {}
    for structure in (*structures_for(opened), "full"):
        has_variants = structure in ("naive", "full") or pairs <= MOST_PAIRS
        for prior in PRIORS if has_variants else (0.5,):
            models[f"{structure}, mean, prior {prior:g}"] = candidate(structure=structure, prior=prior)
        if has_variants:
            models[f"{structure}, predictive"] = candidate(structure=structure, estimate="predictive")
    models["naive, mle"] = candidate(structure="naive", estimate="mle")
    if len(target.codes) >= LEAST_ROWS and len(target.classes) <= MOST_CLASSES:  # else it is one of the others
        models["pool (default)"] = candidate()
    return models


def _names_of(models: Sequence[Any]) -> list[str]:
    """Return a name for each model: its class and the settings that differ from the default, numbered if equal."""
    bare = [clone(model) if hasattr(model, "get_params") and not isinstance(model, type) else model for model in models]
    names = [" ".join(repr(model).split()) for model in bare]
    homes = [type(model).__module__.split(".")[0] for model in models]
    mixed = {name for name in names if len({home for home, n in zip(homes, names, strict=True) if n == name}) > 1}
    names = [f"{home}.{name}" if name in mixed else name for home, name in zip(homes, names, strict=True)]
    times = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [f"{name} #{n}" if names.count(name) > 1 else name for name, n in zip(names, times, strict=True)]


def _named(models: Any) -> dict[str, Any]:
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
        if len(named) < len(models):
            raise ValueError(f"models has several names that are equal as text: {', '.join(map(repr, models))}")
    else:
        models = [models] if hasattr(models, "fit") else list(models)
        named = dict(zip(_names_of(models), models, strict=True))
    if not named:
        raise ValueError("models is empty: there is nothing to compare")
    for name, model in named.items():
        has_probabilities = hasattr(model, "predict_proba") or hasattr(model, "predict_log_proba")
        if isinstance(model, type) or not (hasattr(model, "fit") and has_probabilities):
            raise ValueError(f"model {name!r} is {model!r}, which is not a classifier with predict_proba")
    return named


def _fit_all(models: Sequence[Any], X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """Return the models, fitted on all rows; models with the same counts share the pass."""
    fitted: list[tuple[Recipe | None, Any]] = []
    for model in models:
        recipe = additive_recipe(model)
        same = (before for counted, before in fitted if recipe and counted and counted.covers(recipe))
        before = next(same, None)
        fitted.append(
            (recipe, fit_copy(model, X, y, sample_weight) if before is None else model.with_tally(before.tally_))
        )
    return [model for _, model in fitted]
