"""Inputs: how each column of a row is set in the page, and which values are typical."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from suffice.data.labels import is_missing
from suffice.explain import column_keys, column_title
from suffice.families import FAMILIES
from suffice.families.description import rows_of
from suffice.schema import Array, Columns, Schema

SMALLEST_SIDE = 7  # pixels; a smaller square may be a table

Blocks = Sequence[tuple[Columns, Any]]


@dataclass
class Input:
    """The input of one column.

    ``input`` is "menu", "number", "text", or "none" if the model does not use the column. A menu has ``labels``, a
    binned number has ``edges``. A slider goes from ``low`` to ``high``, in whole steps if ``is_whole``, and starts at
    ``typical``. A menu that ``is_open`` also offers an unknown level. ``has_range_of_rows`` says that ``low`` and
    ``high`` are those of rows, and not what the parameters of the model suggest.
    """

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
    has_range_of_rows: bool = False

    def set_range(self, low: float, high: float) -> None:
        """Make this a number between two bounds, which must differ."""
        self.input, self.low, self.high = "number", low, high if high > low else low + 1

    def set_typical(self, value: float) -> None:
        """Set the typical value, rounded to what a slider can have."""
        self.typical = float(round(value)) if self.is_whole else _round(value)


def read_inputs(schema: Schema, blocks: Blocks, scored: tuple[Columns, ...]) -> dict[Any, Input]:
    """Return the inputs of all columns by the names of the columns, in the order of the table.

    ``blocks`` are blocks of columns with their statistics. ``scored`` are the columns as the model scores them: it may
    have room for codes that were never seen.
    """
    names = column_keys(schema.blocks[0]) if schema.features is None else schema.features.names
    found = {key: Input(column_title(key)) for key in names}
    for columns, statistic in blocks:
        for j, (key, family) in enumerate(zip(column_keys(columns), columns.families, strict=True)):
            if key in found:
                found[key].family, found[key].may_be_empty = family, schema.features is not None
                _set_kind(found[key], columns, statistic, j)
    for columns in scored:
        if columns.family not in FAMILIES:  # of a model that has no p(x | class)
            for its in found.values():
                its.family = columns.family
        if columns.codings is None and columns.sizes is not None:
            for its, size in zip(found.values(), columns.sizes.tolist(), strict=True):
                its.labels = list(range(size))
    return found


def _set_kind(its: Input, columns: Columns, statistic: Any, j: int) -> None:
    """Set what an input looks like, by the values that its family says a column can have."""
    family = FAMILIES[columns.family]
    support = family.support(columns, statistic, j)
    if support.kind == "words":
        its.input, its.typical = "text", ""
    elif family.cells == "bits":
        its.set_range(0.0, max(1.0, _round(2 * (columns.threshold or 0.0))))
        its.is_whole, its.typical = True, 0
    elif support.kind == "levels":
        start = int(columns.starts[j])
        counts = statistic.total[:, start : start + len(support.values)].sum(axis=0)
        its.input, its.labels = "menu", [plain_value(label) for label in support.values]
        its.typical = its.labels[int(counts.argmax())] if its.labels else None
        its.is_open = support.is_open
    elif support.kind == "bins":
        its.edges = list(support.edges)
        its.set_range(*map(_round, _outer_bounds(support.edges)))
        its.set_typical((its.low + its.high) / 2)
    else:
        its.set_range(_round(support.values[0]), _round(support.values[-1]))
        its.is_whole = family.cells == "counts"
        its.set_typical(float(np.average(family.location(statistic)[0][:, j], weights=rows_of(statistic, j))))


def _outer_bounds(edges: Sequence[float]) -> tuple[float, float]:
    """Return bounds that are one mean bin width outside of the edges."""
    if not edges:
        return 0.0, 1.0
    width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or max(abs(edges[0]), 1.0)
    return edges[0] - width, edges[-1] + width


def _round(value: float) -> float:
    return float(f"{value:.4g}") if np.isfinite(value) else 0.0


def fit_ranges(inputs: dict[Any, Input], rows: list[list[Any]]) -> None:
    """Set the range of each slider to that of the values in some rows."""
    for its, cells in zip(inputs.values(), zip(*rows, strict=True), strict=False):
        values = [cell for cell in cells if isinstance(cell, (int, float))]
        if its.input == "number" and values:
            its.set_range(float(min(values)), float(max(values)))
            its.has_range_of_rows = True
            its.is_whole = all(float(value).is_integer() for value in values)
            its.set_typical(float(np.median(values)))


def plain_value(value: Any) -> Any:
    """Return a cell as JSON holds it; a missing or infinite value is None.

    >>> plain_value(np.float64("nan")), plain_value(np.int8(3)), plain_value(2.0), plain_value("a")
    (None, 3, 2.0, 'a')
    """
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value) or (isinstance(value, float) and not np.isfinite(value)):
        return None
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def image_side(inputs: dict[Any, Input], has_names: bool) -> int | None:
    """Return the side of the square image that a row may be; None if it is not an image."""
    side = int(np.sqrt(len(inputs)))
    if has_names or side * side != len(inputs) or side < SMALLEST_SIDE:
        return None
    labels = [label for its in inputs.values() for label in its.labels or ()]
    is_numeric = all(isinstance(label, (int, float)) for label in labels)
    return side if is_numeric and all(its.input != "text" for its in inputs.values()) else None


def mean_images(blocks: Blocks, inputs: dict[Any, Input], classes: int) -> Array:
    """Return the mean of each numeric column in each class, [class, column]; of bits, the share of ones."""
    found = {key: np.zeros(classes) for key in inputs}
    for columns, statistic in blocks:
        for j, key in enumerate(column_keys(columns)):
            if columns.sizes is None:
                found[key] = FAMILIES[columns.family].location(statistic)[0][:, j]
            elif key in inputs:
                start, size = int(columns.starts[j]), int(columns.sizes[j])
                values = inputs[key].labels or _bin_middles(inputs[key].edges or [])
                totals = statistic.total[:, start : start + size] @ np.array(values[:size], np.float64)
                found[key] = totals / rows_of(statistic, j)
    return np.column_stack([found[key] for key in inputs])


def _bin_middles(edges: list[float]) -> list[float]:
    """Return the middle of each bin."""
    low, high = _outer_bounds(edges)
    return [(a + b) / 2 for a, b in pairwise([low, *edges, high])]
