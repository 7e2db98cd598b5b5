"""Handwritten digits: deskewed images, principal components, and mixtures of Gaussians within each class.

    python benchmarks/digits.py

Prints the accuracy on the MNIST test images, and the times, without and with deskewing.
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

# A component has about 450 rows for 1,275 covariances: a prior of 30 rows of the class keeps them steady.
DIMENSIONS, COMPONENTS, PRIOR = 50, 12, 30.0


def read(name: str) -> np.ndarray:
    """Return the array of an IDX file."""
    raw = gzip.decompress((DATA / f"{name}.gz").read_bytes())
    shape = np.frombuffer(raw, ">u4", count=raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def main() -> None:
    train, test = (read(f"{part}-images-idx3-ubyte").reshape(-1, 784).astype(np.float32) for part in ("train", "t10k"))
    y, truth = read("train-labels-idx1-ubyte"), read("t10k-labels-idx1-ubyte")
    for name, prepare in (("as they are", np.asarray), ("deskewed", deskew)):
        times = [time.perf_counter()]
        images, unknown = prepare(train), prepare(test)
        times.append(time.perf_counter())
        pca = PCA(DIMENSIONS, svd_solver="covariance_eigh").fit(images)
        images, unknown = pca.transform(images), pca.transform(unknown)
        times.append(time.perf_counter())
        model = MixtureClassifier(components=COMPONENTS, prior=PRIOR, progress=False).fit(images, y)
        times.append(time.perf_counter())
        accuracy = (model.predict(unknown) == truth).mean()
        times.append(time.perf_counter())
        steps = zip(("images", "components", "fit", "predict"), np.diff(times).tolist(), strict=True)
        taken = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in steps)
        print(f"{name:<12} accuracy {accuracy:.4f}   {taken}, in all {times[-1] - times[0]:.1f} s")


if __name__ == "__main__":
    main()
