"""The pseudo-count with the largest evidence, compared with the best of a grid by cross-validation.

    python benchmarks/auto_prior.py

For each table: the ten-fold log-loss of the best of 20 pseudo-counts, and of ``prior="auto"`` and
``prior="auto-by-column"``, which are chosen in each fold from the tally alone; and their times.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import OrdinalEncoder

from suffice import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, PoissonNB

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "tabular"
GRID = np.geomspace(1e-3, 100, 20)
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def loss(model: Any, X: Any, y: Any) -> float:
    probabilities = cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba")
    return float(log_loss(y, np.clip(probabilities, 1e-300, 1)))


def cases() -> list[tuple[str, Any, Any, Any]]:
    X, y = load_digits(return_X_y=True)
    found = [
        ("digits, bernoulli", BernoulliNB(binarize=7.5), X, y),
        ("digits, multinomial", MultinomialNB(), X, y),
        ("digits, poisson", PoissonNB(), X, y),
        ("digits, gaussian, mean", GaussianNB(estimate="mean"), X, y),
        ("digits, gaussian, predictive", GaussianNB(estimate="predictive"), X, y),
        ("breast cancer, gaussian, mean", GaussianNB(estimate="mean"), *load_breast_cancer(return_X_y=True)),
    ]
    if (DATA / "mushrooms.csv").exists():
        table = pd.read_csv(DATA / "mushrooms.csv")
        codes = OrdinalEncoder().fit_transform(table.iloc[:, 1:]).astype(np.int64)
        found.append(("mushrooms, categorical", CategoricalNB(), codes, table.iloc[:, 0].to_numpy()))
    return found


def main() -> None:
    print(f"{'':32}{'best of 20':>20}{'auto':>20}{'by column':>12}{'time, of grid':>15}")
    for name, model, X, y in cases():
        model.fit(X, y).predict_proba(X)
        start = time.perf_counter()
        losses = [loss(model.set_params(prior=float(c)), X, y) for c in GRID]
        grid = time.perf_counter() - start
        best = int(np.argmin(losses))
        start = time.perf_counter()
        model.set_params(prior="auto").fit(X, y)
        chosen = model.prior_
        auto = time.perf_counter() - start
        by_column = loss(model.set_params(prior="auto-by-column"), X, y) if "multinomial" not in name else np.nan
        print(
            f"{name:32}{losses[best]:9.4f} at {GRID[best]:7.3g}{loss(model.set_params(prior='auto'), X, y):9.4f}"
            f" at {chosen:7.3g}{by_column:12.4f}{auto / grid:15.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
