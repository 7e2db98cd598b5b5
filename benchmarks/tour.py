"""MNIST in bits: the figures of the tour's page 002, and those of the lectures' other models on the same pixels.

    python benchmarks/tour.py

Prints the accuracy on the 10,000 test images, and the log-loss, of naive Bayes on binary pixels by rule, of linear
discriminants, and of logistic regression that starts at naive Bayes.
"""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np

from suffice import BernoulliNB, GaussianDiscriminant, LogisticRegression

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist"


def read(name: str) -> np.ndarray:
    """Return the array of an IDX file."""
    raw = gzip.decompress((DATA / f"{name}.gz").read_bytes())
    shape = np.frombuffer(raw, ">u4", count=raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def main() -> None:
    X, y = read("train-images-idx3-ubyte").reshape(60_000, 784), read("train-labels-idx1-ubyte")
    X_test, y_test = read("t10k-images-idx3-ubyte").reshape(10_000, 784), read("t10k-labels-idx1-ubyte")
    bits, bits_test = (X > 127).astype(np.uint8), (X_test > 127).astype(np.uint8)
    naive = BernoulliNB().fit(bits, y)
    models: dict[str, Any] = {
        "BernoulliNB, maximum likelihood": BernoulliNB(estimate="mle"),
        "BernoulliNB, maximum likelihood with ε = 1e-8": BernoulliNB(estimate="mle", epsilon=1e-8),
        "BernoulliNB, pseudo-count 1": BernoulliNB(),
        "linear discriminants (shared covariance)": GaussianDiscriminant(covariance="shared"),
        "logistic regression, C = 0.01, from BernoulliNB": LogisticRegression.from_generative(naive, C=0.01),
    }
    print("| model | accuracy | log-loss | parameters | fit, s |\n|---|---:|---:|---:|---:|")
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(bits, y)
        taken = time.perf_counter() - start
        log_proba = model.predict_log_proba(bits_test)[np.arange(len(y_test)), y_test]
        loss = -np.maximum(log_proba, np.log(1e-15)).mean()
        count = getattr(model, "n_parameters_", None) or model.coef_.size + model.intercept_.size
        print(f"| {name} | {model.score(bits_test, y_test):.3f} | {loss:.2f} | {count:,} | {taken:.2f} |")


if __name__ == "__main__":
    main()
