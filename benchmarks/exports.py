"""How long databases take to score rows by the SQL of the default model, in multiples of the time of `predict`.

Needs DuckDB and PostgreSQL's server. Each database scores 100,000 different rows of a table of census data, several
times: the first call and the fastest one are compared with the fastest call of `predict`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import postgres
from conftest import data
from suffice import BayesClassifier
from suffice.export.sql_script import Script, write_script

ROWS = 100_000
ROUNDS = 3


def main() -> None:
    """Print the size of the SQL, and the time of each database."""
    table = pd.read_csv(data("tabular/adult-train.csv.gz"), header=None, skipinitialspace=True)
    table.columns = [f"column {place}" for place in table.columns]
    y = table.pop(table.columns[-1])
    model = BayesClassifier().fit(table, y)
    rows = pd.concat([table] * (ROWS // len(table) + 1), ignore_index=True)[:ROWS]
    rows["column 2"] += rows.index  # a column of large numbers, so that no two rows are equal
    model.predict(rows)  # compiles kernels
    near = min(measure(lambda: model.predict(rows)))
    print(f"predict: {near:.2f} s for {ROWS:,} rows")
    classes = model.classes_.tolist()
    for dialect, run in (("duckdb", run_duckdb), ("postgres", run_postgres)):
        script = write_script(model.estimate_model(), classes, dialect, "rows", None, None, "model")
        length = sum(len(statement) for statement in script.statements())
        print(f"{dialect}: {len(script.query.splitlines())} lines of query, {length / 1e6:.1f} MB in all")
        seconds = run(script, rows)
        print(f"{dialect}: {min(seconds):.1f} s, {min(seconds) / near:.0f} times predict", end="; ")
        print(f"in the first call {seconds[0]:.1f} s, {seconds[0] / near:.0f} times")


def measure(call: Callable[[], Any]) -> list[float]:
    """Return the seconds that each of several calls takes."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


def run_duckdb(script: Script, rows: pd.DataFrame) -> list[float]:
    """Return the seconds that DuckDB takes for all rows of the view, in each call."""
    import duckdb

    with duckdb.connect() as base:
        base.register("given", rows)
        base.execute('CREATE TABLE "rows" AS SELECT * FROM given')
        for statement in script.statements():
            base.execute(statement)
        return measure(lambda: base.execute("SELECT prediction, count(*) FROM model GROUP BY 1").fetchall())


def run_postgres(script: Script, rows: pd.DataFrame) -> list[float]:
    """Return the seconds that PostgreSQL takes for all rows of the view, in each call."""
    import psycopg

    kinds = ["BIGINT" if pd.api.types.is_numeric_dtype(rows[name]) else "TEXT" for name in rows]
    with postgres.start() as url, psycopg.connect(url, autocommit=True) as base, base.cursor() as cursor:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(rows, kinds, strict=True))
        cursor.execute(f'CREATE TABLE "rows" ({columns})')
        with cursor.copy('COPY "rows" FROM STDIN') as copy:
            for row in rows.itertuples(index=False):
                copy.write_row(row)
        cursor.execute("ANALYZE")
        for statement in script.statements():
            cursor.execute(statement)
        return measure(lambda: cursor.execute("SELECT prediction, count(*) FROM model GROUP BY 1").fetchall())


if __name__ == "__main__":
    main()
