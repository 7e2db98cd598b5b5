"""Inputs: how each column of a row is set in the page, and which values are typical."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from suffice.data.labels import is_missing
from suffice.families import FAMILIES
from suffice.families.description import rows_of
from suffice.schema import Array, Columns
from suffice.statistics import Tally

SMALLEST_IMAGE = 16  # columns


@dataclass
class Input:
    """The input of one column.

    ``input`` is "menu", "number", "text", or "none" if the model does not use the column. A menu has ``labels``, a
    binned number has ``edges``. A slider goes from ``low`` to ``high``, in whole steps if ``is_whole``, and starts at
    ``typical``. A menu that ``is_open`` also offers an unknown level.
    """

    key: Any
    name: str
    family: str = "left out"
    input: str = "none"
    labels: list[Any] | None = None
    edges: list[float] | None = None
    low: float = 0.0
    high: float = 1.0
    is_whole: bool = False
    typical: Any = None
    may_be_empty: bool = False
    is_open: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the input as the page reads it."""
        fields = asdict(self)
        del fields["key"]
        return fields

    def set_range(self, low: float, high: float) -> None:
        """Make this a number between two bounds, with the middle as the typical value."""
        low, high = _round(low), _round(high)
        self.input, self.low, self.high = "number", low, high if high > low else low + 1
        self.typical = _round((self.low + self.high) / 2)


def column_keys(columns: Columns) -> Sequence[Any]:
    """Return the names of columns, or their positions if they have no names."""
    return range(columns.count) if columns.names is None else columns.names


def column_title(key: Any) -> str:
    """Return the name of a column as text."""
    return f"column {key}" if isinstance(key, (int, np.integer)) else str(key)


def positions_by_key(inputs: list[Input]) -> dict[Any, int]:
    """Return the position of each input by the name of its column."""
    return {its.key: place for place, its in enumerate(inputs)}


def read_inputs(tally: Tally, scored: tuple[Columns, ...]) -> list[Input]:
    """Return the inputs of all columns, in the order of the table.

    ``scored`` are the columns as the model scores them: it may have room for codes that were never seen.
    """
    schema = tally.schema
    names = column_keys(schema.blocks[0]) if schema.features is None else schema.features.names
    found = {key: Input(key, column_title(key)) for key in names}
    for columns, statistic in zip(schema.blocks, tally.statistics, strict=True):
        for j, key in enumerate(column_keys(columns)):
            if key in found:
                found[key].family = columns.families[j]
                found[key].may_be_empty = schema.features is not None
                _set_kind(found[key], columns, statistic, j)
    for columns in scored:
        if columns.codings is None and columns.sizes is not None:
            for its, size in zip(found.values(), columns.sizes.tolist(), strict=True):
                its.labels = list(range(size))
    return list(found.values())


def _set_kind(its: Input, columns: Columns, statistic: Any, j: int) -> None:
    """Set what an input looks like, by the values that its family says a column can have."""
    family = FAMILIES[columns.family]
    support = family.support(columns, statistic, j)
    if support.kind == "words":
        its.input, its.typical = "text", ""
    elif support.kind == "bins":
        its.set_range(*_outer_bounds(support.edges))
        its.edges = list(support.edges)
    elif family.cells == "bits":
        its.set_range(0.0, max(1.0, 2 * (columns.threshold or 0.0)))
        its.is_whole, its.typical = True, 0
    elif support.kind == "levels":
        start = int(columns.starts[j])
        counts = statistic.total[:, start : start + len(support.values)].sum(axis=0)
        its.input, its.labels = "menu", [plain_value(label) for label in support.values]
        its.typical = its.labels[int(counts.argmax())] if its.labels else None
        its.is_open = support.is_open
    else:
        its.set_range(support.values[0], support.values[-1])
        mean = np.array(family.summarize(columns, statistic, j)["mean"])
        n = rows_of(statistic, j)
        its.is_whole, its.typical = family.cells == "counts", _round(float((mean * n).sum() / n.sum()))
        its.typical = float(round(its.typical)) if its.is_whole else its.typical


def _outer_bounds(edges: Sequence[float]) -> tuple[float, float]:
    """Return bounds that are one mean bin width outside of the edges."""
    if not edges:
        return 0.0, 1.0
    width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or max(abs(edges[0]), 1.0)
    return edges[0] - width, edges[-1] + width


def _round(value: float) -> float:
    return float(f"{value:.4g}") if np.isfinite(value) else 0.0


def fit_ranges(inputs: list[Input], rows: list[list[Any]]) -> None:
    """Set the range of each slider to that of the values in some rows."""
    for place, its in enumerate(inputs):
        values = [row[place] for row in rows if isinstance(row[place], (int, float))]
        if its.input != "number" or not values:
            continue
        its.low, its.high = float(min(values)), float(max(values))
        if its.high <= its.low:
            its.high = its.low + 1
        its.is_whole = all(float(value).is_integer() for value in values)
        median = float(np.median(values))
        its.typical = float(round(median)) if its.is_whole else _round(median)


def plain_value(value: Any) -> Any:
    """Return a cell as JSON holds it; a missing or infinite value is None.

    >>> plain_value(np.float64("nan")), plain_value(np.int8(3)), plain_value(2.0), plain_value("a")
    (None, 3, 2.0, 'a')
    """
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value) or (isinstance(value, float) and not np.isfinite(value)):
        return None
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def image_side(inputs: list[Input], has_names: bool) -> int | None:
    """Return the side of the square image that a row may be; None if it is not an image."""
    side = int(np.sqrt(len(inputs)))
    if has_names or side * side != len(inputs) or len(inputs) < SMALLEST_IMAGE:
        return None
    labels = [label for its in inputs for label in its.labels or ()]
    is_numeric = all(isinstance(label, (int, float)) for label in labels)
    return side if is_numeric and all(its.input != "text" for its in inputs) else None


def mean_images(tally: Tally, inputs: list[Input]) -> Array:
    """Return the mean of each numeric column in each class, [class, column]; of bits, the share of ones."""
    positions, found = positions_by_key(inputs), np.zeros((len(tally.class_count), len(inputs)))
    statistic: Any
    for columns, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        for j, key in enumerate(column_keys(columns)):
            if key not in positions:
                continue
            at = positions[key]
            if columns.sizes is None:
                summary = FAMILIES[columns.family].summarize(columns, statistic, j)
                found[:, at] = summary["mean"] if summary["shows"] == "numbers" else np.array(summary["shares"])[:, -1]
            else:
                start, size = int(columns.starts[j]), int(columns.sizes[j])
                values = inputs[at].labels or _bin_middles(inputs[at].edges or [])
                totals = statistic.total[:, start : start + size] @ np.array(values[:size], np.float64)
                found[:, at] = totals / rows_of(statistic, j)
    return found


def _bin_middles(edges: list[float]) -> list[float]:
    """Return the middle of each bin."""
    low, high = _outer_bounds(edges)
    return [(a + b) / 2 for a, b in pairwise([low, *edges, high])]
