"""The speed of fit and predict compared with scikit-learn, on the same data in one run.

    make bench            or            python benchmarks/speed.py [--only WORD]

Each figure is the best of several runs. "fit" and "predict" are speed-ups over scikit-learn; "reads" is the time of a
fit in units of one pass over the data (the maximum by NumPy), which is the lower limit.
"""

from __future__ import annotations

import argparse
import gzip
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
import sklearn.naive_bayes as theirs

import suffice
from timing import least

MNIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist"


def images() -> tuple[str, Any, Any]:
    """Return MNIST if its files exist, else random images with as many zeros."""
    if MNIST.exists():
        raw = gzip.decompress((MNIST / "train-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((MNIST / "train-labels-idx1-ubyte.gz").read_bytes())
        pixels = np.frombuffer(raw, np.uint8, offset=16).reshape(60_000, 784).copy()
        return "MNIST", pixels, np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (60_000, 784), dtype=np.uint8) * (rng.random((60_000, 784)) < 0.2)
    return "images", pixels.astype(np.uint8), rng.integers(0, 10, 60_000)


def levels(rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.integers(0, 8, (200_000, 50)), rng.integers(0, 5, 200_000)


def words(rng: np.random.Generator) -> tuple[Any, Any]:
    rows, vocabulary, tokens = 200_000, 50_000, 10_000_000
    columns = (rng.zipf(1.3, size=tokens) % vocabulary).astype(np.int32)
    starts = np.arange(0, tokens + 1, tokens // rows).astype(np.int32)
    X = sp.csr_matrix((np.ones(tokens), columns, starts), shape=(rows, vocabulary))
    X.sum_duplicates()
    return X, rng.integers(0, 20, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only rows whose name holds this word")
    only = parser.parse_args().only.lower()
    rng = np.random.default_rng(0)
    source, pixels, digits = images()
    text, codes = words(rng), levels(rng)
    floats = pixels.astype(np.float64)
    cases = [
        (f"Bernoulli, {source} uint8", "BernoulliNB", {"binarize": 127}, (pixels, digits)),
        (f"Bernoulli, {source} float64", "BernoulliNB", {"binarize": 127}, (floats, digits)),
        (f"Gaussian, {source} uint8", "GaussianNB", {}, (pixels, digits)),
        (f"Gaussian, {source} float32", "GaussianNB", {}, (pixels.astype(np.float32), digits)),
        (f"Gaussian, {source} float64", "GaussianNB", {}, (floats, digits)),
        (f"Gaussian, {source} float64, Fortran", "GaussianNB", {}, (np.asfortranarray(floats), digits)),
        (f"Multinomial, {source} uint8", "MultinomialNB", {}, (pixels, digits)),
        ("Multinomial, text CSR", "MultinomialNB", {}, text),
        ("Complement, text CSR", "ComplementNB", {}, text),
        ("Bernoulli, text CSR", "BernoulliNB", {}, text),
        ("Categorical, 200k x 50", "CategoricalNB", {}, codes),
    ]
    print(f"scikit-learn {sklearn.__version__}, suffice {suffice.__version__}, {suffice.get_threads()} threads")
    print(f"{'':34}{'fit':>9}{'predict':>9}{'reads':>7}{'fit ms':>9}{'predict ms':>12}")
    for name, kind, settings, (X, y) in cases:
        if only not in name.lower():
            continue
        ours, peer = getattr(suffice, kind)(**settings), getattr(theirs, kind)(**settings)
        ours.fit(X, y).predict(X)
        values = X.data if sp.issparse(X) else X
        read = least(values.max, 7)
        peer_fit, peer_predict = least(partial(peer.fit, X, y), 2), least(partial(peer.predict, X), 2)
        fit, predict = least(partial(ours.fit, X, y), 7), least(partial(ours.predict, X), 5)
        print(
            f"{name:34}{peer_fit / fit:8.1f}x{peer_predict / predict:8.1f}x{fit / read:7.1f}"
            f"{fit * 1e3:9.1f}{predict * 1e3:12.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
