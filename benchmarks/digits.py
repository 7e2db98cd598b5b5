"""Handwritten digits: gradients of deskewed images, principal components, and mixtures of Gaussians within each class.

    python benchmarks/digits.py

Prints the accuracy on the MNIST test images, and the time of fit and predict, with pixels, with deskewed pixels, and
with gradients of deskewed images. The settings are chosen with gradients, on training images that are held out.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from suffice import MixtureClassifier
from suffice.images import deskew

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist"

SIDE, DIRECTIONS, PLACES = 28, 8, 7

# The settings that are compared on the last HELD_OUT training images; the test images are predicted once, by the best.
DIMENSIONS, COMPONENTS, PRIORS, HELD_OUT = (50, 80), (4, 8, 12), (10.0, 100.0), 10_000


def read(name: str) -> np.ndarray:
    """Return the array of an IDX file."""
    raw = gzip.decompress((DATA / f"{name}.gz").read_bytes())
    shape = np.frombuffer(raw, ">u4", count=raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def gradients(images: np.ndarray) -> np.ndarray:
    """Return the strength of edges in 8 directions around 7 × 7 places of each image.

    The length of a pixel's gradient is shared between the two directions nearest to its angle, and averaged around each
    place with Gaussian weights. The square root makes the averages of a class more nearly Gaussian.
    """
    centres = (np.arange(PLACES) + 0.5) * SIDE / PLACES - 0.5
    weights = np.exp(-0.5 * ((np.arange(SIDE) - centres[:, None]) / 1.5) ** 2)
    weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    found = np.empty((len(images), DIRECTIONS, PLACES, PLACES), np.float32)
    for first in range(0, len(images), 1000):
        down, right = np.gradient(images[first : first + 1000].reshape(-1, SIDE, SIDE), axis=(1, 2))
        length, angle = np.hypot(down, right), np.arctan2(down, right) * np.float32(DIRECTIONS / (2 * np.pi))
        for k in range(DIRECTIONS):
            away = np.abs((angle - k + DIRECTIONS / 2) % DIRECTIONS - DIRECTIONS / 2)
            found[first : first + 1000, k] = weights @ (length * np.maximum(1 - away, 0)) @ weights.T
    return np.sqrt(found).reshape(len(images), -1)


# From pixels to the columns whose principal components are modelled.
FEATURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "pixels": np.asarray,
    "deskewed": deskew,
    "gradients": lambda images: gradients(deskew(images)),
}


def fit(x: np.ndarray, y: np.ndarray, dimensions: int, components: int, prior: float) -> tuple[PCA, MixtureClassifier]:
    """Return the principal components of rows, and mixtures of Gaussians of each class in their space."""
    pca = PCA(dimensions, svd_solver="covariance_eigh").fit(x)
    return pca, MixtureClassifier(components=components, prior=prior, progress=False).fit(pca.transform(x), y)


def accuracy(model: tuple[PCA, MixtureClassifier], x: np.ndarray, y: np.ndarray) -> float:
    return float((model[1].predict(model[0].transform(x)) == y).mean())


def main() -> None:
    train, test = (read(f"{part}-images-idx3-ubyte").reshape(-1, 784).astype(np.float32) for part in ("train", "t10k"))
    y, truth = read("train-labels-idx1-ubyte"), read("t10k-labels-idx1-ubyte")
    x, found = FEATURES["gradients"](train), {}
    for settings in product(DIMENSIONS, COMPONENTS, PRIORS):
        found[settings] = accuracy(fit(x[:-HELD_OUT], y[:-HELD_OUT], *settings), x[-HELD_OUT:], y[-HELD_OUT:])
        described = "{} principal components, mixtures of {:<2}, prior {:<3g}".format(*settings)
        print(f"{described}  held-out training images {found[settings]:.4f}", flush=True)
    best = max(found, key=lambda settings: found[settings])
    print("the best of {}: {} principal components, mixtures of {}, prior {:g}".format(len(found), *best))
    for name, features in FEATURES.items():
        started, used = time.perf_counter(), time.process_time()
        share = accuracy(fit(features(train), y, *best), features(test), truth)
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        print(
            f"{name:<10} test accuracy {share:.4f}, in all {seconds:.1f} s ({cpu:.1f} s of processor time)", flush=True
        )


if __name__ == "__main__":
    main()
