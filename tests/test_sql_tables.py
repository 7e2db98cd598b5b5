"""SQL in the style "tables" gives the probabilities of every model on DuckDB, SQLite, PostgreSQL, MariaDB and Spark."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sqlglot

import mariadb
import postgres
import spark
import suffice
from cases import ALL_FAMILIES, ALL_STRUCTURES, family_model, family_table
from odd_texts import TEXT_MODELS, UNSUPPORTED_SETTINGS, text_table
from suffice import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    MixtureClassifier,
    MultinomialNB,
    PoissonNB,
    Pooled,
    Text,
    Trees,
    Twin,
)
from suffice.export import DIALECTS, ExportError
from suffice.export.sql_query import MAX_SELECT_NUMBERS
from suffice.export.sql_script import LONG_TRANSLATORS, Script, write_script
from suffice.families import FAMILIES
from suffice.score import LogSumExp, Term
from test_export_sql import ARRAYS, COLUMN_FAMILIES, arrow, cells, kind, mixed, strange

ROWS = 1000
Execute = Callable[[str], pd.DataFrame | None]

FEWER_TREES = {"trees": Trees(12), "pooled": Pooled(("averaged", "full", Trees(12)))}


def bayes(**settings: Any) -> tuple[Any, str]:
    return BayesClassifier(**{"families": COLUMN_FAMILIES} | settings), "mixed"


CASES: dict[str, tuple[Any, str]] = {
    "default": (BayesClassifier(), "mixed"),
    "whole default": (BayesClassifier(), "tangled"),
    **{f"structure {each}": bayes(structure=FEWER_TREES.get(str(each), each)) for each in ALL_STRUCTURES},
    **{f"averaged {rule}": bayes(structure="averaged", estimate=rule) for rule in ("mle", "predictive")},
    **{f"tree {rule}": bayes(structure="tree", estimate=rule, unseen="ignore") for rule in ("mle", "mean")},
    **{
        f"{family} {rule}": (family_model(family, estimate=rule), family)
        for family in ALL_FAMILIES
        for rule in FAMILIES[family].rules
    },
    **{
        f"calibrated {how}": bayes(structure="averaged", calibrate=how) for how in ("temperature", "vector", "isotonic")
    },
    **{
        f"discriminant {how}": (GaussianDiscriminant(covariance=how), "reals")
        for how in ("spherical", "diagonal", "chain", "tridiagonal", "full", "shared")
    },
    "discriminant wide": (GaussianDiscriminant(), "wide"),
    "discriminant predictive": (GaussianDiscriminant(estimate="predictive"), "wide"),
    "discriminant svd": (GaussianDiscriminant(covariance="shared", solver="svd"), "wide"),
    "gaussian": (GaussianNB(estimate="predictive"), "reals"),
    "complement": (ComplementNB(), "counts"),
    "multinomial": (MultinomialNB(estimate="predictive"), "counts"),
    "bernoulli": (BernoulliNB(binarize=1.0), "counts"),
    "categorical": (CategoricalNB(), "counts"),
    "poisson": (PoissonNB(), "counts"),
    "few trees": bayes(structure=Pooled(("averaged", "full", Trees(3)))),
    "trees without splits": (BayesClassifier(structure=Pooled(("averaged", Trees(3)))), "constant"),
    "never": bayes(structure="averaged", class_prior={"no": 0.5, "it's": 0.0, "yes": 0.5}),
    "twin": (
        BayesClassifier(structure=Pooled(("naive", Twin())), families={"one": "poisson", "two": "poisson"}),
        "poisson",
    ),
}
CASES |= {f"texts {name}": (model, "texts") for name, model in TEXT_MODELS.items()}


def tangled(rows: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Return rows whose class depends on two columns together, so that a pool weights all its components."""
    table, y = mixed(rows, seed)
    is_old = pd.to_numeric(table["age"]).to_numpy() > 40
    shift = is_old ^ (table["left"] == "l").to_numpy()
    classes = np.unique(y)
    return table, classes[(np.searchsorted(classes, y) + shift) % len(classes)]


@cache
def fitted(case: str) -> tuple[Any, pd.DataFrame, Any]:
    """Return a fitted model, rows as a frame with a column that numbers them, and their probabilities."""
    model, form = CASES[case]
    if form == "mixed":
        table, y = mixed(1500, 0)
        rows, _ = mixed(ROWS, 1, new=True)
    elif form == "tangled":
        table, y = tangled(3000, 0)
        rows, _ = mixed(ROWS, 1, new=True)
    elif form == "constant":
        table, y = pd.DataFrame({"a": ["x"] * ROWS, "b": [1.0] * ROWS}).astype(object), np.arange(ROWS) % 2
        rows = table
    elif form == "texts":
        table, y = text_table(600, 0)
        rows, _ = text_table(ROWS, 1, new=True)
    elif form in FAMILIES:
        table, y = family_table(form, 300)
        rows, _ = family_table(form, ROWS, seed=1, missing=0.1)
    else:
        y = np.random.default_rng(0).integers(0, 3, 300)
        names = [f"x{j}" for j in range(9 if form == "wide" else 5 if form == "counts" else 4)]
        table = pd.DataFrame(ARRAYS[form](np.random.default_rng(1), y), columns=names)
        rows = pd.DataFrame(ARRAYS[form](np.random.default_rng(2), np.resize(y, ROWS)), columns=names).astype(object)
        if isinstance(model, GaussianDiscriminant) and model.solver != "svd" and model.covariance != "chain":
            rows = rows.mask(np.random.default_rng(3).random(rows.shape) < 0.1, None)
            model.set_params(missing="skip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table, y)
        proba = model.predict_proba(rows)
    return model, rows.assign(row=pd.Series(range(ROWS), dtype=object)), proba


def script_of(model: Any, dialect: str, **settings: Any) -> Script:
    given = {"table": "rows", "present": None, "prefix": "model"} | settings
    calibration = model.fitted_calibration()
    return write_script(model.estimate_model(), model.classes_.tolist(), dialect, calibration=calibration, **given)


def quoted(name: str, dialect: str) -> str:
    mark = "`" if dialect in ("mysql", "spark") else '"'
    return mark + name.replace(mark, 2 * mark) + mark


def load(dialect: str, execute: Execute, insert: Callable[[list[Any]], Any], frame: pd.DataFrame, table: str) -> None:
    """Create a table of a frame."""
    kinds = (f"{quoted(name, dialect)} {kind(frame[name])}" for name in frame)
    execute(f"DROP TABLE IF EXISTS {quoted(table, dialect)}{' CASCADE' if dialect == 'postgres' else ''}")
    execute(f"CREATE TABLE {quoted(table, dialect)} ({', '.join(kinds)})")
    rows = list(zip(*(cells(frame[name]) for name in frame), strict=True))
    if dialect == "mysql":  # which has no NaN
        rows = [tuple(None if isinstance(cell, float) and np.isnan(cell) else cell for cell in row) for row in rows]
    insert(rows)


class Database:
    """A connection that can load a frame as a table and execute statements."""

    def __init__(self, dialect: str, base: Any) -> None:
        self.dialect, self.base = dialect, base

    def execute(self, sql: str) -> pd.DataFrame | None:
        if self.dialect == "spark":
            frame = self.base.sql(sql)
            return frame.toArrow().to_pandas() if frame.columns else None
        cursor = self.base.cursor()
        cursor.execute(sql)
        if cursor.description is None:
            return None
        return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])

    def load(self, frame: pd.DataFrame, table: str = "rows") -> None:
        if self.dialect in ("duckdb", "spark"):
            arrays = pa.table({name: arrow(frame[name]) for name in frame})
            if self.dialect == "spark":
                self.base.createDataFrame(arrays).createOrReplaceTempView(table)
            else:
                self.base.register("given", arrays)
                self.base.execute(f"CREATE OR REPLACE TABLE {quoted(table, 'duckdb')} AS SELECT * FROM given")
            return
        load(self.dialect, self.execute, lambda rows: self._insert(rows, table), frame, table)

    def _insert(self, rows: list[Any], table: str) -> None:
        mark = "?" if self.dialect == "sqlite" else "%s"
        name = quoted(table, self.dialect).replace("%", "%%" if mark == "%s" else "%")
        self.base.cursor().executemany(f"INSERT INTO {name} VALUES ({', '.join([mark] * len(rows[0]))})", rows)

    def score(self, script: Script, prefix: str = "model") -> pd.DataFrame:
        """Return the rows of the view of a script."""
        for statement in script.statements(view=self.dialect != "spark"):
            found = self.execute(statement)
        if self.dialect != "spark":
            found = self.execute(f"SELECT * FROM {quoted(prefix, self.dialect)}")
        assert found is not None
        return found


@pytest.fixture(scope="module")
def databases() -> Iterator[Callable[[str], Database]]:
    """Return a function that opens a database once."""
    opened: dict[str, Database] = {}
    closing: list[Any] = []

    def start(dialect: str) -> Database:
        if dialect == "duckdb":
            return Database(dialect, duckdb.connect())
        if dialect == "sqlite":
            return Database(dialect, sqlite3.connect(":memory:"))
        if dialect == "spark":
            return Database(dialect, spark.session())
        server = postgres.start() if dialect == "postgres" else mariadb.start()
        address = server.__enter__()
        closing.append(server)
        if dialect == "mysql":
            return Database(dialect, mariadb.connect(address))
        import psycopg

        return Database(dialect, psycopg.connect(address, autocommit=True))

    def find(dialect: str) -> Database:
        if dialect not in opened:
            opened[dialect] = start(dialect)
        return opened[dialect]

    yield find
    for dialect, database in opened.items():
        if dialect != "spark":
            database.base.close()
    for server in closing:
        server.__exit__(None, None, None)


def check(database: Database, case: str) -> None:
    """Check that a script gives all rows with the probabilities and labels of the model."""
    model, rows, proba = fitted(case)
    database.load(rows)
    result = database.score(script_of(model, database.dialect))
    labels = [f"p({str(label).lower() if isinstance(label, bool) else label})" for label in model.classes_.tolist()]
    assert list(result.columns) == [*rows.columns, "prediction", *labels]
    result = result.sort_values("row")
    assert result["row"].tolist() == list(range(ROWS))
    assert np.abs(result[labels].to_numpy(float) - proba).max() < 1e-6
    said = model.classes_[proba.argmax(axis=1)]
    wrong = np.flatnonzero(result["prediction"].to_numpy() != said)
    assert all(np.ptp(np.sort(proba[row])[-2:]) < 1e-9 for row in wrong)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("case", CASES)
def test_scripts_agree_with_predict_proba(case: str, dialect: str, databases: Callable[[str], Database]) -> None:
    check(databases(dialect), case)


@pytest.mark.server
@pytest.mark.parametrize("dialect", ["postgres", "mysql", "spark"])
@pytest.mark.parametrize("case", CASES)
def test_scripts_run_on_servers(case: str, dialect: str, databases: Callable[[str], Database]) -> None:
    check(databases(dialect), case)


def test_the_whole_default_has_all_components() -> None:
    model = fitted("whole default")[0].estimate_model()
    assert [member.columns[0].is_forest for member in model.members] == [False, False, True]
    assert (model.weights > 0).all()


def test_every_term_has_a_table_form() -> None:
    terms = {
        term
        for term in map(suffice.score.__getattr__, suffice.score.__all__)
        if isinstance(term, type) and issubclass(term, Term)
    }
    for term in terms - {Term, LogSumExp}:
        assert term.is_class_independent != (term in LONG_TRANSLATORS), term


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", ["default", "structure tree", "structure joint", "discriminant wide", "texts default"])
def test_every_statement_parses(case: str, dialect: str) -> None:
    if case.startswith("texts") and dialect in ("tsql", "mysql"):
        return  # SQL Server has no texts, and sqlglot does not read JSON_TABLE of MySQL
    model, _, _ = fitted(case)
    statements = script_of(model, dialect).statements()
    for statement in [each for each in statements if not each.startswith("INSERT")]:
        assert len(sqlglot.parse(statement, dialect=dialect)) == 1


def test_the_query_does_not_grow_with_the_model() -> None:
    table, y = mixed(1500, 0)
    few, many = (
        script_of(BayesClassifier(structure=Pooled(("averaged", Trees(count)))).fit(table, y), "postgres")
        for count in (2, 20)
    )
    assert many.parameters.cell_count > 2 * few.parameters.cell_count
    assert len(many.query.splitlines()) == len(few.query.splitlines()) < 300
    assert len(many.query) < 1.1 * len(few.query)


def test_auto_is_a_select_for_small_models_only() -> None:
    table, y = mixed(1500, 0)
    small = BayesClassifier(structure="naive", families=COLUMN_FAMILIES).fit(table, y)
    assert small.to_sql("duckdb") == small.to_sql("duckdb", style="select")
    assert small.to_sql("duckdb", style="tables").count("CREATE TABLE") > 2
    assert small.to_sql("duckdb").startswith("WITH")
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(60, MAX_SELECT_NUMBERS // 5))
    large = GaussianNB().fit(wide, np.arange(60) % 2)
    assert "CREATE VIEW" in large.to_sql("duckdb")
    assert large.to_sql("duckdb", view=False).rstrip().endswith(";")
    with pytest.raises(ExportError, match="style is 'auto', 'select' or 'tables', not 'table'"):
        small.to_sql("duckdb", style="table")  # type: ignore[arg-type]
    with pytest.raises(ExportError, match='use style="tables"'):
        fitted("default")[0].to_sql("duckdb", style="select")


SERVERS = [pytest.param(dialect, marks=pytest.mark.server) for dialect in ("postgres", "mysql", "spark")]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", *SERVERS])
def test_no_name_escapes_its_quotes(dialect: str, databases: Callable[[str], Database]) -> None:
    model, rows = strange()
    rows = rows.assign(other=pd.Series(range(100), dtype=object))
    # Spark's tables have names of letters
    prefix = "model" if dialect == "spark" else "mod'el\"; DROP TABLE `x` -- "
    database = databases(dialect)
    if dialect == "mysql":  # whose names do not end with a space, and do not differ in case only
        prefix = prefix.strip()
    database.load(rows)
    result = database.score(script_of(model, dialect, prefix=prefix), prefix).sort_values("other")
    bare = rows.drop(columns="other")
    assert np.abs(result.iloc[:, -3:].to_numpy(float) - model.predict_proba(bare)).max() < 1e-6
    assert result["prediction_1"].tolist() == model.predict(bare).tolist()


def test_names_that_no_database_can_have_are_refused() -> None:
    model = GaussianNB().fit([[1.0], [2.0]], [0, 1])
    for prefix in ("a\0b", "", "a..b"):
        with pytest.raises(ExportError, match="name"):
            model.to_sql(style="tables", prefix=prefix)
    levels = BayesClassifier(structure="naive").fit(pd.DataFrame({"a": ["x\0", "y", "z"] * 9}), [0, 1, 1] * 9)
    with pytest.raises(ExportError, match="character that no text"):
        levels.to_sql(style="tables")


def test_what_has_no_sql_says_so() -> None:
    rng = np.random.default_rng(0)
    mixture = MixtureClassifier().fit(rng.normal(size=(60, 2)), np.arange(60) % 2)
    with pytest.raises(ExportError, match="is a mixture") as error:
        mixture.to_sql(style="tables")
    assert "predict_table" in str(error.value)


@pytest.mark.parametrize("setting", UNSUPPORTED_SETTINGS)
def test_texts_that_only_python_splits_say_so(setting: str) -> None:
    table, y = text_table(60, 0)
    model = BayesClassifier(families={"message": Text(**UNSUPPORTED_SETTINGS[setting])}).fit(table, y)
    with pytest.raises(ExportError, match=f"column 'message' is text with {setting}=.*predict_table"):
        model.to_sql()
    with pytest.raises(ExportError, match=f"column 'message' is text with {setting}=.*predict in Python"):
        model.to_onnx()


def test_texts_have_no_select() -> None:
    model, _, _ = fitted("texts default")
    assert "CREATE VIEW" in model.to_sql()
    table, y = text_table(60, 0)
    naive = BayesClassifier(structure="naive", families={"message": "text"}).fit(table, y)
    assert "CREATE VIEW" in naive.to_sql()
    with pytest.raises(ExportError, match=r"column 'message' is text.*use style=\"tables\""):
        naive.to_sql(style="select")
    with pytest.raises(ExportError, match="SQL Server has no regular expressions"):
        naive.to_sql("tsql")


TEXTS = {"mysql": ["a", "A", "a ", "ä"], "spark": ["a", "${spark.app.name}", "\\u0024", "it's \n"]}


@pytest.mark.parametrize("dialect", ["mysql", pytest.param("spark", marks=pytest.mark.server)])
def test_levels_are_compared_by_their_bytes(dialect: str, databases: Callable[[str], Database]) -> None:
    table = pd.DataFrame({"town": TEXTS[dialect] * 20}).astype(object)
    model = BayesClassifier(structure="naive", families="categorical").fit(table, ["1", "2", "3", "4"] * 20)
    rows = table[:4].assign(row=pd.Series(range(4), dtype=object))
    database = databases(dialect)
    database.load(rows)
    result = database.score(script_of(model, dialect)).sort_values("row")
    assert result["prediction"].tolist() == model.predict(table[:4]).tolist() == ["1", "2", "3", "4"]
