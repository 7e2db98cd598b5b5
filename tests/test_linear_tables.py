"""Logistic regression and Gaussian discriminants as SQL, and their predictions of tables."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import GaussianDiscriminant, LogisticRegression
from suffice.blocks import Dense, Gappy
from suffice.export import ExportError
from suffice.structures.covariances import KINDS

LABELS = np.array(["no", "it's", "yes"])
TABLES = ("duckdb", "sqlite", "parquet", "polars", "lazy", "pandas")


def rows_of(classes: int, rows: int = 120) -> tuple[pd.DataFrame, Any]:
    """Return rows with a column far from 0, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, rows)
    frame = pd.DataFrame({"year": 2000.0 + rng.normal(y, 2), "b": rng.normal(-y, 1), "select": rng.poisson(1 + y)})
    return frame, LABELS[:classes][y]


def collected(table: Any) -> pd.DataFrame:
    table = table.collect() if hasattr(table, "collect") else table
    return table if isinstance(table, pd.DataFrame) else table.to_pandas()


def table_of(kind: str, frame: pd.DataFrame, folder: Path) -> Any:
    if kind == "parquet":
        frame.to_parquet(folder / "rows.parquet")
        return folder / "rows.parquet"
    if kind in ("polars", "lazy"):
        return pl.from_pandas(frame) if kind == "polars" else pl.from_pandas(frame).lazy()
    if kind == "pandas":
        return frame
    base = ibis.duckdb.connect() if kind == "duckdb" else ibis.sqlite.connect()
    return base.create_table("rows_to_score", pa.Table.from_pandas(frame, preserve_index=False))


def assert_scored(model: Any, scored: pd.DataFrame, frame: pd.DataFrame) -> None:
    names = [f"p({label})" for label in model.classes_]
    assert list(scored.columns) == [*frame.columns, "prediction", *names]
    assert scored["prediction"].tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(scored[names].to_numpy(float), model.predict_proba(frame), atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_exported_model_has_the_probabilities_of_the_regression(classes: int, intercept: bool) -> None:
    frame, y = rows_of(classes)
    model = LogisticRegression(fit_intercept=intercept).fit(frame, y)
    block = Dense("test", None, frame.to_numpy(float))
    exported = model.as_model()
    np.testing.assert_allclose(np.exp(exported.log_posterior((block,))), model.predict_proba(frame), atol=1e-12)
    assert model.classes_[exported.most_probable((block,))].tolist() == model.predict(frame).tolist()
    assert exported.class_log_prior.max() == 0
    wrong = block.array.copy()
    wrong[3, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 is nan in row 3"):
        exported.log_joint((Gappy("test", None, wrong),))


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_regression_predicts_tables(classes: int, kind: str, tmp_path: Path) -> None:
    frame, y = rows_of(classes)
    model = LogisticRegression().fit(frame, y)
    assert_scored(model, collected(model.predict_table(table_of(kind, frame, tmp_path))), frame)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
@pytest.mark.parametrize("covariance", [*KINDS, "svd"])
def test_every_discriminant_predicts_tables(covariance: str, kind: str, tmp_path: Path) -> None:
    frame, y = rows_of(3)
    form = {"covariance": "shared", "solver": "svd"} if covariance == "svd" else {"covariance": covariance}
    model = GaussianDiscriminant(**form).fit(frame, y)
    assert model.to_sql(kind)  # so the database computes, and the model is not called
    assert_scored(model, collected(model.predict_table(table_of(kind, frame, tmp_path))), frame)


def test_rows_with_missing_cells_have_no_prediction_in_sql() -> None:
    frame, y = rows_of(2)
    model = LogisticRegression().fit(frame, y)
    with sqlite3.connect(":memory:") as lite, duckdb.connect() as duck:
        lite.execute('CREATE TABLE rows (year REAL, b REAL, "select" REAL)')
        lite.executemany("INSERT INTO rows VALUES (?, ?, ?)", [(2001, 0, 1), (None, 0, 1), (2001, 0, None)])
        duck.execute("CREATE TABLE rows AS SELECT 2001 AS year, 0 AS b, 1.0 AS select UNION ALL SELECT 2001, 0, 'NaN'")
        for found in (lite.execute(model.to_sql("sqlite")).fetchall(), duck.execute(model.to_sql()).fetchall()):
            expected = model.predict_proba(pd.DataFrame({"year": [2001.0], "b": [0.0], "select": [1.0]}))[0]
            np.testing.assert_allclose(found[0][4:], expected, atol=1e-9)
            assert all(row[3:] == (None, None, None) for row in found[1:])
    with pytest.raises(ValueError, match="column 'b' is nan in row 0"):
        model.predict_table(frame.assign(b=np.nan))


def test_the_first_of_equally_probable_classes_is_predicted() -> None:
    model = LogisticRegression(fit_intercept=False).fit([[-1.0], [2.0], [-2.0], [1.0]], ["b", "a", "b", "a"])
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE rows AS SELECT 0.0 AS x0")
        (row,) = base.execute(model.to_sql("sqlite"))
    assert row == (0.0, *model.predict([[0.0]]), 0.5, 0.5)


def test_a_table_without_a_column_is_an_error(tmp_path: Path) -> None:
    frame, y = rows_of(2)
    model = LogisticRegression().fit(frame, y)
    for kind in ("duckdb", "pandas"):
        with pytest.raises(ValueError, match=r"now missing:\n- b"):
            model.predict_table(table_of(kind, frame.drop(columns="b"), tmp_path))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_products_of_columns_predict_tables(kind: str, classes: int, tmp_path: Path) -> None:
    frame, y = rows_of(classes)
    frame["year"] -= 1990
    model = LogisticRegression(lift="quadratic").fit(frame, y)
    assert_scored(model, collected(model.predict_table(table_of(kind, frame, tmp_path))), frame)
    with pytest.raises(ExportError, match=r"product of each two columns.*style=\"tables\""):
        model.to_sql(style="select")
    block = Dense("test", None, frame.to_numpy(float))
    exported = model.as_model()
    np.testing.assert_allclose(np.exp(exported.log_posterior((block,))), model.predict_proba(frame), atol=1e-12)
    (score,) = exported.scores
    parts = score.contributions(block).sum(axis=2) + exported.class_log_prior
    np.testing.assert_allclose(parts, exported.log_joint((block,)), rtol=1e-12)


def test_products_in_onnx() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    frame, y = rows_of(3)
    frame["year"] -= 1990
    model = LogisticRegression(lift="quadratic").fit(frame, y)
    session = onnxruntime.InferenceSession(model.to_onnx("float64").SerializeToString())
    given = {name: frame[[name]].to_numpy(float, copy=True) for name in frame}
    labels, proba = session.run(["label", "probabilities"], given)
    np.testing.assert_allclose(proba, model.predict_proba(frame), atol=1e-9)
    assert labels.tolist() == model.predict(frame).tolist()
    given["b"][3] = np.nan
    assert np.isnan(session.run(["probabilities"], given)[0][3]).all()


@pytest.mark.parametrize("lift", ["linear", "quadratic"])
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_a_regression_as_tables_of_coefficients(engine: str, lift: str) -> None:
    frame, y = rows_of(3)
    frame["year"] -= 1990
    model = LogisticRegression(lift=lift).fit(frame, y)
    frame.loc[[0, 5], "b"] = np.nan
    script = model.to_sql(engine, table="rows", style="tables", view=False).strip().rstrip(";").split(";\n")
    base: Any = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    names = ", ".join(f'"{name}" DOUBLE' for name in frame.columns)
    base.execute(f"CREATE TABLE rows (place INT, {names})")
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    base.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", [[place, *row] for place, row in enumerate(cells)])
    for statement in script[:-1]:
        base.execute(statement)
    scored = sorted(base.execute(script[-1]).fetchall())
    complete = frame.notna().all(axis=1).to_numpy()
    assert [row[4] for row in np.array(scored, object)[~complete]] == [None, None]
    found = np.array([row[5:] for row, is_complete in zip(scored, complete, strict=True) if is_complete], float)
    np.testing.assert_allclose(found, model.predict_proba(frame[complete]), atol=1e-9)
