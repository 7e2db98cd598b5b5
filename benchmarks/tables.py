"""Tables as they were read from a file: BayesClassifier compared with the usual pipelines of scikit-learn.

    python benchmarks/tables.py [folder of data]

Accuracy and log-loss are ten-fold means on the same folds; times are the best of five. The pipelines fill missing cells
(with the median or the most frequent level) and use one-hot columns for GaussianNB and BernoulliNB, or levels coded as
0, 1, … for CategoricalNB; the latter two put numbers into ten bins of equal frequency. suffice gets the table as it is.
Its accuracy and log-loss are those of the default; benchmarks/pool.py compares it with forests and boosting.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder

from suffice import BayesClassifier

Table = tuple[pd.DataFrame, pd.Series]


def read(folder: Path) -> dict[str, Table]:
    def target(table: pd.DataFrame, name: Any, *others: Any) -> Table:
        return table.drop(columns=[name, *others]).rename(columns=str), table[name]

    tabular = folder / "tabular"
    return {
        "titanic": target(pd.read_csv(tabular / "titanic.csv"), "survived", "alive"),
        "adult": target(pd.read_csv(tabular / "adult-train.csv.gz", header=None, skipinitialspace=True), 14),
        "mushrooms": target(pd.read_csv(tabular / "mushrooms.csv"), "class"),
        "votes": target(pd.read_csv(tabular / "house-votes-84.data", header=None), 0),
        "car": target(pd.read_csv(tabular / "car.data", header=None), 6),
        "penguins": target(pd.read_csv(tabular / "penguins.csv"), "species"),
        "spambase": target(spam := pd.read_csv(tabular / "spambase.data.gz"), spam.columns[-1]),
        "letter": target(pd.read_csv(tabular / "letter-recognition.data.gz", header=None), 0),
        "sms": target(pd.read_csv(folder / "text" / "sms.tsv", sep="\t", header=None, quoting=3), 0),
    }


def pipelines(X: pd.DataFrame) -> dict[str, Callable[[], Any]]:
    """Return the usual pipelines of scikit-learn for a table."""
    if X.shape[1] == 1 and not pd.api.types.is_numeric_dtype(X.dtypes.iloc[0]):
        return {"MultinomialNB": lambda: make_pipeline(_FirstColumn(), CountVectorizer(), MultinomialNB())}
    numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name]) and X[name].dtype != bool]
    levels = [name for name in X if name not in numbers]
    X = X.copy()
    known = [sorted(X[name].fillna(X[name].mode()[0]).unique()) for name in levels]
    least = [10] * len(numbers) + [len(each) for each in known]

    def columns(for_numbers: Any, for_levels: Any) -> ColumnTransformer:
        median = SimpleImputer(strategy="median")
        return ColumnTransformer(
            [
                ("numbers", make_pipeline(median, for_numbers) if for_numbers else median, numbers),
                ("levels", make_pipeline(SimpleImputer(strategy="most_frequent"), for_levels), levels),
            ],
            sparse_threshold=0,
        )

    def bins(encode: str) -> KBinsDiscretizer:
        return KBinsDiscretizer(10, encode=encode, strategy="quantile", quantile_method="averaged_inverted_cdf")

    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return {
        "GaussianNB": lambda: make_pipeline(columns(None, one_hot), GaussianNB()),
        "CategoricalNB": lambda: make_pipeline(
            columns(bins("ordinal"), OrdinalEncoder(categories=known)), CategoricalNB(min_categories=np.array(least))
        ),
        "BernoulliNB": lambda: make_pipeline(columns(bins("onehot-dense"), one_hot), BernoulliNB()),
    }


class _FirstColumn:
    """Pass the only column of a table to a vectorizer."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return self

    def transform(self, X: Any) -> Any:
        return X.iloc[:, 0]

    fit_transform = lambda self, X, y=None: X.iloc[:, 0]  # noqa: E731

    def __sklearn_tags__(self) -> Any:
        return CountVectorizer().__sklearn_tags__()


def ten_fold(make: Callable[[], Any], X: pd.DataFrame, y: pd.Series) -> tuple[float, float]:
    accuracy, loss = [], []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        model = make().fit(X.iloc[train], y.iloc[train])
        probabilities = model.predict_proba(X.iloc[test])
        accuracy.append(accuracy_score(y.iloc[test], model.classes_[probabilities.argmax(axis=1)]))
        loss.append(log_loss(y.iloc[test], probabilities, labels=model.classes_))
    return float(np.mean(accuracy)), float(np.mean(loss))


def times(make: Callable[[], Any], X: pd.DataFrame, y: pd.Series) -> tuple[float, float]:
    """Return the best of five times of fit and of predict; the first one includes compilation."""
    fit, predict = [], []
    for _ in range(6):
        start = time.perf_counter()
        model = make().fit(X, y)
        fit.append(time.perf_counter() - start)
        start = time.perf_counter()
        model.predict(X)
        predict.append(time.perf_counter() - start)
    return min(fit[1:]), min(predict[1:])


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    print(f"{'':10} {'suffice':>15} {'best pipeline':>30}    naive: fit   predict  averaged: fit  predict")
    for name, (X, y) in read(folder).items():
        candidates = pipelines(X)
        said = {peer: ten_fold(make, X, y) for peer, make in candidates.items()}
        best = max(said, key=lambda peer, said=said: said[peer][0])
        mine = ten_fold(BayesClassifier, X, y)
        theirs = times(candidates[best], X, y)
        naive = times(lambda: BayesClassifier(structure="naive"), X, y)
        averaged = times(lambda: BayesClassifier(structure="averaged"), X, y)
        faster = [theirs[0] / naive[0], theirs[1] / naive[1], theirs[0] / averaged[0], theirs[1] / averaged[1]]
        print(
            f"{name:10} {mine[0]:.4f} / {mine[1]:.3f} {best:>14} {said[best][0]:.4f} / {said[best][1]:.3f} "
            + " ".join(f"{ratio:7.1f} x" for ratio in faster),
            flush=True,
        )


def folder() -> Path:
    """Return the folder of data: that of the command line, or the one beside the repository."""
    found = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared" / "data")
    if not (found / "tabular").exists():
        sys.exit(f"there are no data in {found}: name the folder that has tabular/, text/ and mnist/")
    return found


if __name__ == "__main__":
    main(folder())
