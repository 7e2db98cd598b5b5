"""Edge cases of engines: unusual names, types, sizes and missing values in files and databases."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import postgres
from suffice import BayesClassifier, Text
from suffice.data.engines.batches import merge_batches
from test_engines import patch_sample

NAIVE: dict[str, Any] = {"structure": "naive", "numeric": "gaussian"}
pytestmark = pytest.mark.usefixtures("engine_counts")


def test_all_rows_of_a_file_say_what_a_column_holds(tmp_path: Path) -> None:
    """DuckDB looks at the first 20,480, and rounds what comes later."""
    late = [f"{i % 9}" if i < 30_000 else f"{i % 9}.4" for i in range(60_000)]
    text = ["" if i < 30_000 else "abc"[i % 3] for i in range(60_000)]
    truth = ["true" if i < 30_000 else "yes" for i in range(60_000)]
    frame = pd.DataFrame({"late": late, "text": text, "truth": truth, "y": ["a", "b"] * 30_000})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = BayesClassifier(**NAIVE).fit_table(tmp_path / "rows.csv", "y")
    assert model.families_ == {"late": "gaussian", "text": "categorical", "truth": "bernoulli"}
    near = BayesClassifier(**NAIVE).fit_table(pd.read_csv(tmp_path / "rows.csv"), "y")
    assert model.tally_.isclose(near.tally_)
    records = frame.assign(late=frame["late"].astype(float)).to_json(orient="records", lines=True).replace(".0,", ",")
    (tmp_path / "rows.jsonl").write_text(records)
    families = {"late": "gaussian", "text": "ignore", "truth": "ignore"}
    model = BayesClassifier(families=families).fit_table(tmp_path / "rows.jsonl", "y")
    assert model.tally_.statistics[0].mean.ravel() == pytest.approx([4.2, 4.2], abs=0.01)


def test_broken_and_uneven_files(tmp_path: Path) -> None:
    whole = gzip.compress(("x,y\n" + "1,a\n2,b\n" * 3000).encode())
    spoiled = bytearray(whole)
    spoiled[len(spoiled) // 2] ^= 1
    files = {
        "cut.csv.gz": (whole[: len(whole) // 2], "cannot be unpacked"),
        "spoiled.csv.gz": (bytes(spoiled), "cannot be unpacked"),
        "uneven.csv": (
            b"x,c,y\n" + b"1,2,a\n" * 100 + b"1,2\n" + b"3,4,b\n" * 9,
            "line 102 has 2 cells",
        ),
        "late.csv": (b"x,c,y\n" + b"1,2,a\n" * 30_000 + b"1,2\n", "line 30002 has 2 cells"),
        "empty.csv": (b"", "is empty"),
    }
    for name, (content, words) in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=words) as caught:
            BayesClassifier().fit_table(tmp_path / name, "y")
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_loose_file_beside_folders_that_are_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0] * 20, "y": ["a", "b"] * 20})
    for folder in ("year=2023", "year=2024", "."):
        (tmp_path / folder).mkdir(exist_ok=True)
        frame.to_parquet(tmp_path / folder / "rows.parquet")
    with pytest.raises(ValueError, match="is in no folder that names a column"):
        BayesClassifier().fit_table(tmp_path, "y")


def test_names_that_differ_in_capitals(tmp_path: Path) -> None:
    base = ibis.duckdb.connect()
    first = base.create_table("first", pa.table({"i": range(40), "c": ["a", "b"] * 20, "y": ["p", "q"] * 20}))
    other = base.create_table("other", pa.table({"i": range(40), "C": ["u", "v"] * 20}))
    with pytest.raises(ValueError, match="'c' and 'C' differ in capitals only"):
        BayesClassifier().fit_table(first.join(other, "i"), "y")
    pd.DataFrame({"c": [1, 2] * 9, "C": [1, 2] * 9, "y": [0, 1] * 9}).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="'c' and 'C', which differ in capitals only"):
        BayesClassifier().fit_table(tmp_path / "rows.parquet", "y")


def test_sqlite_tells_capitals_apart_whatever_its_collation() -> None:
    base = ibis.sqlite.connect()
    base.con.execute("CREATE TABLE rows (c TEXT COLLATE NOCASE, y TEXT COLLATE NOCASE, x REAL)")
    base.con.executemany("INSERT INTO rows VALUES (?, ?, ?)", [(c, c, 1.0) for c in ("p", "P", "q") * 20])
    model = BayesClassifier(structure="naive", families={"x": "gaussian"}).fit_table(base.table("rows"), "y")
    assert model.classes_.tolist() == ["P", "p", "q"]
    assert model.tally_.schema.blocks[0].codings[0].labels == ("P", "p", "q")


def test_dates_are_no_classes_at_a_database() -> None:
    days = pd.DataFrame({"x": np.arange(40.0), "y": pd.to_datetime(["2024-01-01", "2024-01-02"] * 20)})
    table = ibis.sqlite.connect().create_table("rows", pa.Table.from_pandas(days))
    with pytest.raises(ValueError, match="'y', the target, holds dates or times; make it text"):
        BayesClassifier(structure="full", numeric="gaussian").fit_table(table, "y")


@pytest.fixture
def sources(tmp_path: Path) -> Any:
    def made(table: pa.Table) -> dict[str, Any]:
        pl.from_arrow(table).write_parquet(tmp_path / "rows.parquet")
        return {
            "parquet": tmp_path / "rows.parquet",
            "duckdb": ibis.duckdb.connect().create_table("rows", table),
            "sqlite": ibis.sqlite.connect().create_table("rows", table),
            "lazy": pl.from_arrow(table).lazy(),
        }

    return made


def test_what_a_sample_does_not_show(sources: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few whole numbers beside empty cells, a column that is empty at first, numbers beyond those that are whole."""
    rows = 3000
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "few": [None if i % 10 == 0 else i % 3 for i in range(rows)],
            "late": [None] * 2500 + ["a", "b", "c", "d", "e"] * 100,
            "late number": [None] * 2500 + rng.normal(size=500).tolist(),
            "large": rng.normal(size=rows) * 1e20,
            "large and whole": np.round(rng.normal(size=rows) * 1e17),
            "y": ["p", "q", "q"] * 1000,
        }
    )
    near = BayesClassifier(**NAIVE).fit_table(table, "y")
    patch_sample(monkeypatch, 500)
    for name, source in sources(table).items():
        far = BayesClassifier(**NAIVE).fit_table(source, "y")
        assert far.families_ == near.families_, name
        common = near.tally_.schema.merge(far.tally_.schema)  # the sample has other cells
        for mine, its in zip(far.tally_.on(common).statistics, near.tally_.on(common).statistics, strict=True):
            for array, other in zip(mine.arrays().values(), its.arrays().values(), strict=True):
                if array.shape == other.shape and not np.array_equal(array, mine.arrays().get("tail")):
                    np.testing.assert_allclose(array, other, rtol=1e-9)


def test_whole_numbers_beyond_doubles_beside_empty_cells(sources: Any) -> None:
    large = [2**53 + i % 3 if i % 10 else None for i in range(90)]
    table = pa.table({"k": pa.array(large), "x": [1.0, 2.0, 3.0] * 30, "y": pa.array(large)})
    settings = {"families": {"k": "categorical", "x": "gaussian"}, "structure": "naive"}
    near = BayesClassifier(**settings).fit_table(table, "y", missing_target="drop")
    assert near.classes_.tolist() == [2**53, 2**53 + 1, 2**53 + 2]
    assert near.tally_.schema.blocks[0].codings[0].size == 3
    made = sources(table)
    made.pop("sqlite")  # which is handed such numbers as doubles
    for name, source in made.items():
        far = BayesClassifier(**settings).fit_table(source, "y", missing_target="drop")
        assert far.classes_.tolist() == near.classes_.tolist(), name
        assert far.tally_.isclose(near.tally_), name


def test_views_and_strange_types_of_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres.start() as url:
        base = ibis.connect(url)
        base.raw_sql(
            "CREATE TABLE rows AS SELECT gen_random_uuid() AS id, random() AS x, (i % 3)::text AS c, i % 2 AS y "
            "FROM generate_series(1, 2000) AS i"
        ).close()
        base.raw_sql("CREATE VIEW seen AS SELECT * FROM rows").close()
        base.con.commit()
        whole = BayesClassifier(structure="naive", numeric="quantiles", families={"id": "ignore"})
        assert whole.fit_table(base.table("rows"), "y").families_ == {"x": "quantiles", "c": "categorical"}
        patch_sample(monkeypatch, 500)
        model = BayesClassifier(structure="naive", numeric="quantiles", families={"id": "ignore"})
        model.fit_table(base.table("seen"), "y")
        assert model.class_count_.tolist() == [1000.0, 1000.0]


def test_batches_of_several_makes() -> None:
    frame = pd.DataFrame({"x": np.arange(30.0), "k": ["a", "b", "c"] * 10, "y": ["p", "q"] * 15})
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    narrow = arrow.cast(pa.schema([("x", pa.float32()), ("k", pa.string()), ("y", pa.string())]))
    near = BayesClassifier(**NAIVE).fit_table(pd.concat([frame] * 3), "y")
    for makes in (
        [frame, pl.from_pandas(frame), arrow],
        [*arrow.to_batches(), frame, frame],
        [frame, frame[["y", "x", "k"]], arrow.select(["k", "y", "x"])],
        [arrow.to_batches()[0], narrow.to_batches()[0], arrow],
    ):
        assert BayesClassifier(**NAIVE).fit_table(makes, "y").tally_.isclose(near.tally_)
    assert BayesClassifier(**NAIVE).fit_table(arrow.to_batches()[0], "y").class_count_.sum() == 30
    with pytest.raises(TypeError, match="must yield data frames or Arrow record batches; this one yields a ndarray"):
        BayesClassifier(**NAIVE).fit_table([np.eye(3)], "y")
    with pytest.raises(ValueError, match="there is no column 'y'"):
        BayesClassifier(**NAIVE).fit_table([frame] * 2 + [frame.drop(columns="y")], "y")


def test_packed_files_folders_and_first_lines(tmp_path: Path) -> None:
    frame = pd.DataFrame({"n": np.arange(60) % 7 / 2, "c": list("ab") * 30, "y": list("pqp") * 20})
    near = BayesClassifier(**NAIVE).fit_table(frame, "y")
    packed = pa.CompressedOutputStream(str(tmp_path / "rows.csv.zst"), "zstd")
    with packed as file:
        file.write(frame.to_csv(index=False).encode())
    assert BayesClassifier(**NAIVE).fit_table(tmp_path / "rows.csv.zst", "y").tally_.isclose(near.tally_)
    for place, year in enumerate((2024, 2025)):
        folder = tmp_path / "years" / f"year={year}"
        folder.mkdir(parents=True)
        frame[place::2].to_csv(folder / "rows.csv", index=False)
    model = BayesClassifier(**NAIVE).fit_table(tmp_path / "years", "y")
    assert model.families_ == {"n": "gaussian", "c": "bernoulli", "year": "bernoulli"}
    (tmp_path / "sharp.csv").write_text("#" + frame.to_csv(index=False))
    assert list(BayesClassifier(**NAIVE).fit_table(tmp_path / "sharp.csv", "y").families_) == ["#n", "c"]
    (tmp_path / "said.csv").write_text("# by hand, today\n" + frame.to_csv(index=False))
    assert BayesClassifier(**NAIVE).fit_table(tmp_path / "said.csv", "y").tally_.isclose(near.tally_)


def test_lines_are_neither_skipped_nor_misread(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 3},1,{'yn'[i % 2]}\n" for i in range(32))
    (tmp_path / "late.csv").write_text("1,2,3\n" * 32 + "a,b,c,t\n" + rows)
    with (
        pytest.warns(UserWarning, match="line 1 was read as data"),
        pytest.raises(ValueError, match="line 33 has 4 cells, but the first has 3"),
    ):
        BayesClassifier().fit_table(tmp_path / "late.csv", "t")
    (tmp_path / "long.csv").write_text("a,t\n" + "x" * 200_000 + ",y\n1,2,3\n")
    (tmp_path / "broken.arrow").write_bytes(b"ARROW1 and nothing else")
    for name in ("long.csv", "broken.arrow"):
        with pytest.raises(ValueError, match=name):
            BayesClassifier().fit_table(tmp_path / name, "t")


def test_what_rows_without_a_label_hold_is_nobodys_concern(tmp_path: Path) -> None:
    frame = pd.DataFrame({"k": [1, 2, 3, -4, 0] * 9, "x": [0.5, 1.0, 2.0, np.inf, 1.5] * 9})
    frame = frame.assign(level=list("abczb") * 9, y=[*"aba", None, "b"] * 9)
    frame.to_parquet(tmp_path / "rows.parquet")
    settings: dict[str, Any] = {"families": {"k": "poisson", "x": "gaussian"}, "structure": "naive"}
    far, near = (
        BayesClassifier(**settings).fit_table(source, "y", missing_target="drop")
        for source in (tmp_path / "rows.parquet", frame)
    )
    assert far.tally_.isclose(near.tally_)


def test_a_family_that_is_said_to_be_auto_is_corrected_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"k": [7] * 500 + [1, 2, 3] * 100, "x": np.arange(800.0) % 97 / 3, "y": list("ab") * 400})
    frame.to_parquet(tmp_path / "rows.parquet")
    patch_sample(monkeypatch, 100)
    found = [
        BayesClassifier(families=families, **NAIVE).fit_table(tmp_path / "rows.parquet", "y").families_["k"]
        for families in ("auto", {"k": "auto"}, {"k": "auto", "x": "gaussian"})
    ]
    assert len(set(found)) == 1


def test_texts_alone_are_learned_from_a_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"said": ["win cash now", "see you at noon", "win a prize", "at noon"], "y": list("shsh")})
    frame.to_parquet(tmp_path / "rows.parquet")
    near = BayesClassifier(families=Text()).fit(frame[["said"]], frame["y"])
    far = BayesClassifier(families=Text()).fit_table(tmp_path / "rows.parquet", "y")
    assert far.tally_.digest() == near.tally_.digest()
    assert far.explain(pd.DataFrame({"said": ["nothing known"]})).contributions.shape == (1, 2, 0)


def test_many_small_batches_are_gathered() -> None:
    table = pa.table({"x": np.arange(3000.0), "y": ["a", "b"] * 1500})
    small = table.to_batches(max_chunksize=1)
    whole = list(merge_batches([*small, table.slice(0, 0), *small[:5], table, pa.record_batch({"z": [1]})]))
    assert [its.num_rows for its in whole] == [3000, 5, 3000, 1]


@pytest.mark.parametrize("form", ["parquet", "ibis", "polars"])
def test_empty_cells_do_not_make_whole_numbers_fractions(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.arange(3000)
    frame = pd.DataFrame({"few": np.where(rows % 10 == 0, np.nan, rows % 3), "y": rows % 2, "x": np.sin(rows)})
    frame.to_parquet(tmp_path / "rows.parquet")
    patch_sample(monkeypatch, 500)
    source = {
        "parquet": lambda: tmp_path / "rows.parquet",
        "ibis": lambda: ibis.duckdb.connect().read_parquet(tmp_path / "rows.parquet"),
        "polars": lambda: pl.scan_parquet(tmp_path / "rows.parquet"),
    }[form]()
    assert BayesClassifier(**NAIVE).fit_table(source, "y").families_ == {"few": "categorical", "x": "gaussian"}
