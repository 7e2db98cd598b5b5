"""How much the plan matters: models that were learned in parts, merged or have forgotten rows, beside a single fit.

Usage: python benchmarks/plans.py ADULT.csv.gz [STRUCTURE]

The structure is "auto" by default, a pool with decision trees; "averaged" has none.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

from suffice import BayesClassifier
from timing import least


def differences(one: BayesClassifier, other: BayesClassifier, X: pd.DataFrame) -> str:
    """Return the mean and the largest difference of the probabilities of two models."""
    apart = np.abs(one.predict_proba(X) - other.predict_proba(X))
    return f"{apart.mean():.6f} / {apart.max():.4f}"


def main(path: str, structure: str = "auto") -> None:
    """Print the differences, and the time of a fit with and without a given plan."""
    warnings.simplefilter("ignore")
    X = pd.read_csv(path, header=None, na_values="?", skipinitialspace=True)
    y = X.pop(X.columns[-1]).to_numpy()
    X.columns = [f"x{place}" for place in range(X.shape[1])]
    whole = BayesClassifier(structure=structure).fit(X, y)
    plan, rows = whole.plan_, np.arange(len(y))
    first = rows < len(y) // 2
    print("differences of probabilities, mean / largest, beside one fit to all rows")
    for title, kept in (("without a shared plan", None), ("under one plan", plan)):
        parts = [BayesClassifier(structure=structure, plan=kept).fit(X[part], y[part]) for part in (first, ~first)]
        print(f"two halves merged, {title:<24}{differences(parts[0] + parts[1], whole, X)}")
        shards = [rows % 10 == part for part in range(10)]
        parts = [BayesClassifier(structure=structure, plan=kept).fit(X[part], y[part]) for part in shards]
        print(f"ten tenths merged, {title:<24}{differences(sum(parts), whole, X)}")
        stream = BayesClassifier(structure=structure, plan=kept)
        for start in range(0, len(y), 1000):
            stream.partial_fit(X[start : start + 1000], y[start : start + 1000])
        print(f"batches of 1,000, {title:<25}{differences(stream, whole, X)}")
        gone = np.random.default_rng(0).random(len(y)) < 0.01
        left = BayesClassifier(structure=structure, plan=kept).fit(X, y).forget(X[gone], y[gone])
        never = BayesClassifier(structure=structure, plan=kept).fit(X[~gone], y[~gone])
        print(f"1 % forgotten, {title:<28}{differences(left, never, X)}")
    fit = least(lambda: BayesClassifier(structure=structure).fit(X, y))
    planned = least(lambda: BayesClassifier(structure=structure, plan=plan).fit(X, y))
    print(f"fit {fit:.2f} s; under a given plan {planned:.2f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
