"""Averaged: every column in turn is the parent of all others, and the results are averaged (AODE)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.families.categorical import drawn_slots
from suffice.families.family import Parameters
from suffice.schema import Array, Columns, by_group
from suffice.score import AveragedPairs, Score
from suffice.statistics import PairCounts
from suffice.structures.conditionals import Conditionals, told_by_levels, with_pairs
from suffice.structures.full import Full
from suffice.structures.structure import Rule, Structure, Subject, independent
from suffice.structures.tree import checked_backoff

MOST_COLUMNS, MOST_PAIRS = 128, 1 << 24


@dataclass(frozen=True)
class Averaged(Structure):
    """p(x given class) = Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σ wᵢ, over columns i whose level is not rare.

    ``frequency`` is how many rows a level must have to be a parent, ``weights`` is "information" (wᵢ = I(xᵢ;
    class): WAODE) or "equal", and with ``subsumption`` a level that is implied by another, which has that
    many rows or more, is dropped (AODEsr). Where no level qualifies, columns are independent. Gaussian
    columns are as ``numbers`` has them: all together, with a covariance for each class.

    >>> Averaged(weights="equal").subsumption
    50
    """

    frequency: float = 1
    weights: str = "information"
    subsumption: float | None = 50
    backoff: float = 2.0
    numbers: Structure = field(default_factory=Full)

    name = "averaged"
    paired = ("categorical", "gaussian")

    def __post_init__(self) -> None:
        if self.weights not in ("information", "equal"):
            raise ValueError(f"weights are 'information' or 'equal', not {self.weights!r}")
        checked_backoff(self.backoff)
        if not self.frequency >= 0:
            raise ValueError(f"frequency is a number of rows, 0 or more, not {self.frequency!r}")
        if not isinstance(self.numbers, Structure):
            raise ValueError(f"numbers is a structure, such as Full(), not {self.numbers!r}")

    def check(self, subject: Subject, prior: Any) -> None:
        (self.numbers.check if subject[1].family == "gaussian" else super().check)(subject, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        family, columns, statistic = subject
        if columns.count < 2 or (not columns.pairs and self.name == "auto"):
            return independent(rule, subject, prior)
        if columns.family == "gaussian":
            return self.numbers.dependent(rule, subject, prior)
        statistic = with_pairs(statistic)
        tables = Conditionals.of(rule, family, columns, statistic, prior, self.backoff)
        met = np.zeros(tables.shares.shape[1])
        levels = np.delete(np.arange(len(met)), np.cumsum(tables.sizes + 1) - 1)
        met[levels] = statistic.total.sum(axis=0)
        weights = np.ones(columns.count) if self.weights == "equal" else told_by_levels(columns, statistic)
        implied = None
        if self.subsumption is not None:
            implied = np.zeros((len(met), len(met)), np.uint8)
            found = _implied(columns, statistic, self.subsumption).astype(np.uint8)
            implied[np.ix_(levels, levels)] = found + 2 * found.T
            implied = implied if found.any() else None
        with np.errstate(divide="ignore"):
            alone = np.log(tables.shares)
        return AveragedParameters(
            np.ascontiguousarray(alone.T),
            _both_ways(tables.every()),
            (met >= max(self.frequency, 1e-300)).astype(np.uint8),
            np.maximum(weights, 1e-12),
            implied,
            tables.sizes,
            columns.open.astype(np.uint8),
        )


@dataclass(frozen=True)
class Auto(Averaged):
    """Averaged where there is room for it, else naive.

    Levels are averaged if their pairs take no more than 2²⁴ counts in at most 128 columns, which a row is
    scored by in a few microseconds. Numbers go together if at least half of the rows have them all.
    """

    name = "auto"
    shares_counts = False

    def counts_for(self, other: Structure) -> bool:
        # it may find that there is no room for pairs
        return other == self or not other.paired

    def pairs(self, columns: Columns, classes: int, complete: float) -> bool:
        if columns.family == "gaussian":
            few = columns.count <= MOST_COLUMNS and complete >= 0.5
        else:
            few = columns.count <= MOST_COLUMNS and classes * columns.width**2 <= MOST_PAIRS
        return few and super().pairs(columns, classes, complete)


@dataclass(frozen=True)
class AveragedParameters(Parameters):
    """log p(slot | class) [slot, class], and log p(b | a, class), log p(a | b, class) [a, b, which of the two, class].

    ``implied`` [a, b] is 1 where slot a implies slot b, 2 where b implies a, 3 where each implies the other.
    """

    alone: Array
    given: Array
    eligible: Array
    weights: Array
    implied: Array | None
    sizes: Array
    is_open: Array

    def score(self) -> Score:
        arrays = (self.alone, self.given, self.eligible, self.weights, self.implied, self.sizes, self.is_open)
        return Score((AveragedPairs(*arrays),))

    @property
    def n_parameters(self) -> int:
        free = np.maximum(self.sizes - 1, 0)  # a column of empty cells has no level
        pairs = self.sizes.sum() * free.sum() - (self.sizes * free).sum()
        return int(self.alone.shape[1] * (free.sum() + pairs))

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        """Return rows drawn from one of the columns' models each, chosen by its weight."""
        starts = np.cumsum(self.sizes + 1) - self.sizes - 1
        slots = [slice(int(first), int(first + size + 1)) for first, size in zip(starts, self.sizes, strict=True)]
        parents = rng.choice(len(slots), count, p=self.weights / self.weights.sum())
        drawn = np.zeros((count, len(slots)), np.intp)
        for parent in np.unique(parents):
            mine = np.flatnonzero(parents == parent)
            drawn[mine, parent] = drawn_slots(self.alone[slots[parent], k], len(mine), rng)
            for level in np.unique(drawn[mine, parent]):
                here = mine[drawn[mine, parent] == level]
                for j, place in enumerate(slots):
                    if j != parent:
                        line = self.given[starts[parent] + level, place, 0, k]
                        drawn[here, j] = drawn_slots(line, len(here), rng)
        return drawn


def _both_ways(given: Array) -> Array:
    """Return p(b | a) and p(a | b) side by side, from given[class, a, b]."""
    return np.ascontiguousarray(np.stack([given, given.transpose(0, 2, 1)], axis=-1).transpose(1, 2, 3, 0))


def _implied(columns: Columns, counts: PairCounts, least: float) -> Array:
    """Return which cell implies which other: all rows that have the first, and the other column, have the second."""
    pairs = counts.pairs.sum(axis=0)
    sizes = np.diff([*columns.starts, len(pairs)])
    whole = np.repeat(by_group(np.add, pairs, columns.starts), sizes, axis=1)
    same = np.repeat(np.arange(columns.count), sizes)
    return np.asarray((pairs == whole) & (whole >= least) & (same[:, None] != same[None, :]))
