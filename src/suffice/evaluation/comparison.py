"""Comparison of models by their predictions of held-out rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone

from suffice.classifiers.bayes import BayesClassifier
from suffice.data import encode, weights_of
from suffice.decision.reliability import Reliability
from suffice.evaluation.learners import additive_recipe, fit_copy, learner_of
from suffice.folds.fold_scores import FoldScores, LabelledRows, score_folds
from suffice.folds.held_out import open_rows
from suffice.folds.recipe_choice import PRIORS, structures_for
from suffice.folds.splits import check_weights, make_splits
from suffice.progress import Progress
from suffice.recipe import Recipe
from suffice.schema import Array

LEVEL = 0.05

# Structures of pairs are compared with several priors and rules if all pairs have at most this many counts.
MOST_PAIRS = 1 << 20

MEASURES = ("accuracy", "log_loss", "brier", "calibration_error")


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`: a table with one line for each model, the best first.

    Attributes
    ----------
    table : list of dict
        One dictionary for each model. Each measure comes with its standard error (``log_loss`` with
        ``log_loss_se``). ``p`` is the p-value of the difference in log-loss to the best model, ``worse`` whether it is
        significant at 5 % (Holm's correction over all lines), and ``refitted`` whether the model was fitted again for
        each fold.
    best_ : classifier
        The best model, fitted on all rows.
    folds : int
        The number of folds.
    """

    table: list[dict[str, Any]]
    best_: Any = field(repr=False)
    folds: int = 10

    @property
    def best_name_(self) -> str:
        """The name of the best model."""
        return str(self.table[0]["model"])

    def to_frame(self) -> Any:
        """Return the table as a pandas frame."""
        return import_module("pandas").DataFrame(self.table)

    def plot(self, ax: Any = None) -> Any:
        """Plot the log-loss and the accuracy of each model with error bars of two standard errors; return the Axes."""
        from suffice.plots import ladder

        return ladder(self.table, ax)

    def __str__(self) -> str:
        width = max(len("model"), *(len(line["model"]) for line in self.table))
        head = f"{'model':<{width}}  {'accuracy':>15}  {'log-loss':>15}  {'Brier':>15}  {'ECE':>15}  {'parameters':>10}"
        lines = [f"{head}  {'fit':>8}  {'predict':>8}  against the best"]
        for place, line in enumerate(self.table):
            cells = "  ".join(f"{line[name]:.4f} ± {line[name + '_se']:.4f}" for name in MEASURES)
            count = "" if line["parameters"] is None else f"{line['parameters']:,}"
            verdict = "worse" if line["worse"] else "no real difference"
            against = f"p = {line['p']:.2g}, {verdict}" if place else "best"
            times = "  ".join(f"{_time(line[name]):>8}" for name in ("fit_time", "predict_time"))
            again = " (fitted again for each fold)" if line["refitted"] else ""
            lines.append(f"{line['model']:<{width}}  {cells}  {count:>10}  {times}  {against}{again}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        columns = list(self.table[0])
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        lines = ["".join(f"<td>{escape(_cell(line[name]))}</td>" for name in columns) for line in self.table]
        body = "".join(f"<tr>{cells}</tr>" for cells in lines)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def compare(
    X: Any,
    y: Any,
    models: Any = None,
    *,
    cv: Any = 10,
    groups: Any = None,
    sample_weight: Any = None,
    progress: bool = True,
) -> Comparison:
    """Return how well several models predict rows that they have not learned, on the same folds.

    Models with the same counts (structures, rules and priors of one classifier) share one pass over the rows. Models
    that learn more than sums are fitted again for each fold.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The labels.
    models : dict {name: classifier} or list of classifiers, default=None
        The models; by default structures, rules and priors of BayesClassifier. Any classifier with
        ``predict_proba`` can be compared, including scikit-learn's.
    cv : int, splitter, or iterable of pairs (train, test), default=10
        The number of stratified folds, a splitter, or the row indices of each split.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, for splitters that keep groups together.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of each row, in learning and in scoring.
    progress : bool, default=True
        Whether to show progress on a terminal when it takes longer than a second.

    Returns
    -------
    comparison : Comparison
        With ``table``, ``best_`` (the best model, fitted on all rows), ``plot()`` and ``to_frame()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant, GaussianNB, compare
    >>> comparison = compare(*load_iris(return_X_y=True), {"naive": GaussianNB(), "full": GaussianDiscriminant()})
    >>> [(line["model"], round(line["accuracy"], 2)) for line in comparison.table]
    [('full', 0.98), ('naive', 0.95)]
    """
    named = _named(_candidates(X, y) if models is None else models)
    classes, codes = encode(y, owner="compare")
    weights = weights_of(sample_weight, len(codes))
    splits = make_splits(cv, X, y, groups)
    check_weights(splits, weights)
    learners, done = [learner_of(model, splits) for model in named.values()], list[int]()
    with Progress("comparing", len(named) * len(splits), progress) as line:

        def tick(folds: int) -> None:
            done.append(folds)
            line.say(sum(done))

        scores = score_folds(learners, LabelledRows(X, y, classes, codes, weights), splits, tick)
    lines = [_line(name, score, weights) for name, score in zip(named, scores, strict=True)]
    order = sorted(range(len(lines)), key=lambda place: (lines[place]["log_loss"], place))
    models = list(named.values())
    fitted = _fit_all([models[place] for place in order], X, y, sample_weight)
    train = np.mean([len(split.test) / max(len(split.train), 1) for split in splits])
    against = _test_against_best([scores[place] for place in order], weights, float(train))
    for (p, worse), place, model in zip(against, order, fitted, strict=True):
        lines[place] |= {"parameters": getattr(model, "n_parameters_", None), "p": p, "worse": worse}
        lines[place]["refitted"] = not isinstance(learners[place], Recipe)
    return Comparison([lines[place] for place in order], fitted[0], len(splits))


def _candidates(X: Any, y: Any) -> dict[str, Any]:
    """Return BayesClassifiers with several rules, priors, and structures that suit the size of the table.

    Structures of pairs have variants only where the tables of all pairs are small: elsewhere a variant takes longer
    than all other models together.
    """
    recipe = BayesClassifier(structure="averaged").recipe()
    opened, target = open_rows(recipe, X, y, None)
    columns, _ = recipe.read(opened, recipe.plan(opened, target), target)
    pairs = len(target.classes) * sum(block.width**2 for block in columns if block.pairs and block.codings)
    models: dict[str, Any] = {}
    for structure in (*structures_for(opened), "full"):
        has_variants = structure in ("naive", "full") or pairs <= MOST_PAIRS
        for prior in PRIORS if has_variants else (0.5,):
            models[f"{structure}, mean, prior {prior:g}"] = BayesClassifier(structure=structure, prior=prior)
        if has_variants:
            models[f"{structure}, predictive"] = BayesClassifier(structure=structure, estimate="predictive")
    models["naive, mle"] = BayesClassifier(structure="naive", estimate="mle")
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


def _line(name: str, scores: FoldScores, weights: Array | None) -> dict[str, Any]:
    """Return the line of a model, without the cells that depend on other models."""
    rows, row_weights = scores.assessment, None if weights is None else weights[scores.rows]
    line: dict[str, Any] = {"model": name}
    for measure, values in (("accuracy", rows.right), ("log_loss", rows.log_loss), ("brier", rows.brier)):
        line |= {measure: scores.mean(values, weights), f"{measure}_se": _standard_error(values, row_weights)}
    errors = Reliability.by_fold(rows.confidence, rows.right, scores.fold, row_weights).error
    line["calibration_error"] = float(Reliability.of(rows.confidence, rows.right, row_weights).error)
    line["calibration_error_se"] = float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0
    return line | {"fit_time": scores.fit_time / len(errors), "predict_time": scores.predict_time / len(errors)}


def _standard_error(values: Array, weights: Array | None) -> float:
    """Return the standard error of a mean over rows."""
    weights = np.ones(len(values)) if weights is None else weights
    mean = np.average(values, weights=weights)
    return float(np.sqrt((weights**2 * (values - mean) ** 2).sum()) / weights.sum())


def _test_against_best(scores: Sequence[FoldScores], weights: Array | None, ratio: float) -> list[tuple[float, bool]]:
    """Return the p-value of each model's difference in log-loss to the first, and whether it is significant.

    A t-test on the differences by fold. Its variance is corrected for the overlap of the training sets (Nadeau and
    Bengio 2003): σ²·(1 / folds + test / train). The p-values are corrected for many comparisons (Holm).
    """
    losses = np.array([score.by_fold(score.assessment.log_loss, weights) for score in scores])
    differences = losses - losses[0]
    folds = differences.shape[1]
    if folds < 2:
        return [(1.0, False)] * len(scores)
    mean, spread = differences.mean(axis=1), differences.std(axis=1, ddof=1)
    error = spread * np.sqrt(1 / folds + ratio)
    t = np.where(error > 0, mean / np.where(error > 0, error, 1.0), np.where(mean > 0, np.inf, 0.0))
    p = 2 * stats.t.sf(np.abs(t), folds - 1)
    p[0] = 1.0
    order = np.argsort(p[1:]) + 1
    p[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return [(float(value), bool(value < LEVEL)) for value in p]


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


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
