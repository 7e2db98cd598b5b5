"""Forms: how a column enters the model, chosen from its sums by leave-one-out predictions of the class.

A numeric column is a Gaussian, or has levels, which are bins made of cells. A missing cell is skipped, or is a level.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.choice.cuts import CUTTERS, CellCounts
from suffice.choice.positive_forms import POSITIVE, best_positive
from suffice.choice.score_forms import score_gaussian, score_levels, score_missing
from suffice.choice.single_column import FEW_VALUES, ROWS_A_VALUE, ColumnSums, Form
from suffice.schema import (
    TIE,
    Array,
    Columns,
    Combinations,
    Cuts,
    MissingLevel,
    Words,
    by_group,
    round_ties,
    starts_of,
)
from suffice.statistics import CoMoments, Counts, Moments, Tally, rest_of

NUMERIC = ("gaussian", *CUTTERS, "kernel", "auto")
MISSING = ("auto", "skip", "level")

# With missing="auto", a missing cell is a level if that improves the predictions by this many nats in all, and by this
# many for each missing cell. Small gains are often lost again, because columns depend on each other. Columns whose
# missing cells differ in number by less than the share SAME_ROWS, in each class, are taken to be missing in the same
# rows.
LEAST_GAIN, LEAST_GAIN_A_CELL, SAME_ROWS = 3.0, 0.05, 0.1

# Columns are compared in batches of about so many sums, which stay in the cache.
BATCH = 1 << 16


def choose_forms(
    tally: Tally, asked: Mapping[Any, str], numeric: str, missing: str, suits: Callable[[str, Any], bool]
) -> dict[Any, Form]:
    """Return the form of each column that is counted in cells, or that has missing cells and levels.

    Parameters
    ----------
    tally : Tally
        The sums. Numbers are in a block of cells, in a block of moments, or in both.
    asked : mapping of column to family
        The families that the user named.
    numeric : {"gaussian", "quantiles", "mdl", "auto"}
        The form of the other numeric columns. "auto" takes the one with the best predictions.
    missing : {"auto", "skip", "level"}
        Whether a missing cell is a level. "auto" decides by the predictions, too, and lets only one of several columns
        that are missing in the same rows have this level.
    suits : callable
        Whether a family suits the rule and the prior of a column; "any" chooses among such families.
    """
    forms: dict[Any, Form] = {}
    gains: dict[Any, tuple[float, Form, Array]] = {}  # of the columns whose missing cells predict the classes
    for batch in _split_columns(tally, asked, numeric, missing):
        candidates = _list_candidates(batch)
        scores, best = _best(batch, candidates, is_level=False)
        found = _make_forms(batch, candidates, best, is_level=False)
        forms |= {name: found[j] for j, name in enumerate(batch.names) if batch.cuts[j] is not None}
        gaps = np.flatnonzero(batch.missing.any(axis=1)) if missing != "skip" else np.zeros(0, np.intp)
        if not len(gaps):
            continue
        with_level = [each for each in candidates if each.is_end is not None and each.name != "kernel"]
        new_scores, best = _best(batch, with_level, is_level=True)
        found = _make_forms(batch, with_level, best, is_level=True)
        least = np.maximum(LEAST_GAIN, LEAST_GAIN_A_CELL * batch.missing.sum(axis=1))
        for j in gaps[new_scores[gaps] > -np.inf].tolist():  # the others are Gaussians
            if missing == "level":
                forms[batch.names[j]] = found[j]
            elif new_scores[j] - scores[j] > least[j]:
                gains[batch.names[j]] = new_scores[j] - scores[j], found[j], batch.missing[j]
    forms |= _keep_one_of_the_same_rows(gains)
    return forms | (_choose_positive(tally, asked, forms, suits) if numeric == "auto" else {})


def _choose_positive(
    tally: Tally, asked: Mapping[Any, str], forms: Mapping[Any, Form], suits: Callable[[str, Any], bool]
) -> dict[Any, Form]:
    """Return the forms of the numbers of "any" family, of which some are log-normal, gamma or exponential.

    If the missing cells of a column are a level, it keeps its bins: these families have no such level.
    """
    positive = find_moments(tally, "log-normal")
    names = [name for name in positive if asked.get(name) == "any" and name in forms and not forms[name].missing]
    sums = collect_sums(tally) if names else {}
    return {
        name: best_positive(sums[name], forms[name], [family for family in POSITIVE if suits(family, name)])
        for name in names
        if sums[name].cuts is not None
    }


def _keep_one_of_the_same_rows(gains: Mapping[Any, tuple[float, Form, Array]]) -> dict[Any, Form]:
    """Return the forms with the highest gains; of columns that are missing in the same rows, only the best."""
    kept: dict[Any, tuple[Form, Array]] = {}
    for name, (_, form, missing) in sorted(gains.items(), key=lambda item: -item[1][0]):
        if not any(np.allclose(missing, other, rtol=SAME_ROWS, atol=1.0) for _, other in kept.values()):
            kept[name] = form, missing
    return {name: form for name, (form, _) in kept.items()}


def collect_sums(tally: Tally) -> dict[Any, ColumnSums]:
    """Return the sums of the columns that have levels or cells."""
    moments, logarithms = _join_moments(tally), find_moments(tally, "log-normal")
    found: dict[Any, ColumnSums] = {}
    for block, statistic in _blocks_of_levels(tally):
        missing, starts = _missing(tally, block, statistic), block.starts.tolist()
        for j, (name, coding) in enumerate(zip(block.names or (), block.codings or (), strict=True)):
            if isinstance(coding, SINGLE_FORM):
                continue
            counts = statistic.total[:, starts[j] : starts[j] + coding.size].T
            cuts, own = coding if isinstance(coding, Cuts) else None, moments.places.get(name)
            sums = None if own is None else (moments.n[own], moments.mean[own], moments.squares[own])
            found[name] = ColumnSums(counts, missing[j], cuts, sums, logarithms.get(name))
    return found


# Codings of columns that have one form only.
SINGLE_FORM = (Combinations, MissingLevel, Words)


def _blocks_of_levels(tally: Tally) -> Iterator[tuple[Columns, Counts]]:
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        if block.codings is not None and not block.is_forest and isinstance(statistic, Counts):
            yield block, statistic


def _missing(tally: Tally, block: Columns, statistic: Counts) -> Array:
    """Return the weight of the missing cells of a block, [column, class]."""
    n = np.broadcast_to(statistic.n, (len(tally.class_count), block.count))
    return rest_of(tally.class_count[:, None], n).T


def find_moments(tally: Tally, family: str) -> dict[Any, tuple[Array, Array, Array]]:
    """Return the weight, mean and squared deviations by class of each column of a family that counts moments."""
    found: dict[Any, tuple[Array, Array, Array]] = {}
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        if block.family == family and isinstance(statistic, (Moments, CoMoments)):
            own = statistic.spreads if isinstance(statistic, CoMoments) else statistic
            n = np.broadcast_to(own.n, own.m2.shape)
            found |= {name: (n[:, j], own.mean[:, j], own.m2[:, j]) for j, name in enumerate(block.names or ())}
    return found


@dataclass(frozen=True)
class _JoinedMoments:
    """The weight, mean and squared deviations of the columns of numbers, [column, class], and their places."""

    places: dict[Any, int]
    n: Array
    mean: Array
    squares: Array


def _join_moments(tally: Tally) -> _JoinedMoments:
    names: list[Any] = []
    parts: list[tuple[Array, Array, Array]] = [(np.zeros((0, len(tally.class_count))),) * 3]
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        if block.family == "gaussian" and isinstance(statistic, (Moments, CoMoments)):
            own = statistic.spreads if isinstance(statistic, CoMoments) else statistic
            names += block.names or ()
            parts.append((np.broadcast_to(own.n, own.m2.shape).T, own.mean.T, own.m2.T))
    n, mean, squares = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return _JoinedMoments({name: place for place, name in enumerate(names)}, n, mean, squares)


@dataclass(frozen=True)
class _Batch:
    """Some columns, their cells or levels, and what is asked of them.

    Attributes
    ----------
    names, cuts, hows : lists [column]
        The names, the cells (None if the column has levels), and the asked forms.
    cells : CellCounts
        The weight of the cells or levels.
    missing : array [column, class]
        The weight of the missing cells.
    moments : tuple of arrays [column, class]
        The weight, the mean and the squared deviations; undefined for columns without.
    has_moments : array [column]
        Whether the moments of a column were counted.
    upper : array [cell]
        The upper edges of cells.
    """

    names: list[Any]
    cuts: list[Cuts | None]
    hows: list[str]
    cells: CellCounts
    missing: Array
    moments: tuple[Array, Array, Array]
    has_moments: Array
    upper: Array

    @property
    def shares(self) -> Array:
        """The weight of each class in all rows, [column, class]."""
        return by_group(np.add, self.cells.by_class, self.cells.starts).T + self.missing

    @property
    def has_few_values(self) -> Array:
        """For each column, whether the cells tell a few values apart, each of which several rows have."""
        rows = self.cells.by_class.sum(axis=0)
        held = by_group(np.add, (rows > 0).astype(np.float64), self.cells.starts)
        return (held < FEW_VALUES) & (by_group(np.add, rows, self.cells.starts) >= ROWS_A_VALUE * held * (1 - TIE))

    def moments_of(self, columns: Array) -> tuple[Array, Array, Array]:
        """Return the moments of some columns."""
        n, mean, squares = self.moments
        return n[columns], mean[columns], squares[columns]

    def upper_of(self, columns: Array) -> Array:
        """Return the upper edges of the cells of some columns."""
        return self.upper if len(columns) == len(self.names) else self.upper[self.cells.cells(columns)]


def _split_columns(tally: Tally, asked: Mapping[Any, str], numeric: str, missing: str) -> Iterator[_Batch]:
    """Yield the columns that have several forms, in batches."""
    moments = _join_moments(tally)
    for block, statistic in _blocks_of_levels(tally):
        absent = _missing(tally, block, statistic)
        has_gaps = absent.any(axis=1) & ~block.in_cells & (missing != "skip")
        gappy = [j for j in np.flatnonzero(has_gaps).tolist() if not isinstance((block.codings or ())[j], SINGLE_FORM)]
        kept = np.union1d(np.flatnonzero(block.in_cells), gappy).astype(np.intp)
        if not len(kept):
            continue
        assert block.sizes is not None
        whole, upper = CellCounts(statistic.total.T, block.sizes), block.upper_edges
        group = (starts_of(block.sizes[kept]) * len(tally.class_count)) // BATCH
        for columns in np.split(kept, np.flatnonzero(np.diff(group)) + 1):
            names = [(block.names or ())[j] for j in columns.tolist()]
            codings = [(block.codings or ())[j] for j in columns.tolist()]
            hows = [asked.get(name, "auto") for name in names]
            places = np.array([moments.places.get(name, -1) for name in names], np.intp)
            has_moments = places >= 0
            places, cells = np.where(has_moments, places, 0), whole.cells(columns)
            yield _Batch(
                names,
                [coding if type(coding) is Cuts else None for coding in codings],
                [how if how in NUMERIC[:-1] else numeric for how in hows],
                CellCounts(np.ascontiguousarray(whole.counts[cells]), block.sizes[columns]),
                absent[columns],
                (moments.n[places], moments.mean[places], moments.squares[places])
                if has_moments.any()
                else ((absent,) * 3),
                has_moments,
                upper[cells],
            )


@dataclass(frozen=True)
class _Candidate:
    """A form of some columns: Gaussians, or bins, of which ``is_end`` marks the last cells."""

    name: str
    columns: Array
    is_end: Array | None


def _list_candidates(batch: _Batch) -> list[_Candidate]:
    """Return the forms that the settings allow; the first of equally good ones is taken."""
    how, is_number = np.array(batch.hows), np.array([cuts is not None for cuts in batch.cuts])
    is_auto = how == "auto"
    has_gaussian = is_number & batch.has_moments & ~(is_auto & batch.has_few_values)
    is_gaussian = has_gaussian & (is_auto | (how == "gaussian"))
    levels = np.flatnonzero(~is_number)
    found = [_Candidate("gaussian", np.flatnonzero(is_gaussian), None)]
    for name, cut in CUTTERS.items():
        columns = np.flatnonzero(is_number & (is_auto | (how == name) | ((how == "gaussian") & ~has_gaussian)))
        if len(columns):
            found.append(_Candidate(name, columns, cut(batch.cells.select(columns))))
    kernels = np.flatnonzero(is_number & (how == "kernel"))
    found.append(_Candidate("kernel", kernels, np.ones(len(batch.cells.cells(kernels)), bool)))
    found.append(_Candidate("levels", levels, np.ones(len(batch.cells.cells(levels)), bool)))
    return [each for each in found if len(each.columns)]


def _best(batch: _Batch, candidates: list[_Candidate], *, is_level: bool) -> tuple[Array, Array]:
    """Return the score of the best candidate of each column, and its place; −∞ and 0 for columns without any.

    With ``is_level`` a missing cell is one more level.
    """
    scores = np.full((max(len(candidates), 1), len(batch.names)), -np.inf)
    for line, each in zip(scores, candidates, strict=False):
        line[each.columns] = 0.0
    if ((scores > -np.inf).sum(axis=0) <= 1).all() and not batch.missing.any():
        return scores.max(axis=0), scores.argmax(axis=0)
    shares = batch.shares
    for line, each in zip(scores, candidates, strict=False):
        columns, own = each.columns, shares[each.columns]
        cells = batch.cells.select(columns)
        if each.is_end is None:
            line[columns] = score_gaussian(cells, batch.upper_of(columns), batch.moments_of(columns), own)
        else:
            absent = batch.missing[columns] if is_level else None
            line[columns] = score_levels(cells, each.is_end, own, absent)
        if not is_level:
            line[columns] += score_missing(batch.missing[columns], own)
    best = round_ties(scores, axis=0).argmax(axis=0)
    return scores[best, np.arange(len(best))], best


def _make_forms(batch: _Batch, candidates: list[_Candidate], best: Array, *, is_level: bool) -> list[Form]:
    """Return the form of each column; ``best`` is the place of its candidate."""
    forms = [Form(missing=is_level)] * len(best)
    for place, each in enumerate(candidates):
        for j in each.columns[best[each.columns] == place].tolist() if each.name == "kernel" else []:
            cuts = batch.cuts[j]
            assert cuts is not None
            forms[j] = Form(replace(cuts, by="kernel"), family="kernel")
        if each.name not in CUTTERS or each.is_end is None:
            continue
        is_best = best[each.columns] == place
        cells = batch.cells.select(each.columns)
        kept = each.is_end & is_best[cells.column]
        edges = batch.upper_of(each.columns)[kept].tolist()
        ends = np.cumsum(np.bincount(cells.column[kept], minlength=len(each.columns))).tolist()
        for j, first, last, is_mine in zip(each.columns.tolist(), [0, *ends], ends, is_best.tolist(), strict=False):
            if is_mine:
                forms[j] = Form(Cuts(tuple(edges[first:last]), each.name), is_level)
    return forms
