"""Other libraries of naive Bayes and Bayesian networks, where they are installed (`make bench` installs them)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import sklearn.naive_bayes as theirs

import data
import suffice
from cases import Case, beyond_peer, group, installed
from timing import run_python


@group("libraries", "Other libraries of naive Bayes and Bayesian networks that install from PyPI.")
def libraries(is_quick: bool) -> Iterator[Case]:
    rows = 20_000 if is_quick else 200_000
    X, y = data.numbers(rows, 20, 3)
    single = X.astype(np.float32)  # torch's default

    def mixed_naive_bayes() -> Any:
        from mixed_naive_bayes import MixedNB

        return MixedNB().fit(X, y)

    def wnb() -> Any:
        from wnb import GeneralNB

        return GeneralNB().fit(X, y)

    def pomegranate() -> Any:
        from pomegranate.bayes_classifier import BayesClassifier
        from pomegranate.distributions import Normal

        return BayesClassifier([Normal(covariance_type="diag") for _ in range(3)]).fit(single, y)

    def river_rows() -> Any:
        from river.naive_bayes import GaussianNB

        model = GaussianNB()
        for row, label in zip(stream, y[: len(stream)].tolist(), strict=True):
            model.learn_one(row, label)
        return model

    calls = installed({"mixed_naive_bayes": mixed_naive_bayes, "wnb": wnb, "pomegranate": pomegranate})
    ours = suffice.GaussianNB()
    yield Case("Gaussian naive Bayes, fit", partial(ours.fit, X, y), calls)
    ours.fit(X, y)
    predictions = {name: partial(fit().predict, single if name == "pomegranate" else X) for name, fit in calls.items()}
    yield Case("Gaussian naive Bayes, predict", partial(ours.predict, X), predictions)
    stream = pd.DataFrame(X[:2000], columns=[f"x{k}" for k in range(20)]).to_dict("records")

    def ours_rows() -> Any:
        model = suffice.GaussianNB()
        for row in range(len(stream)):
            model.partial_fit(X[row : row + 1], y[row : row + 1], classes=[0, 1, 2])
        return model

    def sklearn_rows() -> Any:
        model = theirs.GaussianNB()
        for row in range(len(stream)):
            model.partial_fit(X[row : row + 1], y[row : row + 1], classes=[0, 1, 2])
        return model

    note = "Each call checks an array of one row; river takes a dictionary without a check."
    yield Case(
        "Gaussian naive Bayes, 2,000 rows one by one, learn",
        ours_rows,
        {"scikit-learn": sklearn_rows, **installed({"river": river_rows})},
        note=note,
    )
    peer = theirs.GaussianNB().fit(X, y)

    def river_predictions() -> Any:
        model = river_rows()
        return lambda: [model.predict_one(row) for row in stream]

    calls = {"scikit-learn": lambda: [peer.predict(X[row : row + 1]) for row in range(len(stream))]}
    if installed({"river": river_rows}):
        calls["river"] = river_predictions()
    yield Case(
        "Gaussian naive Bayes, 2,000 rows one by one, predict",
        lambda: [ours.predict(X[row : row + 1]) for row in range(len(stream))],
        calls,
        note=note,
    )
    codes, classes = data.levels(rows // 10, 10)
    levels = pd.DataFrame(codes, columns=[f"c{k}" for k in range(10)]).astype(str)

    def river_batch() -> Any:
        from river.naive_bayes import BernoulliNB

        return BernoulliNB().learn_many(pd.DataFrame(codes % 2, columns=levels.columns), pd.Series(classes))

    yield Case(
        "Bernoulli naive Bayes, one batch",
        lambda: suffice.BernoulliNB().partial_fit(codes % 2, classes, classes=np.arange(5)),
        installed({"river": river_batch}),
        note="A small batch of a new model: kernels run uncompiled until they have enough work, and input is checked.",
    )

    def pyagrum() -> Any:
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier

        processor = DiscreteTypeProcessor(discretizationThreshold=25)
        return BNClassifier(type_processor=processor, learningMethod="TAN", prior="Smoothing").fit(levels, classes)

    tree = suffice.BayesClassifier(structure="tree", families="categorical")
    yield Case("tree of 10 columns of levels, fit", partial(tree.fit, levels, classes), installed({"pyagrum": pyagrum}))


@group("start", "Imports in a new process.")
def start(is_quick: bool) -> Iterator[Case]:
    yield Case(
        "from suffice import GaussianNB",
        partial(run_python, "from suffice import GaussianNB"),
        {"scikit-learn": partial(run_python, "from sklearn.naive_bayes import GaussianNB")},
        {"an empty process": partial(run_python, "pass")},
    )
    iris = "from sklearn.datasets import load_iris; X, y = load_iris(return_X_y=True)"
    yield Case(
        "import and fit iris",
        partial(run_python, f"{iris}; import suffice; suffice.GaussianNB().fit(X, y)"),
        {
            "scikit-learn": partial(
                run_python, f"{iris}; from sklearn.naive_bayes import GaussianNB; GaussianNB().fit(X, y)"
            )
        },
        note="suffice imports scikit-learn, for its base classes, and itself.",
        goal=beyond_peer(0.04),
    )
