"""Engines: files, databases, lazy frames and batches give the same sums as data in memory."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import dask.dataframe
import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import postgres
import suffice
from cases import SOURCES, WITH_MOMENTS, every_family, family_model, family_table
from conftest import data
from suffice import BayesClassifier, CoMoments, Moments, Text
from suffice.data.engines import open_source as registry
from suffice.data.engines.source import Source

Make = Callable[[pd.DataFrame], Any]
pytestmark = pytest.mark.usefixtures("engine_counts")


def adult() -> pd.DataFrame:
    frame = pd.read_csv(data("tabular/adult-train.csv.gz"), header=None, na_values="?", skipinitialspace=True)
    return frame.rename(columns=lambda place: "income" if place == 14 else f"column {place}")


def titanic() -> pd.DataFrame:
    return pd.read_csv(data("tabular/titanic.csv")).rename(columns={"survived": "income"})


def far_from_zero(rows: int = 4000) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {
            "near 1e9": rng.normal(1e9, 1, rows) + y,
            "narrow": rng.normal(-3e8, 0.01, rows),
            "few": rng.integers(0, 4, rows),
            "flag": rng.random(rows) < 0.3,
            "income": y,
        }
    )
    frame.loc[rng.random(rows) < 0.05, "near 1e9"] = np.nan
    return frame


TABLES = {"adult": adult, "titanic": titanic, "far from zero": far_from_zero}
MODELS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "averaged": {"structure": "averaged"},
    "naive": {"structure": "naive", "numeric": "gaussian"},
    "tree": {"structure": "tree", "numeric": "gaussian"},
    "joint": {"structure": "joint", "numeric": "quantiles"},
}
# Spark has a file of its own, because it takes long to start.
ENGINES = tuple(source for engine, sources in SOURCES.items() for source in sources if engine != "spark")


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with postgres.start() as url:
        yield ibis.connect(url)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """What makes a source out of a frame."""
    if request.param == "parquet":  # by SQL, as a large file; the others are small, and counted from batches
        monkeypatch.setattr("suffice.data.engines.duckdb_files.SAMPLE", 0)
    with ExitStack() as stack:
        yield maker(request.param, tmp_path, request, stack)


def maker(name: str, folder: Path, request: pytest.FixtureRequest, stack: ExitStack) -> Make:
    def arrow(frame: pd.DataFrame) -> pa.Table:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        kinds = [pa.string() if pa.types.is_null(kind) else kind for kind in table.schema.types]
        return table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))

    def parquet(frame: pd.DataFrame) -> Any:
        frame.to_parquet(folder / "rows.parquet", index=False)
        return folder / "rows.parquet"

    def many(frame: pd.DataFrame) -> Any:
        for part in range(4):
            frame.iloc[part::4].to_parquet(folder / f"part {part}.parquet", index=False)
        return str(folder / "part *.parquet")

    def csv(frame: pd.DataFrame) -> Any:
        frame.to_csv(folder / "rows.csv.gz", index=False)
        return folder / "rows.csv.gz"

    def table(connection: Any) -> Make:
        def make(frame: pd.DataFrame) -> Any:
            return connection.create_table("rows to learn", arrow(frame), overwrite=True)

        return make

    def dask_frame(frame: pd.DataFrame) -> Any:
        with dask.config.set({"dataframe.convert-string": False}):  # dask makes strings of booleans with empty cells
            return dask.dataframe.from_pandas(frame, npartitions=3, sort=False)

    def url(frame: pd.DataFrame) -> Any:
        connection = duckdb.connect(folder / "base.duckdb")
        connection.register("rows", arrow(frame))
        connection.execute('CREATE OR REPLACE TABLE "rows to learn" AS SELECT * FROM rows')
        connection.close()
        return f"duckdb://{folder}/base.duckdb#rows to learn"

    makers: dict[str, Callable[[], Make]] = {
        "parquet": lambda: parquet,
        "many files": lambda: many,
        "csv": lambda: csv,
        "duckdb": lambda: table(ibis.duckdb.connect()),
        "relation": lambda: lambda frame: duckdb.connect().from_arrow(arrow(frame)),
        "url": lambda: url,
        "sqlite": lambda: table(ibis.sqlite.connect()),
        "postgres": lambda: table(request.getfixturevalue("server")),
        "lazy": lambda: lambda frame: pl.from_pandas(frame).lazy(),
        "dask": lambda: dask_frame,
        "batches": lambda: lambda frame: (frame.iloc[first : first + 977] for first in range(0, len(frame), 977)),
        "reader": lambda: (
            lambda frame: pa.RecordBatchReader.from_batches(
                arrow(frame).schema, arrow(frame).to_batches(max_chunksize=777)
            )
        ),
    }
    return makers[name]()


def patch_sample(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Let a table of more rows count as a large one."""
    for module in ("classifiers.fit_table", "data.engines.duckdb_files"):
        monkeypatch.setattr(f"suffice.{module}.SAMPLE", rows)


def assert_same_sums(far: Any, near: Any, frame: pd.DataFrame) -> None:
    """Counts are the same to the bit, moments to 1e-9, and so is what is said of rows."""
    assert far.families_ == near.families_
    assert far.left_out_ == near.left_out_
    assert far.classes_.tolist() == near.classes_.tolist()
    common = near.tally_.schema.merge(far.tally_.schema)  # a plan from a sample has other cells
    mine, its = far.tally_.on(common), near.tally_.on(common)
    assert mine.class_count.tolist() == its.class_count.tolist()
    for block, a, b in zip(its.schema.blocks, mine.statistics, its.statistics, strict=True):
        if isinstance(b, Moments | CoMoments):
            assert_same_moments(a, b)
        elif block.family in WITH_MOMENTS:
            assert a.isclose(b, 1e-12)
        else:
            assert a == b
    X = frame.drop(columns="income").iloc[:500]
    np.testing.assert_allclose(far.predict_proba(X), near.predict_proba(X), rtol=1e-6, atol=1e-9)


def assert_same_moments(a: Any, b: Any) -> None:
    mine, its = a.spreads, b.spreads
    np.testing.assert_array_equal(np.broadcast_to(mine.n, its.m2.shape), np.broadcast_to(its.n, its.m2.shape))
    deviation = np.sqrt(its.m2 / np.maximum(its.n, 1))
    assert (np.abs((mine.mean - its.mean) + (mine.tail - its.tail)) <= 1e-9 * (deviation + 1e-3 * abs(its.mean))).all()
    np.testing.assert_allclose(mine.m2, its.m2, rtol=1e-9)
    if hasattr(a, "scatter"):
        scale = np.sqrt(np.einsum("kii,kjj->kij", b.scatter, b.scatter))
        assert (np.abs(a.scatter - b.scatter) <= 1e-9 * scale).all()


@pytest.mark.filterwarnings("ignore:columns left out")
@pytest.mark.parametrize(
    ("name", "model"),
    [
        *(("adult", model) for model in ("as it is", "averaged", "naive")),
        *(("titanic", model) for model in ("as it is", "averaged", "tree", "joint")),
        *(("far from zero", model) for model in ("naive", "tree")),
    ],
)
def test_every_engine_takes_the_sums_that_memory_takes(engine: Make, name: str, model: str) -> None:
    frame = TABLES[name]()
    near = BayesClassifier(**MODELS[model]).fit_table(frame, "income")
    # the weights of a pool are fitted to scores, whose last digits depend on the order of the rows
    plan = near.plan_ if model == "as it is" else None
    far = BayesClassifier(**MODELS[model], plan=plan).fit_table(engine(frame), "income")
    assert_same_sums(far, near, frame)


def test_the_registry_of_engines(tmp_path: Path) -> None:
    frame = far_from_zero(50)
    frame.to_parquet(tmp_path / "rows.parquet")
    with duckdb.connect(tmp_path / "base.duckdb") as base:
        base.execute("CREATE TABLE rows AS SELECT * FROM frame")
    sources = {
        "FilesSource": tmp_path / "rows.parquet",
        "SqlSource": ibis.duckdb.connect().create_table("rows", pa.Table.from_pandas(frame)),
        "RelationSource": duckdb.from_arrow(pa.Table.from_pandas(frame)),
        "UrlSource": f"duckdb:///{tmp_path}/base.duckdb#rows",
        "LazySource": pl.from_pandas(frame).lazy(),
        "DaskSource": dask.dataframe.from_pandas(frame, npartitions=3),
        "Batches": pa.Table.from_pandas(frame).to_reader(),
    }
    # Spark needs a server, and has tests of its own
    assert [name for _, name, _ in registry.ENGINES if name not in sources] == ["SparkSource"]
    for module, name, extra in registry.ENGINES:
        its = getattr(import_module(f"suffice.data.engines.{module}"), name)
        assert issubclass(its, Source)
        assert not its.__abstractmethods__
        assert extra in ("suffice", "suffice[spark]")
        assert not its.accepts(3)
        if name in sources:
            source = registry.open_source(sources[name])
            assert type(source) is its
            assert registry.open_source(source) is source
            assert source.names == tuple(frame.columns)
            rows, is_whole = source.sample(100, spread=True)
            assert len(rows) == 50
            assert is_whole


def mixed(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """A small table of everything: holes, weights, texts, counts, names that bite."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["yes", "no", 'it\'s "both"'], rows, p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame(
        {
            'a "quoted" name': rng.normal(size=rows) + (y == "yes"),
            "select": rng.choice(["a'b", 'c"d', "e;f", "ä", None], rows),
            "count": rng.poisson(2 + (y == "no"), rows),
            "words": [" ".join(rng.choice(["spam", "Ham", "egg", "it's", "2024"], 6)) for _ in range(rows)],
            "weight": rng.integers(1, 4, rows).astype(float),
            "income": y,
        }
    )
    frame.loc[rng.random(rows) < 0.1, 'a "quoted" name'] = np.nan
    return frame


@every_family
def test_every_family_is_counted_by_every_engine(engine: Make, family: str) -> None:
    X, y = family_table(family, missing=0.1)
    frame = X.assign(income=y)
    far = family_model(family).fit_table(engine(frame), target="income")
    assert_same_sums(far, family_model(family).fit(X, y), frame)


FAMILIES = {"count": "poisson", "words": "text"}


@pytest.mark.parametrize("structure", ["naive", "averaged", "full"])
def test_weights_texts_and_counts(engine: Make, structure: str) -> None:
    frame = mixed()
    settings = {"families": FAMILIES, "structure": structure, "numeric": "gaussian"}
    near = BayesClassifier(**settings).fit_table(frame, "income", weight="weight")
    far = BayesClassifier(**settings).fit_table(engine(frame), "income", weight="weight")
    assert_same_sums(far, near, frame.drop(columns="weight"))
    assert far.families_["words"] == "text"


def test_rows_without_a_label(engine: Make) -> None:
    frame = mixed()
    frame.loc[::7, "income"] = None
    model = BayesClassifier(families=FAMILIES, structure="averaged")
    with pytest.raises(ValueError, match=r"'income', the target, is empty in 86 of 600 rows"):
        model.fit_table(engine(frame), "income")
    assert not hasattr(model, "tally_")
    far = model.fit_table(engine(frame), "income", missing_target="drop")
    near = BayesClassifier(families=FAMILIES, structure="averaged").fit_table(frame, "income", missing_target="drop")
    assert_same_sums(far, near, frame)


def test_a_target_of_nothing(engine: Make) -> None:
    frame = mixed().assign(income=pd.Series([None] * 600, dtype=object))
    for missing_target in ("error", "drop"):
        with pytest.raises(ValueError, match="'income', the target, is empty in all 600 rows"):
            BayesClassifier().fit_table(engine(frame), "income", missing_target=missing_target)


def test_a_table_without_the_target(engine: Make) -> None:
    model = BayesClassifier().fit_table(mixed(), "income")
    before = model.tally_
    with pytest.raises(ValueError, match="there is no column 'incom'; did you mean 'income'"):
        model.fit_table(engine(mixed()), "incom")
    with pytest.raises(ValueError, match="there is no column 'wt'"):
        model.fit_table(engine(mixed()), "income", weight="wt")
    assert model.tally_ is before


def test_an_empty_table(engine: Make) -> None:
    with pytest.raises(ValueError, match="no rows"):
        BayesClassifier().fit_table(engine(mixed().iloc[:0]), "income")


def test_infinity_is_named(engine: Make) -> None:
    frame = far_from_zero(300)
    frame.loc[7, "narrow"] = np.inf
    for numeric in ("gaussian", "quantiles"):
        with pytest.raises(ValueError, match=r"infinity.*'narrow'|'narrow'.*infinity"):
            BayesClassifier(structure="naive", numeric=numeric).fit_table(engine(frame), "income")


def test_negative_counts_and_weights_are_named(engine: Make) -> None:
    frame = mixed()
    frame.loc[3, "count"] = -2
    with pytest.raises(ValueError, match=r"[Nn]egative.*'count'|'count'.*negative"):
        BayesClassifier(families=FAMILIES).fit_table(engine(frame), "income")
    frame = mixed()
    frame.loc[3, "weight"] = -1.0
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        BayesClassifier().fit_table(engine(frame), "income", weight="weight")


@pytest.mark.filterwarnings("ignore:columns left out")
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["naive", "chain", "tree", "averaged", "full", "joint"]))
def test_any_table_at_a_database(seed: int, structure: str) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 60))
    columns: dict[str, Any] = {
        "reals": np.round(rng.normal(rng.choice([0, 1e9]), 1, rows), int(rng.integers(0, 3))),
        "whole": rng.integers(-2, 3, rows),
        "flag": rng.random(rows) < 0.5,
        "levels": rng.choice(["a", "b", "c", ""], rows),
        "more": rng.choice([0.5, 1.0, -0.0, 0.0], rows),
        "income": rng.choice([True, False] if seed % 2 else [2, 10, 3], rows),
        "w": rng.integers(0, 3, rows) + (rng.random(rows) < 0.5) * 0.5 + 0.25,
    }
    frame = pd.DataFrame(columns)
    frame.loc[rng.random(rows) < 0.2, "reals"] = np.nan
    frame.loc[rng.random(rows) < 0.2, "levels"] = None
    weight = "w" if seed % 3 == 0 else None
    frame = frame if weight else frame.drop(columns="w")
    settings = {"structure": structure, "numeric": ["auto", "gaussian", "quantiles"][seed % 3]}
    try:
        near = BayesClassifier(**settings).fit_table(frame, "income", weight=weight)
    except ValueError:
        return
    table = ibis.duckdb.connect().create_table("rows", pa.Table.from_pandas(frame, preserve_index=False))
    far = BayesClassifier(**settings).fit_table(table, "income", weight=weight)
    assert far.families_ == near.families_
    assert far.tally_.isclose(near.tally_, 1e-9)
    if weight is None and all(block.family != "gaussian" for block in near.tally_.schema.blocks):
        assert far.tally_ == near.tally_


def test_a_sample_does_not_decide_what_all_rows_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rare values that no sample need hold: a flag, a third level, many numbers, a number that comes twice."""
    rows = 20_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "y": rng.choice(["a", "b"], rows)})
    frame["rare flag"] = np.where(np.arange(rows) == 10_001, "set", "clear")
    frame["mostly zero"] = np.where(np.arange(rows) % 500 == 499, rng.normal(size=rows), 0.0)
    frame["nearly an identifier"] = np.where(np.arange(rows) == 9_999, 0, np.arange(rows))
    frame["an identifier"] = [f"id {row}" for row in range(rows)]
    frame["all the same"] = 1
    patch_sample(monkeypatch, 400)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=2000)
    settings: dict[str, Any] = {"structure": "naive", "numeric": "gaussian"}
    with pytest.warns(UserWarning, match="columns left out"):
        near = BayesClassifier(**settings).fit_table(frame, "y")
    for source in (
        tmp_path / "rows.parquet",
        ibis.duckdb.connect().create_table("rows", pa.Table.from_pandas(frame)),
        pl.from_pandas(frame).lazy(),
    ):
        with pytest.warns(UserWarning, match="columns left out"):
            far = BayesClassifier(**settings).fit_table(source, "y")
        assert far.families_ == near.families_
        assert set(far.left_out_) == set(near.left_out_) == {"an identifier", "all the same"}
        assert far.tally_.isclose(near.tally_)


def test_bins_of_a_large_table_come_from_a_sample_of_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patch_sample(monkeypatch, 5_000)
    rows = 60_000
    frame = pd.DataFrame({"x": np.linspace(0, 1, rows), "y": np.arange(rows) // (rows // 4)})  # sorted by class
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=4096)
    for source in (tmp_path / "rows.parquet", pl.from_pandas(frame).lazy()):
        model = BayesClassifier(structure="naive", numeric="mdl").fit_table(source, "y")
        assert model.class_count_.tolist() == [15_000.0] * 4
        (edges,) = (coding.edges for coding in model.chosen_tally().schema.blocks[0].codings)
        np.testing.assert_allclose(edges, [0.25, 0.5, 0.75], atol=0.05)


def test_what_is_chosen_beside_the_sums(tmp_path: Path) -> None:
    frame = adult().iloc[:5000]
    frame.to_parquet(tmp_path / "rows.parquet")
    settings = {"structure": "naive", "prior": "auto", "calibrate": "temperature"}
    near = BayesClassifier(**settings).fit_table(frame, "income")
    far = BayesClassifier(**settings).fit_table(tmp_path / "rows.parquet", "income")
    assert far.chosen_ == near.chosen_
    assert far.calibration_.map.temperature == pytest.approx(near.calibration_.map.temperature, rel=1e-6)
    assert far.target_name_ == "income"
    assert suffice.load(far.save(tmp_path / "model.suffice")).tally_ == far.tally_


def test_folders_and_lists_of_files(tmp_path: Path) -> None:
    frame = mixed()
    frame["year"] = np.repeat([2023, 2024, 2025], 200)
    for year, rows in frame.groupby("year"):
        folder = tmp_path / "by year" / f"year={year}"
        folder.mkdir(parents=True)
        rows.drop(columns="year").to_parquet(folder / "rows.parquet", index=False)
    near = BayesClassifier(families=FAMILIES).fit_table(frame, "income")
    far = BayesClassifier(families=FAMILIES).fit_table(tmp_path / "by year", "income")
    assert_same_sums(far, near, frame)
    files = sorted((tmp_path / "by year").rglob("*.parquet"))
    assert BayesClassifier(families=FAMILIES).fit_table(files, "income").class_count_.sum() == 600
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    frame.to_feather(tmp_path / "rows.feather")
    # pandas writes ten digits of a number, and trees depend on all of them
    for name, plan in (("rows.jsonl", near.plan_), ("rows.feather", None)):
        model = BayesClassifier(families=FAMILIES, plan=plan).fit_table(tmp_path / name, "income")
        assert_same_sums(model, near, frame)


def test_bad_files_are_named(tmp_path: Path) -> None:
    frame = mixed()
    model = BayesClassifier(families=FAMILIES).fit_table(frame, "income")
    before = model.tally_
    for part in range(3):
        frame.iloc[part::3].to_parquet(tmp_path / f"{part}.parquet")
    broken = tmp_path / "1.parquet"
    whole = broken.read_bytes()
    for spoiled in (whole[: len(whole) // 2], b"", whole[:-20] + b"x" * 20):
        broken.write_bytes(spoiled)
        with pytest.raises(ValueError, match=re.escape(str(broken))):
            model.fit_table(tmp_path / "*.parquet", "income")
    broken.write_bytes(whole[:8] + b"\xff" * 400 + whole[408:])  # the footer is whole, and a page is not
    with pytest.raises(ValueError, match=re.escape(str(broken))):
        model.fit_table(tmp_path / "*.parquet", "income")
    frame.iloc[1::3].astype({"count": str}).to_parquet(broken)
    with pytest.raises(ValueError, match=r"'count' is numbers in .*0.parquet' and strings in .*1.parquet"):
        model.fit_table(tmp_path / "*.parquet", "income")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        model.fit_table(tmp_path / "none.parquet", "income")
    with pytest.raises(ValueError, match="no file matches"):
        model.fit_table(tmp_path / "none*.parquet", "income")
    (tmp_path / "rows.xyz").write_text("a")
    with pytest.raises(ValueError, match="no known extension"):
        model.fit_table(tmp_path / "rows.xyz", "income")
    assert model.tally_ is before


def test_a_column_that_changes_its_type_between_files_of_csv(tmp_path: Path) -> None:
    pd.DataFrame({"x": range(100), "y": ["a", "b"] * 50}).to_csv(tmp_path / "1.csv", index=False)
    pd.DataFrame({"x": ["one", "two"] * 50, "y": ["a", "b"] * 50}).to_csv(tmp_path / "2.csv", index=False)
    with pytest.raises(ValueError, match=r"'x' is numbers in .*1.csv' and strings in .*2.csv"):
        BayesClassifier().fit_table(tmp_path / "*.csv", "y")


def test_a_column_that_changes_its_type_between_batches() -> None:
    frame = mixed()
    model = BayesClassifier(families=FAMILIES).fit_table(frame, "income")
    before = model.tally_
    with pytest.raises(ValueError, match=r"'select'|'count'"):
        model.fit_table([frame] * 200 + [frame.assign(count="many", select=3)], "income")
    assert model.tally_ is before


def test_an_unreachable_database(server: Any) -> None:
    with postgres.start() as url:
        table = ibis.connect(url).create_table("rows", pa.Table.from_pandas(mixed()))
        model = BayesClassifier(families=FAMILIES).fit_table(table, "income")
        before = model.tally_
    with pytest.raises(ValueError, match="postgres could not read the table"):
        model.fit_table(table, "income")
    assert model.tally_ is before


def test_what_is_no_source_at_all() -> None:
    for source in (3, None, {"x": [1]}, ["a", 3]):
        with pytest.raises((TypeError, ValueError, FileNotFoundError)):
            BayesClassifier().fit_table(source, "y")
    with pytest.raises(TypeError, match="must yield data frames or Arrow record batches"):
        BayesClassifier().fit_table([[1, 2], [3, 4]], "y")
    with pytest.raises(ValueError, match="no rows"):
        BayesClassifier().fit_table([], "y")


@pytest.mark.parametrize("structure", ["naive", "tree", "averaged"])
def test_prediction_at_the_source(engine: Make, structure: str) -> None:
    frame = mixed().drop(columns=["words", "weight"])
    model = BayesClassifier(structure=structure, numeric="gaussian").fit_table(frame, "income")
    rows = mixed(seed=1).drop(columns=["words", "weight"])
    rows.loc[:20, "select"] = "never met"
    rows["row"] = np.arange(len(rows))
    source = engine(rows)
    far = model.predict_table(source)
    found = collected(far).sort_values("row").reset_index(drop=True)
    X = rows.drop(columns=["row", "income"])
    assert found["prediction"].tolist() == model.predict(X).tolist()
    shares = found[[f"p({label})" for label in model.classes_]].to_numpy(float)
    np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-6)
    assert set(rows.columns) <= set(found.columns)


def collected(table: Any) -> pd.DataFrame:
    if hasattr(table, "to_df"):
        return table.to_df()
    if hasattr(table, "compute"):
        return table.compute()
    if hasattr(table, "collect"):
        return table.collect().to_pandas()
    if hasattr(table, "to_pandas"):
        return table.to_pandas()
    return pd.concat([each if isinstance(each, pd.DataFrame) else each.to_pandas() for each in table])


def test_lazy_tables_are_refused_where_rows_are_needed() -> None:
    frame = far_from_zero(60).drop(columns="flag")
    model = BayesClassifier().fit_table(frame, "income")
    lazy = {
        "compute": dask.dataframe.from_pandas(frame, npartitions=2),
        "collect": pl.from_pandas(frame).lazy(),
        "to_arrow_table": duckdb.sql("SELECT 1 AS few, 2 AS narrow"),
        "to_pyarrow": ibis.duckdb.connect().create_table("rows", frame),
    }
    for method, table in lazy.items():
        for call, labels in (
            (BayesClassifier().fit, [frame["income"]]),
            (suffice.GaussianNB().fit, [frame["income"]]),
            (model.predict, []),
        ):
            with pytest.raises(TypeError, match=rf"lazy table of .*fit_table.*X\.{method}\(\)"):
                call(table, *labels)


def test_a_cluster_of_dask_counts_many_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """More partitions than are merged at once, some of them empty, and a sample smaller than the table."""
    patch_sample(monkeypatch, 500)
    frame = far_from_zero(2000)
    table = dask.dataframe.from_pandas(frame, npartitions=70, sort=False)
    table = table[table["narrow"] > -3e8]
    frame = frame[frame["narrow"] > -3e8]
    plan = BayesClassifier(**MODELS["naive"]).fit_table(frame, "income").plan_
    near, far = (BayesClassifier(**MODELS["naive"], plan=plan).fit_table(each, "income") for each in (frame, table))
    assert_same_sums(far, near, frame)
    said = far.predict_table(table[table["near 1e9"] > 1e9])
    assert said.columns[-4:].tolist() == ["prediction", "p(0)", "p(1)", "p(2)"]
    assert said.dtypes.to_dict() == said.compute().dtypes.to_dict()


def test_prediction_beside_a_frame() -> None:
    frame = mixed()
    model = BayesClassifier(families=FAMILIES).fit_table(frame, "income")
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        said = model.predict_table(table)
        assert type(said) is type(table)
        assert np.asarray(said["prediction"]).tolist() == model.predict(frame.drop(columns="income")).tolist()


def test_other_classifiers_predict_at_the_source(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame(rng.normal(size=(200, 3)) + y[:, None], columns=["x0", "x1", "x2"])
    frame.assign(more=1)[["x2", "more", "x0", "x1"]].to_parquet(tmp_path / "rows.parquet")
    for model in (suffice.GaussianNB(), suffice.GaussianDiscriminant(), suffice.MixtureClassifier(components=2)):
        for X in (frame, frame.to_numpy()):
            model.fit(X, y)
            for source in (tmp_path / "rows.parquet", pl.scan_parquet(tmp_path / "rows.parquet")):
                said = collected(model.predict_table(source))
                np.testing.assert_allclose(said[["p(0)", "p(1)"]], model.predict_proba(X), atol=1e-9)


def test_texts_read_otherwise(engine: Make) -> None:
    frame = mixed()
    families = {"words": Text(ngram_range=(1, 2), stop_words=("egg",)), "count": "multinomial"}
    near = BayesClassifier(families=families, structure="naive").fit_table(frame, "income")
    assert_same_sums(
        BayesClassifier(families=families, structure="naive").fit_table(engine(frame), "income"), near, frame
    )


def test_a_file_larger_than_the_memory_that_there_is(tmp_path: Path) -> None:
    """What is held beside the libraries stays far below what is read."""
    block = pa.table({f"x{j}": np.random.default_rng(j).normal(size=50_000) for j in range(40)})
    block = block.append_column("y", pa.array((np.arange(50_000) % 3).astype(str)))
    rows = 0
    with pq.ParquetWriter(tmp_path / "rows.parquet", block.schema, compression="none", use_dictionary=False) as file:
        while (tmp_path / "rows.parquet").stat().st_size < 1_500_000_000 // 4:
            file.write_table(block)
            rows += block.num_rows
    script = """
import resource, sys
import duckdb, ibis, numpy, pyarrow, sklearn.base
from suffice import BayesClassifier
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = BayesClassifier(structure="naive", numeric="gaussian").fit_table(sys.argv[1], "y")
print(int(model.class_count_.sum()), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "rows.parquet")], capture_output=True, text=True, check=True
    )
    counted, megabytes = map(int, done.stdout.split())
    assert counted == rows
    assert megabytes < 375


def test_wide_tables_are_asked_for_in_parts() -> None:
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(60, 300)), columns=[f"number {j}" for j in range(300)])
    levels = pd.DataFrame(rng.integers(0, 3, (60, 40)).astype(str), columns=[f"level {j}" for j in range(40)])
    frame = pd.concat([numbers, levels], axis=1).assign(income=np.arange(60) % 2)
    near = BayesClassifier(**MODELS["naive"]).fit_table(frame, "income")
    for connection in (ibis.duckdb.connect(), ibis.sqlite.connect()):
        table = connection.create_table("rows", pa.Table.from_pandas(frame))
        assert_same_sums(BayesClassifier(**MODELS["naive"]).fit_table(table, "income"), near, frame)
