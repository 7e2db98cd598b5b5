"""Features: what a row of the page holds, how each is set, and which values are usual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from suffice.data.labels import is_missing
from suffice.schema import Array, Columns, Cuts, Levels, Words
from suffice.statistics import Tally

SMALLEST_IMAGE = 16


@dataclass
class Feature:
    """A column of the table: ``input`` is "menu", "number", "text" or "none" (left out).

    ``labels`` are those of a menu, or ``edges`` where a number is cut; ``low``, ``high`` and ``usual`` are what a
    slider goes between, and starts at.
    """

    key: Any
    name: str
    family: str = "left out"
    input: str = "none"
    labels: list[Any] | None = None
    edges: list[float] | None = None
    low: float = 0.0
    high: float = 1.0
    whole: bool = False
    usual: Any = None
    may_be_empty: bool = False
    open: bool = False

    def written(self) -> dict[str, Any]:
        """Return it as the page takes it."""
        fields = asdict(self)
        del fields["key"]
        return fields


def places_of(features: list[Feature]) -> dict[Any, int]:
    """Return where each column stands, by its name."""
    return {feature.key: place for place, feature in enumerate(features)}


def features_of(tally: Tally, scored: tuple[Columns, ...]) -> list[Feature]:
    """Return the features of all columns, in the order of the table; ``scored`` are the columns as the model has them.

    A model may keep room for codes that were never met.
    """
    schema = tally.schema
    names: Sequence[Any]
    if schema.features is not None:
        names = schema.features.names
    else:
        names = schema.blocks[0].names or range(schema.feature_count)
    found = {name: Feature(name, title_of(name)) for name in names}
    for columns, statistic in zip(schema.blocks, tally.statistics, strict=True):
        codings = columns.codings or (None,) * columns.count
        for j in range(columns.count):
            name = j if columns.names is None else columns.names[j]
            if name in found:
                _describe(found[name], columns, j, codings[j], statistic)
                found[name].may_be_empty = schema.features is not None
    for columns in scored:
        if columns.codings is None and columns.sizes is not None:
            for feature, size in zip(found.values(), columns.sizes.tolist(), strict=True):
                feature.labels = list(range(size))
    return list(found.values())


def title_of(name: Any) -> str:
    """Return a column's name as people read it."""
    return f"column {name}" if isinstance(name, (int, np.integer)) else str(name)


def _describe(feature: Feature, columns: Columns, j: int, coding: Any, statistic: Any) -> None:
    feature.family = columns.families[j]
    if isinstance(coding, Words):
        feature.input, feature.usual = "text", ""
    elif isinstance(coding, Cuts):
        _ranged(feature, _outer(coding.edges))
        feature.edges = list(coding.edges)
    elif isinstance(coding, Levels) or columns.sizes is not None:
        assert columns.sizes is not None
        labels = list(coding.labels) if isinstance(coding, Levels) else list(range(int(columns.sizes[j])))
        start = int(columns.starts[j])
        met = statistic.total[:, start : start + len(labels)].sum(axis=0)
        feature.input, feature.labels = "menu", [plain(label) for label in labels]
        feature.usual = feature.labels[int(met.argmax())] if labels else None
        feature.open = coding is None or coding.open
    elif hasattr(statistic, "mean"):
        moments = statistic.spreads
        spread = np.sqrt(moments.m2[:, j] / np.maximum(moments.n[:, min(j, moments.n.shape[1] - 1)], 1))
        _ranged(
            feature, (float((moments.mean[:, j] - 3 * spread).min()), float((moments.mean[:, j] + 3 * spread).max()))
        )
        feature.usual = _rounded(float(moments.pooled().mean[0, j]))
    else:
        n = statistic.n[:, min(j, statistic.n.shape[1] - 1)]
        mean = float((statistic.total[:, j] / np.maximum(n, 1)).max())
        bit = columns.family == "bernoulli"
        high = max(1.0, 2 * (columns.threshold or 0.0)) if bit else np.ceil(mean + 4 * np.sqrt(mean) + 1)
        _ranged(feature, (0.0, float(high)))
        feature.whole, feature.usual = True, 0


def _outer(edges: tuple[float, ...]) -> tuple[float, float]:
    """Return bounds a bin beyond the cuts."""
    if not edges:
        return 0.0, 1.0
    width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or max(abs(edges[0]), 1.0)
    return edges[0] - width, edges[-1] + width


def _ranged(feature: Feature, bounds: tuple[float, float]) -> None:
    low, high = (_rounded(bound) for bound in bounds)
    feature.input, feature.low, feature.high = "number", low, high if high > low else low + 1
    feature.usual = _rounded((feature.low + feature.high) / 2)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}") if np.isfinite(value) else 0.0


def fit_to(features: list[Feature], rows: list[list[Any]]) -> None:
    """Let sliders go between the values that rows hold."""
    for place, feature in enumerate(features):
        if feature.input != "number":
            continue
        values = [row[place] for row in rows if isinstance(row[place], (int, float))]
        if values:
            feature.low, feature.high = float(min(values)), float(max(values))
            if feature.high <= feature.low:
                feature.high = feature.low + 1
            feature.whole = all(float(value).is_integer() for value in values)
            middle = float(np.median(values))
            feature.usual = float(round(middle)) if feature.whole else _rounded(middle)


def plain(value: Any) -> Any:
    """Return a cell as JSON has it.

    >>> plain(np.float64("nan")), plain(np.int8(3)), plain(2.0), plain("a")
    (None, 3, 2.0, 'a')
    """
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value):
        return None
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def image_side(features: list[Feature], named: bool) -> int | None:
    """Return the side of a square image that rows may be; None if they are none."""
    side = int(np.sqrt(len(features)))
    if named or side * side != len(features) or len(features) < SMALLEST_IMAGE:
        return None
    menus = [label for feature in features for label in feature.labels or ()]
    numeric = all(isinstance(label, (int, float)) for label in menus)
    return side if numeric and all(feature.input != "text" for feature in features) else None


def averages(tally: Tally, features: list[Feature]) -> Array:
    """Return the mean of each numeric feature in each class, from the sums alone, [class, feature]."""
    place, found = places_of(features), np.zeros((len(tally.class_count), len(features)))
    statistic: Any
    for columns, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        for j in range(columns.count):
            at = place.get(j if columns.names is None else columns.names[j])
            if at is None:
                continue
            n = np.maximum(statistic.n[:, min(j, statistic.n.shape[1] - 1)], 1e-300)
            if hasattr(statistic, "mean"):
                found[:, at] = statistic.mean[:, j]
            elif columns.sizes is None:
                found[:, at] = statistic.total[:, j] / n
            else:
                start, size = int(columns.starts[j]), int(columns.sizes[j])
                labels = features[at].labels or _middles(features[at].edges or [])
                found[:, at] = statistic.total[:, start : start + size] @ np.array(labels[:size], np.float64) / n
    return found


def _middles(edges: list[float]) -> list[float]:
    """Return a number within each bin."""
    low, high = _outer(tuple(edges))
    bounds = [low, *edges, high]
    return [(a + b) / 2 for a, b in pairwise(bounds)]
