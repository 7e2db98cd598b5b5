"""The points of a nomogram: what each value of each column says for a class, read off the model itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from suffice.families import FAMILIES
from suffice.plots import Array, check_fitted, class_pair
from suffice.plots.totals import OTHER, Points, Scale, posterior

RANGING = 2000  # rows that are looked at for the range of a column


def points(model: Any, X: Any = None, label: Any = None, against: Any = None, *, row: int | None = None) -> Points:
    """Return the scales of a nomogram: points of each value of each column, for a label and against another.

    All numbers are `model.explain` of rows made for the purpose. X has the range of numbers, by default that of
    mean ± 3 deviations of all classes; where it has no more than 2,000 rows, their values
    are on the scales; those of ``row`` always are.

    >>> from suffice import BernoulliNB
    >>> X = [[1, 0], [1, 1], [0, 1]]
    >>> model = BernoulliNB().fit(X, ["ham", "ham", "spam"])
    >>> its = points(model, label="spam")
    >>> total = sum(its.points([0, 1]))
    >>> round(float(its.probability(total)), 6), model.predict_proba([[0, 1]])[0, 1].round(6).item()
    (0.64, 0.64)
    """
    _refuse(model)
    seen = {} if X is None else held(model, X, row)
    columns = [(title, *values_of(model, at, seen.get(title, []))) for title, at in columns_of(model)]
    longest = max(len(values) for _, _, values, _ in columns)
    turns = np.arange(longest)
    first = explained(model, columns, [turns % len(values) for _, _, values, _ in columns])
    # told apart from other models by what they say: in another order the same values must say the same
    second = explained(model, columns, [(turns + j + 1) % len(its[2]) for j, its in enumerate(columns)])
    scales = []
    for j, (title, kind, values, edges) in enumerate(columns):
        size = len(values)
        evidence = first.contributions[:size, :, j]
        places = (turns + j + 1) % size
        same = np.isclose(second.contributions[:, :, j], evidence[places], rtol=1e-9, atol=1e-9)
        if not same.all():
            raise ValueError(
                f"a nomogram adds up columns that are independent given the class, and what {title} says here depends "
                'on others; use structure="naive" (of counts, estimate="mean"), or waterfall for one row'
            )
        silent = kind == "levels" and not edges and model.tally_.schema.features is not None
        scales.append(Scale(title, kind, values, evidence, edges, silent))
    if not np.allclose(first.log_proba, posterior(first.log_joint, first.prior), atol=1e-9, rtol=1e-9, equal_nan=True):
        raise ValueError("calibrated probabilities are no sum of points; set calibrate=None")
    classes = list(first.classes)
    default = np.zeros(len(classes))
    if len(classes) == 2 and label is None and against is None:
        default[1] = 1.0  # of two classes the second is the one that is asked about: yes, 1, True
    mine, other = class_pair(classes, label, against, default)
    return Points(classes, mine, other, first.prior, scales)


def columns_of(model: Any) -> list[tuple[str, tuple[int, Any, int]]]:
    """Return the columns that a model learned, in order: title, and (place in the table, block, place in it)."""
    schema = model.tally_.schema
    known = {} if schema.features is None else {name: place for place, name in enumerate(schema.features.names)}
    found = []
    for number, block in enumerate(schema.blocks):
        for j in range(block.count):
            name = j if block.names is None else block.names[j]
            place = known.get(name, j)
            title = f"column {name}" if isinstance(name, (int, np.integer)) else str(name)
            found.append((title, (place, number, j)))
    return sorted(found, key=lambda column: column[1][0])


def held(model: Any, X: Any, row: int | None = None) -> dict[str, list[Any]]:
    """Return what rows hold of each column, as the model reads them: of 2,000, if there are more, and one row."""
    from sklearn.utils import _safe_indexing

    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if count > RANGING:
        some = np.linspace(0, count - 1, RANGING).astype(int)
        X = _safe_indexing(X, some if row is None else np.union1d(some, [row]))
    explanation = quietly(model, X)
    return {title: [line[j] for line in explanation.values] for j, title in enumerate(explanation.features)}


def explained(model: Any, columns: list[Any], places: list[Array]) -> Any:
    """Return the explanation of rows that hold of each column the values at some places."""
    width = int(model.n_features_in_)
    tabled = model.tally_.schema.features is not None
    rows = np.full((len(places[0]), width), None, object) if tabled else np.zeros((len(places[0]), width))
    at = dict(columns_of(model))
    for (title, _, values, _), turn in zip(columns, places, strict=True):
        made = np.empty(len(values), object)
        numbers = [value for value in values if not isinstance(value, str)]
        made[:] = [max(numbers) + 1 if value == OTHER and numbers else value for value in values]
        rows[:, at[title][0]] = made[turn]
    return quietly(model, rows)


def quietly(model: Any, X: Any) -> Any:
    """Return the explanation of rows whose columns have no names, of a model whose columns have."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return model.explain(X)


def values_of(model: Any, at: tuple[int, int, int], seen: list[Any]) -> tuple[str, list[Any], tuple[float, ...]]:
    """Return the kind of a column, values that stand for all that it may hold, and its edges."""
    _, number, j = at
    block, statistic = model.tally_.schema.blocks[number], model.tally_.statistics[number]
    coding: Any = None if block.codings is None else block.codings[j]
    if hasattr(coding, "text"):
        raise ValueError(
            f"{block.name(j)} is a text, which has too many words for a nomogram; leave it out, or use waterfall or "
            "marked_text for one row"
        )
    numbers = [value for value in seen if value is not None and np.isfinite(value)] if coding is None else []
    support = FAMILIES[block.family].support(block, statistic, j, numbers)
    return support.kind, [*support.values, OTHER] if support.is_open else support.values, support.edges


def _refuse(model: Any) -> None:
    """Raise if this is no fitted model that can explain itself."""
    check_fitted(model)
    if not hasattr(model, "explain"):
        raise TypeError(f"a nomogram is drawn of a classifier that has explain, not of {type(model).__name__}")
