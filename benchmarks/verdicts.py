"""How often the verdicts of `compare` are wrong, on simulated tables where the true differences are known.

The true difference of two models is their mean difference on new rows, over the models of all folds of all tables.
Printed for each metric: how often an interval of a difference misses it (at most 5 % is promised, for all models of a
table at once), and the same for the models of the folds of that table only; how often a model is called worse though it
is not; how often two models are called practically equal though they differ by more than the margin; and the share of
each verdict.
"""

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from suffice import GaussianDiscriminant, GaussianNB, compare, cross_validate
from suffice.evaluation.metrics import score_predictions
from suffice.folds.assessment import assess_predictions

NEW_ROWS = 5_000
ERRORS = ("interval", "interval here", "worse", "equal")
SCORING = ("neg_log_loss", "accuracy", "neg_brier_score", "roc_auc")
OF_ROWS = {"log_loss": "log_loss", "accuracy": "right", "brier": "brier"}


def correlated(columns: int, correlation: float = 0.4) -> Callable[..., tuple[Any, Any]]:
    """Return a function that draws rows of correlated Gaussians, of which the first two depend on the class."""
    factor = np.linalg.cholesky((1 - correlation) * np.eye(columns) + correlation)

    def draw(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
        y = rng.integers(0, 2, rows)
        return rng.normal(size=(rows, columns)) @ factor.T + 0.6 * y[:, None] * (np.arange(columns) < 2), y

    return draw


def alike(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
    """Draw eight columns that tell the class equally well."""
    y = rng.integers(0, 2, rows)
    return rng.normal(size=(rows, 8)) + 0.8 * y[:, None], y


def of_column(column: int) -> Any:
    return make_pipeline(make_column_transformer(("passthrough", [column])), GaussianNB())


PAIR = {"naive": GaussianNB(), "full": GaussianDiscriminant()}
SCENARIOS: dict[str, tuple[Callable[..., tuple[Any, Any]], dict[str, Any], int]] = {
    "4 columns, 200 rows: naive or full covariance": (correlated(4), PAIR, 200),
    "4 columns, 2,000 rows: naive or full covariance": (correlated(4), PAIR, 2000),
    "20 columns, 100 rows: the same, unstable": (correlated(20), PAIR, 100),
    "4 columns, 300 rows: naive or a tree": (
        correlated(4),
        {"naive": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=4, min_samples_leaf=10, random_state=0)},
        300,
    ),
    "2,000 rows: nearly the same model twice": (
        correlated(4),
        {"plain": GaussianNB(), "smoothed": GaussianNB(var_smoothing=1e-4)},
        2000,
    ),
    "200 rows: eight columns alike, a model for each": (alike, {f"{j}": of_column(j) for j in range(8)}, 200),
}


def true_values(estimators: list[Any], X: Any, y: Any) -> dict[str, float]:
    """Return the mean of each metric over the models of the folds, on new rows."""
    found: dict[str, list[float]] = {}
    for model in estimators:
        with np.errstate(divide="ignore"):
            log_proba = np.log(model.predict_proba(X))
        rows = assess_predictions(log_proba, y)
        for name, field in OF_ROWS.items():
            found.setdefault(name, []).append(float(getattr(rows, field).mean()))
        found.setdefault("roc_auc", []).append(score_predictions("roc_auc", np.arange(2), log_proba, y, None))
    return {name: float(np.mean(values)) for name, values in found.items()}


def simulate(draw: Any, models: dict[str, Any], rows: int, repeats: int, folds: int = 10) -> dict[str, dict[str, Any]]:
    """Return, for each metric, how often verdicts and intervals were wrong, and the share of each verdict."""
    rng, tables = np.random.default_rng(0), []
    X_new, y_new = draw(np.random.default_rng(1), NEW_ROWS)
    for repeat in range(repeats):
        X, y = draw(rng, rows)
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=repeat).split(X, y))
        with np.errstate(divide="ignore"):
            found = compare(X, y, models, cv=splits, scoring=SCORING, progress=False)
            asked = {"cv": splits, "return_estimator": True, "progress": False}
            truth = {
                name: true_values(cross_validate(model, X, y, **asked)["estimator"], X_new, y_new)
                for name, model in models.items()
            }
        tables.append((found, truth))
    names = [metric.name for metric in tables[0][0].metrics if metric.name in tables[0][1][next(iter(models))]]
    mean = {model: {name: np.mean([truth[model][name] for _, truth in tables]) for name in names} for model in models}
    rates: dict[str, dict[str, Any]] = {}
    for name in names:
        wrong, verdicts = Counter[str](), Counter[str]()
        for found, truth in tables:
            verdicts.update(line[f"{name}_verdict"] for line in found.table)
            wrong.update(find_errors(found, name, mean, "interval", found.margins[name]))
            wrong.update({"interval here"} & find_errors(found, name, truth, "interval here", found.margins[name]))
        rates[name] = {error: wrong[error] / repeats for error in ERRORS}
        rates[name]["verdicts"] = {each: count / (repeats * (len(models) - 1)) for each, count in verdicts.items()}
    return rates


def find_errors(found: Any, name: str, truth: Any, missed: str, margin: float) -> set[str]:
    """Return the errors of a comparison in one metric; ``missed`` is the name of an interval without the truth."""
    sign = 1 if next(metric for metric in found.metrics if metric.name == name).is_loss else -1
    best = next(line["model"] for line in found.table if line[f"{name}_verdict"] == "best")
    errors = set()
    for line in found.table:
        true, verdict = truth[line["model"]][name] - truth[best][name], line[f"{name}_verdict"]
        if abs(line[f"{name}_difference"] - true) > line[f"{name}_difference_half_width"] + 1e-12:
            errors.add(missed)
        if verdict == "worse" and sign * true <= 0:
            errors.add("worse")
        if verdict == "practically equal" and abs(true) > margin:
            errors.add("equal")
    return errors


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for title, (draw, models, rows) in SCENARIOS.items():
        print(f"{title} ({repeats} tables)", flush=True)
        for name, found in simulate(draw, models, rows, repeats).items():
            shares = ", ".join(f"{each} {share:.2f}" for each, share in found["verdicts"].items() if each != "best")
            rates = "  ".join(f"{each} {100 * found[each]:4.1f} %" for each in ERRORS)
            print(f"  {name:18} wrong: {rates}   verdicts: {shares}")


if __name__ == "__main__":
    main()
