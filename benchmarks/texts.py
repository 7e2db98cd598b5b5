"""Texts: BayesClassifier with and without its twin, compared with pipelines of scikit-learn, on SMS messages.

    python benchmarks/texts.py [folder of data]

Accuracy and log-loss are means over ten shuffled folds, and the times those of one fold. The last lines are the times
of 25,000 long texts, drawn from the words of the messages, and how many times faster that is than scikit-learn.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from suffice import BayesClassifier, Pooled, Text
from tables import folder
from timing import least


def learners() -> dict[str, Callable[[], Any]]:
    """Return the models; scikit-learn's take a list of texts, ours a table."""

    def ours(structure: Any, **settings: Any) -> Callable[[], Any]:
        return lambda: BayesClassifier(structure=structure, families={"message": Text(**settings)})

    words, counts = {"ngram_range": (1, 1)}, {"ngram_range": (1, 1), "binary": False}
    return {
        "MultinomialNB": lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
        "MultinomialNB, binary, pairs": lambda: make_pipeline(
            CountVectorizer(binary=True, ngram_range=(1, 2)), MultinomialNB()
        ),
        "BernoulliNB": lambda: make_pipeline(CountVectorizer(), BernoulliNB()),
        "LogisticRegression, tf-idf": lambda: make_pipeline(TfidfVectorizer(), LogisticRegression()),
        "LogisticRegression, tf-idf, C=100": lambda: make_pipeline(TfidfVectorizer(), LogisticRegression(C=100)),
        "naive, counts": ours("naive", **counts),
        "naive, words": ours("naive", **words),
        "naive, words and pairs": ours("naive"),
        "weighted, words and pairs": ours(Pooled(("naive",))),
        "twin, counts": ours("auto", **counts),
        "twin, words": ours("auto", **words),
        "default (twin, words and pairs)": BayesClassifier,
    }


def measure(make: Callable[[], Any], X: pd.DataFrame, y: pd.Series) -> tuple[float, ...]:
    """Return accuracy, log-loss, and the seconds of fit and of predict_proba."""
    found = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=1).split(X, y):
        model = make()
        is_ours = isinstance(model, BayesClassifier)
        rows, new = ((X if is_ours else X["message"]).iloc[part] for part in (train, test))
        start = time.perf_counter()
        model.fit(rows, y.iloc[train])
        fitted = time.perf_counter()
        p = model.predict_proba(new)
        end = time.perf_counter()
        right = model.classes_[p.argmax(axis=1)] == y.iloc[test]
        found.append((right.mean(), log_loss(y.iloc[test], p, labels=model.classes_), fitted - start, end - fitted))
    return tuple(np.mean(found, axis=0).tolist())


def draw_reviews(messages: pd.Series, texts: int = 25_000, words: int = 230) -> tuple[pd.DataFrame, np.ndarray]:
    """Return texts of two classes, whose words are drawn by Zipf's law; a tenth of them depends on the class."""
    vocabulary = pd.Series(re.findall(r"\w+", " ".join(messages))).value_counts().index.to_numpy()
    rng, share = np.random.default_rng(0), 1 / np.arange(1, len(vocabulary) + 1)
    lengths, y = rng.poisson(words, texts), rng.integers(0, 2, texts)
    drawn = rng.choice(len(vocabulary), lengths.sum(), p=share / share.sum())
    moved = drawn * (1 + np.repeat(y, lengths)) % len(vocabulary)
    drawn = np.where(rng.random(len(drawn)) < 0.1, moved, drawn)
    return pd.DataFrame({"review": list(map(" ".join, np.split(vocabulary[drawn], np.cumsum(lengths)[:-1])))}), y


def compare_times(X: pd.DataFrame, y: np.ndarray) -> None:
    """Print the times of fit and predict, and the ratios of those of scikit-learn to them."""
    for grams in ((1, 1), (1, 2)):
        setting = Text(ngram_range=grams, binary=False)
        ours = BayesClassifier(structure="naive", families={"review": setting})
        peer = make_pipeline(CountVectorizer(ngram_range=grams), MultinomialNB())
        ours.fit(X[:5000], y[:5000]).predict(X[:5000])
        times = [
            least(partial(run, *rows), 2)
            for run, rows in (
                (ours.fit, (X, y)), (ours.predict, (X,)), (peer.fit, (X["review"], y)), (peer.predict, (X["review"],))
            )
        ]  # fmt: skip
        fit, predict, their_fit, their_predict = times
        print(
            f"{f'{len(X):,} reviews, {grams[1]} words':36}{fit:8.2f} s{predict:8.2f} s"
            f"{their_fit / fit:9.1f}x{their_predict / predict:8.1f}x"
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    names = ["kind", "message"]
    table = pd.read_csv(folder() / "text" / "sms.tsv", sep="\t", header=None, names=names, quoting=3)
    print(f"{'':36}{'accuracy':>10}{'log-loss':>10}{'fit':>10}{'predict':>10}")
    for name, make in learners().items():
        accuracy, loss, fit, predict = measure(make, table[["message"]], table["kind"])
        print(f"{name:36}{accuracy:10.4f}{loss:10.4f}{fit:8.2f} s{predict:8.3f} s", flush=True)
    print(f"\n{'':36}{'fit':>10}{'predict':>10}{'fit':>10}{'predict':>9}")
    compare_times(*draw_reviews(table["message"]))
