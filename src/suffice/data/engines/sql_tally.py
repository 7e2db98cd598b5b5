"""The tally of a table in a database: the queries that each block needs, and statistics from their answers."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from suffice.data import encode, label_of, missing_labels_error
from suffice.data.engines import batches
from suffice.data.engines.source import Request, SourceError
from suffice.data.engines.sql_aggregates import Column, Scan, bin_expression, query_comoments, query_moments, query_sums
from suffice.progress import Progress
from suffice.schema import Array, Columns, Combinations, Cuts, Levels, Schema
from suffice.statistics import CoMoments, Counts, PairCounts, Statistic, Tally

# An embedded database counts more pairs of columns than this faster from batches than by GROUP BY.
PAIRS = 64


class SqlTally:
    """The tally of one request, block by block. Answers come by label, in any order."""

    def __init__(self, source: Any, request: Request) -> None:
        self.source, self.request = source, request
        self.scan = self._scan(source.table)

    def _scan(self, table: Any) -> Scan:
        request = self.request
        label = self.source.value(table, request.target, "number" if _is_number(table, request.target) else "string")
        weight = None if request.weight is None else table[request.weight].cast("float64")
        return Scan(table, label, weight, self.source.run)

    def tally(self) -> Tally:
        """Return the tally: first the weight of each class, then each block."""
        blocks = self.request.blocks
        with Progress("counting", 1 + len(blocks)) as progress:
            progress.say(0, "classes")
            self._count_classes()
            counted = []
            for place, (block, sample) in enumerate(zip(blocks, self.request.sample.statistics, strict=True)):
                progress.say(1 + place, f"{block.count} {block.family} columns")
                counted.append(self._tally_block(block, sample))
        schema = Schema(self.classes, tuple(block for block, _ in counted), self.request.features)
        return Tally(schema, self.class_count, tuple(statistic for _, statistic in counted)).trimmed()

    def _count_classes(self) -> None:
        """Find the classes and the weight of each; raise an error if rows have no label."""
        scan, request = self.scan, self.request
        wanted = {"rows": scan.table.count(), "weight": scan.rows()}
        if scan.weight is not None:
            wanted |= {"least": scan.weight.min(), "weighed": scan.weight.count()}
        labels, found = scan.aggregated(wanted)
        there = [place for place, label in enumerate(labels) if label is not None]
        rows = found["rows"]
        missing = int(rows.sum() - rows[there].sum())
        if rows.sum() == 0:
            raise SourceError("there are no rows to learn from")
        if missing and (request.missing_target == "error" or not there):
            raise missing_labels_error(request.target, missing, int(rows.sum()))
        if scan.weight is not None:
            _check_weights(str(request.weight), {name: values[there] for name, values in found.items()})
        kept = np.empty(len(there), object)
        kept[:] = [label_of(labels[place]) for place in there]
        self.classes, codes = encode(kept, "fit_table")
        self.code = {labels[place]: int(code) for place, code in zip(there, codes, strict=True)}
        self.class_count = np.zeros(len(self.classes))
        np.add.at(self.class_count, codes, found["weight"][there])
        if missing:  # rows without a label are not counted, nor checked
            self.scan = self._scan(scan.table.filter(scan.label.notnull()))

    def _tally_block(self, block: Columns, sample: Statistic) -> tuple[Columns, Statistic]:
        has_many_pairs = block.pairs and block.count * (block.count - 1) // 2 > PAIRS and self.source.is_embedded
        if block.family == "categorical" and not has_many_pairs:
            return self._count_levels(block)
        if block.family == "gaussian":
            return block, self._query_numbers(block, sample)
        if block.family in ("poisson", "multinomial", "complement"):
            return block, self._query_totals(block)
        return self._tally_batches(block, sample)

    def _tally_batches(self, block: Columns, sample: Statistic) -> tuple[Columns, Statistic]:
        """Return the statistic of a block that SQL cannot count, from batches of its columns."""
        request, schema = self.request, self.request.sample.schema
        block_sample = Tally(replace(schema, blocks=(block,)), request.sample.class_count, (sample,))
        part = replace(request, sample=block_sample, missing_target="drop")
        counted = batches.tally(self.source.read_batches(part), part)
        wider = Schema(self.classes, counted.schema.blocks, request.features)
        return counted.schema.blocks[0], counted.on(wider).statistics[0]

    def _columns(self, table: Any, block: Columns, guarded: bool = True) -> list[Column]:
        """Return the columns of a block as they are counted; if ``guarded``, NaN counts as an empty cell."""
        columns = []
        for name, coding in zip(block.names or (), block.codings or (None,) * block.count, strict=True):
            if isinstance(coding, Combinations):
                continue
            if name not in table.columns:
                raise SourceError(f"the table no longer has a column {name!r}")
            kind = "number" if _is_number(table, name) else "string"
            value = self.source.value(table, name, kind) if guarded else table[name]
            if not isinstance(coding, Levels):
                if kind == "string" and not table[name].type().is_boolean():
                    raise SourceError(f"column {name!r} must hold numbers, but holds {table[name].type()}")
                value = value.cast("float64")
            columns.append(Column(name, bin_expression(value, coding) if isinstance(coding, Cuts) else value))
        return columns

    def _count_levels(self, block: Columns) -> tuple[Columns, Counts]:
        """Return the block with all levels of the table, and the counts of levels and of pairs of levels."""
        columns = self._columns(self.scan.table, block)
        alone: list[Any] = [None] * len(columns)
        for place, label, levels, weight in self.scan.counted([(column,) for column in columns]):
            alone[place] = (label, levels[0], weight)
        self._check_finite(block)
        codings: list[Any] = list(block.codings or ())
        for j, (_, (values, codes), _) in enumerate(alone):
            if isinstance(codings[j], Levels):
                seen = {label_of(values[code]) for code in np.unique(codes[codes >= 0])}
                codings[j] = codings[j].grown(sorted(seen, key=str), f"column {columns[j].name!r}")
        combined = None
        if codings and isinstance(codings[-1], Combinations):
            codings[-1], combined = self._count_combinations(block, codings, columns)
        wider = block.recoded(tuple(codings))
        counts = np.zeros((len(self.classes), wider.width))
        starts = wider.starts
        for j, (label, level, weight) in enumerate(alone):
            lines, cells, kept = self._locate(label, [(level, codings[j])])
            np.add.at(counts, (lines, starts[j] + cells[0]), weight[kept])
        if combined is not None:
            counts[:, starts[-1] :] = combined
        n = np.add.reduceat(counts, starts, axis=1) if counts.shape[1] else np.zeros((len(counts), wider.count))
        n[:, np.diff([*starts, counts.shape[1]]) == 0] = (
            0.0  # reduceat returns the next column's sum for a column without levels
        )
        if not block.pairs:
            return wider, Counts(n, counts)
        return wider, PairCounts(n, counts, self._count_pairs(wider, columns, counts))

    def _locate(self, label: Any, levels: Sequence[tuple[Any, Any]]) -> tuple[Array, list[Array], Array]:
        """Return the class and the level codes of the complete lines of an answer, and which lines these are."""
        values, codes = label
        lines = np.append([self.code.get(value, -1) for value in values], -1).astype(np.intp)[codes]
        cells = []
        for (distinct, level), coding in levels:
            if isinstance(coding, Levels):
                places = [coding.index.get(label_of(x), -1) for x in distinct]  # some levels belong to other columns
            else:
                places = [int(value) for value in distinct]
            cells.append(np.append(places, -1).astype(np.intp)[level])
        kept = (lines >= 0) & np.logical_and.reduce([cell >= 0 for cell in cells])
        return lines[kept], [cell[kept] for cell in cells], kept

    def _count_pairs(self, block: Columns, columns: list[Column], counts: Array) -> Array:
        """Return the counts of all pairs of levels."""
        both = np.zeros((len(counts), counts.shape[1], counts.shape[1]))
        every = np.arange(counts.shape[1])
        both[:, every, every] = counts
        places, starts = list(combinations(range(len(columns)), 2)), block.starts
        codings = block.codings or ()
        groups = [(columns[i], columns[j]) for i, j in places]
        for place, label, levels, weight in self.scan.counted(groups):
            i, j = places[place]
            lines, (first, second), kept = self._locate(label, [(levels[0], codings[i]), (levels[1], codings[j])])
            np.add.at(both, (lines, starts[i] + first, starts[j] + second), weight[kept])
            np.add.at(both, (lines, starts[j] + second, starts[i] + first), weight[kept])
        return both

    def _count_combinations(self, block: Columns, codings: list[Any], columns: list[Column]) -> tuple[Any, Array]:
        """Return all combinations of levels in the table, and their counts."""
        order = sorted(range(len(columns)), key=lambda place: str(columns[place].name))
        ((_, label, levels, weight),) = self.scan.counted([tuple(columns[place] for place in order)])
        lines, cells, kept = self._locate(label, [(level, codings[p]) for level, p in zip(levels, order, strict=True)])
        decoded = [
            [codings[p].labels[c] for c in column] if isinstance(codings[p], Levels) else column.tolist()
            for column, p in zip(cells, order, strict=True)
        ]
        rows = list(zip(*decoded, strict=True))
        coding = codings[-1].grown(dict.fromkeys(rows), "a combination of levels")
        counts = np.zeros((len(self.classes), coding.size))
        np.add.at(counts, (lines, [coding.index[row] for row in rows]), weight[kept])
        return coding, counts

    def _query_numbers(self, block: Columns, sample: Any) -> Any:
        """Return the moments or co-moments of columns of numbers."""
        shift = _choose_shift(sample.pooled())
        variances = self.source.has("Variance") and self.source.dialect != "sqlite"
        own = self.scan.weight is None and variances and self.source.has("Covariance")
        if not block.pairs and self.scan.weight is None:
            try:  # few tables hold NaN, and testing for it would make the query half as long again
                labels, alone = query_moments(self.scan, self._columns(self.scan.table, block, False), shift, variances)
                return self._order_by_class(labels, alone, block)
            except SourceError:
                pass
        columns = self._columns(self.scan.table, block)
        try:
            if block.pairs and own:
                labels, n, comoments = query_comoments(self.scan, columns, shift[None], [])
                there = [label is not None for label in labels]
                if np.array_equal(np.broadcast_to(comoments.n, n.shape)[there], n[there]):
                    return self._order_by_class(labels, comoments, block)
            labels, alone = query_moments(self.scan, columns, shift, variances)
            spreads = self._order_by_class(labels, alone, block)
            if not block.pairs:
                return spreads
            return self._query_complete_rows(block, shift, own).with_spreads(spreads)
        except SourceError:
            self._check_finite(block)
            raise

    def _query_complete_rows(self, block: Columns, shift: Array, own: bool) -> Any:
        """Return the co-moments of the rows in which no column is empty."""
        table = self.scan.table
        present = [self.source.value(table, name, "number").notnull() for name in block.names or ()]
        whole = self._scan(table.filter(*present))
        columns = self._columns(whole.table, block)
        if own:
            seen, _, comoments = query_comoments(whole, columns, shift[None], [])
        else:
            # sums of products lose digits unless they are about the means of the same rows
            seen, means = query_moments(whole, columns, shift, False)
            if seen:
                seen, _, comoments = query_comoments(whole, columns, means.mean, seen)
        return self._order_by_class(seen, comoments, block) if seen else CoMoments.zero(len(self.classes), block.count)

    def _order_by_class(self, labels: list[Any], statistic: Any, block: Columns) -> Any:
        """Return a statistic with one row for each class, without rows of no label; check that it is finite."""
        places = np.array([self.code.get(label, -1) for label in labels], np.intp)
        kept = np.flatnonzero(places >= 0)
        arrays = {name: array[kept] for name, array in statistic.arrays().items()}
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise SourceError(
                f"numbers of {block.name(0)} or a similar column are so large that their squares overflow"
            )
        wide = {name: np.zeros((len(self.classes), *array.shape[1:])) for name, array in arrays.items()}
        for name, array in arrays.items():
            wide[name][places[kept]] = array
        if "m2" in wide and np.array_equal(np.broadcast_to(wide["n"][:, :1], wide["n"].shape), wide["n"]):
            wide["n"] = wide["n"][:, :1]
        return type(statistic)(**wide)

    def _query_totals(self, block: Columns) -> Counts:
        columns = self._columns(self.scan.table, block)
        labels, n, sums, least = query_sums(self.scan, columns)
        if not np.isfinite(sums).all():
            self._check_finite(block)
        if bool(np.any(least < 0)):
            j = int(np.argmin(np.nanmin(least, axis=0)))
            raise SourceError(
                f"Negative values in data: {block.name(j)} is {block.family} but has negative values (least: "
                f"{np.nanmin(least):g}); make it gaussian or drop them"
            )
        counts = self._order_by_class(labels, Counts(n, sums), block)
        return Counts(counts.n[:, :1], counts.total) if bool(np.all(counts.n == counts.n[:, :1])) else counts

    def _check_finite(self, block: Columns) -> None:
        """Raise an error if a column of numbers holds infinity, which sums may hide."""
        table = self.scan.table
        doubtful = [name for name in block.names or () if isinstance(name, str) and table[name].type().is_floating()]
        if not doubtful:
            return
        most = {f"most{j}": self.source.value(table, name, "number").abs().max() for j, name in enumerate(doubtful)}
        found = self.source.run(table.aggregate(**most)).to_pylist()[0]
        for j, name in enumerate(doubtful):
            if found[f"most{j}"] is not None and np.isinf(found[f"most{j}"]):
                raise SourceError(
                    f"Input X contains infinity in column {name!r}. Drop those rows, clip them, or leave the cell "
                    "empty."
                )


def _choose_shift(pooled: Any) -> Array:
    """Return the shift of each column: its mean where that is far from 0, so that no digits are lost."""
    deviation = np.sqrt(pooled.m2[0] / np.maximum(pooled.n[0], 1.0))
    return np.where(np.isfinite(pooled.mean[0]) & (np.abs(pooled.mean[0]) > 10 * deviation), pooled.mean[0], 0.0)


def _is_number(table: Any, name: str) -> bool:
    kind = table[name].type()
    return bool(kind.is_numeric() and not kind.is_boolean())


def _check_weights(name: str, found: dict[str, Array]) -> None:
    if bool(np.any(found["weighed"] < found["rows"])):
        raise SourceError(f"column {name!r} must hold the weight of each row, but does not hold numbers only")
    if bool(np.any(found["least"] < 0)):
        raise SourceError(
            f"column {name!r} holds a negative weight ({found['least'].min():g}); to unlearn rows, use forget"
        )
    if not np.isfinite(found["weight"]).all():
        raise SourceError(f"column {name!r} must hold the weight of each row, but some weights are not finite")
