"""Parquet files are read by Arrow where that gives the same rows as DuckDB, and CSV types need one scan of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import BayesClassifier
from suffice.classifiers import fit_table
from suffice.data import arrow_columns
from suffice.data.engines import batches
from suffice.data.engines.duckdb_files import FilesSource
from suffice.data.files import parquet_rows
from suffice.data.files.csv_cells import count_cells
from suffice.data.files.csv_types import infer_types
from suffice.data.files.file_scan import scan_files
from suffice.data.files.table_file import ColumnHints, TableFile


@pytest.fixture(autouse=True)
def counts_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count small tables by the engine, too, and not as part of the sample."""
    monkeypatch.setattr(fit_table, "takes_sample_as_table", lambda source: False)


def table(seed: int = 0, rows: int = 3000) -> pa.Table:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    numbers = rng.normal(y, 2.0)
    numbers[::17] = np.nan
    words = np.array(["a", "bb", "ccc", None, "é"], object)[rng.integers(0, 5, rows)]
    return pa.table(
        {
            "n": numbers,
            "f": rng.normal(size=rows).astype(np.float32),
            "i": pa.array([None if value % 7 == 0 else int(value) for value in rng.integers(0, 900, rows)], pa.int32()),
            "b": rng.random(rows) < 0.3,
            "s": pa.array(words, pa.string()),
            "large": pa.array(words[::-1], pa.large_string()),
            "d": pa.array(words, pa.string()).dictionary_encode(),
            "y": pa.array(np.array(["no", "yes", "maybe"])[y]),
        }
    )


def both_ways(path: Any, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> tuple[Any, Any]:
    """Return the tallies that Arrow's and DuckDB's rows give, under one plan."""
    plan = BayesClassifier(**settings).fit_table(path, "y").plan_
    by_arrow = BayesClassifier(plan=plan, **settings).fit_table(path, "y")
    monkeypatch.setattr("suffice.data.engines.duckdb_files.open_parquet", lambda files: None)
    return by_arrow.tally_, BayesClassifier(plan=plan, **settings).fit_table(path, "y").tally_


@pytest.mark.parametrize("structure", ["naive", "averaged"])
def test_arrow_and_duckdb_count_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, structure: str) -> None:
    for part in range(3):
        pq.write_table(table(part), tmp_path / f"{part}.parquet", row_group_size=700)
    ours, theirs = both_ways(tmp_path, monkeypatch, structure=structure)
    assert ours.schema == theirs.schema
    for one, other in zip(ours.statistics, theirs.statistics, strict=True):
        for name, array in one.arrays().items():
            exact = name in ("n", "counts", "pairs", "both")
            np.testing.assert_allclose(
                array, other.arrays()[name], rtol=0 if exact else 1e-9, atol=0 if exact else 1e-9
            )


def test_rows_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    whole = table()
    pq.write_table(whole.slice(0, 1234), tmp_path / "a.parquet", row_group_size=100)
    pq.write_table(whole.slice(1234), tmp_path / "b.parquet", row_group_size=900)
    source = FilesSource.open([tmp_path / "a.parquet", tmp_path / "b.parquet"], ColumnHints())
    assert source.parquet is not None
    read = pa.Table.from_batches(source.parquet.read_batches(["i", "s"], 64, ["s"])).cast(
        whole.select(["i", "s"]).schema
    )
    assert read.equals(whole.select(["i", "s"]))


def test_a_sample_has_rows_of_all_groups_as_duckdb_reads_them(tmp_path: Path) -> None:
    whole = table(rows=5000).append_column("place", pa.array(range(5000)))
    pq.write_table(whole, tmp_path / "rows.parquet", row_group_size=500)
    source = FilesSource.open(tmp_path / "rows.parquet", ColumnHints())
    sample, is_whole = source.sample(1000, spread=True)
    places = sample["place"].to_numpy()
    assert not is_whole
    assert len(set(places)) == len(places) == 1000
    assert (np.diff(places) > 0).all()
    assert np.bincount(places // 500).min() > 50
    theirs = source.read_rows().take(pa.array(places))
    assert sample.drop("n").equals(theirs.drop("n"))  # NaN is not equal to itself
    np.testing.assert_array_equal(sample["n"], theirs["n"])
    assert sample.schema.field("s").type == sample.schema.field("d").type == pa.string()


def test_a_sample_of_many_groups_reads_few_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "SAMPLED_RUNS", 4)
    monkeypatch.setattr(batches, "ROWS", 10)
    pq.write_table(pa.table({"place": range(1000)}), tmp_path / "rows.parquet", row_group_size=10)
    source = FilesSource.open(tmp_path / "rows.parquet", ColumnHints())
    places = source.sample(20, spread=True)[0]["place"].to_numpy()
    assert set(places // 10) == {0, 33, 66, 99}


def test_batches_kept_of_a_sample_are_those_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in range(2):
        pq.write_table(table(part), tmp_path / f"{part}.parquet", row_group_size=700)
    monkeypatch.setattr(batches, "ROWS", 1500)

    def batches_after(room: int, levels: list[str]) -> tuple[int, list[Any]]:
        monkeypatch.setattr(parquet_rows, "KEPT_BYTES", room)
        source = FilesSource.open(tmp_path, ColumnHints())
        assert source.parquet is not None
        source.sample(100, spread=True)
        kept = len(source.parquet.kept)
        found = list(source.parquet.read_batches(["i", "s", "large"], batches.ROWS, levels))
        assert not source.parquet.kept
        return kept, found

    for levels in (["s", "large"], ["s"]):  # the other strings are texts, which are not read as codes
        none, expected = batches_after(0, levels)
        assert none == 0
        sizes = []
        for room in (100_000, 1 << 28):
            kept, found = batches_after(room, levels)
            sizes.append(kept)
            assert [batch.schema for batch in found] == [batch.schema for batch in expected]
            assert all(one.equals(other) for one, other in zip(found, expected, strict=True))
        assert 0 < sizes[0] < sizes[1] == 6


def test_neither_row_groups_nor_chunks_change_the_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = table(rows=4000)
    pq.write_table(whole, tmp_path / "rows.parquet", row_group_size=4000)
    plan = BayesClassifier().fit_table(tmp_path / "rows.parquet", "y").plan_
    monkeypatch.setattr(batches, "ROWS", 900)
    tallies = [BayesClassifier(plan=plan).fit_table(whole, "y").tally_]
    pieces = pa.concat_tables([whole.slice(first, 700) for first in range(0, 4000, 700)])
    tallies.append(BayesClassifier(plan=plan).fit_table(pieces, "y").tally_)
    monkeypatch.setattr(arrow_columns, "MOST_COPIED", 10)
    tallies.append(BayesClassifier(plan=plan).fit_table(pieces, "y").tally_)
    for size in (90, 500, 1000, 4000):
        pq.write_table(whole, tmp_path / "rows.parquet", row_group_size=size)
        tallies.append(BayesClassifier(plan=plan).fit_table(tmp_path / "rows.parquet", "y").tally_)
    assert all(tally.isclose(tallies[0]) for tally in tallies)


def test_batches_end_where_row_groups_end(tmp_path: Path) -> None:
    sizes = [10, 20, 5, 90, 30, 30, 30, 200]
    whole = table(rows=sum(sizes)).select(["i", "s"])
    with pq.ParquetWriter(tmp_path / "rows.parquet", whole.schema) as file:
        for size, last in zip(sizes, np.cumsum(sizes), strict=True):
            file.write_table(whole.slice(last - size, size))
    source = FilesSource.open(tmp_path / "rows.parquet", ColumnHints())
    assert source.parquet is not None
    rows = [batch.num_rows for batch in source.parquet.read_batches(["i"], 100)]
    assert rows == [35, 90, 90, 100, 100]


def test_labels_of_a_dictionary_that_no_row_holds_are_left_out() -> None:
    for kind in (pa.int8(), pa.uint16(), pa.int64()):
        codes = pa.array([2, None, 3, 2, 0, 3], kind)
        column = pa.chunked_array([pa.DictionaryArray.from_arrays(codes, ["a", "never", "b", None])])
        labels, found = arrow_columns.levels(column)
        assert [labels[code] if code >= 0 else None for code in found.tolist()] == column.to_pylist()
        assert sorted(labels) == ["a", "b"]
    rare = np.zeros(5000, np.int32)
    rare[-1] = 1
    column = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(rare), ["often", "once", "never"])])
    labels, found = arrow_columns.levels(column)
    assert labels == ["often", "once"]
    assert found.sum() == 1


@pytest.mark.parametrize(
    "column",
    [
        pa.array([Decimal("1.50"), Decimal("2.25")] * 600, pa.decimal128(6, 2)),
        pa.array((np.arange(1200) // 400).tolist(), pa.date32()),
        pa.array([b"a", b"b"] * 600, pa.binary()),
        pa.array([[1.0], [2.0]] * 600),
    ],
    ids=["decimal", "date", "binary", "list"],
)
def test_duckdb_reads_other_types(tmp_path: Path, column: Any) -> None:
    pq.write_table(pa.table({"x": column, "n": range(1200)}), tmp_path / "rows.parquet")
    source = FilesSource.open(tmp_path / "rows.parquet", ColumnHints())
    assert source.parquet is not None
    assert source.parquet.has(["n"])
    assert not source.parquet.has(["n", "x"])


def test_duckdb_reads_files_whose_types_differ(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": pa.array([1, 2], pa.int32()), "y": ["a", "b"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": pa.array([0.5, 2.5]), "y": ["a", "b"]}), tmp_path / "b.parquet")
    source = FilesSource.open(tmp_path, ColumnHints())
    assert source.parquet is not None
    assert not source.parquet.has(["x"])
    model = BayesClassifier(structure="naive", families={"x": "gaussian"}).fit_table(tmp_path, "y")
    np.testing.assert_allclose(model.tally_.statistics[0].mean.ravel(), [0.75, 2.25])


def test_folders_that_name_a_column_are_read_by_duckdb(tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(table(year), tmp_path / f"year={year}" / "rows.parquet")
    source = FilesSource.open(tmp_path, ColumnHints())
    assert source.parquet is None
    assert "year" in source.names


CELLS = {
    "whole": ("BIGINT", ["1", "-2", "30"]),
    "fractions": ("DOUBLE", ["1", "2.5", "1e3"]),
    "infinite": ("DOUBLE", ["inf", "2.5", "-inf"]),
    "long digits": ("DIGITS", ["123456789012345678901", "5", "12345678901234567890123"]),
    "long digits and a fraction": ("DOUBLE", ["123456789012345678901", "5", "0.5"]),
    "marked": ("MARKED", ["$1", "2.5", "3 %"]),
    "commas": ("COMMA", ["1,5", "2", "3,25"]),
    "truth": ("BOOLEAN", ["true", "False", "TRUE"]),
    "days": ("DATE", ["2024-01-02", "2023-05-06", "1999-12-31"]),
    "times": ("TIMESTAMP", ["2024-01-02 03:04:05", "2023-05-06 00:00:00", "1999-12-31 01:00:00"]),
    "words": ("VARCHAR", ["t", "-", "7 a"]),
    "letters": ("VARCHAR", ["true", "West", "na"]),
    "marks": ("VARCHAR", ["nil", "Unknown", "na"]),
    "truth and marks": ("VARCHAR", ["true", "false", "na"]),
}


def csv_files(folder: Path) -> Iterator[Path]:
    for place in range(2):
        path = folder / f"{place}.csv"
        lines = ["\t".join(cells[row] for _, cells in CELLS.values()) for row in range(3)]
        path.write_text("\n".join(["\t".join(CELLS), *lines]) + "\n")
        yield path


def groups_of(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []

    def keep(connection: Any, groups: Any, *more: Any) -> Any:
        found.extend(groups)
        return infer_types(connection, groups, *more)

    monkeypatch.setattr("suffice.data.files.file_scan.infer_types", keep)
    with pytest.warns(UserWarning, match="read as numbers"):
        scan_files(TableFile(files), ColumnHints())
    return found


@pytest.mark.filterwarnings("ignore:columns")
@pytest.mark.parametrize("count", [1, 2])
def test_cells_show_the_type_of_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    groups = groups_of([*csv_files(tmp_path)][:count], monkeypatch)
    types = infer_types(duckdb.connect(), groups, ColumnHints())
    assert types == {name: kind for name, (kind, _) in CELLS.items()}
    facts = count_cells(duckdb.connect(), groups, ())
    assert all(len(files) == count for files in facts.values())
    # of plain numbers and plain texts the slower tests are not computed
    assert facts["fractions"][0].fitting["MARKED"] == 0
    assert (facts["letters"][0].fitting["BOOLEAN"], facts["letters"][0].missing) == (0, 0)
    assert (facts["truth and marks"][0].fitting["BOOLEAN"], facts["marks"][0].missing) == (2, 3)
    known = count_cells(duckdb.connect(), groups, ["fractions", "letters"])
    assert (known["fractions"][0].fitting["MARKED"], known["letters"][0].missing) == (3, 1)
