"""Wide tables, texts, first calls in a process, many models on the same sums, reports, and the memory of a tree."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn.naive_bayes as theirs
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import data
import first_calls
import suffice
from cases import Case, at_least, at_most, group, in_memory
from timing import run_python

SKLEARN = "scikit-learn"


@group("wide", "A frame of many columns of numbers, and long texts.")
def wide(is_quick: bool) -> Iterator[Case]:
    columns = 1000 if is_quick else 5000
    numbers, y = data.numbers(1000, columns)
    X = pd.DataFrame(numbers, columns=[f"x{k}" for k in range(columns)])
    goal = None if is_quick else at_most(1e-4 * columns)
    bins = make_pipeline(
        KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf"), theirs.CategoricalNB()
    )
    peer = {"scikit-learn, bins": lambda: bins.fit(X, y)}
    notes = {
        "auto": "A pool is tuned by five folds, and each of them chooses the forms of all columns again.",
        "naive": "",
    }
    for structure, name in (("auto", "default"), ("naive", "naive")):
        ours = suffice.BayesClassifier(structure=structure)
        yield Case(
            f"frame, 1,000 x {columns:,}, {name}, fit", partial(ours.fit, X, y), peer, {}, notes[structure], goal=goal
        )
        ours.fit(X, y)
        bins.fit(X, y)
        yield Case(
            f"frame, 1,000 x {columns:,}, {name}, predict",
            partial(ours.predict, X),
            {"scikit-learn, bins": lambda: bins.predict(X)},
            goal=goal,
        )
    reviews, y = data.reviews(2_500 if is_quick else 25_000)
    table, name = pd.DataFrame({"review": reviews}), f"texts, {len(reviews):,} of 230 words, naive"
    words = suffice.Text(ngram_range=(1, 1), binary=False)
    ours = suffice.BayesClassifier(structure="naive", families={"review": words})
    count = make_pipeline(CountVectorizer(), theirs.MultinomialNB())
    split = {"one split of the texts": lambda: [text.split() for text in reviews]}
    goal = None if is_quick else at_least(4)
    yield Case(f"{name}, fit", partial(ours.fit, table, y), {SKLEARN: lambda: count.fit(reviews, y)}, split, goal=goal)
    ours.fit(table, y)
    count.fit(reviews, y)
    yield Case(
        f"{name}, predict", partial(ours.predict, table), {SKLEARN: lambda: count.predict(reviews)}, split, goal=goal
    )


@group("kernels", "The first call in a new process, with kernels from the compiler's cache on disk.")
def kernels(is_quick: bool) -> Iterator[Case]:
    calls = list(first_calls.CALLS.items())
    for name, call in calls[:1] if is_quick else calls:
        yield Case(
            f"{name}, import and first fit and predict",
            partial(run_python, f"{first_calls.DATA}\n{call}"),
            floor={"the imports, the compiler and the data": partial(run_python, first_calls.DATA)},
        )


@group("sums", "Many models from the same sums: leave-one-out and comparison, and a report that needs the rows once.")
def sums(is_quick: bool) -> Iterator[Case]:
    rows = 300 if is_quick else 2000
    X, y = data.numbers(rows, 50, 10)
    yield Case(
        f"leave-one-out, Gaussian, {rows:,} x 50, ten classes",
        lambda: suffice.cross_validate(suffice.GaussianNB(), X, y, cv="loo"),
        {SKLEARN: lambda: cross_val_score(theirs.GaussianNB(), X, y, cv=LeaveOneOut())},
        {"one fit and predict": lambda: suffice.GaussianNB().fit(X, y).predict(X)},
        goal=None if is_quick else at_least(1000),
    )
    pixels, digits = data.images(10_000 if is_quick else 60_000)
    bits = (pixels > 127).astype(np.uint8)
    models = [
        suffice.BernoulliNB(estimate=rule, prior=count)
        for rule in ("mle", "map", "mean", "predictive")
        for count in (1.1, 2, 5)
    ]
    yield Case(
        f"compare 12 Bernoulli models, {len(bits):,} images",
        lambda: suffice.compare(bits, digits, models),
        {"compare 1 of them": lambda: suffice.compare(bits, digits, models[4:5])},
        {"12 fits and predictions": lambda: [model.fit(bits, digits).predict(bits) for model in models]},
        "The peer is suffice itself, with one model.",
        goal=None if is_quick else at_least(1 / 3),
    )
    table, labels = data.frame(3_000 if is_quick else 30_000)
    model = suffice.BayesClassifier().fit(table, labels)
    with tempfile.TemporaryDirectory() as folder:
        yield Case(
            f"report, {len(labels):,} x 20, default",
            lambda: suffice.report.write(model, Path(folder) / "report.html", table, labels),
            floor={"one prediction of the rows": lambda: model.predict_proba(table)},
        )
    count = 300 if is_quick else 2000
    codes, classes = data.levels(2000, count)
    tree = suffice.BayesClassifier(structure="tree", families="categorical")
    sums = (3 * count) ** 2 * 2 * 8 / 2**20
    yield Case(
        f"tree of {count:,} columns of three levels, fit",
        lambda: tree.fit(codes % 3, classes % 2),
        note=f"The counts of all pairs take {sums:,.0f} MB.",
        goal=None if is_quick else in_memory(1200),
    )
