"""The Spark engine: the same sums as in memory, on one machine and on a cluster that loses a worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import spark as starting
import suffice
from suffice import BayesClassifier
from suffice.data.engines import spark as engine
from test_engines import FAMILIES, MODELS, TABLES, assert_same_sums, far_from_zero, mixed
from test_scoring import model_of, rows_of

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated:DeprecationWarning"),  # PySpark passes it
    pytest.mark.usefixtures("engine_counts"),
]


def frame_of(spark: Any, frame: pd.DataFrame, parts: int = 3) -> Any:
    return spark.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False)).repartition(parts)


@pytest.mark.parametrize(
    ("door", "name", "model"),
    [
        ("frame", "adult", "as it is"),
        ("frame", "titanic", "tree"),
        ("ibis", "adult", "naive"),
        ("ibis", "titanic", "joint"),  # for pairs of all columns Spark plans longer than it counts
    ],
)
def test_spark_takes_the_sums_that_memory_takes(spark: Any, door: str, name: str, model: str) -> None:
    table = TABLES[name]()
    near = BayesClassifier(**MODELS[model]).fit_table(table, "income")
    source = frame_of(spark, table)
    if door == "ibis":
        source.createOrReplaceTempView("rows_to_learn")
        source = ibis.pyspark.connect(spark).table("rows_to_learn")
    plan = near.plan_ if model == "as it is" else None  # as in the tests of other engines
    assert_same_sums(BayesClassifier(**MODELS[model], plan=plan).fit_table(source, "income"), near, table)


def test_the_default_model_counts_by_the_plan_of_another(spark: Any, engine_counts: None) -> None:
    """A plan from half of the rows, and all rows counted by it, in memory and by Spark."""
    table = mixed()
    X, y = table.drop(columns="income"), table["income"]
    half = np.arange(len(table)) % 2 == 0
    plan = BayesClassifier().fit(X[half], y[half]).plan_
    near = BayesClassifier(plan=plan).fit(X, y)
    far = BayesClassifier(plan=plan).fit_table(frame_of(spark, table), "income")
    assert far.plan_.edges == near.plan_.edges == plan.edges
    assert_same_sums(far, near, table)


@pytest.mark.parametrize("name", ["GaussianNB", "GaussianDiscriminant", "BernoulliNB", "CategoricalNB", "PoissonNB"])
def test_classifiers_of_numbers(spark: Any, name: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = pd.DataFrame(rng.poisson(2 + y[:, None], (200, 3)), columns=list("abc"))
    X = X.mask(rng.random(X.shape) < 0.1)
    near, far = (getattr(suffice, name)(missing="skip") for _ in range(2))
    far.fit_table(frame_of(spark, X.assign(y=y)), "y")
    assert far.tally_.isclose(near.fit(X, y).tally_)
    assert far.tally_ == near.tally_ or name.startswith("Gaussian")


@pytest.mark.parametrize("model", ["naive", "tree"])
def test_numbers_far_from_zero(spark: Any, model: str) -> None:
    table = far_from_zero()
    near = BayesClassifier(**MODELS[model]).fit_table(table, "income")
    assert_same_sums(BayesClassifier(**MODELS[model]).fit_table(frame_of(spark, table), "income"), near, table)
    only = table[["near 1e9", "narrow", "income"]]  # which Spark's own aggregates take
    near = BayesClassifier(**MODELS["naive"]).fit_table(only, "income")
    assert_same_sums(BayesClassifier(**MODELS["naive"]).fit_table(frame_of(spark, only), "income"), near, only)


def test_weights_texts_and_counts(spark: Any) -> None:
    table = mixed()
    settings: dict[str, Any] = {"families": FAMILIES, "structure": "averaged", "numeric": "gaussian"}
    near = BayesClassifier(**settings).fit_table(table, "income", weight="weight")
    far = BayesClassifier(**settings).fit_table(frame_of(spark, table), "income", weight="weight")
    assert_same_sums(far, near, table.drop(columns="weight"))


def test_vectors_and_wide_tables(spark: Any) -> None:
    from pyspark.ml.feature import VectorAssembler

    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(500, 120)) + np.arange(500)[:, None] % 2
    table = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(120)]).assign(income=np.arange(500) % 2)
    near = BayesClassifier(**MODELS["naive"]).fit_table(table, "income")
    wide = frame_of(spark, table)
    assert_same_sums(BayesClassifier(**MODELS["naive"]).fit_table(wide, "income"), near, table)
    names = [f"x{j}" for j in range(120)]
    vectors = VectorAssembler(inputCols=names, outputCol="pixels").transform(wide).select("pixels", "income")
    model = BayesClassifier(**MODELS["naive"]).fit_table(vectors, "income")
    assert model.feature_names_in_[:2].tolist() == ["pixels[0]", "pixels[1]"]
    mine, its = model.tally_.statistics[-1], near.tally_.statistics[-1]
    np.testing.assert_allclose(mine.mean, its.mean, rtol=1e-9)
    np.testing.assert_allclose(mine.m2, its.m2, rtol=1e-9)
    said = model.predict_table(vectors).toPandas()
    assert (said["prediction"] == said["income"]).mean() > 0.95


def test_strange_names_and_what_a_sample_does_not_show(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a.b": rng.normal(size=3000),
            "tick`ed": rng.choice(["x", "y", "z"], 3000),
            "few": np.where(np.arange(3000) % 10 == 0, np.nan, np.arange(3000) % 3),
            "large": np.round(rng.normal(size=3000) * 1e17),
            "income": rng.choice(["p", "q"], 3000),
        }
    )
    near = BayesClassifier(**MODELS["naive"]).fit_table(table, "income")
    monkeypatch.setattr("suffice.classifiers.fit_table.SAMPLE", 500)
    source = spark.createDataFrame(table).repartition(2)
    assert_same_sums(BayesClassifier(**MODELS["naive"]).fit_table(source, "income"), near, table)
    said = BayesClassifier(**MODELS["naive"]).fit_table(table, "income").predict_table(source)
    assert said.columns[:5] == table.columns.tolist()
    assert said.count() == 3000
    source.createOrReplaceTempView("strange_rows")
    view = ibis.pyspark.connect(spark).table("strange_rows")
    quantiles = BayesClassifier(structure="naive", numeric="quantiles", families={"tick`ed": "ignore"})
    assert quantiles.fit_table(view, "income").class_count_.sum() == 3000


def test_many_partitions_are_merged_in_a_tree(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "FAN", 3)
    table = mixed()
    near = BayesClassifier(families=FAMILIES, structure="pooled").fit_table(table, "income")
    far = BayesClassifier(families=FAMILIES, structure="pooled", plan=near.plan_)
    assert_same_sums(far.fit_table(frame_of(spark, table, 10), "income"), near, table)


def test_prediction_at_the_source(spark: Any) -> None:
    table = mixed()
    model = BayesClassifier(families=FAMILIES).fit_table(table, "income")
    rows = mixed(seed=1).assign(row=range(600))
    said = model.predict_table(frame_of(spark, rows))
    assert type(said).__name__ == "DataFrame"
    found = said.toPandas().sort_values("row")
    X = rows.drop(columns=["row", "income"])
    assert found["prediction"].tolist() == model.predict(X).tolist()
    shares = found[[f"p({label})" for label in model.classes_]].to_numpy(float)
    np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-9)


def test_spark_keeps_the_columns_of_the_table(spark: Any) -> None:
    model, (table, _) = model_of(), rows_of(20)
    frame = spark.createDataFrame(pa.Table.from_pandas(table.assign(Prediction="kept"), preserve_index=False))
    said = model.predict_table(model.predict_table(frame)).toPandas().sort_values("age")
    new = ["prediction_1", "p(no)", "p(yes)", "prediction_2", "p(no)_1", "p(yes)_1"]
    assert list(said.columns) == ["town", "age", "Prediction", *new]
    assert set(said["Prediction"]) == {"kept"}
    assert said["prediction_2"].tolist() == model.predict(table.sort_values("age")).tolist()


def test_bad_tables(spark: Any) -> None:
    table = mixed()
    model = BayesClassifier(families=FAMILIES).fit_table(table, "income")
    before = model.tally_
    with pytest.raises(ValueError, match="there is no column 'incom'; did you mean 'income'"):
        model.fit_table(frame_of(spark, table), "incom")
    with pytest.raises(ValueError, match="no rows"):
        model.fit_table(frame_of(spark, table.iloc[:0]), "income")
    table.loc[3, "income"] = None
    with pytest.raises(ValueError, match="'income', the target, is empty in 1 of 600 rows"):
        model.fit_table(frame_of(spark, table), "income")
    table = mixed()
    table.loc[3, "count"] = -4
    with pytest.raises(ValueError, match=r"[Nn]egative.*'count'|'count'.*negative"):
        model.fit_table(frame_of(spark, table), "income")
    assert model.tally_ is before


DRIVER = """
import json, os, sys
from pathlib import Path
from pyspark.sql import SparkSession
from suffice import BayesClassifier
from suffice.classifiers import fit_table
from suffice.data.engines import spark_waiting, spark as engine

url, folder = sys.argv[1], Path(sys.argv[2])

spark = (
    SparkSession.builder.master(url).config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .config("spark.executor.memory", "512m").config("spark.log.level", "ERROR")
    .config("spark.driver.extraJavaOptions", sys.argv[3]).config("spark.executor.extraJavaOptions", sys.argv[3])
    .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path[1:]))
    .config("spark.sql.shuffle.partitions", "2").getOrCreate()
)

def slowly(batches):
    import time
    for batch in batches:
        if (folder / "counting").exists():  # the fit lasts long enough to lose a worker in the middle of it
            (folder / f"met {time.time_ns()}").touch()
            time.sleep(0.7)
        yield batch

def tally(source, request, count=engine.SparkSource.tally):
    (folder / "counting").touch()
    return count(source, request)

rows = spark.read.parquet(str(folder / "rows.parquet")).repartition(16)
rows = rows.mapInArrow(slowly, rows.schema)
engine.SparkSource.tally, spark_waiting.PATIENCE = tally, 6
fit_table.takes_sample_as_table = lambda source: False  # the rows are few, and Spark is to count them
for _ in range(2):
    model = BayesClassifier(structure="averaged")
    try:
        model.fit_table(rows, "income")
        said = {"digest": model.tally_.digest(), "rows": model.class_count_.sum()}
    except ValueError as error:
        said = {"error": str(error), "learned": hasattr(model, "tally_")}
    (folder / "counting").unlink()
    for met in folder.glob("met *"):
        met.unlink()
    print(json.dumps(said), flush=True)
"""


def test_a_cluster_of_two_workers_that_are_lost_one_after_the_other(tmp_path: Path) -> None:
    table = mixed(4000)[["select", "count", "income"]]
    table.to_parquet(tmp_path / "rows.parquet")
    near = BayesClassifier(structure="averaged").fit_table(table, "income")
    found = []
    with (
        starting.cluster(tmp_path) as cluster,
        open(tmp_path / "complaints", "w+") as complaints,
        subprocess.Popen(
            [sys.executable, "-c", DRIVER, cluster.url, tmp_path, starting.JAVA_OPTIONS],
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        ) as driver,
    ):
        assert driver.stdout is not None
        for lost in (0, 1):
            # some of the 16 parts are counted, and the next two have begun
            starting.wait_for(lambda: len(list(tmp_path.glob("met *"))) >= 5, tmp_path / "complaints")
            cluster.kill(lost)
            found.append(json.loads(driver.stdout.readline()))
        assert driver.wait(60) == 0
    assert found[0] == {"rows": 4000, "digest": near.tally_.digest()}
    assert found[1] == {"error": "Spark has lost all its workers, and got no other in 6 s", "learned": False}


def test_a_session_that_is_gone(spark: Any) -> None:
    table = mixed()
    model = BayesClassifier(families=FAMILIES).fit_table(table, "income")
    before, source = model.tally_, frame_of(spark, table)
    spark.stop()
    with pytest.raises(ValueError, match="Spark could not count the rows"):
        model.fit_table(source, "income")
    assert model.tally_ is before
    assert suffice.__version__


CONNECT = """
import json, sys, warnings
import pandas as pd
from pyspark.sql import SparkSession
import suffice.classifiers.fit_table as learning
from suffice import BayesClassifier
learning.takes_sample_as_table = lambda source: False
warnings.simplefilter("ignore")
session = SparkSession.builder.remote("local[2]").config("spark.log.level", "ERROR").getOrCreate()
frame = pd.read_parquet(sys.argv[1])
rows = session.createDataFrame(frame).repartition(3)
found = {}
for structure, columns in (("naive", ["x", "y"]), ("averaged", list(frame))):
    settings = {"structure": structure, "numeric": "gaussian"}
    near = BayesClassifier(**settings).fit_table(frame[columns], "y")
    far = BayesClassifier(**settings).fit_table(rows.select(*columns), "y")
    said = far.predict_table(rows).toPandas().sort_values("x")["prediction"].tolist()
    own = near.predict_table(frame.sort_values("x"))["prediction"].tolist()
    found[structure] = [type(rows).__module__, far.tally_.isclose(near.tally_), said == own]
print(json.dumps(found))
session.stop()
"""


def test_spark_connect(tmp_path: Path) -> None:
    """A process has a session of Spark Connect or a classic one, so that this runs in another process."""
    starting.needed()
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300)
    frame = pd.DataFrame({"x": rng.normal(size=300) + (y == "a"), "k": rng.choice(["u", "v"], 300), "y": y})
    frame.to_parquet(tmp_path / "rows.parquet")
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", CONNECT, str(tmp_path / "rows.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **own}, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {name: ["pyspark.sql.connect.dataframe", True, True] for name in ("naive", "averaged")}
