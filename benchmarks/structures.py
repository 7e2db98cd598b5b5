"""Structures from naive to full dependence: accuracy on real tables and on MNIST.

    python benchmarks/structures.py [folder of data]

Accuracy and log-loss are ten-fold means. `run.py` has the times.
"""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from suffice import Averaged, BayesClassifier, Chain, GaussianDiscriminant, MixtureClassifier, Tree
from tables import folder, read, ten_fold

LADDER: dict[str, Any] = {
    "naive": "naive",
    "chain": "chain",
    "chain, learned": Chain("learned"),
    "tree": "tree",
    "tree, backoff 1": Tree(backoff=1.0),
    "tree, backoff 20": Tree(backoff=20.0),
    "tree of each class": Tree("per-class"),
    "averaged": "averaged",
    "averaged, equal weights": Averaged(weights="equal"),
    "averaged, no subsumption": Averaged(subsumption=None),
    "joint": "joint",
    "the default, pooled": "auto",
}


def mnist(data: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    def one(name: str, offset: int) -> np.ndarray:
        with gzip.open(data / "mnist" / name) as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    return (
        one("train-images-idx3-ubyte.gz", 16).reshape(-1, 784),
        one("train-labels-idx1-ubyte.gz", 8),
        one("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784),
        one("t10k-labels-idx1-ubyte.gz", 8),
    )


def compare_structures(data: Path) -> None:
    tables = {name: table for name, table in read(data).items() if name != "sms"}
    print(f"{'':26}" + "".join(f"{name:>16}" for name in tables) + f"{'mean':>16}")
    for name, structure in LADDER.items():
        said = [ten_fold(lambda s=structure: BayesClassifier(structure=s), X, y) for X, y in tables.values()]
        cells = [f"{a:.4f}/{loss:.3f}" for a, loss in [*said, tuple(np.mean(said, axis=0))]]
        print(f"{name:26}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def digits(data: Path) -> None:
    X, y, Z, z = mnist(data)
    bits, tests = X > 127, Z > 127
    model = BayesClassifier(families="bernoulli", structure="tree").fit(bits, y)
    for name, structure in (("naive", "naive"), ("tree", "tree"), ("tree of each class", Tree("per-class"))):
        print(f"MNIST, bits, {name:20} {model.set_params(structure=structure).score(tests, z):.4f}", flush=True)
    rows, new = X.astype(np.float64), Z.astype(np.float64)
    full = GaussianDiscriminant(shrinkage=0.7).fit(rows, y)
    print(f"MNIST, full, shrinkage 0.7  {full.score(new, z):.4f}", flush=True)

    pca = PCA(50, random_state=0).fit(rows)
    rows, new = pca.transform(rows), pca.transform(new)
    print(f"MNIST, 50 components, full  {GaussianDiscriminant().fit(rows, y).score(new, z):.4f}", flush=True)
    mixed = MixtureClassifier(components=12, prior=50.0).fit(rows, y)
    print(f"MNIST, 50 components, mixtures of 12  {mixed.score(new, z):.4f}", flush=True)


def regularized(data: Path) -> None:
    """Print the accuracy of full covariances of pixels from 0 to 1, by how they are regularized."""
    X, y, Z, z = mnist(data)
    rows, new = X / 255, Z / 255
    settings: list[dict[str, Any]] = [{"reg_param": 0.1}]
    settings += [{"shrinkage": each} for each in (0.1, 0.7, "oas", "ledoit-wolf", "auto")]
    for setting in settings:
        print(f"MNIST, full, {setting}: {GaussianDiscriminant(**setting).fit(rows, y).score(new, z):.4f}", flush=True)
    theirs = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(rows, y)
    print(f"MNIST, scikit-learn's QDA, reg_param 0.1: {theirs.score(new, z):.4f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    compare_structures(folder())
    digits(folder())
    regularized(folder())
