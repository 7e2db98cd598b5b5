"""Families that are chosen from the sums: naive Bayes with and without log-normal, gamma and exponential columns.

    python benchmarks/families.py FOLDER [TABLE …]

Log-loss and accuracy are pooled over ten stratified folds, which are sums: every table is read once. The default of
`structure="naive"` chooses a Gaussian, bins, or for positive numbers one of these families; "number" leaves them out.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import suffice
from pool import read_tables
from suffice import BayesClassifier

NUMBERS, POSITIVE = ("gaussian", "quantiles", "mdl"), ("log-normal", "gamma", "exponential")


def measure(families: Any, X: pd.DataFrame, y: Any) -> tuple[float, float]:
    """Return the log-loss and the accuracy over ten folds."""
    model = BayesClassifier(structure="naive", families=families)
    folds = StratifiedKFold(10, shuffle=True, random_state=1)
    found = suffice.cross_validate(model, X, y, cv=folds)
    log_proba, classes = found["log_proba"], np.unique(y)
    own = log_proba[np.arange(len(y)), np.searchsorted(classes, y)]
    return -float(np.maximum(own, np.log(1e-15)).mean()), float((classes[log_proba.argmax(axis=1)] == y).mean())


def main() -> None:
    warnings.simplefilter("ignore")
    tables = read_tables(Path(sys.argv[1]), sys.argv[2:])
    print(f"{'':24} {'log-loss':>17} {'':>8} {'accuracy':>15}")
    print(f"{'table':24} {'number':>8} {'default':>8} {'gain':>8} {'number':>8} {'default':>7}  chosen")
    losses, accuracies = [], []
    for name, (X, y) in tables.items():
        kinds = BayesClassifier(structure="naive").fit(X, y).families_
        plain = {column: "number" for column, kind in kinds.items() if kind in (*NUMBERS, *POSITIVE)}
        (loss, accuracy), (new_loss, new_accuracy) = (measure(families, X, y) for families in (plain, "auto"))
        new = {kind: count for kind, count in Counter(kinds.values()).items() if kind in POSITIVE}
        losses.append((loss, new_loss))
        accuracies.append((accuracy, new_accuracy))
        gain = loss - new_loss
        shown = ", ".join(f"{count} {kind}" for kind, count in new.items())
        print(
            f"{name:24} {loss:8.4f} {new_loss:8.4f} {gain:+8.4f} {accuracy:8.4f} {new_accuracy:7.4f}  {shown}",
            flush=True,
        )
    loss, new_loss = np.mean(losses, axis=0)
    accuracy, new_accuracy = np.mean(accuracies, axis=0)
    print(f"{'mean':24} {loss:8.4f} {new_loss:8.4f} {loss - new_loss:+8.4f} {accuracy:8.4f} {new_accuracy:7.4f}")
    worst = min(loss - new_loss for loss, new_loss in losses)
    print(f"worst change of a table: {worst:+.4f} nats")


if __name__ == "__main__":
    main()
