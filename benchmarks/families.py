"""Families that are chosen from the sums: naive Bayes with and without log-normal, gamma and exponential columns.

    python benchmarks/families.py [folder of data] [table …]

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
from suffice import BayesClassifier

Table = tuple[pd.DataFrame, Any]

NUMBERS, POSITIVE = ("gaussian", "quantiles", "mdl"), ("log-normal", "gamma", "exponential")


def read(folder: Path) -> dict[str, Any]:
    """Return a reader for each table: its columns and its labels."""

    def reader(path: str, target: Any, drop: tuple[str, ...] = (), **how: Any) -> Any:
        def load() -> Table:
            frame = pd.read_csv(folder / path, **how).drop(columns=list(drop))
            label = frame.columns[target] if isinstance(target, int) else target
            y = frame.pop(label).astype(str).to_numpy()
            frame.columns = [str(name) for name in frame.columns]
            return frame, y

        return load

    plain: dict[str, Any] = {"header": None, "na_values": "?", "skipinitialspace": True}
    found = {
        "titanic": reader("tabular/titanic.csv", "survived", ("alive",)),
        "adult": reader("tabular/adult-train.csv.gz", -1, **plain),
        "mushrooms": reader("tabular/mushrooms.csv", 0, na_values="?"),
        "votes": reader("tabular/house-votes-84.data", 0, **plain),
        "car": reader("tabular/car.data", -1, **plain),
        "penguins": reader("tabular/penguins.csv", "species"),
        "spambase": reader("tabular/spambase.data.gz", -1),
        "letter": reader("tabular/letter-recognition.data.gz", 0, **plain),
    }
    suite = sorted((folder / "suite").glob("*.csv.gz"))
    return found | {path.name.removesuffix(".csv.gz"): reader(f"suite/{path.name}", "class") for path in suite}


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
    chosen = sys.argv[2:]
    tables = read(Path(sys.argv[1] if len(sys.argv) > 1 else "data"))
    print(f"{'':24} {'log-loss':>17} {'':>8} {'accuracy':>15}")
    print(f"{'table':24} {'number':>8} {'default':>8} {'gain':>8} {'number':>8} {'default':>7}  chosen")
    losses, accuracies = [], []
    for name, load in tables.items():
        if chosen and name not in chosen:
            continue
        X, y = load()
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
