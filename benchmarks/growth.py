"""How time and memory grow with rows, columns, classes, levels and words: `make bench-growth`.

    python benchmarks/growth.py [--only DIMENSION]

Each size is measured in a new process: the processor time of a fit after a small one, and the most memory that the
process held, beyond what it held with its data. The exponent p of time ~ size^p is fitted to the three largest sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import page
from timing import measure_peak, processor_time, read_status

Fit = Callable[[], object]


@dataclass(frozen=True)
class Dimension:
    """A number that grows, with its sizes, a function that makes the data of a size, and the exponent expected."""

    name: str
    sizes: tuple[int, ...]
    make: Callable[[int, Path], Fit]
    about: str
    most: float = 1.0


def fit_rows(size: int, folder: Path) -> Fit:
    return lambda: _classifier("naive").fit_table(_narrow_file(size, folder), "y")


def fit_rows_default(size: int, folder: Path) -> Fit:
    return lambda: _classifier("auto").fit_table(_narrow_file(size, folder), "y")


def _narrow_file(rows: int, folder: Path) -> Path:
    """Write a Parquet file of two numeric columns, one of levels and the class, in pieces; nothing if it exists."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"{rows}.parquet"
    if path.exists():
        return path
    rng, piece = np.random.default_rng(0), 1_000_000
    kinds = pa.schema([("a", pa.float32()), ("b", pa.float32()), ("c", pa.string()), ("y", pa.string())])
    levels, classes = pa.array([f"level {k}" for k in range(20)]), pa.array(["no", "yes"])
    with pq.ParquetWriter(path, kinds) as file:
        for first in range(0, rows, piece):
            count = min(piece, rows - first)
            y = rng.integers(0, 2, count, dtype=np.int8)
            a = rng.standard_normal(count, dtype=np.float32) + y
            c = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 20, count, dtype=np.int8)), levels).cast(
                "string"
            )
            columns = [a, np.round(a, 1), c, pa.DictionaryArray.from_arrays(pa.array(y), classes).cast("string")]
            file.write_table(pa.table(columns, schema=kinds), row_group_size=piece // 8)
    return path


def _classifier(structure: str) -> Any:
    from suffice import BayesClassifier

    return BayesClassifier(structure=structure)


def fit_sparse_columns(size: int, folder: Path) -> Fit:
    import scipy.sparse as sp

    from suffice import MultinomialNB

    rng, filled = np.random.default_rng(0), max(size // 100, 1)
    columns = rng.integers(0, size, 5000 * filled, dtype=np.int32)
    X = sp.csr_matrix((np.ones(len(columns)), columns, np.arange(0, len(columns) + 1, filled)), shape=(5000, size))
    y = rng.integers(0, 5, 5000)
    return lambda: MultinomialNB().fit(X, y)


def fit_dense_columns(size: int, folder: Path) -> Fit:
    import data
    from suffice import GaussianNB

    X, y = data.numbers(20_000, size, 3)
    return lambda: GaussianNB().fit(X, y)


def fit_pairs(size: int, folder: Path) -> Fit:
    from suffice import BayesClassifier

    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (20_000, size)), rng.integers(0, 3, 20_000)
    return lambda: BayesClassifier(structure="averaged", families="categorical").fit(X, y)


def fit_classes(size: int, folder: Path) -> Fit:
    from suffice import GaussianNB

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200_000, 20)), np.arange(200_000) % size
    return lambda: GaussianNB().fit(X, y)


def predict_classes(size: int, folder: Path) -> Fit:
    from suffice import GaussianNB

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 20)), np.arange(20_000) % size
    model = GaussianNB().fit(X, y)
    return lambda: model.predict(X[:2000])


def fit_levels(size: int, folder: Path) -> Fit:
    import pandas as pd

    from suffice import BayesClassifier

    rng = np.random.default_rng(0)
    values = np.array([f"level {k}" for k in range(size)])[
        np.concatenate([np.arange(size), rng.integers(0, size, 400_000)])
    ]
    X, y = pd.DataFrame({"c": values}), rng.integers(0, 3, len(values))
    return lambda: BayesClassifier(structure="naive", families={"c": "categorical"}).fit(X, y)


def fit_words(size: int, folder: Path) -> Fit:
    import data
    from suffice import MultinomialNB

    X, y = data.words(50_000, size, 50, 5)
    return lambda: MultinomialNB().fit(X, y)


def fit_texts(size: int, folder: Path) -> Fit:
    from suffice import BayesClassifier

    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(size)])
    texts = [
        " ".join(words[part]) for part in np.array_split(rng.permutation(np.arange(max(size, 200_000)) % size), 10_000)
    ]
    y = rng.integers(0, 2, len(texts))
    model = BayesClassifier(structure="naive", families={"t": "text"})
    return lambda: model.fit({"t": texts}, y)


DIMENSIONS = {
    each.name: each
    for each in (
        Dimension("rows", (10**4, 10**5, 10**6, 10**7, 10**8), fit_rows, "`fit_table` of a Parquet file, naive"),
        Dimension(
            "rows, default", (10**4, 10**5, 10**6, 10**7, 10**8), fit_rows_default, "`fit_table`, default settings"
        ),
        Dimension("columns, dense", (10, 100, 1000, 4000), fit_dense_columns, "`GaussianNB`, 20,000 rows"),
        Dimension(
            "columns, sparse",
            (10, 100, 1000, 10**4, 10**5),
            fit_sparse_columns,
            "`MultinomialNB`, 5,000 rows, one cell in a hundred is not 0",
        ),
        Dimension(
            "columns, pairs", (10, 20, 40, 80, 160), fit_pairs, "averaged pairs of levels, 20,000 rows", most=2.0
        ),
        Dimension("classes", (2, 10, 100, 1000, 10**4), fit_classes, "`GaussianNB`, 200,000 rows x 20, fit"),
        Dimension("classes, predict", (2, 10, 100, 1000, 10**4), predict_classes, "the same, predict of 2,000 rows"),
        Dimension("levels", (2, 10, 100, 1000, 10**4, 10**5), fit_levels, "one column of strings, 400,000 rows"),
        Dimension("words", (10**3, 10**4, 10**5, 10**6), fit_words, "`MultinomialNB`, 50,000 rows x 50 words"),
        Dimension(
            "words of texts", (10**3, 10**4, 10**5, 10**6), fit_texts, "texts in a column, at least 200,000 words"
        ),
    )
}


def measure_one(name: str, size: int, folder: Path) -> dict[str, float]:
    """Return the seconds and the memory of one size; it runs in a process of its own."""
    warnings.simplefilter("ignore")
    dimension = DIMENSIONS[name]
    dimension.make(dimension.sizes[0], folder)()  # compiles
    if name.startswith("rows"):
        _narrow_file(size, folder)
    fit = dimension.make(size, folder)
    peak, taken = measure_peak(fit), list[float]()
    while not taken or (sum(taken) < 0.5 and len(taken) < 5 and size < 10**8):
        start = processor_time()
        fit()
        taken.append(processor_time() - start)
    return {"size": size, "seconds": min(taken), "mb": peak or 0.0, "process_mb": read_status("VmHWM")}


def exponent(records: list[dict[str, float]], key: str) -> float:
    """Return the slope of log(time) by log(size) over the three largest sizes."""
    last = records[-3:]
    logs = np.log([[record["size"], max(record[key], 1e-9)] for record in last])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def draw(found: dict[str, list[dict[str, float]]]) -> None:
    """Draw seconds by size, each dimension as a line."""
    figure, axes = page.new_figure(9, 4, 2)
    colors = (
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#cc79a7",
        "#e69f00",
        "#56b4e9",
        "#999933",
        "#882255",
        "#44aa99",
        "#aa4499",
    )
    for (name, records), color in zip(found.items(), colors, strict=False):
        sizes = [record["size"] for record in records]
        for place, key in enumerate(("seconds", "mb")):
            axes[place].loglog(
                sizes, [max(record[key], 1e-3) for record in records], "o-", ms=3, color=color, label=name
            )
    axes[0].set(xlabel="size", ylabel="seconds", title="processor time of one fit")
    axes[1].set(xlabel="size", ylabel="MB", title="memory beyond the data", ylim=(1, None))
    axes[0].legend(frameon=False, fontsize=7)
    page.save(figure, "growth")


def write(found: dict[str, list[dict[str, float]]]) -> None:
    """Write the figures into the page, between the marks of the generated part."""
    stored = page.FOLDER / "growth.json"
    known = json.loads(stored.read_text()) if stored.exists() else {}
    found = {name: found.get(name) or known[name] for name in DIMENSIONS if name in found or name in known}
    stored.write_text(json.dumps(found, indent=1) + "\n")
    draw(found)
    lines = [
        "| dimension | what is measured | sizes | seconds | memory, MB | exponent | at most |",
        "|---|---|---|---|---|---:|---:|",
    ]
    for name, records in found.items():
        dimension = DIMENSIONS[name]
        sizes = ", ".join(f"{record['size']:,}" for record in records)
        seconds = ", ".join(f"{record['seconds']:.2g}" for record in records)
        memory = ", ".join(f"{record['mb']:.0f}" for record in records)
        lines.append(
            f"| {name} | {dimension.about} | {sizes} | {seconds} | {memory} | {exponent(records, 'seconds'):.2f} | "
            f"{dimension.most:g} |"
        )
    file = page.FOLDER / "growth.md"
    before, _, rest = file.read_text().partition("<!-- measured -->\n")
    _, _, after = rest.partition("<!-- end -->\n")
    file.write_text(before + "<!-- measured -->\n" + "\n".join(lines) + "\n<!-- end -->\n" + after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="one dimension")
    parser.add_argument("--one", nargs=3, metavar=("DIMENSION", "SIZE", "FOLDER"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure_one(asked.one[0], int(asked.one[1]), Path(asked.one[2]))))
        return
    found: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, dimension in DIMENSIONS.items():
            if asked.only not in ("", name):
                continue
            found[name] = []
            for size in dimension.sizes:
                command = [sys.executable, __file__, "--one", name, str(size), folder]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found[name].append(json.loads(done.stdout.splitlines()[-1]))
                print(name, found[name][-1], flush=True)
            print(f"{name}: exponent {exponent(found[name], 'seconds'):.2f}, at most {dimension.most:g}", flush=True)
    write(found)


if __name__ == "__main__":
    main()
