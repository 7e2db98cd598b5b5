"""Scoring tables: labels and probabilities as new columns, in every engine."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pytest

import postgres
from suffice import BayesClassifier, GaussianDiscriminant, GaussianNB
from suffice.decision.calibration import Isotonic, Temperature, Vector
from suffice.export import ExportError

Make = Callable[[pd.DataFrame], Any]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgres.start() as url:
        yield url


def rows_of(rows: int = 60, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    towns = np.where(rng.random(rows) < 0.3 + 0.4 * y, "Rome", "Oslo")
    return pd.DataFrame({"town": towns, "age": rng.normal(30 + 9 * y, 9)}), np.array(["no", "yes"])[y]


def model_of(**settings: Any) -> Any:
    return BayesClassifier(**{"structure": "naive", "numeric": "gaussian"} | settings).fit(*rows_of())


def lite(frame: pd.DataFrame, name: str = "rows_to_score") -> Any:
    base = ibis.sqlite.connect()
    return base.create_table(name, pa.Table.from_pandas(frame, preserve_index=False))


def duck(frame: pd.DataFrame, name: str = "rows_to_score") -> Any:
    return ibis.duckdb.connect().create_table(name, pa.Table.from_pandas(frame, preserve_index=False))


@pytest.fixture
def makes(tmp_path: Path) -> dict[str, Make]:
    def file(frame: pd.DataFrame) -> Path:
        frame.to_parquet(tmp_path / "rows.parquet")
        return tmp_path / "rows.parquet"

    return {
        "pandas": lambda frame: frame,
        "polars": pl.from_pandas,
        "arrow": pa.Table.from_pandas,
        "lazy": lambda frame: pl.from_pandas(frame).lazy(),
        "batches": lambda frame: iter([frame[:20], frame[20:]]),
        "records": lambda frame: pa.Table.from_pandas(frame).to_reader(),
        "duckdb": duck,
        "sqlite": lite,
        "file": file,
    }


MAKES = ("pandas", "polars", "arrow", "lazy", "batches", "records", "duckdb", "sqlite", "file")


def collected(table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "collect"):
        return table.collect().to_pandas()
    if hasattr(table, "to_pandas"):
        return table.to_pandas()
    return pd.concat([each if isinstance(each, pd.DataFrame) else each.to_pandas() for each in table])


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("structure", ["naive", "averaged"])
def test_a_column_of_the_table_is_never_written_over(make: str, structure: str, makes: dict[str, Make]) -> None:
    table, y = rows_of()
    table["prediction"] = np.where(table["town"] == "Rome", "maybe", "never")  # the model reads this one
    model = BayesClassifier(structure=structure, families="categorical").fit(table[["town", "prediction"]], y)
    rows = table.assign(**{"p(no)": 7.0, "p(no)_1": "kept", "suffice_x0": 3, "suffice_scored": "mine"})
    said = collected(model.predict_table(makes[make](rows)))
    assert list(said.columns) == [*rows.columns, "prediction_1", "p(no)_2", "p(yes)"]
    pd.testing.assert_frame_equal(
        said[list(rows.columns)].reset_index(drop=True), rows, check_dtype=False, check_column_type=False
    )
    X = rows[["town", "prediction"]]
    assert said["prediction_1"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(said[["p(no)_2", "p(yes)"]].to_numpy(float), model.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("make", MAKES)
def test_a_table_is_scored_twice(make: str, makes: dict[str, Make]) -> None:
    model, other, (table, _) = model_of(), model_of(class_prior="uniform"), rows_of(40, 1)
    said = collected(other.predict_table(model.predict_table(makes[make](table))))
    new = ["prediction", "p(no)", "p(yes)"]
    assert list(said.columns) == ["town", "age", *new, *(f"{name}_1" for name in new)]
    np.testing.assert_allclose(said[new[1:]].to_numpy(float), model.predict_proba(table), atol=1e-9)
    np.testing.assert_allclose(said[["p(no)_1", "p(yes)_1"]].to_numpy(float), other.predict_proba(table), atol=1e-9)


def test_labels_that_differ_in_capitals_where_duckdb_calls_the_model() -> None:
    table, y = rows_of()
    model = BayesClassifier(structure="averaged", numeric="mdl").fit(table, np.where(y == "no", "a", "A"))
    said = model.predict_table(duck(table)).to_pandas()
    assert list(said.columns[2:]) == ["prediction", "p(A)", "p(a)_1"]
    np.testing.assert_allclose(said[["p(A)", "p(a)_1"]], model.predict_proba(table), atol=1e-9)


def test_capitals_make_no_other_name_where_a_database_does_not_tell_them_apart() -> None:
    model, (table, _) = model_of(), rows_of(10)
    rows = table.assign(PREDICTION="kept")
    for source in (duck(rows), lite(rows)):
        assert "prediction_1" in model.predict_table(source).columns
    assert "prediction" in model.predict_table(rows).columns


@pytest.mark.parametrize("make", [duck, lite])
def test_scored_tables_are_combined(make: Callable[..., Any]) -> None:
    """Under whatever name the table goes: what is scored is found by a name of its own."""
    model, (table, _) = model_of(), rows_of(30, 2)
    source = make(table)
    first, second = (source.filter(keep) for keep in (source.age > 33, source.age <= 33))
    both = ibis.union(model.predict_table(first), model.predict_table(second)).to_pandas().sort_values("age")
    X = table.sort_values("age")
    assert both["prediction"].tolist() == model.predict(X).tolist()
    joined = model.predict_table(source).join(model.predict_table(source), ["town", "age"], how="inner")
    assert joined.count().execute() == 30


@pytest.mark.parametrize("make", ["duckdb", "sqlite", "file"])
def test_a_column_that_a_database_does_not_have_counts_as_empty(make: str, makes: dict[str, Make]) -> None:
    table, y = rows_of()
    table = table.assign(flag=y == "yes", id=2**60 + (y == "yes"), kids=[0, 1, 2] * 20, size=np.arange(60) / 7)
    words = "columns of the model are missing, and all their cells count as empty"
    families = {"id": "categorical", "kids": "categorical", "size": "mdl", "age": "gaussian"}
    for structure in ("naive", "tree"):
        model = BayesClassifier(structure=structure, families=families).fit(table, y)
        for missing in (["age"], ["town"], ["flag", "id"], ["kids", "size", "town"]):
            rows = table.drop(columns=missing).assign(more=1)
            with pytest.warns(UserWarning, match=words) as near:
                beside = model.predict_table(rows)
            with pytest.warns(UserWarning, match=words) as far:
                source = model.predict_table(makes[make](rows))
            told = [{str(its.message) for its in all_ if its.category is UserWarning} for all_ in (near, far)]
            assert told[0] == told[1]
            said = collected(source)
            assert list(said.columns) == [*rows.columns, "prediction", "p(no)", "p(yes)"]
            assert said["prediction"].tolist() == beside["prediction"].tolist()
            np.testing.assert_allclose(said["p(no)"].to_numpy(float), beside["p(no)"], atol=1e-9)


def test_columns_that_are_all_there_are_no_reason_to_warn() -> None:
    model, (table, _) = model_of(), rows_of(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.predict_table(duck(table.assign(more=1))).to_pandas()


def test_a_table_with_no_column_of_the_model_or_too_few_is_an_error() -> None:
    rows = pd.DataFrame({"x0": [1.0, 2.0, 3.0, 4.0], "x1": [1.0, 3.0, 2.0, 5.0]})
    plain = GaussianNB().fit(rows, [0, 0, 1, 1])
    for model, there in ((plain, ["x0"]), (GaussianNB().fit(rows.to_numpy(), [0, 0, 1, 1]), ["x1"]), (model_of(), [])):
        table = rows[there].assign(more=1)
        for source in (duck(table), lite(table)):
            with pytest.raises(ValueError, match="yet now missing"):
                model.predict_table(source)


def test_a_table_that_has_only_a_column_that_was_left_out() -> None:
    table, y = rows_of()
    model = BayesClassifier(structure="naive", families={"more": "ignore"}).fit(table.assign(more=range(60)), y)
    rows = pd.DataFrame({"more": range(5)})
    for source in (duck(rows), lite(rows)):
        with pytest.warns(UserWarning, match="columns of the model are missing"):
            said = model.predict_table(source).to_pandas()
        np.testing.assert_allclose(said["p(no)"], np.full(5, np.mean(y == "no")), atol=0.02)


def test_a_missing_column_at_postgres(server: str) -> None:
    table, y = rows_of()
    table = table.assign(flag=y == "yes", id=2**60 + (y == "yes"))
    model = BayesClassifier(structure="naive", numeric="gaussian", families={"id": "categorical"}).fit(table, y)
    with psycopg.connect(server) as base:
        base.execute('CREATE TEMPORARY TABLE "rows" (town TEXT, prediction TEXT)')
        base.execute("INSERT INTO \"rows\" VALUES ('Rome', 'a'), ('Oslo', 'b'), (NULL, 'c')")
        done = base.execute(model.to_sql("postgres", columns=["town", "prediction"]))
        assert [its.name for its in done.description or ()] == [
            "town", "prediction", "prediction_1", "p(no)", "p(yes)",
        ]  # fmt: skip
        found = done.fetchall()
    with pytest.warns(UserWarning, match="all their cells count as empty"):
        near = model.predict_proba(pd.DataFrame({"town": ["Rome", "Oslo", None]}))
    np.testing.assert_allclose([row[3:] for row in found], near, atol=1e-9)


def test_many_classes_at_sqlite() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(450) % 150
    X = pd.DataFrame({"a": y + 0.1 * rng.normal(size=450), "b": rng.normal(size=450)})
    model = GaussianNB().fit(X, y)
    for source in (lite(X[:50]), duck(X[:50])):
        said = model.predict_table(source).to_pandas()
        assert said["prediction"].tolist() == model.predict(X[:50]).tolist()
        np.testing.assert_allclose(said.iloc[:, 3:].to_numpy(float), model.predict_proba(X[:50]), atol=1e-9)


MAPS = {
    "flat": Temperature(1.6e60),
    "close": Temperature(1e16),
    "closer": Temperature(3e15),
    "sharp": Temperature(1.5),
    "vector": Vector(np.array([1e-60, 2e-60, 1e-60]), np.zeros(3)),
    "isotonic": Isotonic((np.array([-1.0, 1.0]),) * 3, (np.array([0.3, 0.3]),) * 3),
    "rising": Isotonic((np.array([-9.0, 9.0]),) * 3, (np.array([0.1, 0.9]),) * 3),
}


@pytest.mark.parametrize("its", MAPS)
def test_it_is_decided_by_calibrated_shares_as_predict_does(its: str, server: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    X = pd.DataFrame(rng.normal(size=(90, 2)) + y[:, None], columns=["a", "b"])
    kind = {Temperature: "temperature", Vector: "vector", Isotonic: "isotonic"}[type(MAPS[its])]
    model = GaussianNB(calibrate=kind).fit(X, y)
    model.calibration_ = replace(model.calibration_, map=MAPS[its])
    said = model.predict(X).tolist()
    if its in ("flat", "vector", "isotonic"):
        assert set(said) == {0}
    assert model.predict_table(X)["prediction"].tolist() == said
    for source in (duck(X), lite(X)):
        assert model.predict_table(source).to_pandas()["prediction"].tolist() == said
    with psycopg.connect(server) as base:
        base.execute('CREATE TEMPORARY TABLE "rows" (a DOUBLE PRECISION, b DOUBLE PRECISION)')
        with base.cursor() as cursor:
            with cursor.copy('COPY "rows" FROM STDIN') as copy:
                for row in X.to_numpy().tolist():
                    copy.write_row(row)
            assert [row[2] for row in cursor.execute(model.to_sql("postgres")).fetchall()] == said


def test_probabilities_decide_where_scores_differ_in_the_last_digit() -> None:
    new = pd.DataFrame({"a": np.linspace(-0.3, 0.3, 101)})
    for size in (0.125, 0.15, 0.18):
        X = pd.DataFrame({"a": [-size, size, -size, size + 4 * np.spacing(size)]})
        model = GaussianNB(estimate="mle", var_smoothing=0.0).fit(X, ["x", "x", "y", "y"])
        said = model.predict(new).tolist()
        assert model.predict_table(new)["prediction"].tolist() == said
        assert said == model.classes_[model.predict_proba(new).argmax(axis=1)].tolist()


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        GaussianNB(var_smoothing=0.0),
        GaussianNB(estimate="predictive"),
        *(GaussianDiscriminant(covariance=how) for how in ("full", "shared", "diagonal")),
        GaussianDiscriminant(estimate="predictive"),
        GaussianDiscriminant(covariance="shared", solver="svd"),
    ],
    ids=repr,
)
def test_numbers_next_to_nothing_are_no_error_at_postgres(model: Any, server: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    new = [[0.0, 0.0], [5e-324, 1e-300], [-1e-320, 1e-180], [1e-150, -1e-170], [1e-100, 1.0], [1e-20, 2.0], [1.0, 1e9]]
    for scale in (1e-120, 1.0, 1e90):
        X = rng.normal(size=(40, 2)) * [scale, 1] + y[:, None] * [scale, 1]
        X -= X.mean(axis=0)
        model.fit(X, y)
        rows = np.vstack([X, new])
        with psycopg.connect(server) as base:
            base.execute('CREATE TEMPORARY TABLE "rows" (x0 DOUBLE PRECISION, x1 DOUBLE PRECISION)')
            with base.cursor() as cursor:
                with cursor.copy('COPY "rows" FROM STDIN') as copy:
                    for row in rows.tolist():
                        copy.write_row(row)
                found = np.array([row[3:] for row in cursor.execute(model.to_sql("postgres")).fetchall()], float)
        assert np.isfinite(found).all()
        # log p(x, class) of memory has no digits left for the classes where it is this large; SQL may leave out x²
        near = np.abs(model.predict_joint_log_proba(rows)).max(axis=1) < 1e9
        assert near[:44].all()
        np.testing.assert_allclose(found[near], model.predict_proba(rows)[near], atol=1e-6)


def test_a_table_that_is_no_name() -> None:
    model = model_of()
    for table in (None, 5, [1, 2], b"rows", {"a": 1}):
        with pytest.raises(TypeError, match=r"table is a name, such as 'shop\.orders'"):
            model.to_sql(table=table)
    for table, words in (("", "is empty"), ("a..b", "part of the table's name 'a..b' is empty"), (("a", ""), "empty")):
        with pytest.raises(ExportError, match=words) as said:
            model.to_sql(table=table)
        assert "fit again" not in str(said.value)
    with pytest.raises(ExportError, match="not a valid name in DuckDB") as told:
        model.to_sql(table="a\0b")
    assert "fit again" not in str(told.value)


def test_a_statement_for_a_table_whose_columns_are_known() -> None:
    model, (table, _) = model_of(), rows_of(5)
    base = sqlite3.connect(":memory:")
    table.assign(suffice_k0=1, prediction="kept").to_sql("rows", base, index=False)
    sql = model.to_sql("sqlite", columns=["town", "age", "suffice_k0", "prediction"])
    done = base.execute(sql)
    assert [its[0] for its in done.description][-3:] == ["prediction_1", "p(no)", "p(yes)"]
    assert [row[4] for row in done] == model.predict(table).tolist()
    with duckdb.connect() as other:
        other.register("rows", table)
        assert other.sql(model.to_sql("duckdb", columns=["TOWN", "age"])).fetchall()


def test_what_is_said_later_is_what_the_model_was_when_asked() -> None:
    model, (table, labels) = model_of(), rows_of(20)
    said = model.predict_proba(table)
    later = model.predict_table(pl.from_pandas(table).lazy())
    model.partial_fit(table, ["another"] * len(table))
    np.testing.assert_allclose(later.collect()["p(no)"], said[:, 0])
    assert "p(another)" not in later.collect().columns
    assert len(labels) == 20
