"""Folds: the sums of many training sets, from one pass over the rows.

Rows that no training set tells apart are an atom: of ten folds there are ten. Each atom is tallied once,
and a training set's tally is the sum of its atoms. That is the total minus the rows left out, and it is
added up rather than taken away because adding does not round where what is left out is large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from suffice.blocks import Block
from suffice.data import Table
from suffice.data.engines import memory
from suffice.schema import Array, Columns, Features
from suffice.statistics import Tally

# The sums of all atoms together take no more numbers than this (1 GiB); where they would, each
# training set is summed by itself.
MOST_NUMBERS = 1 << 27


@dataclass(frozen=True)
class Rows:
    """The rows that are learned, and those that are predicted."""

    train: Array
    test: Array


@dataclass(frozen=True)
class Fold:
    """The split that predicts one fold and learns all others; ``fold_of`` is the fold of each row."""

    fold_of: Array
    place: int

    @property
    def train(self) -> Array:
        return np.flatnonzero(self.fold_of != self.place)

    @cached_property
    def test(self) -> Array:
        return np.flatnonzero(self.fold_of == self.place)


Split = Rows | Fold


@dataclass(frozen=True)
class Run:
    """Splits that share a pass: the atom of each row, and which atoms each split learns, [split, atom]."""

    splits: tuple[Split, ...]
    atoms: Array
    wanted: Array


@dataclass(frozen=True)
class Trained:
    """The sums of a split's training rows, and how rows are read for what was learned from them."""

    tally: Tally
    read: Callable[[Array], tuple[Block, ...]]


@dataclass(frozen=True)
class HeldOut:
    """The sums of a split's training rows, and its test rows as they are read for them."""

    split: Split
    tally: Tally
    blocks: tuple[Block, ...]


def runs(splits: Iterable[Split], rows: int, most: int = 64) -> Iterator[Run]:
    """Yield the splits in runs that a pass can serve: a fold more must not cost more than an atom more.

    >>> first, second = np.array([0, 1]), np.array([2, 3])
    >>> [run.atoms.tolist() for run in runs([Rows(first, second), Rows(second, first)], rows=4)]
    [[1, 1, 0, 0]]
    """
    splits = list(splits)
    folds = _folds(splits, rows)
    if folds is not None:
        for first in range(0, len(splits), most):
            some = splits[first : first + most]
            # the folds of other runs are together one atom more
            atoms = np.where((folds >= first) & (folds < first + len(some)), folds - first, len(some))
            wanted = np.append(~np.eye(len(some), dtype=bool), np.ones((len(some), 1), bool), axis=1)
            yield Run(tuple(some), atoms, wanted[:, : int(atoms.max()) + 1])
        return
    taken: list[Split] = []
    atoms = np.zeros(rows, np.intp)
    for split in splits:
        finer = _refined(atoms, split)
        if taken and (int(finer.max()) > len(taken) + 1 or len(taken) >= most):
            yield _run(taken, atoms)
            taken, finer = [], _refined(np.zeros(rows, np.intp), split)
        taken.append(split)
        atoms = finer
    if taken:
        yield _run(taken, atoms)


def trained(run: Run, table: Table, columns: tuple[Columns, ...], features: Features | None = None) -> list[Tally]:
    """Return the tally of each split's training rows."""
    target, classes = table.target, len(table.target.classes)
    count = run.wanted.shape[1]
    if count * classes * sum(its.size for its in columns) > MOST_NUMBERS:
        alone = [replace(table, target=target.only(split.train)) for split in run.splits]
        tallies = [memory.tally(its, columns, features) for its in alone]
    else:
        tallies = _sums(memory.tally_by(table, columns, run.atoms, count, features), run.wanted)
    rows = np.bincount(run.atoms * classes + target.codes, minlength=count * classes).reshape(count, classes)
    return [tally.trimmed(met > 0) for tally, met in zip(tallies, run.wanted @ rows, strict=True)]


def _folds(splits: list[Split], rows: int) -> Array | None:
    """Return the fold of each row, if each split learns all rows but those of its fold, and tests come in order."""
    first = splits[0]
    if isinstance(first, Fold) and all(isinstance(its, Fold) and its.fold_of is first.fold_of for its in splits):
        in_order = [its.place for its in splits if isinstance(its, Fold)] == list(range(len(splits)))
        return first.fold_of if in_order else None
    folds = np.full(rows, -1)
    for place, split in enumerate(splits):
        others = np.ones(rows, bool)
        others[split.test] = False
        if not np.array_equal(np.flatnonzero(others), split.train):
            return None
        folds[split.test] = place
    return folds if sum(len(split.test) for split in splits) == rows and bool((folds >= 0).all()) else None


def _refined(atoms: Array, split: Split) -> Array:
    """Return the atoms, cut in two where a split learns one part of them and not the other."""
    finer = 2 * atoms
    finer[split.train] += 1
    met = np.bincount(finer) > 0
    return np.asarray((np.cumsum(met) - 1)[finer])


def _run(splits: list[Split], atoms: Array) -> Run:
    wanted = np.zeros((len(splits), int(atoms.max()) + 1), bool)
    for line, split in zip(wanted, splits, strict=True):
        line[atoms[split.train]] = True
    return Run(tuple(splits), atoms, wanted)


def _sums(atoms: list[Tally], wanted: Array) -> list[Tally]:
    """Return the sum of the atoms that each line wants.

    Halves of halves are added up once for all lines, so that a line that wants all but one of n atoms
    costs about log n additions.
    """

    @cache
    def whole(low: int, high: int) -> Tally:
        middle = (low + high) // 2
        return atoms[low] if high - low == 1 else whole(low, middle) + whole(middle, high)

    def part(line: Array, low: int, high: int) -> Tally | None:
        if line[low:high].all():
            return whole(low, high)
        if not line[low:high].any():
            return None
        middle = (low + high) // 2
        left, right = part(line, low, middle), part(line, middle, high)
        return right if left is None else left if right is None else left + right

    found = [part(line, 0, len(atoms)) for line in wanted]
    if any(tally is None for tally in found):
        raise ValueError("a split leaves out all rows there are, and nothing is left to learn from")
    return [tally for tally in found if tally is not None]
