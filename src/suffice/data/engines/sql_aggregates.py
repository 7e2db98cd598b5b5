"""Sums as SQL aggregates by class: the queries, and the arrays of their answers.

Moments are sums of x − shift and of its square, where the shift is the mean of a sample, because Σx² would lose digits.
Levels are counted by one GROUP BY for each column and pairs by one for each two columns, several in one statement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from suffice.schema import Array, Cuts
from suffice.statistics import Moments

# The largest numbers of aggregates and of GROUP BYs in a statement; with twice as many, planning outlasts execution.
AGGREGATES, GROUPINGS = 400, 16
# Sums of squares are taken again, about the means of the classes, if less than this share of them remains.
LEAST_SHARE = 1e-4

Encoded = tuple[list[Any], Array]  # distinct values, and the code of each line: −1 for NULL


@dataclass(frozen=True)
class Scan:
    """The rows of a table of a database, with their labels and weights.

    ``target`` and ``weight_name`` are columns, and ``codes`` is the class of each label, of ``classes`` in all.
    """

    source: Any
    table: Any
    target: str
    weight_name: str | None
    codes: dict[Any, int] = field(default_factory=dict)
    classes: int = 0

    @property
    def label(self) -> Any:
        """The expression of the label."""
        return self.source.value(self.table, self.target)

    @property
    def weight(self) -> Any:
        """The expression of the weight; None if rows have none."""
        return None if self.weight_name is None else self.table[self.weight_name].cast("float64")

    @property
    def row_weight(self) -> Any:
        """The aggregate of the weight of all rows."""
        return self.table.count() if self.weight is None else self.weight.sum()

    def sum(self, x: Any) -> Any:
        """Return the aggregate of the weighted sum of an expression."""
        return x.sum() if self.weight is None else (x * self.weight).sum()

    def count(self, x: Any) -> Any:
        """Return the aggregate of the weight of the rows in which an expression is not NULL."""
        return x.count() if self.weight is None else x.notnull().ifelse(self.weight, 0.0).sum()

    def aggregate(self, *wanted: Sequence[Any]) -> list[Array]:
        """Return each list of aggregates as an array [class, aggregate]; NULL is 0."""
        found = [np.zeros((self.classes + 1, len(each))) for each in wanted]  # the last line is for unknown labels
        places = [(which, j) for which, each in enumerate(wanted) for j in range(len(each))]
        for first in range(0, len(places), AGGREGATES):
            part = {f"sum{which}_{j}": (which, j) for which, j in places[first : first + AGGREGATES]}
            sums = {name: wanted[which][j] for name, (which, j) in part.items()}
            answer = self.source.run(self.table.group_by(label=self.label).aggregate(**sums))
            lines = [self.codes.get(label, -1) for label in answer["label"].to_pylist()]
            for name, (which, j) in part.items():
                np.add.at(found[which][:, j], lines, _to_doubles(answer[name]))
        return [array[:-1] for array in found]

    def count_levels(self, groups: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Array, list[Encoded], Array]]:
        """Yield for each group of columns its index, and for each combination of levels its class, levels and weight.

        Levels are encoded, because an answer has many lines and few values. The class of an unknown label is −1.
        """
        import ibis
        import pyarrow as pa

        alike: dict[Any, list[int]] = {}
        for place, group in enumerate(groups):
            alike.setdefault(tuple(str(column.type()) for column in group), []).append(place)
        for kinds, same in alike.items():
            for first in range(0, len(same), GROUPINGS):
                places = same[first : first + GROUPINGS]
                parts = [self._group_by(place, groups[place]) for place in places]
                answer = self.source.run(ibis.union(*parts) if len(parts) > 1 else parts[0])
                group_of = answer["place"].to_numpy()
                for place in places:
                    lines = answer.filter(pa.array(group_of == place))
                    labels, codes = _encode(lines["label"])
                    classes = np.array([*(self.codes.get(label, -1) for label in labels), -1], np.intp)[codes]
                    levels = [_encode(lines[f"level{j}"]) for j in range(len(kinds))]
                    yield place, classes, levels, _to_doubles(lines["weight"])

    def _group_by(self, place: int, group: tuple[Any, ...]) -> Any:
        import ibis

        levels = {f"level{j}": column for j, column in enumerate(group)}
        counts = self.table.group_by(label=self.label, **levels).aggregate(weight=self.row_weight)
        return counts.select("label", *levels, "weight", place=ibis.literal(place, "int32"))


def query_moments(
    scan: Scan, columns: Sequence[Any], shift: Array, pairs: bool, is_last: bool = False
) -> tuple[Moments, Array]:
    """Return the moments of columns of numbers, and their scatter matrices if ``pairs``.

    ``shift`` is [1 or class, column]. The scatter matrices are correct only if no cell is empty. The caller checks that
    all sums are finite.
    """
    x = [column - by_class if by_class is not None else column for column, by_class in _shifts(scan, columns, shift)]
    both = list(combinations(range(len(x)), 2)) if pairs else []
    n, sums, squares, products = scan.aggregate(
        [scan.count(each) for each in x],
        [scan.sum(each) for each in x],
        [scan.sum(each * each) for each in x],
        [scan.sum(x[i] * x[j]) for i, j in both],
    )
    with np.errstate(invalid="ignore", over="ignore"):
        moments = Moments.about(n, np.where(n > 0, shift, 0.0), sums, squares)
        if not is_last and bool(np.any(moments.m2 < LEAST_SHARE * squares)):
            return query_moments(scan, columns, moments.mean, pairs, is_last=True)
        if not pairs:
            return moments, np.zeros(0)
        drift = sums / np.where(n > 0, n, 1.0)
        scatter = -sums[:, :, None] * drift[:, None, :]
    for place, (i, j) in enumerate(both):
        scatter[:, i, j] += products[:, place]
        scatter[:, j, i] = scatter[:, i, j]
    scatter[:, range(len(x)), range(len(x))] = moments.m2
    return moments, scatter


def _shifts(scan: Scan, columns: Sequence[Any], shift: Array) -> Iterator[tuple[Any, Any]]:
    """Yield each column and the number to subtract from it: the same for all rows, one for each class, or None."""
    import ibis

    for column, numbers in zip(columns, shift.T.tolist(), strict=True):
        if len(numbers) == 1:
            yield column, numbers[0] or None
        else:
            cases = [(scan.label == label, ibis.literal(numbers[code])) for label, code in scan.codes.items()]
            yield column, ibis.cases(*cases, else_=0.0)


def bin_expression(x: Any, cuts: Cuts) -> Any:
    """Return the expression of the bin of a number, by bisection; NULL for NULL."""
    import ibis

    edges = cuts.edges

    def half(low: int, high: int) -> Any:
        if low == high:
            return ibis.literal(low, "int32")
        middle = (low + high) // 2
        # as text, because DuckDB reads a number with many digits as a decimal and loses the last of them
        edge = ibis.literal(repr(float(edges[middle]))).cast("float64")
        return (x < edge).ifelse(half(low, middle), half(middle + 1, high))

    return x.isnull().ifelse(ibis.null("int32"), half(0, len(edges)))


def positive_expression(x: Any) -> Any:
    """Return the expression of a number that is positive; NULL for others, which count as missing."""
    import ibis

    return (x > 0).ifelse(x, ibis.null("float64"))


def _to_doubles(column: Any) -> Array:
    """Return a column of an answer as doubles; NULL is 0."""
    return np.asarray(column.cast("float64").fill_null(0.0).to_numpy(), np.float64)


def _encode(column: Any) -> Encoded:
    """Return the distinct values of a column of an answer, and the code of each line."""
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return encoded.dictionary.to_pylist(), np.asarray(codes, np.intp)
