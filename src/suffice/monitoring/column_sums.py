"""The sums of each column over all classes, and the pairs of two tallies' columns that can be compared."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.explain import column_keys
from suffice.families import FAMILIES
from suffice.monitoring.divergences import CountPair, MomentPair
from suffice.schema import Array, Coding, Columns, Cuts, Levels, Words
from suffice.statistics import CoMoments, FunctionSums, Moments, Tally
from suffice.structures.combinations import drop_combinations

BINS = 10  # of numbers
ROUNDING = 1e-9
MISSING = "(missing)"
COUNTS = "(shares of all counts)"


@dataclass(frozen=True)
class ColumnSums:
    """What is known of a column: counts by code, or moments, or both.

    ``missing`` is the number of rows without the column; None if that is not counted (texts).
    """

    key: Any
    coding: Coding | None = None
    counts: Array | None = None
    missing: float | None = 0.0
    moments: tuple[float, float, float] | None = None  # rows, mean, variance


@dataclass(frozen=True)
class PairedColumn:
    """A column in two tallies, with the same labels."""

    key: Any
    kind: str
    labels: list[str]
    counts: CountPair | None
    moments: MomentPair | None
    missing: tuple[float, float] | None
    new_levels: list[str] = field(default_factory=list)
    new_level_rows: float = 0.0

    @property
    def rows(self) -> tuple[float, float]:
        """The rows before and after, with those that lack the column."""
        if self.counts is not None:
            return float(self.counts.before.sum()), float(self.counts.after.sum())
        assert self.moments is not None
        n, missing = self.moments.n, self.missing or (0.0, 0.0)
        return float(n[0] + missing[0]), float(n[1] + missing[1])


def separate_columns(tally: Tally) -> Tally:
    """Return a tally that has columns by themselves: without decision trees, combinations and pairs of levels."""
    tally, _ = drop_combinations(tally).split_trees()
    if tally.schema.features is None:
        return tally
    return replace(
        tally,
        schema=replace(tally.schema, blocks=tuple(replace(b, pairs=False, fourths=False) for b in tally.schema.blocks)),
    )


def sum_columns(tally: Tally) -> dict[Any, ColumnSums]:
    """Return the sums of each column over all classes, by the name or position of the column."""
    rows, found = float(tally.class_count.sum()), dict[Any, ColumnSums]()
    for columns, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        for each in _sum_block(columns, statistic, rows):
            known = found.get(each.key, each)
            # a number may be counted in cells and by its moments
            its = known if known.coding is not None else each
            found[each.key] = replace(its, moments=known.moments or each.moments)
    return found


def _sum_block(columns: Columns, statistic: Any, rows: float) -> Iterable[ColumnSums]:
    keys, cells = column_keys(columns), FAMILIES[columns.family].cells
    if isinstance(statistic, Moments | CoMoments):
        pooled = statistic.pooled()
        n = np.broadcast_to(pooled.n, pooled.m2.shape)[0]
        variance = pooled.m2[0] / np.maximum(n, 1e-300)
        for j, key in enumerate(keys):
            yield ColumnSums(
                key, missing=_subtract(rows, n[j]), moments=(float(n[j]), float(pooled.mean[0, j]), float(variance[j]))
            )
        return
    if isinstance(statistic, FunctionSums) or (columns.sizes is None and cells == "numbers"):
        yield from _sum_by_location(columns, statistic, rows)
        return
    total = statistic.total.sum(axis=0)
    if columns.codings and isinstance(columns.codings[0], Words):
        yield ColumnSums(keys[0], columns.codings[0], total, None)
    elif columns.sizes is not None:
        for j, key in enumerate(keys):
            start, size = int(columns.starts[j]), int(columns.sizes[j])
            counts = total[start : start + size]
            coding = columns.codings[j] if columns.codings else Levels(tuple(range(size)))
            yield ColumnSums(key, coding, counts, _subtract(rows, counts.sum()))
    elif cells == "bits":
        n = np.broadcast_to(statistic.n.sum(axis=0), total.shape)
        for j, key in enumerate(keys):
            yield ColumnSums(key, Levels((0, 1)), np.array([n[j] - total[j], total[j]]), _subtract(rows, n[j]))
    else:
        yield ColumnSums(COUNTS, Levels(tuple(map(str, keys))), total, None)


def _sum_by_location(columns: Columns, statistic: Any, rows: float) -> Iterable[ColumnSums]:
    """Yield the mean and the variance that a family says a column has."""
    arrays = {name: array.sum(axis=0, keepdims=True) for name, array in statistic.arrays().items()}
    mean, deviation = FAMILIES[columns.family].location(replace(statistic, **arrays))
    n = np.broadcast_to(arrays["n"], mean.shape)[0]
    for j, key in enumerate(column_keys(columns)):
        moments = float(n[j]), float(mean[0, j]), float(deviation[0, j] ** 2)
        yield ColumnSums(key, missing=_subtract(rows, n[j]), moments=moments)


def _subtract(rows: float, n: float) -> float:
    """Return rows − n; 0 if the difference is a rounding error of fractional weights."""
    return float(rows - n) if rows - n > ROUNDING * rows else 0.0


def pair_columns(before: ColumnSums, after: ColumnSums) -> PairedColumn:
    """Return two sums of a column in one form; raise ValueError if they have none in common."""
    moments = None
    if before.moments and after.moments and min(before.moments[0], after.moments[0]) > 0:
        moments = MomentPair.of(*zip(before.moments, after.moments, strict=True))
    missing = None if before.missing is None or after.missing is None else (before.missing, after.missing)
    if before.counts is not None and after.counts is not None:
        return _pair_counts(before, after, moments, missing)
    if moments is None:
        raise ValueError("it has no numbers on one side, or is counted in different ways")
    return PairedColumn(before.key, "moments", [], None, moments, missing)


def _pair_counts(
    before: ColumnSums, after: ColumnSums, moments: MomentPair | None, missing: tuple[float, float] | None
) -> PairedColumn:
    assert before.coding is not None
    assert after.coding is not None
    coding = before.coding.merge(after.coding, f"column {before.key!r}")
    here, there = (_place(each, coding) for each in (before, after))
    if isinstance(coding, Levels):
        kind, labels = "words" if missing is None else "levels", [str(label) for label in coding.labels]
        is_new = (here == 0) & (there > 0)
    else:
        assert isinstance(coding, Cuts)
        coding, here, there = _coarsen(coding, here, there)
        kind, labels = "intervals", [coding.label(code) for code in range(coding.size)]
        is_new = np.zeros(coding.size, bool)
    new, new_rows = [labels[code] for code in np.flatnonzero(is_new)], float(there[is_new].sum())
    if missing is not None and max(missing) > 0:
        labels, here, there = [*labels, MISSING], np.append(here, missing[0]), np.append(there, missing[1])
    if not (here.any() and there.any()):
        raise ValueError("it has no rows on one side")
    return PairedColumn(before.key, kind, labels, CountPair(here, there), moments, missing, new, new_rows)


def _place(sums: ColumnSums, coding: Coding) -> Array:
    """Return the counts of a column by the codes of a coding that both sides have in common."""
    assert sums.coding is not None
    return np.bincount(sums.coding.places_in(coding), sums.counts, minlength=coding.size)


def _coarsen(cuts: Cuts, before: Array, after: Array) -> tuple[Cuts, Array, Array]:
    """Return the cells joined to about ten intervals with about as many rows, of both sides together.

    The counts of both sides together say nothing about their difference, so the test of it stays valid.
    """
    shares = (before + after) / max((before + after).sum(), 1e-300)
    is_kept = np.diff(np.floor(shares.cumsum()[:-1] * BINS), prepend=0.0) > 0
    is_large = shares >= 1 / BINS  # such as a single number that is frequent
    is_kept |= is_large[:-1] | is_large[1:]
    coarse = Cuts(tuple(edge for edge, kept in zip(cuts.edges, is_kept, strict=True) if kept), cuts.by, cuts.whole)
    places = cuts.places_in(coarse)
    return coarse, np.bincount(places, before, coarse.size), np.bincount(places, after, coarse.size)
