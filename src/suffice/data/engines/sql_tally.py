"""The tally of a table in a database: the queries that each block needs, and statistics from their answers."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from suffice.blocks import Function
from suffice.data import encode, label_of, missing_labels_error
from suffice.data.engines import batches
from suffice.data.engines.source import Request, SourceError
from suffice.data.engines.sql_aggregates import Encoded, Scan, bin_expression, positive_expression, query_moments
from suffice.data.read_columns import MOST_WHOLE, find_repeated, outside_domain
from suffice.families import FAMILIES
from suffice.families.domain import POSITIVE
from suffice.progress import Progress
from suffice.schema import Array, Columns, Combinations, Cuts, Levels, Schema, by_group
from suffice.statistics import CoMoments, Counts, FunctionSums, PairCounts, SquaredCounts, Statistic, Tally

# An embedded database counts more pairs of columns than this faster from batches than by GROUP BY.
PAIRS = 64


def tally_by_sql(source: Any, request: Request) -> Tally:
    """Return the tally of a table: first the weight of each class, then each block."""
    blocks = request.blocks
    with Progress("counting", 1 + len(blocks)) as progress:
        progress.say(0, "classes")
        classes, class_count, scan = _count_classes(Scan(source, source.table, request.target, request.weight), request)
        counter, counted = BlockCounter(request, classes, class_count, scan), []
        for place, (block, sample) in enumerate(zip(blocks, request.sample.statistics, strict=True)):
            progress.say(1 + place, f"{block.count} {block.family} columns")
            counted.append(counter.tally(block, sample))
    schema = Schema(classes, tuple(block for block, _ in counted), request.features)
    return Tally(schema, class_count, tuple(statistic for _, statistic in counted)).trimmed()


def _count_classes(scan: Scan, request: Request) -> tuple[Array, Array, Scan]:
    """Return the classes, the weight of each, and a scan of the rows that have a label."""
    wanted = {"rows": scan.table.count(), "weight": scan.row_weight}
    if scan.weight is not None:
        wanted |= {"least": scan.weight.min(), "weighed": scan.weight.count()}
    answer = scan.source.run(scan.table.group_by(label=scan.label).aggregate(**wanted)).to_pylist()
    labelled = [line for line in answer if line["label"] is not None and line["label"] == line["label"]]
    rows = sum(line["rows"] for line in answer)
    missing = rows - sum(line["rows"] for line in labelled)
    if rows == 0:
        raise SourceError("there are no rows to learn from")
    if missing and (request.missing_target == "error" or not labelled):
        raise missing_labels_error(request.target, missing, rows)
    if request.weight is not None:
        _check_weights(request.weight, labelled)
    labels = np.empty(len(labelled), object)
    labels[:] = [label_of(line["label"]) for line in labelled]
    classes, codes = encode(labels, "fit_table")
    class_count = np.bincount(codes, [float(line["weight"]) for line in labelled], len(classes))
    # rows without a label are not counted, nor checked
    table = scan.table.filter(scan.label.notnull()) if missing else scan.table
    code_of = {line["label"]: int(code) for line, code in zip(labelled, codes, strict=True)}
    return classes, class_count, replace(scan, table=table, codes=code_of, classes=len(classes))


def _check_weights(name: str, lines: Sequence[dict[str, Any]]) -> None:
    if any(line["weighed"] < line["rows"] for line in lines):
        raise SourceError(f"column {name!r} must hold the weight of each row, but does not hold numbers only")
    least = min(line["least"] for line in lines)
    if least < 0:
        raise SourceError(f"column {name!r} holds a negative weight ({least:g}); to unlearn rows, use forget")
    if not np.isfinite([line["weight"] for line in lines]).all():
        raise SourceError(f"column {name!r} must hold the weight of each row, but some weights are not finite")


@dataclass(frozen=True)
class BlockCounter:
    """The rows of a request, of which one block after the other is counted."""

    request: Request
    classes: Array
    class_count: Array
    scan: Scan

    def tally(self, block: Columns, sample: Statistic) -> tuple[Columns, Statistic]:
        """Return a block with all levels of the table, and its statistic."""
        sums = None if block.is_forest else FAMILIES[block.family].sql_sums
        has_many_pairs = block.pairs and block.count * (block.count - 1) // 2 > PAIRS and self.scan.source.is_embedded
        if sums == "levels" and not has_many_pairs and block.codings is not None:
            return self._count_levels(block)
        if sums == "moments" and not block.fourths:
            return block, self._query_moments(block, sample)
        if sums in ("totals", "squares"):
            return block, self._query_totals(block)
        if sums == "functions":
            return block, self._query_functions(block)
        return self._tally_batches(block, sample)

    @property
    def _chosen(self) -> set[Any]:
        """The columns that are counted in several ways, from which a form is chosen."""
        return find_repeated(self.request.blocks)

    def _tally_batches(self, block: Columns, sample: Statistic) -> tuple[Columns, Statistic]:
        """Return the statistic of a block that SQL cannot count, from batches of its columns."""
        request, schema = self.request, self.request.sample.schema
        block_sample = Tally(replace(schema, blocks=(block,)), request.sample.class_count, (sample,))
        part = replace(request, sample=block_sample, missing_target="drop")
        counted = batches.tally(self.scan.source.read_batches(part), part)
        wider = Schema(self.classes, counted.schema.blocks, request.features)
        return counted.schema.blocks[0], counted.on(wider).statistics[0]

    def _columns(self, block: Columns, scan: Scan, guarded: bool = True) -> dict[str, Any]:
        """Return the columns of a block as they are counted; if ``guarded``, NaN counts as an empty cell."""
        table, columns = scan.table, {}
        for name, coding in zip(block.names or (), block.codings or (None,) * block.count, strict=True):
            if isinstance(coding, Combinations):
                continue
            if name not in table.columns:
                raise SourceError(f"the table no longer has a column {name!r}")
            value, kind = scan.source.value(table, name) if guarded else table[name], table[name].type()
            if not isinstance(coding, Levels):
                if not (kind.is_numeric() or kind.is_boolean()):
                    raise SourceError(f"column {name!r} must hold numbers, but holds {kind}")
                value = value.cast("float64")
            if block.threshold is not None:
                value = (value > block.threshold).cast("int32")
            if name in self._chosen and FAMILIES[block.family].domain == POSITIVE:
                value = positive_expression(value)
            columns[name] = bin_expression(value, coding) if isinstance(coding, Cuts) else value
        return columns

    def _check_domain(self, block: Columns) -> None:
        """Raise an error if a column holds numbers outside of the domain of its family."""
        domain = FAMILIES[block.family].domain
        if not domain.is_bounded:
            return
        columns = self._columns(block, self.scan).values()
        for ends in self.scan.aggregate([x.min() for x in columns], [x.max() for x in columns]):
            # a class without numbers has 0, which is no number of it
            is_outside = domain.excludes(ends) & (ends != 0)
            if is_outside.any():
                k, j = np.argwhere(is_outside)[0].tolist()
                raise SourceError(str(outside_domain(block.name(j), block.family, float(ends[k, j]))))
        zeros = [(x == 0).ifelse(1, 0).sum() for x in columns] if domain.excludes(np.zeros(1))[0] else []
        for (count,) in [self.scan.aggregate(zeros)] if zeros else []:
            if count.any():
                raise SourceError(str(outside_domain(block.name(int(np.argmax(count.sum(axis=0)))), block.family, 0.0)))

    def _map_columns(self, block: Columns, columns: Sequence[Any], mapping: Function | None) -> list[Any]:
        """Return a function of each column, as SQL."""
        if mapping is None:
            return list(columns)
        inner = [x * mapping.factor if mapping.factor != 1 else x for x in columns]
        return [getattr(x, {"log": "ln"}.get(mapping.name, mapping.name))() for x in inner]

    def _query_functions(self, block: Columns) -> FunctionSums:
        """Return the sums of two functions of columns of numbers."""
        self._check_domain(block)
        scan, columns = self.scan, list(self._columns(block, self.scan).values())
        mapped = [self._map_columns(block, columns, each) for each in FAMILIES[block.family].functions]
        n, first, second = scan.aggregate(
            [scan.count(x) for x in columns], *([scan.sum(x) for x in each] for each in mapped)
        )
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            self._check_finite(block)
            raise SourceError(f"numbers of {block.name(0)} or a similar column are so large that their sums overflow")
        return FunctionSums(_common_n(n), first, second)

    def _count_levels(self, block: Columns) -> tuple[Columns, Counts]:
        """Return the block with all levels of the table, and the counts of levels and of pairs of levels."""
        columns = self._columns(block, self.scan)
        names, groups = list(columns), [(column,) for column in columns.values()]
        alone = sorted(self.scan.count_levels(groups), key=lambda counted: counted[0])
        self._check_finite(block)
        codings: list[Any] = list(block.codings or ())
        for j, _, [(values, _)], _ in alone:
            if isinstance(codings[j], Levels):
                codings[j] = codings[j].grown(sorted(set(map(label_of, values)), key=str), f"column {names[j]!r}")
        combined = np.zeros((len(self.classes), 0))
        if codings and isinstance(codings[-1], Combinations):
            codings[-1], combined = self._count_combinations(codings, columns)
        wider = block.recoded(self._find_fractions(names, codings))
        wider.check_pairs(len(self.classes))
        starts, counts = wider.starts, np.zeros((len(self.classes), wider.width))
        for j, lines, levels, weight in alone:
            lines, (cells,), weight = _locate(lines, levels, [codings[j]], weight)
            np.add.at(counts, (lines, starts[j] + cells), weight)
        counts[:, counts.shape[1] - combined.shape[1] :] += combined
        n = by_group(np.add, counts, starts)
        if not block.pairs:
            return wider, Counts(n, counts)
        return wider, PairCounts(n, counts, self._count_pairs(wider, list(columns.values()), counts))

    def _find_fractions(self, names: list[str], codings: list[Any]) -> tuple[Any, ...]:
        """Return the codings; cells of whole numbers are no longer so if a column holds fractions."""
        table, wanted = self.scan.table, {}
        for j, (name, coding) in enumerate(zip(names, codings, strict=False)):
            kind = table[name].type()
            if isinstance(coding, Cuts) and coding.whole and not (kind.is_integer() or kind.is_boolean()):
                x = self.scan.source.value(table, name).cast("float64")
                wanted[f"fractions{j}"] = ((x > x.floor()) | (x.abs() >= MOST_WHOLE)).ifelse(1, 0).max()
        found = self.scan.source.run(table.aggregate(**wanted)).to_pylist()[0] if wanted else {}
        return tuple(
            replace(coding, whole=False) if found.get(f"fractions{j}") else coding for j, coding in enumerate(codings)
        )

    def _count_pairs(self, block: Columns, columns: list[Any], counts: Array) -> Array:
        """Return the counts of all pairs of levels."""
        both = np.zeros((len(counts), counts.shape[1], counts.shape[1]))
        every, starts, codings = np.arange(counts.shape[1]), block.starts, block.codings or ()
        both[:, every, every] = counts
        places = list(combinations(range(len(columns)), 2))
        for place, lines, levels, weight in self.scan.count_levels([(columns[i], columns[j]) for i, j in places]):
            i, j = places[place]
            lines, (first, second), weight = _locate(lines, levels, [codings[i], codings[j]], weight)
            np.add.at(both, (lines, starts[i] + first, starts[j] + second), weight)
            np.add.at(both, (lines, starts[j] + second, starts[i] + first), weight)
        return both

    def _count_combinations(self, codings: list[Any], columns: dict[str, Any]) -> tuple[Any, Array]:
        """Return all combinations of levels in the table, and their counts."""
        order = sorted(zip(columns, columns.values(), codings, strict=False), key=lambda column: str(column[0]))
        ordered = [coding for _, _, coding in order]
        ((_, lines, levels, weight),) = self.scan.count_levels([tuple(value for _, value, _ in order)])
        lines, cells, weight = _locate(lines, levels, ordered, weight)
        decoded = [
            [coding.labels[code] for code in column] if isinstance(coding, Levels) else column.tolist()
            for column, coding in zip(cells, ordered, strict=True)
        ]
        rows = list(zip(*decoded, strict=True))
        coding = codings[-1].grown(dict.fromkeys(rows), "a combination of levels")
        counts = np.zeros((len(self.classes), coding.size))
        np.add.at(counts, (lines, [coding.index[row] for row in rows]), weight)
        return coding, counts

    def _query_moments(self, block: Columns, sample: Any) -> Statistic:
        """Return the moments or co-moments of columns of numbers."""
        self._check_domain(block)
        pooled = sample.pooled()
        deviation = np.sqrt(pooled.m2 / np.maximum(pooled.n, 1.0))
        # a column is shifted by its mean only where that is far from 0, so that sums of whole numbers stay exact
        shift = np.where(np.isfinite(pooled.mean) & (np.abs(pooled.mean) > 10 * deviation), pooled.mean, 0.0)
        with suppress(SourceError):  # few tables hold NaN, and testing for it would make the query half as long again
            return self._query_guarded_moments(block, shift, guarded=False)
        try:
            return self._query_guarded_moments(block, shift, guarded=True)
        except SourceError:
            self._check_finite(block)
            raise

    def _query_guarded_moments(self, block: Columns, shift: Array, guarded: bool) -> Statistic:
        columns = self._columns(block, self.scan, guarded)
        mapped = self._map_columns(block, list(columns.values()), FAMILIES[block.family].functions[0])
        moments, scatter = query_moments(self.scan, mapped, shift, block.pairs)
        if not all(np.isfinite(array).all() for array in (*moments.arrays().values(), scatter)):
            raise SourceError(
                f"numbers of {block.name(0)} or a similar column are so large that their squares overflow"
            )
        if not block.pairs:
            return replace(moments, n=_common_n(moments.n))
        if np.array_equal(moments.n, np.broadcast_to(self.class_count[:, None], moments.n.shape)):
            return CoMoments(moments.n[:, :1], moments.mean, moments.tail, scatter)
        # the scatter is that of the rows in which no column is empty
        present = [column.notnull() for column in columns.values()]
        complete = replace(self.scan, table=self.scan.table.filter(*present))
        columns = self._columns(block, complete, guarded)
        whole, scatter = query_moments(complete, list(columns.values()), shift, pairs=True)
        return CoMoments(whole.n[:, :1], whole.mean, whole.tail, scatter).with_spreads(moments)

    def _query_totals(self, block: Columns) -> Counts:
        scan, columns, family = self.scan, self._columns(block, self.scan).values(), FAMILIES[block.family]
        has_squares = family.sql_sums == "squares"
        n, sums, least, most, squares, fractions = scan.aggregate(
            [scan.count(x) for x in columns],
            [scan.sum(x) for x in columns],
            [x.min() for x in columns],
            [x.max() for x in columns],
            [scan.sum(x * x) for x in columns] if has_squares else [],
            [(x > x.floor()).ifelse(x, 0.0).max() for x in columns] if family.is_whole else [],
        )
        for values in (least, most, fractions):
            for k, j in np.argwhere(family.refuses(values)):
                value = float(values[k, j])
                raise SourceError(f"{block.name(int(j))} is {value:g} in a row, but {family.refusal(value)}")
        if block.threshold is not None or not np.isfinite(sums).all():
            self._check_finite(block)
        if FAMILIES[block.family].cells == "bits" and most.max() > 1:
            raise SourceError(
                f"{block.name(int(most.max(axis=0).argmax()))} must hold 0s and 1s, but holds {most.max():g}; set "
                "binarize to the threshold above which a value counts as 1"
            )
        if FAMILIES[block.family].domain.is_bounded:
            self._check_domain(block)
        if least.min() < 0:
            raise SourceError(
                f"Negative values in data: {block.name(int(least.min(axis=0).argmin()))} is {block.family} but has "
                f"negative values (least: {least.min():g}); make it gaussian or drop them"
            )
        return SquaredCounts(_common_n(n), sums, squares) if has_squares else Counts(_common_n(n), sums)

    def _check_finite(self, block: Columns) -> None:
        """Raise an error if a column of numbers holds infinity, which sums may hide."""
        table, source = self.scan.table, self.scan.source
        doubtful = [name for name in block.names or () if isinstance(name, str) and table[name].type().is_floating()]
        if not doubtful:
            return
        most = [source.value(table, name).abs().max().name(f"most{j}") for j, name in enumerate(doubtful)]
        for name, value in zip(doubtful, source.run(table.aggregate(most)).to_pylist()[0].values(), strict=True):
            if value == np.inf:
                advice = "Drop those rows, clip them, or leave the cell empty."
                raise SourceError(f"Input X contains infinity in column {name!r}. {advice}")


def _common_n(n: Array) -> Array:
    """Return the weights of rows [class, column], or [class, 1] if they are the same for all columns."""
    return n[:, :1] if (n == n[:, :1]).all() else n


def _locate(
    lines: Array, levels: Sequence[Encoded], codings: Sequence[Any], weight: Array
) -> tuple[Array, list[Array], Array]:
    """Return the classes, the codes of levels and the weights of the lines of an answer that have all of them."""
    cells = []
    for (values, codes), coding in zip(levels, codings, strict=True):
        index = coding.index if isinstance(coding, Levels) else {value: value for value in values}
        cells.append(np.array([*(index.get(label_of(value), -1) for value in values), -1], np.intp)[codes])
    kept = np.logical_and.reduce([cell >= 0 for cell in (lines, *cells)])
    return lines[kept], [cell[kept] for cell in cells], weight[kept]
