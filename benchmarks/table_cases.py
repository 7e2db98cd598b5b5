"""Tables outside memory: files beside the same queries by hand in DuckDB, and Spark beside MLlib."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import data
import suffice
from cases import Case, at_least, group

NAIVE = {"structure": "naive"}


def query_by_hand(path: Path) -> None:
    """Compute the sums of a naive model with queries of DuckDB: moments of 10 columns and levels of 10 others."""
    import duckdb

    base = duckdb.connect()
    moments = ", ".join(f"count(n{k}), avg(n{k}), var_pop(n{k})" for k in range(10))
    base.execute(f"SELECT y, count(*), {moments} FROM '{path}' GROUP BY y").fetchall()
    counts = (f"SELECT {k}, y, c{k}, count(*) FROM '{path}' GROUP BY y, c{k}" for k in range(10))
    base.execute(" UNION ALL ".join(counts)).fetchall()


@group(
    "files",
    "fit_table on a Parquet file, beside handwritten queries of DuckDB that compute the naive sums, and on CSV.",
)
def files(is_quick: bool) -> Iterator[Case]:
    import duckdb
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        path, rows = Path(folder) / "rows.parquet", 300_000 if is_quick else 3_000_000
        data.write_parquet(rows, path)
        hand = {"DuckDB by hand": partial(query_by_hand, path)}
        read = {"one read by Arrow": lambda: sum(len(batch) for batch in pq.ParquetFile(path).iter_batches())}
        notes = {
            "default": "190 pairs of columns, a covariance matrix and cells of the numbers are counted, and a pool of "
            "models is tuned on a sample of 100,000 rows, for which all row groups are read; the queries count levels "
            "and moments only.",
            "naive": "All row groups are read for a sample of 100,000 rows, which chooses cells, and those that do not "
            "fit into 256 MB once more. Numbers are counted in the cells beside their moments.",
            "naive Gaussian": "All row groups are read for a sample of 100,000 rows, which says what the columns hold, "
            "and those that do not fit into 256 MB once more.",
        }
        gaussian = {**NAIVE, "families": {f"n{k}": "gaussian" for k in range(10)}}
        for name, settings, most in (("default", {}, 2.5), ("naive", NAIVE, 1.5), ("naive Gaussian", gaussian, 1.2)):
            fit, goal = partial(fit_file, path, settings), None if is_quick else at_least(1 / most)
            yield Case(f"Parquet, {rows:,} x 20, {name}", fit, hand, read, notes[name], goal=goal)
        path.unlink()
        path, rows = Path(folder) / "rows.csv", 20_000 if is_quick else 50_000
        data.mixed(rows).select([*(f"n{k}" for k in range(8)), *(f"c{k}" for k in range(6)), "y"]).to_pandas().to_csv(
            path, index=False
        )

        def read_csv(sample: str) -> Any:
            return duckdb.connect().execute(f"SELECT * FROM read_csv('{path}'{sample})").to_arrow_table()

        yield Case(
            f"CSV, {rows:,} x 15, read",
            partial(read_file, path),
            {"DuckDB, types of all rows": partial(read_csv, ", sample_size=-1"), "DuckDB": partial(read_csv, "")},
            note="Types are decided by all rows: in one scan if columns hold plain numbers or words, or else in two.",
        )
        yield Case(
            f"CSV, {rows:,} x 15, naive, fit_table",
            partial(fit_file, path, NAIVE),
            {"DuckDB, read only, types of all rows": partial(read_csv, ", sample_size=-1")},
            note="The rows are read, their types decided, cells chosen, and counted; DuckDB reads them only.",
            goal=None if is_quick else at_least(1 / 1.3),
        )


def read_file(path: Path) -> Any:
    from suffice.data.files.file_scan import scan_files
    from suffice.data.files.table_file import ColumnHints, TableFile

    return scan_files(TableFile(path), ColumnHints()).read_rows()


def fit_file(path: Any, settings: dict[str, Any]) -> Any:
    return suffice.BayesClassifier(**settings).fit_table(path, "y")


@group("spark", "fit_table and predict_table on Spark with two workers, beside MLlib on the same rows.", is_slow=True)
def spark(is_quick: bool) -> Iterator[Case]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import GBTClassifier, NaiveBayes
    from pyspark.ml.feature import StringIndexer, VectorAssembler
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import expr

    with tempfile.TemporaryDirectory() as folder:
        path, rows = Path(folder) / "rows.parquet", 20_000 if is_quick else 1_000_000
        data.write_parquet(rows, path)
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.executor.memory", "1g")
        paths = os.pathsep.join(path for path in sys.path if path)
        builder = builder.config("spark.executorEnv.PYTHONPATH", paths).config("spark.ui.enabled", "false")
        session = builder.config("spark.log.level", "ERROR").getOrCreate()
        try:
            # two classes, because GBT of MLlib takes no more
            table = session.read.parquet(str(path)).withColumn("y", expr("if(y = 'a', 'a', 'other')"))
            table = table.repartition(2).cache()
            numbers, names = [f"n{k}" for k in range(10)], [f"c{k}" for k in range(10)]
            label = StringIndexer(inputCol="y", outputCol="label")
            coded = StringIndexer(inputCols=names, outputCols=[f"{name}i" for name in names])
            assembled = VectorAssembler(inputCols=[*numbers, *coded.getOutputCols()], outputCol="features")
            vectors = VectorAssembler(inputCols=numbers, outputCol="features")
            gaussian = Pipeline(stages=[vectors, label, NaiveBayes(modelType="gaussian")])
            boosted = Pipeline(stages=[coded, assembled, label, GBTClassifier(maxIter=10, maxBins=64)])
            few, peer = table.select(*numbers, "y"), "MLlib GBT of 10 trees"
            count = {"one count": table.count}
            yield Case(
                f"Spark, {rows:,} x 10 numbers, Gaussian naive Bayes, fit",
                lambda: suffice.GaussianNB().fit_table(few, "y"),
                {"MLlib NaiveBayes": lambda: gaussian.fit(few)},
                count,
                is_local=False,
            )
            yield Case(
                f"Spark, {rows:,} x 20, default, fit",
                lambda: suffice.BayesClassifier().fit_table(table, "y"),
                {peer: lambda: boosted.fit(table)},
                count,
                is_local=False,
            )
            ours, theirs = suffice.BayesClassifier().fit_table(table, "y"), boosted.fit(table)
            yield Case(
                f"Spark, {rows:,} x 20, default, predict_table",
                lambda: write_nowhere(ours.predict_table(table)),
                {peer: lambda: write_nowhere(theirs.transform(table))},
                count,
                is_local=False,
            )
        finally:
            session.stop()


def write_nowhere(frame: Any) -> None:
    """Compute all rows of a frame of Spark."""
    frame.write.format("noop").mode("overwrite").save()
