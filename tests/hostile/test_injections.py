"""Injections: names of columns, levels, classes and tables that try to leave their quotes, in SQL and in the report.

Each is run where it would do harm: on DuckDB, SQLite and PostgreSQL the query has to return the probabilities of the
model and leave another table as it was; on the page, no element and no script may be added.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from html.parser import HTMLParser
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import postgres
from suffice import BayesClassifier, report
from suffice.export.sql_script import write_script

PAYLOADS = [
    "'; DROP TABLE canary; --",
    "'); DROP TABLE canary; --",
    "\\'; DROP TABLE canary; --",
    '"; DROP TABLE canary; --',
    '""; DROP TABLE canary; --',
    "`; DROP TABLE canary; --",
    "]; DROP TABLE canary; --",
    "$$; DROP TABLE canary; $$",
    "$1 ? :x %s %(x)s {x}",
    "' OR '1'='1",
    "' UNION SELECT * FROM canary --",
    "/* */ -- #",
    "a\nb; DROP TABLE canary",
    "a\x00b",
    "\u2019\u02bc\uff07; DROP TABLE canary; --",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    "<!--<script>",
    "]]><svg onload=alert(1)>",
    "&lt;script&gt; &#60;",
    "javascript:alert(1)",
    "\u2028alert(1)\u2029",
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe",
    "${alert(1)} `${alert(1)}`",
]
PLACES = ["column", "level", "class", "table"]


def mixtures(count: int) -> list[str]:
    """Return random mixtures of parts of the payloads."""
    rng = np.random.default_rng(0)
    parts = [payload[first : first + 6] for payload in PAYLOADS for first in range(0, len(payload), 3)]
    return ["".join(rng.choice(parts, rng.integers(2, 6))) for _ in range(count * len(PAYLOADS))]


def learned(place: str, payload: str) -> tuple[Any, pd.DataFrame, str]:
    """Return a model with a hostile name in one place, its rows, and the name of their table."""
    column = payload if place == "column" else "colour"
    level = payload if place == "level" else "red"
    label = payload if place == "class" else "yes"
    colours, sizes = [level, "blue", "blue", level, "green", level], [1.0, 2.0, 3.0, 1.5, 2.5, 0.5]
    frame = pd.DataFrame({column: colours, "size": sizes})
    y = [label, "no", "no", label, "no", label]
    families = {column: "categorical", "size": "gaussian"}
    model = BayesClassifier(families=families, structure="naive").fit(frame, y)
    return model, frame, payload.replace(".", "_") if place == "table" else "rows"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def check_query(dialect: str, execute: Callable[[str, Any], list[Any]], place: str, payload: str) -> None:
    """Check that a query returns the probabilities of the model, and that another table is left as it was."""
    model, frame, table = learned(place, payload)
    mark = "%s" if dialect == "postgres" else "?"
    text = "TEXT" if dialect != "duckdb" else "VARCHAR"
    execute(f"CREATE TEMPORARY TABLE {quoted(table)} ({quoted(frame.columns[0])} {text}, size DOUBLE PRECISION)", None)
    target = quoted(table).replace("%", "%%") if dialect == "postgres" else quoted(table)
    for row in frame.itertuples(index=False):
        execute(f"INSERT INTO {target} VALUES ({mark}, {mark})", list(row))
    found = execute(model.to_sql(dialect, table=table), None)
    proba = np.array([line[-2:] for line in found], float)
    np.testing.assert_allclose(proba, model.predict_proba(frame), atol=1e-6)
    assert [line[2] for line in found] == model.predict(frame).tolist()
    check_script(dialect, execute, model, frame, table)
    assert execute("SELECT name FROM canary", None) == [("alive",)]
    execute(f"DROP TABLE {quoted(table)}", None)


def check_script(dialect: str, execute: Callable[[str, Any], list[Any]], model: Any, frame: Any, table: str) -> None:
    """Check the same of a script, whose tables and view are named after the table."""
    prefix = f"m{table}"[:40]
    script = write_script(
        model.estimate_model(), model.classes_.tolist(), dialect, (table,), None, None, (prefix,), True
    )
    *statements, query = script.statements(view=False)
    for statement in statements:
        execute(statement, None)
    found = {(line[0], line[1]): line[-2:] for line in execute(query, None)}
    keys = list(zip(*(frame[name].tolist() for name in frame), strict=True))
    np.testing.assert_allclose(np.array([found[key] for key in keys], float), model.predict_proba(frame), atol=1e-6)


@contextmanager
def connected(dialect: str) -> Iterator[Callable[[str, Any], list[Any]]]:
    """Yield a function that executes a statement on a database that has a table `canary`."""
    if dialect == "postgres":
        import psycopg

        with postgres.start() as url, psycopg.connect(url, autocommit=True) as base:

            def run(sql: str, values: Any) -> list[Any]:
                done = base.execute(sql, values)  # type: ignore[call-overload]
                return done.fetchall() if done.description else []

            run("CREATE TABLE canary (name TEXT)", None)
            run("INSERT INTO canary VALUES (%s)", ["alive"])
            yield run
        return
    with closing(sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()) as base:

        def execute(sql: str, values: Any) -> list[Any]:
            return list(base.execute(sql, *([] if values is None else [values])).fetchall())

        execute("CREATE TABLE canary (name VARCHAR)", None)
        execute("INSERT INTO canary VALUES (?)", ["alive"])
        yield execute


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
def test_no_name_leaves_its_quotes(dialect: str, case_count: Any, tell: Any) -> None:
    payloads = PAYLOADS + mixtures(case_count(0, 4, 12))
    count = 0
    with connected(dialect) as execute:
        for payload in payloads:
            for place in PLACES:
                if "\x00" in payload:
                    continue  # no database has it in a name or a text
                if dialect == "postgres" and place in ("column", "table") and len(payload.encode()) > 63:
                    continue  # PostgreSQL cuts longer names
                check_query(dialect, execute, place, payload)
                count += 1
    tell(f"{count:,} injections into {dialect}")


class Elements(HTMLParser):
    """The elements and attributes of a page, and the texts of its scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def elements(page: str) -> list[tuple[str, tuple[str, ...]]]:
    parser = Elements()
    parser.feed(page)
    parser.close()
    return parser.found


def test_no_name_adds_an_element_to_the_report(case_count: Any, tell: Any) -> None:
    payloads = PAYLOADS + mixtures(case_count(0, 4, 12))
    plain = elements(report.render(learned("column", "plain")[0]))
    assert [tag for tag, _ in plain].count("script") >= 2
    count = 0
    for payload in payloads:
        for place in PLACES[:3]:
            page = report.render(learned(place, payload)[0])
            assert elements(page) == plain, (place, payload)
            count += 1
    tell(f"{count:,} injections into the report")
