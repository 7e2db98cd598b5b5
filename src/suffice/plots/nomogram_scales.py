"""The scales of a nomogram, computed from explanations of rows with the values of each column."""

import warnings
from typing import Any

import numpy as np

from suffice.families import FAMILIES
from suffice.plots import Array, check_fitted, class_pair
from suffice.plots.nomogram_points import OTHER, Points, Scale, posterior

RANGING = 2000  # number of rows that determine the range of a column


def points(model: Any, X: Any = None, label: Any = None, against: Any = None, *, row: int | None = None) -> Points:
    """Return a nomogram as numbers: the points of each value of each column for one class against another.

    Parameters
    ----------
    model : classifier
        As in `nomogram`.
    X : array-like of shape (n_rows, n_columns), default=None
        Rows that give the range of numeric columns, as in `nomogram`.
    label, against : object, default=None
        The class that points count for, and the class it is compared with, as in `nomogram`.
    row : int, default=None
        Row of ``X`` whose values are on the scales in any case.

    Returns
    -------
    Points
        Scales, and methods that convert values to points, totals and probabilities.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> X = [[1, 0], [1, 1], [0, 1]]
    >>> model = BernoulliNB().fit(X, ["ham", "ham", "spam"])
    >>> its = points(model, label="spam")
    >>> total = sum(its.points([0, 1]))
    >>> round(float(its.probability(total)), 6), model.predict_proba([[0, 1]])[0, 1].round(6).item()
    (0.64, 0.64)
    """
    _check_model(model)
    seen = {} if X is None else column_values(model, X, row)
    columns = [(title, *values_of(model, at, seen.get(title, []))) for title, at in columns_of(model)]
    longest = max(len(values) for _, _, values, _ in columns)
    turns = np.arange(longest)
    first = explain_values(model, columns, [turns % len(values) for _, _, values, _ in columns])
    # columns are independent if each value has the same evidence beside other values of the other columns
    second = explain_values(model, columns, [(turns + j + 1) % len(its[2]) for j, its in enumerate(columns)])
    scales = []
    for j, (title, kind, values, edges) in enumerate(columns):
        size = len(values)
        evidence = first.contributions[:size, :, j]
        places = (turns + j + 1) % size
        same = np.isclose(second.contributions[:, :, j], evidence[places], rtol=1e-9, atol=1e-9)
        if not same.all():
            raise ValueError(
                f"a nomogram adds up columns that are independent given the class, and the evidence of {title} depends "
                'on others; use structure="naive" (of counts, estimate="mean"), or waterfall for one row'
            )
        silent = kind == "levels" and not edges and model.chosen_tally().schema.features is not None
        scales.append(Scale(title, kind, values, evidence, edges, silent))
    if not np.allclose(first.log_proba, posterior(first.log_joint, first.prior), atol=1e-9, rtol=1e-9, equal_nan=True):
        raise ValueError("calibrated probabilities are not a sum of points; set calibrate=None")
    classes = list(first.classes)
    default = np.zeros(len(classes))
    if len(classes) == 2 and label is None and against is None:
        default[1] = 1.0  # the second of two classes is the positive one: yes, 1, True
    mine, other = class_pair(classes, label, against, default)
    return Points(classes, mine, other, first.prior, scales)


def columns_of(model: Any) -> list[tuple[str, tuple[int, Any, int]]]:
    """Return the columns of a model in order: title, and (place in the table, block, place in the block)."""
    schema = model.chosen_tally().schema
    known = {} if schema.features is None else {name: place for place, name in enumerate(schema.features.names)}
    found = []
    for number, block in enumerate(schema.blocks):
        for j in range(block.count):
            name = j if block.names is None else block.names[j]
            place = known.get(name, j)
            title = f"column {name}" if isinstance(name, (int, np.integer)) else str(name)
            found.append((title, (place, number, j)))
    return sorted(found, key=lambda column: column[1][0])


def column_values(model: Any, X: Any, row: int | None = None) -> dict[str, list[Any]]:
    """Return the values of each column as the model reads them, of at most 2,000 rows and one row in any case."""
    from sklearn.utils import _safe_indexing

    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if count > RANGING:
        some = np.linspace(0, count - 1, RANGING).astype(int)
        X = _safe_indexing(X, some if row is None else np.union1d(some, [row]))
    explanation = explain(model, X)
    return {title: [line[j] for line in explanation.values] for j, title in enumerate(explanation.features)}


def explain_values(model: Any, columns: list[Any], places: list[Array]) -> Any:
    """Return the explanation of rows that have the values at these places of each column."""
    width = int(model.n_features_in_)
    tabled = model.chosen_tally().schema.features is not None
    rows = np.full((len(places[0]), width), None, object) if tabled else np.zeros((len(places[0]), width))
    at = dict(columns_of(model))
    for (title, _, values, _), turn in zip(columns, places, strict=True):
        made = np.empty(len(values), object)
        numbers = [value for value in values if not isinstance(value, str)]
        made[:] = [max(numbers) + 1 if value == OTHER and numbers else value for value in values]
        rows[:, at[title][0]] = made[turn]
    return explain(model, rows)


def explain(model: Any, X: Any) -> Any:
    """Return the explanation of rows without the warning about missing column names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return model.explain(X)


def values_of(model: Any, at: tuple[int, int, int], seen: list[Any]) -> tuple[str, list[Any], tuple[float, ...]]:
    """Return the kind of a column, values that represent all that it may have, and its edges."""
    _, number, j = at
    block, statistic = model.chosen_tally().schema.blocks[number], model.chosen_tally().statistics[number]
    coding: Any = None if block.codings is None else block.codings[j]
    if hasattr(coding, "text"):
        raise ValueError(
            f"{block.name(j)} is a text, which has too many words for a nomogram; leave it out, or use waterfall or "
            "marked_text for one row"
        )
    numbers = [value for value in seen if value is not None and np.isfinite(value)] if coding is None else []
    support = FAMILIES[block.family].support(block, statistic, j, numbers)
    return support.kind, [*support.values, OTHER] if support.is_open else support.values, support.edges


def _check_model(model: Any) -> None:
    """Raise if this is not a fitted model with a method explain."""
    check_fitted(model)
    if not hasattr(model, "explain"):
        raise TypeError(f"a nomogram is drawn of a classifier that has explain, not of {type(model).__name__}")
