"""Rows in memory: every family, type of number and structure beside scikit-learn, and the default beside ensembles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.naive_bayes as theirs
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import data
import suffice
from cases import Case, Goal, at_least, group

SKLEARN = "scikit-learn"


Goals = tuple[Goal | None, Goal | None]


def fit_and_predict(
    name: str, ours: Any, peer: Any, X: Any, y: Any, goals: Goals = (None, None), note: str = ""
) -> Iterator[Case]:
    """Yield a case for fit and one for predict, which may have a note; the floor is one read of the numbers."""
    values = X.data if sp.issparse(X) else X
    read, (fit, predict) = {"one read": values.max}, goals
    yield Case(f"{name}, fit", partial(ours.fit, X, y), {SKLEARN: partial(peer.fit, X, y)}, read, goal=fit)
    ours.fit(X, y)
    peer.fit(X, y)
    yield Case(
        f"{name}, predict", partial(ours.predict, X), {SKLEARN: partial(peer.predict, X)}, read, note, goal=predict
    )


@group("families", "The event models of naive Bayes, by type of number, beside scikit-learn's class of the same name.")
def families(is_quick: bool) -> Iterator[Case]:
    pixels, digits = data.images(10_000 if is_quick else 60_000)
    floats = pixels.astype(np.float64)
    dense = {"uint8": pixels, "float32": pixels.astype(np.float32), "float64": floats}
    tables = [("Gaussian", {}, each, X) for each, X in dense.items()]
    tables += [("Gaussian", {}, "float64, Fortran order", np.asfortranarray(floats))]
    tables += [("Bernoulli", {"binarize": 127}, each, X) for each, X in dense.items()]
    tables += [("Multinomial", {}, each, X) for each, X in dense.items()]
    tables += [("Complement", {}, "float64", floats)]
    for kind, settings, numbers, X in tables:
        name = f"{kind}, images, {numbers}"
        yield from fit_and_predict(name, *_pair(f"{kind}NB", settings), X, digits)
    del dense, tables, floats
    text, topics = data.words(20_000 if is_quick else 200_000)
    note = "Both read a line of weights for each stored cell, in any order: the time is that of the memory."
    for kind in ("Multinomial", "Complement", "Bernoulli"):
        goals = (at_least(8), at_least(4)) if kind == "Multinomial" and not is_quick else (None, None)
        name = f"{kind}, word counts, sparse"
        yield from fit_and_predict(name, *_pair(f"{kind}NB", {}), text, topics, goals, note)
    codes, classes = data.levels(20_000 if is_quick else 200_000)
    for kind in (np.int64, np.int8):
        name = f"Categorical, levels, {np.dtype(kind).name}"
        goals = (None, None if is_quick else at_least(20))
        yield from fit_and_predict(name, *_pair("CategoricalNB", {}), codes.astype(kind), classes, goals)


def _pair(kind: str, settings: dict[str, Any]) -> tuple[Any, Any]:
    return getattr(suffice, kind)(**settings), getattr(theirs, kind)(**settings)


@group("structures", "Dependent columns: covariances, mixtures, trees and averaged pairs, and logistic regression.")
def structures(is_quick: bool) -> Iterator[Case]:
    X, y = data.numbers(10_000 if is_quick else 60_000, 100, 10)
    product = {"one matrix product": lambda: X.T @ X}
    for covariance, peer in (("full", QuadraticDiscriminantAnalysis()), ("shared", LinearDiscriminantAnalysis())):
        ours = suffice.GaussianDiscriminant(covariance=covariance)
        name = f"Gaussian, {covariance} covariance"
        yield Case(f"{name}, fit", partial(ours.fit, X, y), {SKLEARN: partial(peer.fit, X, y)}, product)
        ours.fit(X, y)
        peer.fit(X, y)
        note = "The rows are multiplied by a triangular matrix for each class." if covariance == "full" else ""
        yield Case(f"{name}, predict", partial(ours.predict, X), {SKLEARN: partial(peer.predict, X)}, product, note)
    few, labels = X[:5000, :20].copy(), y[:5000]
    mixture = suffice.MixtureClassifier(components=5, estimate="mle")
    yield Case(
        "mixtures of 5 Gaussians for each class, fit",
        lambda: mixture.fit(few, labels),
        {SKLEARN: lambda: [GaussianMixture(5, random_state=0).fit(few[labels == k]) for k in range(10)]},
    )
    X2, y2 = data.numbers(10_000 if is_quick else 60_000, 100, 2)
    yield Case(
        "logistic regression, two classes, fit",
        lambda: suffice.LogisticRegression().fit(X2, y2),
        {SKLEARN: lambda: LogisticRegression(max_iter=1000).fit(X2, y2)},
    )
    codes, classes = data.levels(20_000 if is_quick else 200_000, 30)
    one_hot = OneHotEncoder(dtype=np.float32, sparse_output=False).fit_transform(codes[:, :10])
    for structure in ("tree", "averaged"):
        ours = suffice.BayesClassifier(structure=structure, families="categorical")
        yield Case(
            f"{structure} of 30 columns of levels, fit",
            partial(ours.fit, codes, classes),
            {"scikit-learn, naive": partial(theirs.CategoricalNB().fit, codes, classes)},
            {"one matrix product of 10 columns": lambda: one_hot.T @ one_hot},
            "All 435 pairs of columns are counted; naive Bayes counts none.",
        )


@group(
    "default", "BayesClassifier() on a table of 10 numeric columns and 10 of levels, beside scikit-learn's ensembles."
)
def default(is_quick: bool) -> Iterator[Case]:
    X, y = data.frame(10_000 if is_quick else 50_000)
    words = make_column_selector(dtype_exclude="number")

    def boosting() -> Any:
        coded = make_column_transformer((OrdinalEncoder(), words), remainder="passthrough")
        return make_pipeline(coded, HistGradientBoostingClassifier(random_state=0))

    def forest() -> Any:
        coded = make_column_transformer((OneHotEncoder(sparse_output=False), words), remainder="passthrough")
        return make_pipeline(coded, RandomForestClassifier(random_state=0, n_jobs=-1))

    peers = {"HistGradientBoosting": boosting, "RandomForest": forest}
    read = {"one read": lambda: X.to_numpy().size}
    yield Case(
        "default, fit",
        lambda: suffice.BayesClassifier().fit(X, y),
        {name: (lambda make=make: make().fit(X, y)) for name, make in peers.items()},
        read,
    )
    fitted = {name: make().fit(X, y) for name, make in peers.items()}
    ours = suffice.BayesClassifier().fit(X, y)
    yield Case(
        "default, predict_proba",
        lambda: ours.predict_proba(X),
        {name: partial(model.predict_proba, X) for name, model in fitted.items()},
        read,
        "The pool scores every row by averaged pairs, a covariance and trees.",
    )
