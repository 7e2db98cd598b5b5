"""The pictures of the gallery: a function for each plot of `suffice.plots`, whose body the page shows.

python website/gallery.py FOLDER [NAME …]
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import train_test_split

import suffice
from suffice import plots

loans = pd.read_csv(Path(__file__).parents[1] / "docs" / "loans.csv")
X, y = loans.drop(columns="repaid"), loans["repaid"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
iris = load_iris(as_frame=True)
digits, digit = load_digits(return_X_y=True)


def nomogram() -> Any:
    # --8<-- [start:nomogram]
    model = suffice.BayesClassifier(structure="naive").fit(X, y)
    ax = plots.nomogram(model, X, label="yes", row=3)
    # --8<-- [end:nomogram]
    return ax


def waterfall() -> Any:
    # --8<-- [start:waterfall]
    model = suffice.BayesClassifier().fit(X, y)
    ax = plots.waterfall(model.explain(X[3:4]))
    # --8<-- [end:waterfall]
    return ax


def marked_text() -> Any:
    # --8<-- [start:marked_text]
    messages = pd.DataFrame(
        {"text": ["win a free prize now", "see you at lunch", "free entry to win", "lunch at noon then"]}
    )
    model = suffice.BayesClassifier(families={"text": "text"}).fit(messages, ["spam", "ham", "spam", "ham"])
    row = pd.DataFrame({"text": ["a free lunch to win"]})
    ax = plots.marked_text(model.explain(row), text="a free lunch to win")
    # --8<-- [end:marked_text]
    return ax


def heat_map() -> Any:
    # --8<-- [start:heat_map]
    model = suffice.BernoulliNB(binarize=7.5).fit(digits, digit)
    ax = plots.heat_map(model.explain(digits[8:9]), label=8, against=1)
    # --8<-- [end:heat_map]
    return ax


def means() -> Any:
    # --8<-- [start:means]
    model = suffice.BernoulliNB(binarize=7.5).fit(digits, digit)
    ax = plots.means(model, shape=(8, 8))
    # --8<-- [end:means]
    return ax


def densities() -> Any:
    # --8<-- [start:densities]
    flowers = suffice.GaussianNB().fit(iris.data, iris.target_names[iris.target])
    ax = plots.densities(flowers, iris.data, iris.target_names[iris.target], "petal length (cm)")
    # --8<-- [end:densities]
    return ax


def boundary() -> Any:
    # --8<-- [start:boundary]
    two = iris.data[["sepal length (cm)", "sepal width (cm)"]]
    names = iris.target_names[iris.target]
    models = {
        "naive": suffice.GaussianNB().fit(two, names),
        "full covariance": suffice.GaussianDiscriminant().fit(two, names),
    }
    ax = plots.boundary(models, two, names)
    # --8<-- [end:boundary]
    return ax


def tree() -> Any:
    # --8<-- [start:tree]
    model = suffice.BayesClassifier(structure="tree", numeric="mdl").fit(X, y)
    ax = plots.tree(model)
    # --8<-- [end:tree]
    return ax


def posterior() -> Any:
    # --8<-- [start:posterior]
    flips = suffice.Bernoulli.tally([1, 1, 0, 1, 1, 0, 1, 1])
    ax = plots.posterior(suffice.Bernoulli, flips, suffice.Beta(2, 2))
    # --8<-- [end:posterior]
    return ax


def reliability() -> Any:
    # --8<-- [start:reliability]
    model = suffice.MultinomialNB(calibrate="temperature").fit(digits, digit)
    ax = plots.reliability(model.calibration_.reliability)
    # --8<-- [end:reliability]
    return ax


def confusion() -> Any:
    # --8<-- [start:confusion]
    model = suffice.GaussianNB().fit(digits[:1000], digit[:1000])
    ax = plots.confusion(digit[1000:], model.predict(digits[1000:]))
    # --8<-- [end:confusion]
    return ax


def comparison() -> Any:
    # --8<-- [start:comparison]
    names = ("naive", "tree", "averaged", "auto")
    found = suffice.compare(X, y, {name: suffice.BayesClassifier(structure=name) for name in names})
    ax = plots.comparison(found.table)
    # --8<-- [end:comparison]
    return ax


def learning_curve() -> Any:
    # --8<-- [start:learning_curve]
    cells, tumour = load_breast_cancer(return_X_y=True)
    ax = plots.learning_curve(suffice.GaussianNB(), cells, tumour)
    # --8<-- [end:learning_curve]
    return ax


def newton() -> Any:
    # --8<-- [start:newton]
    model = suffice.LogisticRegression().fit(iris.data, iris.target)
    ax = plots.newton(model)
    # --8<-- [end:newton]
    return ax


def over_time() -> Any:
    # --8<-- [start:over_time]
    result = suffice.prequential(suffice.MultinomialNB(), suffice.batches(digits, digit, 60))
    ax = plots.over_time(result.rows, result.accuracy)
    # --8<-- [end:over_time]
    return ax


def drift() -> Any:
    # --8<-- [start:drift]
    model = suffice.BayesClassifier(structure="naive").fit(X_train, y_train)
    changed = X_test.assign(income=X_test["income"] * 1.5)
    ax = plots.drift(suffice.drift(model, changed).table)
    # --8<-- [end:drift]
    return ax


PICTURES: dict[str, Callable[[], Any]] = {
    each.__name__: each
    for each in (
        nomogram, waterfall, marked_text, heat_map, means, densities, boundary, tree, posterior, reliability, confusion,
        comparison, learning_curve, newton, over_time, drift,
    )
}  # fmt: skip


def draw(name: str) -> str:
    """Return a picture as SVG; its letters are text, so that it is small and can be searched."""
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}):
        drawn = PICTURES[name]()
        figure = (drawn if hasattr(drawn, "figure") else np.ravel(drawn)[0]).figure
        content = io.StringIO()
        figure.savefig(content, format="svg", dpi=60, bbox_inches="tight", metadata={"Date": None})
        plt.close("all")
    return content.getvalue()


def draw_all() -> dict[str, str]:
    """Return all pictures by name."""
    return {name: draw(name) for name in PICTURES}


if __name__ == "__main__":
    for each in sys.argv[2:] or PICTURES:
        Path(sys.argv[1], f"{each}.svg").write_text(draw(each))
