"""Cross-validation, leave-one-out, comparison, calibration and streams by sums, compared with fitting again.

    python benchmarks/selection.py [folder of data]

Ratios are relative to a peer in the same run. The stream is compared with river if it is installed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sklearn.naive_bayes as theirs
from sklearn.model_selection import LeaveOneOut, cross_val_score

from structures import mnist
from suffice import BayesClassifier, BernoulliNB, GaussianNB, batches, compare, cross_validate, prequential
from tables import read
from timing import least

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def folds() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 60_000)
    X = rng.normal(size=(60_000, 200)) + 0.1 * y[:, None]
    once = least(lambda: GaussianNB().fit(X, y).predict(X), 15)
    ours = least(lambda: cross_validate(GaussianNB(), X, y), 15)
    peer = least(lambda: cross_val_score(theirs.GaussianNB(), X, y, cv=10), 2)
    said = f"{ours * 1e3:.0f} ms; scikit-learn {peer:.2f} s, {peer / ours:.0f} times"
    beside = f"one fit and predict {once * 1e3:.0f} ms, {ours / once:.2f} of it"
    print(f"ten-fold GaussianNB, 60,000 x 200: {said}; {beside}")
    for classes in (2, 10):
        y = rng.integers(0, classes, 2_000)
        X = rng.normal(size=(2_000, 50)) + 0.3 * y[:, None]
        ours = least(lambda X=X, y=y: cross_validate(GaussianNB(), X, y, cv="loo"), 7)
        peer = least(lambda X=X, y=y: cross_val_score(theirs.GaussianNB(), X, y, cv=LeaveOneOut()), 1)
        said = f"{ours * 1e3:.1f} ms; scikit-learn {peer:.2f} s, {peer / ours:.0f} times"
        print(f"leave-one-out, 2,000 x 50, {classes} classes: {said}")


def candidates(data: Path) -> None:
    X, y, _, _ = mnist(data)
    bits = (X > 127).astype(np.uint8)
    models = [BernoulliNB(estimate=rule, prior=c) for rule in ("mle", "map", "mean", "predictive") for c in (1.1, 2, 5)]
    together = least(lambda: compare(bits, y, models), 5)
    alone = [least(lambda model=model: compare(bits, y, [model]), 3) for model in models]
    one = f"{np.mean(alone) * 1e3:.0f} ms ({min(alone) * 1e3:.0f} to {max(alone) * 1e3:.0f})"
    said = f"{together * 1e3:.0f} ms; one alone {one}, {together / np.mean(alone):.2f} of it"
    print(f"comparing 12 naive candidates on binary MNIST: {said}")


def calibration(data: Path) -> None:
    tables = read(data)
    for name, settings in (("adult", {"numeric": "gaussian"}), ("adult", {}), ("sms", {})):
        models = {
            how: BayesClassifier(structure="naive", calibrate=how, **settings)
            for how in (None, "temperature", "vector", "isotonic")
        }
        found = {line["model"]: line for line in compare(*tables[name], models).table}
        raw = found["None"]["log_loss"]
        for how, its in found.items():
            less = f"{its['log_loss']:.4f} ({1 - its['log_loss'] / raw:.1%} less)"
            error = f"calibration error {its['calibration_error']:.4f}"
            print(f"{name} {settings or ''}, {how}: log-loss {less}, accuracy {its['accuracy']:.4f}, {error}")


def stream() -> None:
    rng = np.random.default_rng(0)
    rows, size = 100_000, 100
    y = rng.integers(0, 3, rows)
    X = rng.normal(size=(rows, 20)) + 0.3 * y[:, None]

    def ours() -> list[np.ndarray]:
        model, said = GaussianNB(var_smoothing=0.0), []
        for some, labels in batches(X, y, size):
            said += [model.predict(some)] if model.__sklearn_is_fitted__() else []
            model.partial_fit(some, labels)
        return said

    taken, said = least(ours, 3), np.concatenate(ours())
    total = prequential(GaussianNB(), batches(X, y, size)).total
    print(f"stream of 100,000 x 20 in batches of 100: {rows / taken:,.0f} rows a second", end="")
    print(f", prequential {total['rows_per_second']:,.0f}", end="")
    try:
        from river import naive_bayes
    except ImportError:
        print("; river is not installed")
        return
    import pandas as pd

    some = 10_000  # are enough for its pace
    frames = [(pd.DataFrame(X[a : a + size]), pd.Series(y[a : a + size])) for a in range(0, some, size)]
    dicts = [dict(enumerate(line)) for line in X[:some].tolist()]
    many, start = naive_bayes.GaussianNB(), time.perf_counter()
    theirs_said = []
    for place, (frame, labels) in enumerate(frames):
        theirs_said += [np.asarray(many.predict_many(frame)).ravel()] if place else []
        many.learn_many(frame, labels)
    by_batch = (time.perf_counter() - start) * rows / some
    one, start = naive_bayes.GaussianNB(), time.perf_counter()
    for row, (x, label) in enumerate(zip(dicts, y[:some].tolist(), strict=True)):
        if row >= size:
            one.predict_one(x)
        one.learn_one(x, label)
    by_row = (time.perf_counter() - start) * rows / some
    same = np.mean(said[: some - size] == np.concatenate(theirs_said))
    times = min(by_batch, by_row) / taken
    print(f"; river {rows / by_batch:,.0f} by batch, {rows / by_row:,.0f} by row: {times:.0f} times", end="")
    print(f", the same predictions in {same:.2%}")


def one_row() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 5_000)
    for name, X in (("GaussianNB", rng.normal(size=(5_000, 20))), ("BernoulliNB", rng.integers(0, 2, (5_000, 20)))):
        model = {"GaussianNB": GaussianNB, "BernoulliNB": BernoulliNB}[name]().fit(X, y)

        def each(call: Callable[[int], object]) -> float:
            return least(lambda: [call(row) for row in range(2_000)], 5) / 2_000 * 1e6

        predicted = each(lambda row, model=model, X=X: model.predict(X[row : row + 1]))
        learned = each(lambda row, model=model, X=X: model.partial_fit(X[row : row + 1], y[row : row + 1]))
        print(f"one row of 20 columns, {name}: predict {predicted:.0f} us, learn {learned:.0f} us")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    one_row()
    folds()
    stream()
    if data.exists():
        candidates(data)
        calibration(data)
