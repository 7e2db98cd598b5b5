"""Averaged: averaged one-dependence estimators (AODE), in which every column in turn is the parent of all others."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from suffice.families.categorical import draw_slots
from suffice.families.description import information_of_levels
from suffice.families.family import Parameters
from suffice.schema import Array, Columns, Schema, by_group, starts_of
from suffice.score import AveragedPairs, Score
from suffice.statistics import PairCounts
from suffice.structures.conditionals import Backoff, Conditionals, check_backoff
from suffice.structures.full import Full
from suffice.structures.structure import Rule, Structure, Subject

MOST_COLUMNS, MOST_PAIRS = 128, 1 << 24

# Sums of weights that differ by at most this share are taken to be equal.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Averaged(Structure):
    """p(x | class) = Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σ wᵢ, over columns i whose level is not rare.

    If all levels of a row are rare, its columns are independent.

    Parameters
    ----------
    frequency : float, default=1
        The number of rows that a level needs to be a parent.
    weights : {"information", "equal"}, default="information"
        wᵢ: the mutual information of the column and the class (WAODE), or 1.
    subsumption : float or None, default=50
        A level that is implied by another level with at least this many rows is left out (AODEsr); None keeps all.
    backoff : float or "laplace", default=2.0
        The number of pseudo-rows of p(level | class) that each p(level | parent's level, class) starts from.
        "laplace" starts from the pseudo-counts of the prior instead, and so does P(parent's level, class), as in
        WEKA's AODE.
    numbers : Structure, default=Full()
        The structure of Gaussian columns.

    Examples
    --------
    >>> Averaged(weights="equal").subsumption
    50
    """

    frequency: float = 1
    weights: Literal["information", "equal"] = "information"
    subsumption: float | None = 50
    backoff: Backoff = 2.0
    numbers: Structure = field(default_factory=Full)

    name = "averaged"
    numeric_in_pool = "mdl"
    paired = ("categorical", "gaussian")

    def __post_init__(self) -> None:
        if self.weights not in ("information", "equal"):
            raise ValueError(f"weights are 'information' or 'equal', not {self.weights!r}")
        check_backoff(self.backoff, "laplace")
        if not self.frequency >= 0:
            raise ValueError(f"frequency is a number of rows, 0 or more, not {self.frequency!r}")
        if not isinstance(self.numbers, Structure):
            raise ValueError(f"numbers is a structure, such as Full(), not {self.numbers!r}")

    def check_columns(self, schema: Schema) -> None:
        self.numbers.check_columns(schema)

    @property
    def needs_fourths(self) -> bool:
        return self.numbers.needs_fourths

    def check(self, subject: Subject, prior: Any) -> None:
        (self.numbers.check if subject.columns.family == "gaussian" else super().check)(subject, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        columns = subject.columns
        if columns.count < 2:
            return subject.independent(rule, prior)
        if columns.family == "gaussian":
            return self.numbers.dependent(rule, subject, prior)
        tables = Conditionals.of(rule, subject, prior, self.backoff)
        rows = np.zeros(tables.shares.shape[1])
        levels = np.delete(np.arange(len(rows)), np.cumsum(tables.sizes + 1) - 1)
        rows[levels] = tables.counts.total.sum(axis=0)
        equal = self.weights == "equal"
        weights = np.ones(columns.count) if equal else information_of_levels(columns, tables.counts)
        implied = None
        if self.subsumption is not None:
            implied = np.zeros((len(rows), len(rows)), np.uint8)
            implies = _find_implied(columns, tables.counts, self.subsumption).astype(np.uint8)
            implied[np.ix_(levels, levels)] = implies + 2 * implies.T
            implied = implied if implies.any() else None
        with np.errstate(divide="ignore"):
            alone = np.log(tables.shares)
        term = AveragedPairs(
            np.ascontiguousarray(alone.T),
            _both_ways(tables.every()),
            (rows >= max(self.frequency, 1e-300)).astype(np.uint8),
            np.maximum(weights, 1e-12),
            implied,
            tables.sizes,
            columns.open.astype(np.uint8),
        )
        return AveragedParameters(term)


@dataclass(frozen=True)
class Auto(Averaged):
    """`Averaged` if its tables are small enough, otherwise `Naive`.

    Levels are averaged if their pairs need at most 2²⁴ counts and 128 columns, so that a row is scored in a few
    microseconds. Numbers have a covariance if at least half of the rows are complete.
    """

    name = "auto"
    shares_counts = False
    is_automatic = True

    @property
    def members(self) -> tuple[Structure, ...]:
        return (self,)

    def counts_for(self, other: Structure) -> bool:
        # there may have been too many pairs to count them
        return other == self or not other.paired

    def joins(self, columns: Columns) -> bool:
        return columns.pairs and super().joins(columns)

    def pairs(self, columns: Columns, classes: int, complete: float) -> bool:
        if columns.family == "gaussian":
            few = columns.count <= MOST_COLUMNS and complete >= 0.5
        else:
            few = columns.count <= MOST_COLUMNS and classes * columns.width**2 <= MOST_PAIRS
        return few and super().pairs(columns, classes, complete)


@dataclass(frozen=True)
class AveragedParameters(Parameters):
    """Log probabilities of levels and of pairs of levels."""

    term: AveragedPairs

    def score(self) -> Score:
        return Score((self.term,))

    @property
    def n_parameters(self) -> int:
        sizes = self.term.sizes
        free = np.maximum(sizes - 1, 0)  # a column of missing cells has no level
        pairs = sizes.sum() * free.sum() - (sizes * free).sum()
        return int(self.term.class_count * (free.sum() + pairs))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        """Return rows, each drawn from the model of one parent column that is chosen by its weight."""
        term = self.term
        starts = starts_of(term.sizes + 1)
        slots = [slice(int(first), int(first + size + 1)) for first, size in zip(starts, term.sizes, strict=True)]
        weights = term.weights * np.exp(term.given[starts, starts, 0, k] - term.alone[starts, k])
        parents = rng.choice(len(slots), count, p=weights / weights.sum())
        drawn = np.zeros((count, len(slots)), np.intp)
        for parent in np.unique(parents):
            own = np.flatnonzero(parents == parent)
            drawn[own, parent] = draw_slots(term.alone[slots[parent], k], len(own), rng)
            for level in np.unique(drawn[own, parent]):
                here = own[drawn[own, parent] == level]
                for j, place in enumerate(slots):
                    if j != parent:
                        line = term.given[starts[parent] + level, place, 0, k]
                        drawn[here, j] = draw_slots(line, len(here), rng)
        return drawn


def _both_ways(given: Array) -> Array:
    """Return p(b | a) and p(a | b) side by side, from given[class, a, b]."""
    both = np.empty((*given.shape[1:], 2, len(given)))
    for a, lines in enumerate(both):  # line by line, so that what is read stays in the cache until it is written
        lines[:, 0], lines[:, 1] = given[:, a].T, given[:, :, a].T
    return both


def _find_implied(columns: Columns, counts: PairCounts, least: float) -> Array:
    """Return which level implies which: all rows with the first level that have the other column have the second."""
    pairs = counts.pairs.sum(axis=0)
    sizes = np.diff([*columns.starts, len(pairs)])
    whole = np.repeat(by_group(np.add, pairs, columns.starts), sizes, axis=1)
    same = np.repeat(np.arange(columns.count), sizes)
    # fractional weights may leave a rounding error in the count of missing cells
    return np.asarray((pairs >= whole * (1 - ROUNDING)) & (whole >= least) & (same[:, None] != same[None, :]))
