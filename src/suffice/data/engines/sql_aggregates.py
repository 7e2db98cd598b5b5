"""Sums as SQL aggregates by class: the queries, and the arrays of their answers.

Moments are count, avg and var_pop of x − shift, where the shift is the mean of a sample, because Σx² would lose digits.
Levels are counted by one GROUP BY for each column and pairs by one for each two columns, several in one statement.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from suffice.data import label_of
from suffice.schema import Array, Cuts
from suffice.statistics import CoMoments, Moments, two_sum

# The largest numbers of aggregates and of GROUP BYs in a statement; with twice as many, planning outlasts execution.
AGGREGATES, GROUPINGS = 400, 16

Run = Callable[[Any], Any]  # an expression of Ibis -> a table of Arrow


@dataclass(frozen=True)
class Column:
    """A column as it is counted: its expression, and the function that reads an answer as a label."""

    name: str
    value: Any
    label: Callable[[Any], Any] = label_of


@dataclass(frozen=True)
class Scan:
    """A table whose rows have a class and a weight; ``run`` evaluates an expression."""

    table: Any
    label: Any
    weight: Any
    run: Run

    def aggregated(self, wanted: dict[str, Any]) -> tuple[list[Any], dict[str, Array]]:
        """Return the labels, and the aggregates of each label as arrays; NULL is NaN."""
        labels: list[Any] = []
        aggregates: dict[str, Array] = {}
        items = list(wanted.items())
        for first in range(0, len(items), AGGREGATES):
            part = dict(items[first : first + AGGREGATES])
            answer = self.run(self.table.group_by(label=self.label).aggregate(**part))
            here = [_nan_to_none(value) for value in answer["label"].to_pylist()]
            if not labels:
                labels = here
            places = {label: place for place, label in enumerate(here)}
            order = [places[label] for label in labels]
            for name in part:
                aggregates[name] = _to_doubles(answer[name])[order]
        return labels, aggregates

    def rows(self) -> Any:
        """Return the aggregate of the number or the weight of rows."""
        return self.table.count() if self.weight is None else self.weight.sum()

    def counted(self, groups: Sequence[tuple[Column, ...]]) -> Iterator[tuple[int, list[Any], list[Any], Array]]:
        """Yield for each group of columns its index, the labels of rows, the levels of columns, and the weights.

        Labels and levels are (distinct values, code of each line), because an answer has many lines and few values.
        """
        import ibis

        kinds: dict[Any, list[int]] = {}
        for place, group in enumerate(groups):
            kinds.setdefault(tuple(str(column.value.type()) for column in group), []).append(place)
        for alike in kinds.values():
            for first in range(0, len(alike), GROUPINGS):
                places = alike[first : first + GROUPINGS]
                parts = [self._grouped(place, groups[place]) for place in places]
                answer = self.run(ibis.union(*parts) if len(parts) > 1 else parts[0])
                group_of = np.asarray(answer["place"].to_numpy(zero_copy_only=False), np.intp)
                weight = _to_doubles(answer["weight"])
                label = _encode(answer["label"])
                levels = [_encode(answer[f"level{j}"]) for j in range(len(groups[places[0]]))]
                for place in places:
                    lines = group_of == place
                    group_levels = [(values, codes[lines]) for values, codes in levels]
                    yield place, [label[0], label[1][lines]], group_levels, weight[lines]

    def _grouped(self, place: int, group: tuple[Column, ...]) -> Any:
        import ibis

        levels = {f"level{j}": column.value for j, column in enumerate(group)}
        counts = self.table.group_by(label=self.label, **levels).aggregate(weight=self.rows())
        return counts.select("label", *levels, "weight", place=ibis.literal(place, "int32"))


def query_moments(scan: Scan, columns: Sequence[Column], shift: Array, spread: bool) -> tuple[list[Any], Moments]:
    """Return labels and the moments of columns of numbers; the caller checks that they are finite."""
    wanted: dict[str, Any] = {}
    for j, column in enumerate(columns):
        x = column.value - float(shift[j]) if shift[j] else column.value
        if scan.weight is None and spread:
            wanted |= {f"n{j}": x.count(), f"mean{j}": x.mean(), f"var{j}": x.var(how="pop")}
        else:
            wanted |= _weighted_sums(scan, j, x)
    labels, found = scan.aggregated(wanted)
    n = _stack(found, "n", len(columns))
    held = np.where(n > 0, n, 1.0)
    if scan.weight is None and spread:
        mean, tail = two_sum(np.broadcast_to(shift, n.shape), np.where(n > 0, _stack(found, "mean", len(columns)), 0))
        m2 = np.where(n > 0, _stack(found, "var", len(columns)), 0) * n
        return labels, Moments(n, np.where(n > 0, mean, 0.0), np.where(n > 0, tail, 0.0), m2)
    sums, squares = _stack(found, "sum", len(columns)), _stack(found, "square", len(columns))
    about = Moments.about(n, np.broadcast_to(shift, n.shape), np.where(n > 0, sums, 0), np.where(n > 0, squares, 0))
    # a shift far from the mean loses digits; a second query about the means just found does not
    if bool(np.any(about.m2 < 1e-5 * np.where(n > 0, squares, 0))) and len(labels):
        return labels, _query_centred_moments(scan, columns, labels, about, held)
    return labels, about


def _query_centred_moments(
    scan: Scan, columns: Sequence[Column], labels: list[Any], about: Moments, held: Array
) -> Moments:
    """Return the moments about the mean of each class."""
    wanted: dict[str, Any] = {}
    for j, column in enumerate(columns):
        wanted |= _weighted_sums(scan, j, column.value - label_expression(scan.label, labels, about.mean[:, j]))
    again, found = scan.aggregated(wanted)
    order = [again.index(label) for label in labels]
    sums, squares = (_stack(found, name, len(columns))[order] for name in ("sum", "square"))
    n = about.n
    return Moments.about(n, about.mean, np.where(n > 0, sums, 0.0), np.where(n > 0, squares, 0.0))


def _weighted_sums(scan: Scan, j: int, x: Any) -> dict[str, Any]:
    if scan.weight is None:
        return {f"n{j}": x.count(), f"sum{j}": x.sum(), f"square{j}": (x * x).sum()}
    there = x.notnull().ifelse(scan.weight, 0.0)
    return {f"n{j}": there.sum(), f"sum{j}": (scan.weight * x).sum(), f"square{j}": (scan.weight * x * x).sum()}


def label_expression(label: Any, labels: Sequence[Any], numbers: Array) -> Any:
    """Return the expression of a number that depends on the class."""
    import ibis

    cases = [(label == one, ibis.literal(float(x))) for one, x in zip(labels, numbers, strict=True) if one is not None]
    return ibis.cases(*cases, else_=0.0)


def query_comoments(
    scan: Scan, columns: Sequence[Column], means: Array, labels: list[Any]
) -> tuple[list[Any], Array, Any]:
    """Return labels, the weight of the rows in which each column is present, and the co-moments of the columns.

    The co-moments are correct only if no cell is empty. Without ``labels`` they are covariances of x − means as the
    database computes them, with one row of means; with ``labels`` they are sums of products, with means for each label.
    """
    count, own = len(columns), not labels
    shift = [float(means[0, j]) if own else label_expression(scan.label, labels, means[:, j]) for j in range(count)]
    deviation = [column.value - about for column, about in zip(columns, shift, strict=True)]
    wanted: dict[str, Any] = {"rows": scan.rows()}
    for j, x in enumerate(deviation):
        wanted |= _weighted_sums(scan, j, x) if not own else {f"n{j}": x.count(), f"sum{j}": x.sum()}
    for i, j in combinations(range(count), 2):
        product = deviation[i] * deviation[j]
        weighed = product if scan.weight is None else product * scan.weight
        wanted[f"both{i}_{j}"] = deviation[i].cov(deviation[j], how="pop") if own else weighed.sum()
    if own:
        wanted |= {f"square{j}": x.var(how="pop") for j, x in enumerate(deviation)}
    seen, found = scan.aggregated(wanted)
    there = [found[name] for name in found if name.startswith("both")]
    n = found["rows"][:, None]
    drift = np.nan_to_num(_stack(found, "sum", count)) / np.where(n > 0, n, 1.0)
    both = np.zeros((len(seen), count, count))
    both[:, range(count), range(count)] = np.nan_to_num(_stack(found, "square", count))
    for (i, j), products in zip(combinations(range(count), 2), there, strict=True):
        both[:, i, j] = both[:, j, i] = np.nan_to_num(products)
    scatter = both * n[:, :, None] if own else both - n[:, :, None] * drift[:, :, None] * drift[:, None, :]
    lines = np.zeros(len(seen), np.intp) if own else np.array([labels.index(label) for label in seen], np.intp)
    return seen, _stack(found, "n", count), CoMoments(n, *two_sum(means[lines], drift), scatter)


def query_sums(scan: Scan, columns: Sequence[Column]) -> tuple[list[Any], Array, Array, Array]:
    """Return labels, and for each column the weight of the rows in which it is present, its sum and its minimum."""
    wanted: dict[str, Any] = {}
    for j, column in enumerate(columns):
        x = column.value
        weighed = x if scan.weight is None else x * scan.weight
        there = x.count() if scan.weight is None else x.notnull().ifelse(scan.weight, 0.0).sum()
        wanted |= {f"n{j}": there, f"sum{j}": weighed.sum(), f"least{j}": x.min()}
    labels, found = scan.aggregated(wanted)
    n, sums, least = (_stack(found, name, len(columns)) for name in ("n", "sum", "least"))
    return labels, n, np.where(n > 0, sums, 0.0), least


def bin_expression(x: Any, cuts: Cuts) -> Any:
    """Return the expression of the bin of a number, by bisection; NULL for NULL."""
    import ibis

    edges = cuts.edges

    def half(low: int, high: int) -> Any:
        if low == high:
            return ibis.literal(low, "int32")
        middle = (low + high) // 2
        return (x < float(edges[middle])).ifelse(half(low, middle), half(middle + 1, high))

    return x.isnull().ifelse(ibis.null("int32"), half(0, len(edges)))


def _stack(found: dict[str, Array], name: str, count: int) -> Array:
    return np.column_stack([found[f"{name}{j}"] for j in range(count)])


def _to_doubles(column: Any) -> Array:
    """Return a column of an answer as doubles; NULL is NaN."""
    import pyarrow as pa

    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def _encode(column: Any) -> tuple[list[Any], Array]:
    """Return the distinct values of a column of an answer, and the code of each line, −1 for NULL."""
    encoded = column.combine_chunks().dictionary_encode() if hasattr(column, "combine_chunks") else column
    if hasattr(encoded, "combine_chunks"):
        encoded = encoded.combine_chunks()
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.intp)
    return [_nan_to_none(value) for value in encoded.dictionary.to_pylist()], codes


def _nan_to_none(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
