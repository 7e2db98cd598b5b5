"""One SELECT gives the probabilities of the model on four databases, for every kind of cell and name."""

from __future__ import annotations

import copy
import doctest
import gzip
import io
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sqlglot
from sklearn.datasets import load_digits
from sqlglot import exp

import postgres
import suffice
from conftest import data
from half_normal import HalfNormal
from suffice import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    LogisticRegression,
    MixtureClassifier,
    MultinomialNB,
    PoissonNB,
    Tree,
)
from suffice.blocks import Block, Coded, Dense, Gappy
from suffice.export import DIALECTS, ExportError, sql_expressions, sql_tree, to_sql
from suffice.export.sql_columnwise import log_rising as write_log_rising
from suffice.export.sql_query import TRANSLATORS, UNSUPPORTED
from suffice.families import FAMILIES
from suffice.families.family import Parameters
from suffice.model import Model
from suffice.schema import Array, Columns
from suffice.score import (
    Linear,
    LogFactorial,
    LogGamma,
    LogGammaOfTotal,
    LogQuadratic,
    LookUp,
    PairLookUp,
    Quadratic,
    Score,
    Term,
    as_doubles,
    log_rising,
)
from suffice.score.term import ColumnwiseTerm

RUN = ("duckdb", "sqlite", "postgres")
WITH_SPARK = [*RUN, pytest.param("spark", marks=pytest.mark.server)]
ROWS = 1000
NASTY = [
    "${spark.app.name}",
    "it's \\' ; DROP TABLE x; --",
    "\\",
    "\n",
    '"',
    "`",
    "",
    " ",
    "NULL",
    "ä😀",
    "a\\nb",
    "\\'",
    "''",
    "%s :x ? $1",
    "{}",
]
RunQuery = Callable[[str, str, pd.DataFrame], pd.DataFrame]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgres.start() as url:
        yield url


@pytest.fixture
def run_query(request: pytest.FixtureRequest) -> RunQuery:
    """Return a function that runs a query on a frame as the table `rows`; NaN stays NaN if the database has it."""

    def run(dialect: str, sql: str, frame: pd.DataFrame) -> pd.DataFrame:
        if dialect == "duckdb":
            with duckdb.connect() as base:
                base.register("rows", pa.table({name: arrow(frame[name]) for name in frame}))
                done = base.execute(sql)
                return pd.DataFrame(done.fetchall(), columns=[column[0] for column in done.description])
        if dialect == "spark":
            session = request.getfixturevalue("spark")
            table = pa.table({name: arrow(frame[name]) for name in frame})
            session.createDataFrame(table).createOrReplaceTempView("rows")
            return session.sql(sql).toArrow().to_pandas()
        names = ", ".join('"{}" {}'.format(name.replace('"', '""'), kind(frame[name])) for name in frame)
        rows = list(zip(*(cells(frame[name]) for name in frame), strict=True))
        if dialect == "sqlite":
            base = sqlite3.connect(":memory:")
            base.execute(f"CREATE TABLE rows ({names})")
            base.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * frame.shape[1])})", rows)
            done = base.execute(sql)
            return pd.DataFrame(done.fetchall(), columns=[column[0] for column in done.description])
        import psycopg

        with psycopg.connect(request.getfixturevalue("server")) as base:
            # "rows" is a keyword, so the query works only if the name of the table is quoted
            base.execute(f'CREATE TEMPORARY TABLE "rows" ({names})')
            with base.cursor() as cursor:
                with cursor.copy('COPY "rows" FROM STDIN') as copy:
                    for row in rows:
                        copy.write_row(row)
                done = cursor.execute(sql)
                return pd.DataFrame(done.fetchall(), columns=[column.name for column in done.description or ()])

    return run


def cells(column: pd.Series) -> list[Any]:
    return [None if cell is None or cell is pd.NA else cell for cell in column.tolist()]


def arrow(column: pd.Series) -> pa.Array:
    kinds = {"TEXT": pa.string(), "BOOLEAN": pa.bool_(), "DOUBLE PRECISION": pa.float64(), "BIGINT": pa.int64()}
    return pa.array(cells(column), kinds[kind(column)], from_pandas=False)


def kind(column: pd.Series) -> str:
    present = [cell for cell in cells(column) if cell is not None]
    if any(isinstance(cell, str) for cell in present):
        return "TEXT"
    if present and all(isinstance(cell, bool) for cell in present):
        return "BOOLEAN"
    return "BIGINT" if all(isinstance(cell, int) for cell in present) else "DOUBLE PRECISION"


def mixed(rows: int, seed: int, new: bool = False) -> tuple[pd.DataFrame, Any]:
    """Return levels of all kinds, bins, numbers and missing cells; with ``new`` also unseen levels and NaN."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    towns = np.array(["Rome", "O'slo", "K\\yiv", *(["Ur", ""] if new else [])])
    table = pd.DataFrame(
        {
            "town": towns[(y + rng.integers(0, len(towns), rows) * (rng.random(rows) < 0.5)) % len(towns)],
            "kids": rng.poisson(1 + y) + (5 if new else 0) * (rng.random(rows) < 0.1),
            "size": np.array([0.5, 1.25, 2.0, 9.5])[rng.integers(0, 3 + new, rows)],
            "flag": rng.random(rows) < 0.2 + 0.3 * y,
            "age": rng.normal(30 + 8 * y, 10),
            "wage": rng.normal(1e9 + y, 1.0),
            "tall": rng.normal(170 + 4 * y, 9),
            "left": rng.choice(["l", "r"], rows),
        }
    ).astype(object)
    for name in table:
        table[name] = table[name].where(rng.random(rows) > 0.1, None)
    table.loc[0] = None
    if new:
        table["age"] = table["age"].where(rng.random(rows) > 0.05, float("nan"))
    return table, np.array(["no", "it's", "yes"])[y]


COLUMN_FAMILIES = {"kids": "categorical", "size": "categorical", "age": "gaussian", "wage": "gaussian", "tall": "mdl"}
ARRAYS = {
    "reals": lambda rng, y: rng.normal(size=(len(y), 4)) * [1, 2, 3, 1] + y[:, None] + [0, 0, 0, 1e9],
    "counts": lambda rng, y: rng.poisson(1 + y[:, None] * rng.random(5)),
    "wide": lambda rng, y: rng.normal(size=(len(y), 9)) @ rng.normal(size=(9, 9)) + y[:, None],
}


def bayes(**settings: Any) -> tuple[Any, str]:
    return BayesClassifier(**{"families": COLUMN_FAMILIES} | settings), "mixed"


CASES: dict[str, tuple[Any, str]] = {
    **{
        f"{structure}-{rule}": bayes(structure=structure, estimate=rule)
        for structure in ("naive", "chain", "tree", "full", Tree("per-class"))
        for rule in ("mle", "map", "mean", "predictive")
    },
    **{
        f"{structure}-{rule}-unseen": bayes(structure=structure, estimate=rule, unseen="ignore")
        for structure in ("naive", "chain", "tree")
        for rule in ("mle", "mean")
    },
    **{f"gaussian-{rule}": (GaussianNB(estimate=rule), "reals") for rule in ("mle", "map", "mean", "predictive")},
    **{f"poisson-{rule}": (PoissonNB(estimate=rule), "counts") for rule in ("mle", "mean", "predictive")},
    **{f"multinomial-{rule}": (MultinomialNB(estimate=rule), "counts") for rule in ("mle", "mean", "predictive")},
    **{f"bernoulli-{rule}": (BernoulliNB(binarize=1.0, estimate=rule), "counts") for rule in ("mle", "mean")},
    **{f"categorical-{rule}": (CategoricalNB(estimate=rule), "counts") for rule in ("mle", "mean")},
    **{f"calibrated-{how}": bayes(structure="naive", calibrate=how) for how in ("temperature", "vector", "isotonic")},
    **{
        f"discriminant-{how}": (GaussianDiscriminant(covariance=how), "reals")
        for how in ("spherical", "diagonal", "chain", "tridiagonal", "full", "shared")
    },
    "discriminant-wide": (GaussianDiscriminant(), "wide"),
    "discriminant-predictive": (GaussianDiscriminant(estimate="predictive"), "wide"),
    "discriminant-svd": (GaussianDiscriminant(covariance="shared", solver="svd"), "wide"),
    "logistic": (LogisticRegression(), "counts"),
    "complement": (ComplementNB(), "counts"),
    "complement-norm": (ComplementNB(norm=True), "counts"),
    "uniform": bayes(structure="naive", class_prior="uniform"),
    "never": bayes(structure="naive", class_prior={"no": 0.5, "it's": 0.0, "yes": 0.5}),
    "numeric-auto": (BayesClassifier(structure="tree"), "mixed"),
    "two-classes": bayes(structure="naive", calibrate="isotonic"),
}


@cache
def fitted(case: str) -> tuple[Any, pd.DataFrame, Any]:
    """Return a fitted model, rows as a frame, and their probabilities."""
    model, form = CASES[case]
    if form == "mixed":
        table, y = mixed(1500, 0)
        rows, _ = mixed(ROWS, 1, new=True)
        if case == "two-classes":
            y = np.where(y == "no", "no", "yes")
        model.fit(table, y)
        return model, rows, model.predict_proba(rows)
    rng = np.random.default_rng(0)
    y, truth = rng.integers(0, 3, 300), rng.integers(0, 3, ROWS)
    X = ARRAYS[form](np.random.default_rng(1), y)
    new = ARRAYS[form](np.random.default_rng(1), truth) + (form == "counts")
    model.fit(X, y)
    rows = pd.DataFrame(new, columns=[f"x{j}" for j in range(new.shape[1])]).astype(object)
    return model, rows, model.predict_proba(new)


def assert_same(model: Any, result: pd.DataFrame, rows: pd.DataFrame, proba: Any) -> None:
    """Assert that the result has the columns of the table, and the predictions of the model."""
    labels = model.classes_.tolist()
    assert list(result.columns) == [*rows.columns, "prediction", *(f"p({label})" for label in labels)]
    assert len(result) == len(rows)
    found = result[[f"p({label})" for label in labels]].to_numpy(float)
    assert np.abs(found - proba).max() < 1e-6
    bare = rows if hasattr(model, "families_") else rows.to_numpy(float)
    wrong = np.flatnonzero(result["prediction"].to_numpy() != model.predict(bare))
    # rounding decides between classes that are equally probable
    assert all(np.ptp(np.sort(proba[row])[-2:]) < 1e-9 for row in wrong)
    assert len(wrong) <= len(rows) // 100


@pytest.mark.parametrize("dialect", WITH_SPARK)
@pytest.mark.parametrize("case", CASES)
def test_sql_agrees_with_predict_proba(case: str, dialect: str, run_query: RunQuery) -> None:
    model, rows, proba = fitted(case)
    assert_same(model, run_query(dialect, model.to_sql(dialect, style="select"), rows), rows, proba)


@pytest.mark.parametrize("dialect", WITH_SPARK)
@pytest.mark.parametrize("structure", ["naive", "tree"])
@pytest.mark.parametrize("name", ["adult", "titanic"])
def test_real_tables_with_missing_cells_and_unseen_levels(
    name: str, structure: str, dialect: str, run_query: RunQuery
) -> None:
    model, rows = real(name)
    model.set_params(structure=structure)
    sql = model.to_sql(dialect, style="select")
    assert_same(model, run_query(dialect, sql, rows), rows, model.predict_proba(rows))


@cache
def real(name: str) -> tuple[Any, pd.DataFrame]:
    """Return a model of a real table, and 1,000 of its rows with some cells missing and some levels unseen."""
    if name == "adult":
        path = data("tabular/adult-train.csv.gz")
        table = pd.read_csv(io.BytesIO(gzip.decompress(path.read_bytes())), header=None, skipinitialspace=True)
        table.columns = [f"column {place}" for place in table.columns]
    else:
        # "alive" and "class" repeat other columns
        table = pd.read_csv(data("tabular/titanic.csv")).drop(columns=["alive", "class"])
    table = table.sample(3000, replace=True, random_state=0).reset_index(drop=True)
    y = table.pop("survived" if name == "titanic" else table.columns[-1])
    model = BayesClassifier(structure="tree").fit(table, y)
    rows = table.sample(ROWS, replace=True, random_state=1).reset_index(drop=True).astype(object)
    rng = np.random.default_rng(2)
    for column in rows:
        rows[column] = rows[column].where(rows[column].notna(), None).where(rng.random(ROWS) > 0.05, None)
        if isinstance(table[column].dropna().iloc[0], str):
            rows[column] = rows[column].where(rng.random(ROWS) > 0.03, "unseen")
    return model, rows


def strange() -> tuple[Any, pd.DataFrame]:
    """Return a model whose columns, levels and classes have names that could escape quotes, and rows."""
    rng = np.random.default_rng(0)
    names = [
        'a"b', "x'; DROP TABLE rows; --", "prediction", "p(\\)", "suffice_x0", "SUFFICE_T", "select", "UPPER", "ä ö",
        "new\nline", "back\\", "100% %s", ":x ?", "/* */", "suffice_",
    ]  # fmt: skip
    table = pd.DataFrame({name: rng.choice(NASTY, 600) for name in names}).astype(object)
    y = np.array(["\\", "it's; --", 'a"b'])[rng.integers(0, 3, 600)]
    table["back\\"] = np.where(y == "\\", "\\'", table["back\\"])
    rows = table.sample(100, random_state=0).reset_index(drop=True)
    rows.loc[::9, "select"] = None
    return BayesClassifier(families="categorical", structure="naive").fit(table, y), rows


@pytest.mark.parametrize("dialect", WITH_SPARK)
def test_no_name_escapes_its_quotes(dialect: str, run_query: RunQuery) -> None:
    model, rows = strange()
    rows = rows.assign(other=range(100))
    result = run_query(dialect, model.to_sql(dialect), rows)
    names = [*rows.columns, "prediction_1", "p(\\)_1", 'p(a"b)', "p(it's; --)"]
    assert list(result.columns) == names
    assert result[list(rows.columns)].equals(rows) or result["other"].tolist() == list(range(100))
    bare = rows.drop(columns="other")
    assert np.abs(result[names[-3:]].to_numpy(float) - model.predict_proba(bare)).max() < 1e-6
    assert result["prediction_1"].tolist() == model.predict(bare).tolist()


def join_text(node: exp.Expression) -> exp.Expression:
    """Return a text that was joined from literals as one literal, and other expressions as they are."""
    if isinstance(node, exp.Concat):
        return exp.Literal.string("".join(part.this for part in node.expressions))
    return node


@pytest.mark.parametrize("dialect", [name for name, each in DIALECTS.items() if each.has_select])
def test_every_literal_and_name_parses_to_its_value(dialect: str) -> None:
    rng = np.random.default_rng(0)
    names = ["it's; --", "select", "100%"] + (['a"b', "c`d"] if dialect != "bigquery" else [])
    names += ["back\\"] if dialect not in ("bigquery", "clickhouse") else []
    table = pd.DataFrame({name: [*NASTY, *rng.choice(NASTY, 60)] for name in names})
    y = rng.choice([label for label in NASTY if label], len(table))
    sql = BayesClassifier(families="categorical", structure="naive").fit(table, y).to_sql(dialect, table="a;b.c")
    (parsed,) = sqlglot.parse(sql, dialect=dialect)
    assert isinstance(parsed, exp.Select)
    joined = parsed.transform(join_text)
    assert {literal.this for literal in joined.find_all(exp.Literal) if literal.is_string} == set(NASTY)
    found = {column.name for column in parsed.find_all(exp.Column) if column.name in names}
    assert found == set(names)
    assert {(table.db, table.name) for table in parsed.find_all(exp.Table) if table.db} == {("a;b", "c")}
    assert not parsed.comments
    assert not any(node.comments for node in parsed.walk())


def test_no_name_ends_with_an_escape_in_clickhouse() -> None:
    model = GaussianNB().fit(pd.DataFrame({"back\\": [1.0, 2.0, 3.0]}), ["a", "b", "b"])
    with pytest.raises(ExportError, match="not a valid name in ClickHouse"):
        model.to_sql("clickhouse")
    labels = GaussianNB().fit([[1.0], [2.0], [3.0]], ["a\\", "b", "b"])
    assert parsed_names(labels.to_sql("clickhouse"), "clickhouse") == ["*", "prediction", "p(a_)", "p(b)"]


def test_bigquery_gets_names_that_it_can_have() -> None:
    model = GaussianNB().fit([[1.0], [2.0], [3.0]], ["a b", "a.b", "c"])
    assert parsed_names(model.to_sql("bigquery"), "bigquery") == ["*", "prediction", "p_a_b", "p_a_b_1", "p_c"]
    rows = pd.DataFrame({"a`b": [1.0, 2.0, 3.0]})
    with pytest.raises(ExportError, match="not a valid name in BigQuery"):
        GaussianNB().fit(rows, [0, 1, 1]).to_sql("bigquery")


def test_labels_that_differ_only_in_case_get_different_column_names() -> None:
    model = GaussianNB().fit([[1.0], [2.0]], ["a", "A"])
    assert parsed_names(model.to_sql("duckdb"), "duckdb") == ["*", "prediction", "p(A)", "p(a)_1"]
    assert parsed_names(model.to_sql("postgres"), "postgres") == ["*", "prediction", "p(A)", "p(a)"]


def parsed_names(sql: str, dialect: str) -> list[str]:
    return [column.alias_or_name for column in sqlglot.parse_one(sql, dialect=dialect).selects]


@pytest.mark.parametrize("dialect", WITH_SPARK)
def test_labels_keep_their_type(dialect: str, run_query: RunQuery) -> None:
    rows = pd.DataFrame({"x0": [0.0, 1.0]}).astype(object)
    for labels in ([False, True], [0, 1], [-1, 2**60]):
        result = run_query(dialect, GaussianNB().fit([[0.0], [1.0]], labels).to_sql(dialect), rows)
        assert result["prediction"].tolist() == labels
        assert list(result.columns[2:]) == [f"p({str(label).lower()})" for label in labels]


@pytest.mark.parametrize("dialect", WITH_SPARK)
def test_many_gaussian_columns_give_null_for_partly_missing_rows(dialect: str, run_query: RunQuery) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    table = pd.DataFrame(rng.normal(size=(300, 8)) + y[:, None], columns=list("abcdefgh"))
    model = BayesClassifier(structure="full", numeric="gaussian").fit(table, y)
    rows = table[:50].astype(object)
    rows.loc[3, "c"] = None
    rows.loc[4] = None
    result = run_query(dialect, model.to_sql(dialect, style="select"), rows)
    known = [row for row in range(50) if row != 3]
    assert result.loc[3, ["prediction", "p(0)", "p(1)"]].isna().all()
    assert np.abs(result[["p(0)", "p(1)"]].to_numpy(float) - model.predict_proba(rows))[known].max() < 1e-6


@pytest.mark.parametrize("dialect", WITH_SPARK)
def test_large_trees_give_null_if_a_parent_is_missing(
    dialect: str, run_query: RunQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_tree, "MAX_MESSAGES", 0)
    model, rows, _ = fitted("tree-mean")
    model = copy.copy(model).set_params(missing="skip")
    proba = model.predict_proba(rows)
    sql = model.to_sql(dialect, style="select")
    result = run_query(dialect, sql, rows)[[f"p({label})" for label in model.classes_]].to_numpy(float)
    known = ~np.isnan(result).any(axis=1)
    assert 50 < known.sum() < ROWS
    assert np.abs(result - proba)[known].max() < 1e-6
    complete = rows.notna().all(axis=1).to_numpy()
    assert known[complete].all()


@pytest.mark.parametrize("dialect", WITH_SPARK)
def test_extreme_numbers(dialect: str, run_query: RunQuery) -> None:
    # a column that is constant in a class, scores below −1e5, and means far from 0
    X = np.array([[5.0, 1e9], [5.0, 1e9 + 1], [7.0, 1e9 + 3], [9.0, 1e9 + 4]])
    model = GaussianNB(var_smoothing=0.0, estimate="mle").fit(X, ["a", "a", "b", "b"])
    new = np.array(
        [[5.0, 1e9], [5.1, 1e9], [7.0, 1e9 + 2.5], [5.0, 2e9], [8.0, 1e9 + 1e4], [5.0, 1e9 + 1e5], [1e6, 1e9]]
    )
    rows = pd.DataFrame(new, columns=["x0", "x1"]).astype(object)
    assert_same(model, run_query(dialect, model.to_sql(dialect), rows), rows, model.predict_proba(new))


@pytest.mark.parametrize("dialect", ["duckdb", *WITH_SPARK[2:]])
def test_nan_and_infinity_are_missing(dialect: str, run_query: RunQuery) -> None:
    model = GaussianNB().fit([[1.0, 0.0], [2.0, 1.0], [5.0, 0.0], [7.0, 3.0]], [0, 0, 1, 1])
    rows = pd.DataFrame({"x0": [None, float("nan"), float("inf"), -float("inf")], "x1": [1.0] * 4}, dtype=object)
    result = run_query(dialect, model.to_sql(dialect), rows)[["p(0)", "p(1)"]].to_numpy(float)
    alone = GaussianNB(var_smoothing=0.0).fit([[0.0], [1.0], [0.0], [3.0]], [0, 0, 1, 1])
    expected = alone.predict_proba([[1.0]])
    assert np.ptp(result, axis=0).max() == 0
    assert np.abs(result - expected).max() < 1e-6


def test_a_table_may_have_a_schema(run_query: RunQuery) -> None:
    model = GaussianNB().fit([[1.0], [2.0]], ["a", "b"])
    with duckdb.connect() as base:
        base.execute('CREATE SCHEMA shop; CREATE TABLE shop."my.rows" AS SELECT 1 AS x0, 2 AS x0_')
        sql = model.to_sql("duckdb", table=("shop", "my.rows"))
        assert base.sql(sql).fetchall()[0][:3] == (1, 2, "a")
        base.execute("CREATE TABLE shop.suffice_0 AS SELECT 2 AS x0")
        assert base.sql(model.to_sql("duckdb", table="shop.suffice_0")).fetchall()[0][:2] == (2, "b")


def test_unsupported_models_raise_with_reason_and_remedy() -> None:
    table, y = mixed(200, 0)
    words = table.assign(note=["the red fox and the old dog ran on"] * 100 + ["a cat sat by the door of a house"] * 100)
    X, digits = load_digits(return_X_y=True)
    wrong = {
        "column 'note' is text": BayesClassifier(structure="naive", families={"note": "text"}).fit(words, y),
        "averaged over many trees": BayesClassifier(structure="averaged").fit(table, y),
        "'town' to 'left' counts them all together": BayesClassifier(structure="joint", families="categorical").fit(
            table[["town", "left"]], y
        ),
        "mixture": MixtureClassifier().fit(X[:100, 18:22], digits[:100] % 2),
        "infinitely likely": ComplementNB(estimate="mle").fit([[1, 0], [0, 1], [0, 1]], [0, 1, 1]),
    }
    for reason, model in wrong.items():
        with pytest.raises(ExportError, match=reason) as error:
            model.to_sql(style="select")
        assert "\n" not in str(error.value)
        assert "predict_table" in str(error.value)
    with pytest.raises(ExportError, match=r"'postgress'; did you mean 'postgres'.*duckdb"):
        wrong["mixture"].to_sql("postgress")
    for table_name in ("", "a..b", "a.b.c.d", ()):
        with pytest.raises(ExportError, match="name"):
            GaussianNB().fit([[1.0], [2.0]], [0, 1]).to_sql(table=table_name)
    with pytest.raises(ExportError, match="character that no text"):
        BayesClassifier(structure="naive").fit(pd.DataFrame({"a": ["x\0", "y", "z"] * 9}), [0, 1, 1] * 9).to_sql()


def test_aliases_of_dialects() -> None:
    model = GaussianNB().fit([[1.0], [2.0]], [0, 1])
    for alias, name in (
        ("postgresql", "postgres"),
        ("pyspark", "spark"),
        ("databricks", "spark"),
        ("DuckDB", "duckdb"),
    ):
        assert model.to_sql(alias) == model.to_sql(name)


def test_a_loaded_model_gives_the_same_sql(tmp_path: Any) -> None:
    model, _, _ = fitted("calibrated-vector")
    assert suffice.load(model.save(tmp_path / "model.suffice")).to_sql("postgres") == model.to_sql("postgres")


def test_sqlite_scores_views_and_ignores_case_insensitive_collations() -> None:
    table = pd.DataFrame({"town": ["a", "A", "b"] * 20, "size": [1.0, 2.0, 3.0] * 20})
    model = BayesClassifier(structure="naive", families="categorical").fit(table, ["low", "high", "low"] * 20)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE plain (town TEXT COLLATE NOCASE, size REAL)")
    base.executemany("INSERT INTO plain VALUES (?, ?)", [("A", None), ("a", None), ("A", None), (None, 2), ("B", 3)])
    base.execute("CREATE VIEW rows AS SELECT * FROM plain")
    result = base.execute(model.to_sql("sqlite")).fetchall()
    rows = pd.DataFrame(base.execute("SELECT * FROM plain").fetchall(), columns=["town", "size"])
    assert [row[0] for row in result] == ["A", "a", "A", None, "B"]
    assert [row[2] for row in result] == model.predict(rows).tolist()
    assert np.abs(np.array([row[3:] for row in result]) - model.predict_proba(rows)).max() < 1e-9


def test_a_column_missing_from_the_table_is_an_error() -> None:
    model = BayesClassifier(structure="naive").fit(pd.DataFrame({"town": ["a", "b"] * 9}), [0, 1] * 9)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE rows (city TEXT)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        base.execute(model.to_sql("sqlite"))


def test_large_integers_are_compared_exactly(run_query: RunQuery) -> None:
    first, second = 2**60, 2**60 + 1
    table = pd.DataFrame({"id": [first, second] * 20})
    model = BayesClassifier(structure="naive", families="categorical").fit(table, ["a", "b"] * 20)
    rows = pd.DataFrame({"id": [first, second, None]}, dtype=object)
    for dialect in RUN:
        assert run_query(dialect, model.to_sql(dialect), rows)["prediction"].tolist()[:2] == ["a", "b"]


def test_the_documentation_page_runs() -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "guides" / "deployment" / "sql.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 8
    assert failed == 0


@pytest.mark.parametrize("how", ["temperature", "vector", "isotonic"])
def test_calibration_of_extreme_probabilities(how: str, run_query: RunQuery) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    # twenty equal columns make the model far too certain, and the temperature large
    model = GaussianNB(calibrate=how).fit(np.repeat(rng.normal(size=(300, 1)) + y[:, None], 20, axis=1), y)
    new = np.repeat([[0.0], [60.0], [-90.0], [1.5]], 20, axis=1)
    rows = pd.DataFrame(new, columns=[f"x{place}" for place in range(20)]).astype(object)
    for dialect in RUN:
        assert_same(model, run_query(dialect, model.to_sql(dialect), rows), rows, model.predict_proba(new))


@pytest.mark.parametrize("dialect", WITH_SPARK)
def test_log_rising_accuracy(dialect: str, run_query: RunQuery) -> None:
    x = [0.0, 1.0, 2.0, 7.5, 60.0, 3000.0]
    rows = pd.DataFrame({"x": x}).astype(object)
    for a in (0.01, 0.5, 1.0, 3.7, 40.0, 9999.0, 2e4, 1e8):
        term = sql_expressions.add(write_log_rising(sql_expressions.column("x"), a)).node
        result = run_query(
            dialect, exp.select(term).from_(exp.Table(this=exp.to_identifier("rows", quoted=True))).sql(dialect), rows
        )
        assert np.abs(result.iloc[:, 0].to_numpy(float) - log_rising(np.array(a), np.array(x))).max() < 2e-8


def test_the_size_limit_does_not_depend_on_cached_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    model = GaussianNB().fit(rng.normal(size=(60, 10)) + y[:, None], y)
    monkeypatch.setattr(
        "suffice.export.sql_query.MAX_NUMBERS", 91
    )  # means and their rounding, variances, the variance floor
    before = model.to_sql("duckdb")
    model.predict(rng.normal(size=(5, 10)))
    assert model.to_sql("duckdb") == before
    monkeypatch.setattr("suffice.export.sql_query.MAX_NUMBERS", 90)
    with pytest.raises(ExportError, match="91 numbers"):
        model.to_sql("duckdb")


@dataclass(frozen=True)
class HandMade(Parameters):
    """Parameters of a family that the package does not have."""

    terms: Score

    def score(self) -> Score:
        return self.terms

    @property
    def n_parameters(self) -> int:
        return 0


@dataclass(frozen=True)
class Cosine(ColumnwiseTerm):
    """A term that no export knows."""

    phase: Array

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        scores += self.contributions(block)[rows].sum(axis=-1)

    def contributions(self, block: Block) -> Array:
        return np.cos(as_doubles(block)[0] + self.phase)


def hand_made_model() -> Model:
    """Return a model of three counts, of which one is impossible in a class, and of two columns of levels."""
    rng = np.random.default_rng(0)
    a, b, c, d = (rng.random((2, 3)) + 0.5 for _ in range(4))
    weights = np.where([[0, 1, 0], [0, 0, 0]], -np.inf, np.log(a))
    counts = Score((Quadratic(a * 3, b, c), LogQuadratic(b, a, c, d), LogGamma(a), LogGammaOfTotal(a.sum(axis=1))))
    counts += Linear.of(weights, b)
    counts += Linear.of_bits(np.log(a / 2), np.log1p(-a / 2), 1.5)
    counts += LogGamma(c, -0.5) + LogFactorial()
    levels = LookUp(np.log(rng.random((2, 7))), np.array([2, 3])) + Linear(a[:, :2], b[:, :2])
    columns = (Columns("mine", 3, ("a", "b", "c")), Columns("other", 2, ("d", "e"), sizes=np.array([2, 3])))
    return Model(columns, np.log([0.3, 0.7]), (HandMade(counts), HandMade(levels)))


@pytest.mark.parametrize("dialect", WITH_SPARK)
def test_a_new_family_of_known_terms_has_sql(dialect: str, run_query: RunQuery) -> None:
    model, rng = hand_made_model(), np.random.default_rng(1)
    counts = rng.poisson(1.5, (200, 3)).astype(np.float64)
    counts[rng.random(counts.shape) < 0.1] = np.nan
    codes = rng.integers(0, 5, (200, 2)).astype(np.float64)
    expected = np.exp(model.log_posterior((Gappy("test", None, counts), Dense("test", None, codes))))
    rows = pd.DataFrame(np.hstack([counts, codes]), columns=list("abcde")).astype(object)
    rows = rows.where(rows.notna(), None)
    result = run_query(dialect, to_sql(model, ["no", "yes"], dialect), rows)
    found = result[["p(no)", "p(yes)"]].to_numpy(float)
    assert (expected == 0).any()
    assert np.abs(found - expected).max() < 1e-6


@pytest.mark.parametrize("dialect", WITH_SPARK)
@pytest.mark.parametrize("rule", ["mle", "map", "mean", "predictive"])
def test_a_registered_family_has_sql(
    rule: str, dialect: str, run_query: RunQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAMILIES, HalfNormal.name, HalfNormal())
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    table = pd.DataFrame({"x": np.abs(rng.normal(0, np.where(y, 1.0, 3.0))), "z": rng.normal(y, 2.0)})
    families = {"x": HalfNormal.name, "z": "gaussian"}
    model = BayesClassifier(families=families, structure="naive", estimate=rule).fit(table, y)
    rows = table.astype(object).where(rng.random(table.shape) > 0.1, None)
    assert_same(model, run_query(dialect, model.to_sql(dialect), rows), rows, model.predict_proba(rows))


@pytest.mark.parametrize("dialect", WITH_SPARK)
def test_two_terms_of_one_kind_do_not_share_intermediate_columns(dialect: str, run_query: RunQuery) -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([2, 3])

    def tree() -> PairLookUp:
        """Return a tree in which the second column depends on the first: tables of 3 and of 3·4 probabilities."""
        lines = [line for _ in range(2) for line in (rng.dirichlet(np.ones(3)), *rng.dirichlet(np.ones(4), 3))]
        parents, order, offsets = (np.array([line] * 2) for line in ([-1, 0], [0, 1], [0, 3]))
        offsets[1] += 15
        return PairLookUp(parents, order, offsets, sizes, np.ones(2), np.log(np.concatenate(lines)))

    model = Model((Columns("mine", 2, ("a", "b"), sizes=sizes),), np.log([0.3, 0.7]), (HandMade(tree() + tree()),))
    codes = rng.integers(-1, 4, (100, 2))
    expected = np.exp(model.log_posterior((Coded("test", None, codes),)))
    rows = pd.DataFrame(codes, columns=["a", "b"]).astype(object)
    result = run_query(dialect, to_sql(model, ["no", "yes"], dialect), rows.where(rows >= 0, None))
    assert np.abs(result[["p(no)", "p(yes)"]].to_numpy(float) - expected).max() < 1e-6


def test_every_term_is_translated_or_refused_with_a_reason() -> None:
    terms = {
        term
        for term in map(suffice.score.__getattr__, suffice.score.__all__)
        if isinstance(term, type) and issubclass(term, Term)
    }
    for term in terms - {Term}:
        assert term.is_class_independent + (term in TRANSLATORS) + (term in UNSUPPORTED) == 1, term


def test_an_unknown_term_is_refused_by_name() -> None:
    cosine = HandMade(Score((Cosine(np.zeros((2, 2))),)))
    model = Model((Columns("mine", 2, ("a", "b")),), np.log([0.3, 0.7]), (cosine,))
    with pytest.raises(ExportError, match=r"the columns 'a' to 'b' has a Cosine term.*predict_table"):
        to_sql(model, ["no", "yes"])


def test_names_that_spark_would_replace_are_refused() -> None:
    model = CategoricalNB().fit(pd.DataFrame({"${spark.app.name}": [0, 1, 0, 1]}), ["${a}", "b", "${a}", "b"])
    with pytest.raises(ExportError, match=r"'\${spark.app.name}' is not a valid name in Spark; rename it"):
        model.to_sql("spark")
    assert "${" not in CategoricalNB().fit([[0], [1]], ["${a}", "b"]).to_sql("spark")
