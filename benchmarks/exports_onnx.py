"""ONNX beside ``predict``: the default model of adult, 100,000 rows, on ONNX Runtime.

    python benchmarks/exports_onnx.py [--data FOLDER] [--rows N] [--batch N]

The runs alternate, so that other work on the machine makes both slower; ratios of medians are printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd

from pool import read_tables
from suffice import BayesClassifier
from timing import least


def read_inputs(session: onnxruntime.InferenceSession, rows: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of a frame as the inputs of a session; an empty string is a missing text."""
    feed = {}
    for each in session.get_inputs():
        column = rows[each.name]
        if each.type == "tensor(string)":
            cells = column.astype(object).where(column.notna(), "").to_numpy(object)
        else:
            cells = column.to_numpy(np.float32 if each.type == "tensor(float)" else np.float64)
        feed[each.name] = cells[:, None]
    return feed


def measure(model: BayesClassifier, rows: pd.DataFrame, dtype: Any, batch: int, times: int = 5) -> None:
    """Print the size of the file, the times of both, and the largest difference of a probability."""
    content = model.to_onnx(dtype).SerializeToString()
    session = onnxruntime.InferenceSession(content)
    feed = read_inputs(session, rows)
    parts = [
        {name: cells[first : first + batch] for name, cells in feed.items()} for first in range(0, len(rows), batch)
    ]
    ours, theirs = [], []
    for _ in range(times):
        ours.append(least(lambda: model.predict(rows), 1))
        theirs.append(least(lambda: [session.run(None, part) for part in parts], 1))
    rounded = rows.assign(**{name: rows[name].astype(dtype) for name in rows.select_dtypes("float")})
    found = np.concatenate([session.run(None, part)[1] for part in parts])
    away = np.abs(found - model.predict_proba(rounded)).max()
    print(
        f"{dtype}: {len(content) / 1e6:.1f} MB; predict {median(ours):.2f} s, ONNX {median(theirs):.2f} s "
        f"({median(theirs) / median(ours):.2f} times); probabilities differ by at most {away:.0e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=100_000)
    given = parser.parse_args()
    X, y = read_tables(given.data, ["adult"])["adult"]
    model = BayesClassifier().fit(X, y)
    rows = X.sample(given.rows, replace=True, random_state=0).reset_index(drop=True)
    model.predict(rows)
    print(f"adult: {given.rows:,} rows in batches of {given.batch:,}, {model.estimate_model().pool}")
    for dtype in ("float32", "float64"):
        measure(model, rows, dtype, given.batch)


if __name__ == "__main__":
    main()
