"""Logistic regression compared with the solvers of scikit-learn, and the steps saved by the generative start.

    python benchmarks/logistic.py [folder of data]

All in one run: seconds, and the relative distance of the objective from the smallest one.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression as Theirs

from suffice import BernoulliNB, LogisticRegression, MultinomialNB
from suffice.logistic.loss import Problem
from tables import folder, read
from timing import least


def objective(X: Any, y: np.ndarray, model: Any) -> float:
    """Return the loss of a model's coefficients, C = 1."""
    problem = Problem(X, y, None, len(model.classes_), 1.0, True)
    lines = np.vstack([model.coef_.T, model.intercept_])
    return problem.value(lines, problem.probabilities(problem.linear(lines))[1])


def race(classes: int) -> None:
    X, y = make_classification(
        60_000,
        200,
        n_informative=60,
        n_redundant=20,
        n_classes=classes,
        n_clusters_per_class=1,
        flip_y=0.05,
        random_state=0,
    )
    runners: dict[str, Any] = {
        "suffice": lambda: LogisticRegression(),
        "lbfgs": lambda: Theirs(max_iter=2000),
        "lbfgs, tol 1e-8": lambda: Theirs(tol=1e-8, max_iter=5000),
        "newton-cholesky": lambda: Theirs(solver="newton-cholesky", tol=1e-6),
    }
    found = {}
    for name, make in runners.items():
        taken = []
        for _ in range(1 if classes > 2 and name != "suffice" else 3):
            start = time.perf_counter()
            model = make().fit(X, y)
            taken.append(time.perf_counter() - start)
        found[name] = (min(taken), objective(X, y, model))
        least = min(value for _, value in found.values())
        print(f"{classes} classes, {name:16} {found[name][0]:7.2f} s  +{found[name][1] / least - 1:.1e}", flush=True)


def elastic_net() -> None:
    """Print the time of an elastic net, by the clock and of the processor, and how far coefficients differ."""
    X, y = make_classification(60_000, 200, n_informative=60, flip_y=0.05, random_state=0)
    settings = {"C": 0.01, "l1_ratio": 0.5}
    LogisticRegression(**settings).fit(X[:500], y[:500])  # compiles
    seconds, processor, models = [], [], []
    for make in (LogisticRegression(**settings), Theirs(**settings, solver="saga", tol=1e-8, max_iter=5000)):
        start, used = time.perf_counter(), time.process_time()
        models.append(make.fit(X, y))
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    apart, zeros = np.abs(models[0].coef_ - models[1].coef_).max(), int((models[0].coef_ == 0).sum())
    for name, (ours, theirs) in (("clock", seconds), ("processor", processor)):
        print(f"elastic net, {name}: suffice {ours:.2f} s, saga {theirs:.2f} s, {theirs / ours:.1f} times", flush=True)
    print(f"coefficients differ by {apart:.1e}; {zeros} of 200 are 0", flush=True)


def single_precision() -> None:
    """Print the seconds of fits to the same rows in single and double precision."""
    X, y = make_classification(60_000, 200, n_informative=60, flip_y=0.05, random_state=0)
    taken = {}
    for dtype in (np.float64, np.float32):
        rows = X.astype(dtype)
        taken[np.dtype(dtype).name] = least(lambda rows=rows: LogisticRegression().fit(rows, y), 3)
    print("precision of X: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in taken.items()), flush=True)


def starts(name: str, X: Any, y: Any, generative: dict[str, Any]) -> None:
    """Print the number of Newton steps from 0, from linear discriminants and from generative models."""
    steps = {
        "zero": LogisticRegression(start="zero").fit(X, y).n_iter_.item(),
        "discriminants": LogisticRegression().fit(X, y).n_iter_.item(),
    }
    for start, model in generative.items():
        steps[start] = LogisticRegression.from_generative(model.fit(X, y)).fit(X, y).n_iter_.item()
    print(f"{name}: Newton steps " + ", ".join(f"{count} from {start}" for start, count in steps.items()), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    X, y = load_digits(return_X_y=True)
    starts("digits", X / 16, y, {"MultinomialNB": MultinomialNB()})
    table, labels = read(folder())["adult"]
    levels = table.select_dtypes(exclude="number")
    one_hot = pd.get_dummies(levels).to_numpy(float)
    starts(
        "adult, one-hot", one_hot, labels.to_numpy(), {"BernoulliNB": BernoulliNB(), "MultinomialNB": MultinomialNB()}
    )
    race(2)
    race(10)
    elastic_net()
    single_precision()
