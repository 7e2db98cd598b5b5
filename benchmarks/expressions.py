"""The same sums by the engine, which writes its queries with Ibis, by narwhals, and by SQL of the database's client.

    python benchmarks/expressions.py duckdb|sqlite|postgres|spark [--rows 5e6] [--url postgresql://user@host/base]

The rows are those of `data.py`: moments of 10 columns and levels of 10 others, by class. Each way runs three
queries, in turn with the others, and the least of seven times counts. The second figure is processor time of this
process, in which DuckDB and SQLite run. narwhals reads SQLite and PostgreSQL only through Ibis.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ibis
import narwhals as nw
import numpy as np
import pyarrow.parquet as pq

from data import write_parquet as write
from suffice import BayesClassifier
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import Request
from suffice.data.engines.sql_tally import tally_by_sql

NUMBERS, LEVELS = [f"n{k}" for k in range(10)], [f"c{k}" for k in range(10)]
Answer = tuple[dict[Any, float], dict[Any, list[float]], dict[Any, float]]  # classes, sums, levels
Ways = dict[str, Callable[[], Answer]]


def by_engine(table: Any, sample: Any) -> Callable[[], Answer]:
    """Return the sums by the engine: those of the tally of a naive model."""
    families: Any = dict.fromkeys(NUMBERS, "gaussian")  # otherwise numbers are counted in cells, too
    model = BayesClassifier(structure="naive", families=families).fit_table(sample, "y")
    request = Request("y", None, "error", model.tally_)

    def run() -> Answer:
        tally = tally_by_sql(SqlSource(table), request)
        found = {block.family: (block, its) for block, its in zip(tally.schema.blocks, tally.statistics, strict=True)}
        (_, moments), (block, counts) = found["gaussian"], found["categorical"]
        labels = tally.schema.classes.tolist()
        n = np.broadcast_to(moments.n, moments.mean.shape)
        # the squares about 0, as the others sum them
        sums = np.hstack([n, moments.mean * n, moments.m2 + n * moments.mean**2])
        levels = {}
        for j, (name, coding) in enumerate(zip(block.names, block.codings, strict=True)):
            for code, level in enumerate(coding.labels):
                for line, label in enumerate(labels):
                    levels[name, label, level] = float(counts.total[line, block.starts[j] + code])
        classes = dict(zip(labels, tally.class_count.tolist(), strict=True))
        return classes, dict(zip(labels, sums.tolist(), strict=True)), levels

    return run


def by_narwhals(native: Any) -> Callable[[], Answer]:
    """Return the sums by expressions of narwhals."""

    def run() -> Answer:
        frame = nw.from_native(native)
        classes = frame.group_by("y").agg(nw.len().alias("rows")).collect("pyarrow")
        sums = [nw.col(x).count().alias(f"count_{x}") for x in NUMBERS]
        sums += [nw.col(x).sum().alias(f"sum_{x}") for x in NUMBERS]
        sums += [(nw.col(x) * nw.col(x)).sum().alias(f"squares_{x}") for x in NUMBERS]
        moments = frame.group_by("y").agg(*sums).collect("pyarrow")
        counted = [
            frame.group_by("y", c)
            .agg(nw.len().alias("rows"))
            .select("y", nw.col(c).alias("level"), "rows", nw.lit(c).alias("place"))
            for c in LEVELS
        ]
        levels = nw.concat(counted).collect("pyarrow").select(["place", "y", "level", "rows"])
        return _answer(classes.select(["y", "rows"]).rows(), moments.rows(), levels.rows())

    return run


def by_sql(fetch: Callable[[str], list[Any]], table: str) -> Callable[[], Answer]:
    """Return the sums by SQL, as it may be written without a library; ``fetch`` is that of the database's client."""

    def run() -> Answer:
        classes = fetch(f"SELECT y, count(*) FROM {table} GROUP BY y")
        sums = [f"count({x})" for x in NUMBERS] + [f"sum({x})" for x in NUMBERS] + [f"sum({x} * {x})" for x in NUMBERS]
        moments = fetch(f"SELECT y, {', '.join(sums)} FROM {table} GROUP BY y")
        counted = (f"SELECT '{c}' AS place, y, {c}, count(*) FROM {table} GROUP BY y, {c}" for c in LEVELS)
        return _answer(classes, moments, fetch(" UNION ALL ".join(counted)))

    return run


def _answer(classes: Any, moments: Any, levels: Any) -> Answer:
    return (
        {label: float(rows) for label, rows in classes},
        {label: [float(each) for each in sums] for label, *sums in moments},
        {(place, label, level): float(rows) for place, label, level, rows in levels},
    )


def duckdb(path: Path, said: dict[str, str]) -> Ways:
    import duckdb

    own = duckdb.connect()
    return {
        "engine": by_engine(ibis.duckdb.connect().read_parquet(path), pq.ParquetFile(path).read_row_group(0)),
        "narwhals": by_narwhals(own.read_parquet(str(path))),
        "SQL": by_sql(lambda query: own.execute(query).fetchall(), f"'{path}'"),
    }


def sqlite(path: Path, said: dict[str, str]) -> Ways:
    base = sqlite3.connect(path.with_suffix(".db"))
    names = [*NUMBERS, *LEVELS, "y"]
    kinds = (f"{x} {'REAL' if x in NUMBERS else 'TEXT'}" for x in names)
    base.execute(f"CREATE TABLE r ({', '.join(kinds)})")
    for batch in pq.ParquetFile(path).iter_batches():
        columns = [batch[name].to_pylist() for name in names]
        base.executemany(f"INSERT INTO r VALUES ({', '.join('?' * len(names))})", zip(*columns, strict=True))
    base.commit()
    table = ibis.sqlite.connect(path.with_suffix(".db")).table("r")
    return {
        "engine": by_engine(table, pq.ParquetFile(path).read_row_group(0)),
        "narwhals (Ibis)": by_narwhals(table),
        "SQL": by_sql(lambda query: base.execute(query).fetchall(), "r"),
    }


def postgres(path: Path, said: dict[str, str]) -> Ways:
    import psycopg

    own = psycopg.connect(said["--url"], autocommit=True)
    names = [*NUMBERS, *LEVELS, "y"]
    own.execute("DROP TABLE IF EXISTS suffice_r")
    kinds = (f"{x} {'double precision' if x in NUMBERS else 'text'}" for x in names)
    own.execute(f"CREATE TABLE suffice_r ({', '.join(kinds)})")
    with own.cursor().copy(f"COPY suffice_r ({', '.join(names)}) FROM STDIN") as copy:
        for batch in pq.ParquetFile(path).iter_batches():
            for row in zip(*(batch[name].to_pylist() for name in names), strict=True):
                copy.write_row(row)
    own.execute("VACUUM ANALYZE suffice_r")
    table = ibis.connect(said["--url"]).table("suffice_r")
    return {
        "engine": by_engine(table, pq.ParquetFile(path).read_row_group(0)),
        "narwhals (Ibis)": by_narwhals(table),
        "SQL": by_sql(lambda query: own.execute(query).fetchall(), "suffice_r"),
    }


def spark(path: Path, said: dict[str, str]) -> Ways:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
    session = builder.config("spark.log.level", "ERROR").getOrCreate()
    frame = session.read.parquet(str(path))
    frame.createOrReplaceTempView("r")
    return {
        "engine": by_engine(ibis.pyspark.connect(session).table("r"), pq.ParquetFile(path).read_row_group(0)),
        "narwhals": by_narwhals(frame),
        "SQL": by_sql(lambda query: [tuple(row) for row in session.sql(query).collect()], "r"),
    }


def check(found: dict[str, Answer]) -> None:
    """Raise an error if two ways differ."""
    (classes, sums, levels), *others = found.values()
    for other in others:
        assert other[0] == classes
        assert other[2] == levels
        for label, numbers in sums.items():
            np.testing.assert_allclose(other[1][label], numbers, rtol=1e-9)


def measure(run: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds and the processor seconds of a call."""
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    databases = {"duckdb": duckdb, "sqlite": sqlite, "postgres": postgres, "spark": spark}
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    said = dict(zip(sys.argv[2::2], sys.argv[3::2], strict=False))
    if what not in databases or (what == "postgres" and "--url" not in said):
        sys.exit(__doc__)
    rows = int(float(said.get("--rows", "5e6")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(rows, path)
        ways = databases[what](path, said)
        check({name: run() for name, run in ways.items()})  # all are warm then
        turns = [{name: measure(run) for name, run in ways.items()} for _ in range(7)]
        best = {name: np.min([turn[name] for turn in turns], axis=0) for name in ways}
        wall, processor = best["SQL"]
        figures = ", ".join(
            f"{name} {each[0]:.2f} s ({each[0] / wall:.2f}) and {each[1]:.2f} s ({each[1] / processor:.2f})"
            for name, each in best.items()
        )
        print(f"{what}, {rows:,} rows x 20: {figures}")


if __name__ == "__main__":
    main()
