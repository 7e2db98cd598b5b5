"""Generated data, and MNIST if it is there."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

MNIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist"
SIZES = (3, 5, 8, 10, 12, 20, 30, 50, 4, 7)
BLOCK = 500_000


def images(rows: int = 60_000) -> tuple[Any, Any]:
    """Return the pixels and labels of MNIST if its files exist, else random images with as many zeros."""
    if MNIST.exists():
        raw = gzip.decompress((MNIST / "train-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((MNIST / "train-labels-idx1-ubyte.gz").read_bytes())
        pixels = np.frombuffer(raw, np.uint8, offset=16).reshape(60_000, 784)[:rows].copy()
        return pixels, np.frombuffer(labels, np.uint8, offset=8)[:rows].astype(np.int64)
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (rows, 784), dtype=np.uint8) * (rng.random((rows, 784)) < 0.2)
    return pixels.astype(np.uint8), rng.integers(0, 10, rows)


def levels(rows: int = 200_000, columns: int = 50) -> tuple[Any, Any]:
    """Return codes of eight levels, and five classes."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 8, (rows, columns)), rng.integers(0, 5, rows)


def words(rows: int = 200_000, vocabulary: int = 50_000, length: int = 50, classes: int = 20) -> tuple[Any, Any]:
    """Return the word counts of random texts as a sparse matrix."""
    rng = np.random.default_rng(0)
    columns = (rng.zipf(1.3, size=rows * length) % vocabulary).astype(np.int32)
    starts = np.arange(0, rows * length + 1, length).astype(np.int32)
    X = sp.csr_matrix((np.ones(rows * length), columns, starts), shape=(rows, vocabulary))
    X.sum_duplicates()
    return X, rng.integers(0, classes, rows)


def numbers(rows: int, columns: int, classes: int = 2) -> tuple[Any, Any]:
    """Return normal numbers whose means depend on the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, rows)
    return rng.normal(size=(rows, columns)) + 0.3 * rng.normal(size=(classes, columns))[y], y


def mixed(rows: int, first: int = 0) -> pa.Table:
    """Return a table of 10 numeric columns, 10 of levels and three classes; ``first`` is the seed."""
    rng = np.random.default_rng(first)
    y = rng.integers(0, 3, rows)
    columns: dict[str, Any] = {f"n{k}": rng.normal(0.3 * y, k + 1) for k in range(10)}
    for k, size in enumerate(SIZES):
        codes = pa.array(((rng.random(rows) ** (1 + 0.2 * y)) * size).astype(np.int32))
        columns[f"c{k}"] = pa.DictionaryArray.from_arrays(codes, [f"level {j}" for j in range(size)]).cast("string")
    columns["y"] = pa.DictionaryArray.from_arrays(pa.array(y.astype(np.int32)), ["a", "b", "c"]).cast("string")
    return pa.table(columns)


def frame(rows: int) -> tuple[pd.DataFrame, Any]:
    """Return the mixed table as a pandas frame, and its labels."""
    table = mixed(rows).to_pandas()
    return table.drop(columns="y"), table["y"].to_numpy(str)


def write_parquet(rows: int, path: Path) -> None:
    """Write the mixed table, a block at a time."""
    with pq.ParquetWriter(path, mixed(1).schema) as file:
        for first in range(0, rows, BLOCK):
            file.write_table(mixed(min(BLOCK, rows - first), first), row_group_size=BLOCK // 4)


def reviews(texts: int = 25_000, words: int = 230) -> tuple[list[str], Any]:
    """Return texts of two classes, whose words are drawn by Zipf's law; a tenth of them depends on the class."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlcumwfgypbvk"))
    size = 30_000
    lengths = 2 + rng.poisson(4, size)
    vocabulary = np.unique(["".join(rng.choice(letters, length)) for length in lengths])
    vocabulary = vocabulary[rng.permutation(len(vocabulary))]
    share = 1 / np.arange(1, len(vocabulary) + 1)
    counts, y = rng.poisson(words, texts), rng.integers(0, 2, texts)
    drawn = rng.choice(len(vocabulary), counts.sum(), p=share / share.sum())
    moved = drawn * (1 + np.repeat(y, counts)) % len(vocabulary)
    drawn = np.where(rng.random(len(drawn)) < 0.1, moved, drawn)
    written = np.where(rng.random(len(drawn)) < 0.05, np.char.capitalize(vocabulary)[drawn], vocabulary[drawn])
    written = np.where(rng.random(len(drawn)) < 0.1, np.char.add(written, ","), written)
    return list(map(" ".join, np.split(written, np.cumsum(counts)[:-1]))), y
