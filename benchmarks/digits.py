"""Handwritten digits: deskewed images, principal components, and mixtures of Gaussians within each class.

    python benchmarks/digits.py

Prints the accuracy on the MNIST test images, and the time of fit and predict, without and with deskewing. The prior and
the centring of images are chosen on training images that are held out.
"""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from suffice import MixtureClassifier
from suffice.images import deskew

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist"

DIMENSIONS, COMPONENTS = 50, 12

# The settings that are compared on the last HELD_OUT training images; the test images are predicted once, by the best.
PRIORS, CENTERS, HELD_OUT = (1.0, 3.0, 10.0, 30.0, 100.0), (False, True), 10_000


def read(name: str) -> np.ndarray:
    """Return the array of an IDX file."""
    raw = gzip.decompress((DATA / f"{name}.gz").read_bytes())
    shape = np.frombuffer(raw, ">u4", count=raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def fit(images: np.ndarray, y: np.ndarray, prior: float) -> tuple[PCA, MixtureClassifier]:
    """Return the principal components of images, and mixtures of Gaussians of each class in their space."""
    pca = PCA(DIMENSIONS, svd_solver="covariance_eigh").fit(images)
    return pca, MixtureClassifier(components=COMPONENTS, prior=prior, progress=False).fit(pca.transform(images), y)


def accuracy(model: tuple[PCA, MixtureClassifier], images: np.ndarray, y: np.ndarray) -> float:
    return float((model[1].predict(model[0].transform(images)) == y).mean())


def main() -> None:
    train, test = (read(f"{part}-images-idx3-ubyte").reshape(-1, 784).astype(np.float32) for part in ("train", "t10k"))
    y, truth = read("train-labels-idx1-ubyte"), read("t10k-labels-idx1-ubyte")
    found = {}
    for center in CENTERS:
        images = deskew(train, center=center)
        for prior in PRIORS:
            model = fit(images[:-HELD_OUT], y[:-HELD_OUT], prior)
            found[prior, center] = accuracy(model, images[-HELD_OUT:], y[-HELD_OUT:])
            print(
                f"prior {prior:<5g} centred {center!s:<5}  held-out training images {found[prior, center]:.4f}",
                flush=True,
            )
    prior, center = max(found, key=lambda setting: found[setting])
    print(f"the best of {len(found)}: prior {prior:g}, centred {center}")
    for name, prepare in (("as they are", np.asarray), ("deskewed", lambda x: deskew(x, center=center))):
        started = time.perf_counter()
        model = fit(prepare(train), y, prior)
        share = accuracy(model, prepare(test), truth)
        print(f"{name:<12} test accuracy {share:.4f}, in all {time.perf_counter() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
