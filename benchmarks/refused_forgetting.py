"""How often `forget` refuses ordinary rows because too few digits of a variance would be left.

python benchmarks/refused_forgetting.py
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

import suffice
from suffice.statistics.cancellation import LostDigitsError

MODELS = (
    suffice.GaussianNB(),
    suffice.BayesClassifier(structure="naive"),
    suffice.BayesClassifier(structure="naive", numeric="gaussian"),
    suffice.BayesClassifier(structure="averaged"),
    suffice.GaussianDiscriminant(),
)


def draw_column(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Return numbers of a scale from 1 to 1e6: Gaussian, near zero or not, or log-normal."""
    if rng.random() < 0.6:
        x = rng.normal(size=rows) * 10.0 ** rng.uniform(0, 6)
        return x + rng.choice([0, 1]) * 10.0 ** rng.uniform(0, 6)
    return np.exp(rng.normal(size=rows) * rng.uniform(0.5, 2)) * 10.0 ** rng.uniform(0, 4)


def main(tables: int = 1000) -> None:
    """Print the number of tables and of refusals by the number of rows that are left."""
    rng, found, refused = np.random.default_rng(0), Counter[str](), Counter[str]()
    for place in range(tables):
        rows, columns = int(rng.integers(4, 200)), int(rng.integers(1, 5))
        y = rng.integers(0, rng.integers(1, 4), rows)
        X = pd.DataFrame({f"x{j}": draw_column(rng, rows) for j in range(columns)})
        cut = int(rng.integers(1, rows))
        smallest = np.unique(y[cut:], return_counts=True)[1].min()
        kind = "one row" if rows - cut == 1 else "one row of a class" if smallest == 1 else "more"
        kind += ", ten or more in all" if rows - cut >= 10 else ""
        found[kind] += 1
        model = MODELS[place % len(MODELS)].fit(X, y)
        try:
            model.forget(X[:cut], y[:cut])
        except LostDigitsError:
            refused[kind] += 1
    print("rows left, tables, refused:")
    for kind, number in found.items():
        print(f"  {kind}: {number}, {refused[kind]}")


if __name__ == "__main__":
    main()
