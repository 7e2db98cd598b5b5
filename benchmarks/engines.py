"""Fitting where the data are: compared with queries of DuckDB and with MLlib, and by the number of rows.

    python benchmarks/engines.py duckdb|spark|growth [--rows 5e6] [--chart docs/growth.svg]

The tables have 10 numeric columns, 10 columns of levels and three classes. They are generated in a temporary folder
(0.1 GB for a million rows). Ratios are relative to a peer in the same run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timing import least

SIZES = (3, 5, 8, 10, 12, 20, 30, 50, 4, 7)
BLOCK = 500_000
NAIVE = {"structure": "naive", "numeric": "gaussian"}


def write(rows: int, path: Path) -> None:
    """Write a table of random rows, a block at a time."""
    rng, file = np.random.default_rng(0), None
    for first in range(0, rows, BLOCK):
        count = min(BLOCK, rows - first)
        y = rng.integers(0, 3, count)
        columns: dict[str, Any] = {f"n{k}": rng.normal(0.3 * y, k + 1) for k in range(10)}
        for k, size in enumerate(SIZES):
            codes = pa.array(((rng.random(count) ** (1 + 0.2 * y)) * size).astype(np.int32))
            columns[f"c{k}"] = pa.DictionaryArray.from_arrays(codes, [f"level {j}" for j in range(size)]).cast("string")
        columns["y"] = pa.DictionaryArray.from_arrays(pa.array(y.astype(np.int32)), ["a", "b", "c"]).cast("string")
        table = pa.table(columns)
        file = file or pq.ParquetWriter(path, table.schema)
        file.write_table(table, row_group_size=BLOCK // 4)
    assert file is not None
    file.close()


def by_hand(path: Path) -> None:
    """Compute the same sums with queries of DuckDB that are written by hand."""
    import duckdb

    base = duckdb.connect()
    moments = ", ".join(f"count(n{k}), avg(n{k}), var_pop(n{k})" for k in range(10))
    base.execute(f"SELECT y, count(*), {moments} FROM '{path}' GROUP BY y").fetchall()
    counts = (f"SELECT {k}, y, c{k}, count(*) FROM '{path}' GROUP BY y, c{k}" for k in range(10))
    base.execute(" UNION ALL ".join(counts)).fetchall()


def duckdb(rows: int, folder: Path) -> None:
    from suffice import BayesClassifier

    path = folder / "rows.parquet"
    write(rows, path)
    hand = least(lambda: by_hand(path), 3)
    ours = least(lambda: BayesClassifier(**NAIVE).fit_table(path, "y"), 3)
    whole = least(lambda: BayesClassifier().fit_table(path, "y"), 1)
    peak = measured(path)["peak"]
    print(
        f"{rows:,} rows x 20 of Parquet: {ours:.2f} s, DuckDB by hand {hand:.2f} s, {ours / hand:.2f} of it; "
        f"averaged, with cuts and 190 pairs, {whole:.2f} s; peak of a fresh process {peak:.0f} MB"
    )


def measured(path: Path) -> dict[str, float]:
    """Return the seconds and the peak memory of a fit in a new process."""
    script = f"""
import json, resource, sys, time
from suffice import BayesClassifier
import duckdb, ibis
start = time.perf_counter()
BayesClassifier(**{NAIVE!r}).fit_table(sys.argv[1], "y")
taken = time.perf_counter() - start
print(json.dumps({{"seconds": taken, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}}))
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def spark(rows: int, folder: Path) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import StringIndexer, VectorAssembler
    from pyspark.sql import SparkSession

    from suffice import BayesClassifier

    path = folder / "rows.parquet"
    write(rows, path)
    session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    session = session.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
    names = [f"n{k}" for k in range(10)]
    table = session.read.parquet(str(path))
    numbers = table.select([*names, "y"])

    def theirs() -> None:
        coded = StringIndexer(inputCol="y", outputCol="label").fit(numbers).transform(numbers)
        NaiveBayes(modelType="gaussian").fit(VectorAssembler(inputCols=names, outputCol="features").transform(coded))

    def fitted() -> None:
        NaiveBayes(modelType="gaussian").fit(ready)

    # in favour of the peer: labels are coded and vectors assembled before the time is taken
    coded = StringIndexer(inputCol="y", outputCol="label").fit(numbers).transform(numbers)
    ready = VectorAssembler(inputCols=names, outputCol="features").transform(coded).select("features", "label")
    for function in (lambda: BayesClassifier(**NAIVE).fit_table(numbers, "y"), theirs):
        function()  # both warm
    ours = least(lambda: BayesClassifier(**NAIVE).fit_table(numbers, "y"), 3)
    peer, alone = least(theirs, 3), least(fitted, 3)
    mixed = least(lambda: BayesClassifier(**NAIVE).fit_table(table, "y"), 2)
    print(
        f"Spark local[2], {rows:,} rows: Gaussian {ours:.1f} s; MLlib {alone:.1f} s from vectors, {peer:.1f} s with "
        f"labels to code; 20 mixed columns {mixed:.1f} s"
    )
    session.stop()


def growth(folder: Path, chart: str | None) -> None:
    found = []
    for millions in (0.1, 1, 10, 50):
        path = folder / "rows.parquet"
        write(int(millions * 1e6), path)
        its = min((measured(path) for _ in range(2)), key=lambda each: each["seconds"])
        found.append((millions, its["seconds"], its["peak"], path.stat().st_size / 1e6))
        said = f"{its['seconds']:.2f} s, {its['peak']:.0f} MB at most; the file has {found[-1][3]:.0f} MB"
        print(f"{millions:g} million rows: {said}", flush=True)
        path.unlink()
    if chart:
        drawn(found, chart)


def drawn(found: list[tuple[float, float, float, float]], chart: str) -> None:
    """Draw seconds and memory by the number of rows."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "suffice"
    from matplotlib import pyplot

    rows, seconds, peaks, sizes = map(list, zip(*found, strict=True))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    left.loglog(rows, seconds, "o-", color="#0072b2")
    through = seconds[-1] / rows[-1]
    left.loglog(rows, [through * each for each in rows], ":", color="0.6", label="in proportion to the rows")
    left.set(xlabel="million rows of 20 columns", ylabel="seconds", title="one scan")
    left.legend(frameon=False)
    right.loglog(rows, sizes, "s:", color="0.6", label="the file")
    right.loglog(rows, peaks, "o-", color="#d55e00", label="the process, at most")
    right.set(xlabel="million rows of 20 columns", ylabel="MB", title="memory")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    figure.savefig(chart, metadata={"Date": None})


def main() -> None:
    what = sys.argv[1:] and sys.argv[1]
    said = dict(zip(sys.argv[2::2], sys.argv[3::2], strict=False))
    rows = int(float(said.get("--rows", "5e6")))
    with tempfile.TemporaryDirectory() as folder:
        if what == "duckdb":
            duckdb(rows, Path(folder))
        elif what == "spark":
            spark(rows, Path(folder))
        elif what == "growth":
            growth(Path(folder), said.get("--chart"))
        else:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
