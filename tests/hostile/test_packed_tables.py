"""Compressed tables that unpack to far more than their length: they are refused before they fill the memory."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from suffice import BayesClassifier
from suffice.data.engines.source import SourceError
from suffice.data.files import file_formats

ROWS = b"a,b,y\n" + b"1,2,no\n3,4,yes\n" * 2000


def write(path: Path, content: bytes) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content))
    else:
        with pa.output_stream(str(path), compression="zstd") as file:
            file.write(content)
    return path


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_bomb_is_refused(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_formats, "MOST_UNPACKED", 1 << 22)
    bomb = write(tmp_path / f"t.csv.{ending}", ROWS + b"1,2,no\n" * 6_000_000)
    assert bomb.stat().st_size < 200_000
    tracemalloc.start()
    with pytest.raises(SourceError, match=r"unpacks from 0.* SUFFICE_MOST_UNPACKED"):
        BayesClassifier(structure="naive").fit_table(bomb, "y")
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_the_limit_can_be_set(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = write(tmp_path / f"t.csv.{ending}", ROWS)
    model = BayesClassifier(structure="naive").fit_table(table, "y")
    assert model.class_count_.tolist() == [2000, 2000]
    monkeypatch.setenv("SUFFICE_MOST_UNPACKED", "1000")
    with pytest.raises(SourceError, match=r"more than 0\.001 MB"):
        BayesClassifier(structure="naive").fit_table(table, "y")
    monkeypatch.setenv("SUFFICE_MOST_UNPACKED", "1e9")
    with pytest.raises(SourceError, match="is a number of bytes"):
        BayesClassifier(structure="naive").fit_table(table, "y")


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_formats, "MOST_HEAD_BYTES", 1 << 20)
    with pytest.raises(SourceError, match=r"first lines of .* are longer than 1 MB"):
        BayesClassifier().fit_table(write(tmp_path / "t.csv.gz", b"0" * (1 << 24)), "y")
