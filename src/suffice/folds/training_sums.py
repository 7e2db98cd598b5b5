"""Training sums: the tallies of many training sets, from one pass over the rows.

Rows that belong to the same training sets form an *atom*: ten folds have ten atoms. Each atom is tallied once, and the
tally of a training set is the sum of its atoms. Subtracting the other atoms from the total would lose digits if these
are large. Where adding tallies is more work than counting rows, as with many pairs of levels, each training set is
tallied by itself.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from suffice.data import Table
from suffice.data.engines import memory
from suffice.folds.splits import FoldSplit, Split
from suffice.schema import Array, Columns, Features
from suffice.statistics import Tally

# The tallies of all atoms hold at most MOST_NUMBERS (1 GiB). Up to MANY_NUMBERS, adding them always takes little time.
MOST_NUMBERS, MANY_NUMBERS = 1 << 27, 1 << 23


@dataclass(frozen=True)
class SplitGroup:
    """Splits that share a pass: the atom of each row, and which atoms each split learns, [split, atom]."""

    splits: tuple[Split, ...]
    atoms: Array
    learned: Array


def group_splits(splits: Iterable[Split], rows: int, most: int = 64) -> Iterator[SplitGroup]:
    """Yield the splits in groups that share a pass; each further split of a group adds at most one atom.

    >>> from suffice.folds.splits import IndexSplit
    >>> first, second = np.array([0, 1]), np.array([2, 3])
    >>> [group.atoms.tolist() for group in group_splits([IndexSplit(first, second), IndexSplit(second, first)], rows=4)]
    [[1, 1, 0, 0]]
    """
    splits = list(splits)
    folds = _folds(splits, rows)
    if folds is not None:
        for first in range(0, len(splits), most):
            group = splits[first : first + most]
            # the folds of the other groups form one more atom
            atoms = np.where((folds >= first) & (folds < first + len(group)), folds - first, len(group))
            learned = np.append(~np.eye(len(group), dtype=bool), np.ones((len(group), 1), bool), axis=1)
            yield SplitGroup(tuple(group), atoms, learned[:, : int(atoms.max()) + 1])
        return
    taken: list[Split] = []
    atoms = np.zeros(rows, np.intp)
    for split in splits:
        finer = _refined(atoms, split)
        if taken and (int(finer.max()) > len(taken) + 1 or len(taken) >= most):
            yield _group(taken, atoms)
            taken, finer = [], _refined(np.zeros(rows, np.intp), split)
        taken.append(split)
        atoms = finer
    if taken:
        yield _group(taken, atoms)


def sum_training_sets(
    group: SplitGroup, table: Table, columns: tuple[Columns, ...], features: Features | None = None
) -> list[Tally]:
    """Return the tally of each split's training rows."""
    target, classes = table.target, len(table.target.classes)
    count = group.learned.shape[1]
    numbers = classes * sum(block.size for block in columns)
    steps = len(target.codes) * sum(block.count**2 / 2 if block.pairs else block.count for block in columns)
    is_slow = count * numbers > MANY_NUMBERS and numbers > steps / 2  # adding tallies reads and writes all numbers
    if count * numbers > MOST_NUMBERS or is_slow:
        separate = [replace(table, target=target.only(split.train)) for split in group.splits]
        tallies = [memory.tally(part, columns, features) for part in separate]
    else:
        tallies = _sum_atoms(memory.tally_by(table, columns, group.atoms, count, features), group.learned)
    rows = np.bincount(group.atoms * classes + target.codes, minlength=count * classes).reshape(count, classes)
    return [tally.trimmed(class_rows > 0) for tally, class_rows in zip(tallies, group.learned @ rows, strict=True)]


def _folds(splits: list[Split], rows: int) -> Array | None:
    """Return the fold of each row if split i learns all rows outside fold i, for all i; else None."""
    first = splits[0]
    if isinstance(first, FoldSplit) and all(
        isinstance(split, FoldSplit) and split.fold_of is first.fold_of for split in splits
    ):
        in_order = [split.fold for split in splits if isinstance(split, FoldSplit)] == list(range(len(splits)))
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
    """Return the atom of each row after splitting atoms of which a split learns only a part."""
    finer = 2 * atoms
    finer[split.train] += 1
    is_used = np.bincount(finer) > 0
    return np.asarray((np.cumsum(is_used) - 1)[finer])


def _group(splits: list[Split], atoms: Array) -> SplitGroup:
    learned = np.zeros((len(splits), int(atoms.max()) + 1), bool)
    for line, split in zip(learned, splits, strict=True):
        line[atoms[split.train]] = True
    return SplitGroup(tuple(splits), atoms, learned)


def _sum_atoms(atoms: list[Tally], learned: Array) -> list[Tally]:
    """Return the sum of the atoms that each split learns.

    The sums of halves, quarters and so on are shared by all splits, so that a split that learns all but one of n
    atoms costs about log n additions.
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

    sums = [part(line, 0, len(atoms)) for line in learned]
    if any(tally is None for tally in sums):
        raise ValueError("a split leaves out all rows, so that none is left to learn from")
    return [tally for tally in sums if tally is not None]
