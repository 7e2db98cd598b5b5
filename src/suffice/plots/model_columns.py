"""The columns of a fitted model, the values that they can have, and the evidence of these values."""

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from suffice.explain import column_keys, column_title
from suffice.families import FAMILIES
from suffice.families.description import Support

RANGE_ROWS = 2000  # rows that determine the range of a column
OTHER = "(other)"  # any level that was not in the training rows
MISSING = "(missing)"  # a missing cell, where it is a level

TREES_ONLY = (
    'trees give P(class | x) only, and no distribution of a column; model.set_params(structure="naive") has one, and '
    "needs no other pass over the rows"
)


class Column(NamedTuple):
    """A column: its name (or position), its title, its place in the table, its block, and its place in the block."""

    key: Any
    title: str
    place: int
    block: int
    j: int


def columns_of(model: Any) -> list[Column]:
    """Return the columns of a model, in the order of the table; of a pool, as its first component counts them."""
    schema = model.chosen_tally().schema
    places = {} if schema.features is None else {name: place for place, name in enumerate(schema.features.names)}
    found: dict[Any, Column] = {}
    for number, block in enumerate(schema.blocks):
        for j, key in enumerate(() if block.is_forest else column_keys(block)):
            found.setdefault(key, Column(key, column_title(key), places.get(key, j), number, j))
    if not found:
        raise ValueError(TREES_ONLY)
    return sorted(found.values(), key=lambda column: column.place)


def separate_columns(model: Any) -> Any:
    """Return the classifier itself, or if it is a pool, the naive classifier with the same sums."""
    return copy(model).set_params(structure="naive") if model.recipe().is_pooled else model


def find_column(model: Any, column: Any) -> Column:
    """Return the column that is given by its name, its title or its place in the table."""
    found = columns_of(model)
    for field in ("key", "title", "place"):
        for each in found:
            if getattr(each, field) == column:
                return each
    shown = ", ".join(repr(each.key) for each in found[:8]) + (", …" if len(found) > 8 else "")
    raise ValueError(f"column={column!r} was not learned; there are {shown}")


def column_values(model: Any, X: Any, row: int | None = None) -> dict[str, list[Any]]:
    """Return the values of each column as the model reads them, of at most 2,000 rows and one row in any case."""
    count = _num_samples(X)
    if count > RANGE_ROWS:
        some = np.linspace(0, count - 1, RANGE_ROWS).astype(int)
        X = _safe_indexing(X, some if row is None else np.union1d(some, [row]))
    explanation = _explain(model, X)
    return {title: [line[j] for line in explanation.values] for j, title in enumerate(explanation.features)}


def find_support(model: Any, column: Column, seen: Sequence[Any]) -> Support:
    """Return values that represent all that a column may have; numbers include those seen."""
    columns, statistic = model.chosen_tally().schema.blocks[column.block], model.chosen_tally().statistics[column.block]
    numbers = [value for value in seen if value is not None and np.isfinite(value)] if columns.codings is None else []
    support = FAMILIES[columns.family].support(columns, statistic, column.j, numbers)
    if support.kind == "words":
        raise ValueError(
            f"{column.title} is a text, which has a share of each word and no scale; leave it out, or draw waterfall "
            "or marked_text of one row's explanation; a report names the words of each class"
        )
    return replace(support, values=[*support.values, OTHER]) if support.is_open else support


def explain_values(model: Any, values: dict[Column, Any]) -> Any:
    """Return the explanation of rows that have these values of some columns; all other cells are empty."""
    shape = len(next(iter(values.values()))), int(model.n_features_in_)
    rows = np.zeros(shape) if model.chosen_tally().schema.features is None else np.full(shape, None, object)
    for column, cells in values.items():
        # another level of a column of numbers is a number
        other = max((cell + 1 for cell in cells if not isinstance(cell, (str, type(None)))), default=OTHER)
        rows[:, column.place] = [other if isinstance(cell, str) and cell == OTHER else cell for cell in cells]
    return _explain(model, rows)


def _explain(model: Any, X: Any) -> Any:
    """Return the explanation of rows without the warning about missing column names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return model.explain(X)


def outer_bounds(edges: Sequence[float]) -> tuple[float, float]:
    """Return the bounds of all bins; the outer bins get the mean width of the others."""
    if not edges:
        return 0.0, 1.0
    width = (edges[-1] - edges[0]) / (len(edges) - 1) if len(edges) > 1 else max(abs(edges[0]), 1.0)
    return edges[0] - width, edges[-1] + width
