"""The default of BayesClassifier, a pool of averaged, Gaussian and tree models, beside scikit-learn's classifiers.

    python benchmarks/pool.py quality [--data FOLDER] [TABLE …]   ten-fold accuracy and log-loss, on the same folds
    python benchmarks/pool.py time    [--data FOLDER] [TABLE …]   fit and predict, beside HistGradientBoosting
    python benchmarks/pool.py honest  [--data FOLDER] [TABLE …]   cross-validated log-loss of 70 % of the rows, beside
                                                                  the log-loss of the other 30 %

The tables are those of FOLDER/tabular and FOLDER/suite. scikit-learn's classifiers get one-hot or ordinal levels, and
missing numbers filled in and marked.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from suffice import BayesClassifier, cross_validate
from tables import read

Make = Callable[[], Any]

# So many times fit and predict are timed; the first run also compiles the kernels.
RUNS = 4


def read_tables(folder: Path, names: list[str]) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Return the columns and the labels of each table."""
    found = {name: (X.replace("?", None), y.astype(str).to_numpy()) for name, (X, y) in read(folder).items()}
    found.pop("sms")
    for path in sorted((folder / "suite").glob("*.csv.gz")):
        table = pd.read_csv(path)
        y = table.pop("class").astype(str).to_numpy()
        found[path.name.removesuffix(".csv.gz")] = table, y
    return {name: found[name] for name in names or found}


def peers() -> dict[str, Make]:
    """Return scikit-learn's classifiers with the usual encoders."""
    numbers, words = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")

    def one_hot(*steps: Any) -> Any:
        return make_column_transformer(
            (make_pipeline(SimpleImputer(add_indicator=True), *steps), numbers),
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        )

    def ordinal() -> Any:
        coded = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        return make_column_transformer(("passthrough", numbers), (coded, words))

    return {
        "random forest": lambda: make_pipeline(one_hot(), RandomForestClassifier(300, random_state=0, n_jobs=2)),
        "boosting": lambda: make_pipeline(ordinal(), HistGradientBoostingClassifier(random_state=0)),
        "logistic": lambda: make_pipeline(one_hot(StandardScaler()), LogisticRegression(max_iter=2000)),
    }


def losses(model: Any, X: pd.DataFrame, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row whether its class is the most probable one, and −log P(class)."""
    p = model.predict_proba(X)
    place = {label: position for position, label in enumerate(model.classes_.tolist())}
    own = np.array([p[row, place[label]] if label in place else 0.0 for row, label in enumerate(y)])
    return model.classes_[p.argmax(axis=1)] == y, -np.log(np.clip(own, 1e-15, 1))


def ten_fold(make: Make, X: pd.DataFrame, y: np.ndarray) -> tuple[float, float]:
    """Return the accuracy and the log-loss of all held-out rows."""
    right, loss = np.zeros(len(y)), np.zeros(len(y))
    for train, test in StratifiedKFold(10, shuffle=True, random_state=1).split(X, y):
        right[test], loss[test] = losses(make().fit(X.iloc[train], y[train]), X.iloc[test], y[test])
    return float(right.mean()), float(loss.mean())


def measure_quality(folder: Path, names: list[str]) -> None:
    """Print accuracy / log-loss of each table, their means, and the means of two random halves of the tables."""
    systems: dict[str, Make] = {"suffice": BayesClassifier, **peers()}
    print(f"{'':24}" + "".join(f"{system:>18}" for system in systems))
    found = []
    for name, (X, y) in read_tables(folder, names).items():
        found.append([ten_fold(make, X, y) for make in systems.values()])
        print(f"{name:24}" + "".join(f"{a:>9.4f} / {b:.4f}" for a, b in found[-1]), flush=True)
    order = np.random.default_rng(0).permutation(len(found))
    parts = {"mean": order, "one half": order[::2], "other half": order[1::2]}
    for title, part in parts.items() if len(found) > 1 else ():
        mean = np.mean([found[place] for place in part], axis=0)
        print(f"{title:24}" + "".join(f"{a:>9.4f} / {b:.4f}" for a, b in mean))


def million() -> tuple[pd.DataFrame, np.ndarray]:
    """Return a million rows of 20 numbers."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1_000_000)
    X = rng.normal(size=(len(y), 20)) + 0.3 * y[:, None] * rng.normal(size=20)
    return pd.DataFrame(X, columns=[f"x{place}" for place in range(20)]), y.astype(str)


def measure_time(folder: Path, names: list[str]) -> None:
    """Print the seconds of fit and predict, and their ratios to HistGradientBoosting's: the best of runs in turn."""
    tables = read_tables(folder, names or ["adult", "letter", "spambase"])
    for name, (X, y) in tables.items() if names else [*tables.items(), ("1 million x 20", million())]:
        taken: list[list[tuple[float, float]]] = [[], []]
        for _ in range(RUNS):
            for place, make in enumerate((BayesClassifier, peers()["boosting"])):
                started = time.perf_counter()
                model = make().fit(X, y)
                fitted = time.perf_counter()
                model.predict_proba(X)
                taken[place].append((fitted - started, time.perf_counter() - fitted))
        (fit, predict), (its_fit, its_predict) = (np.min(runs, axis=0) for runs in taken)
        print(
            f"{name:16} fit {fit:6.2f} s, predict {predict:5.2f} s; boosting {its_fit:6.2f} s, {its_predict:5.2f} s; "
            f"ratios: both {(fit + predict) / (its_fit + its_predict):.2f}, predict {predict / its_predict:.2f}",
            flush=True,
        )


def measure_honesty(folder: Path, names: list[str]) -> None:
    """Print whether the cross-validated log-loss of 70 % of the rows agrees with the log-loss of the others.

    The interval is that of the difference of both means, at 95 %.
    """
    inside = []
    for name, (X, y) in read_tables(folder, names).items():
        X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        found = cross_validate(BayesClassifier(), X_fit, y_fit, cv=StratifiedKFold(10, shuffle=True, random_state=0))
        codes = np.searchsorted(found["classes"], y_fit)
        expected = -np.maximum(found["log_proba"][np.arange(len(y_fit)), codes], np.log(1e-15))
        _, loss = losses(BayesClassifier().fit(X_fit, y_fit), X_test, y_test)
        error = 1.96 * np.sqrt(expected.var() / len(expected) + loss.var() / len(loss))
        inside.append(abs(loss.mean() - expected.mean()) <= error)
        print(
            f"{name:24} cross-validated {expected.mean():.4f}, other rows {loss.mean():.4f}, "
            f"difference {loss.mean() - expected.mean():+.4f} ± {error:.4f}{'' if inside[-1] else '  outside'}",
            flush=True,
        )
    print(f"{sum(inside)} of {len(inside)} within the interval")


def main() -> None:
    warnings.simplefilter("ignore")
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measures = {"quality": measure_quality, "time": measure_time, "honest": measure_honesty}
    parser.add_argument("measure", choices=measures)
    parser.add_argument("tables", nargs="*", help="names of tables; all by default")
    parser.add_argument("--data", type=Path, default=beside, help="the folder that has tabular/ and suite/")
    arguments = parser.parse_args()
    measures[arguments.measure](arguments.data, arguments.tables)


if __name__ == "__main__":
    main()
