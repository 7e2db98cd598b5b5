"""Consistency: whether the sums of a tally agree with each other, as those of rows do."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from suffice.schema import Array, Columns, Cuts, Words, by_group
from suffice.statistics.comoments import CoMoments
from suffice.statistics.counts import Counts
from suffice.statistics.pair_counts import PairCounts
from suffice.statistics.remainder import ROUNDED_WEIGHTS, Contradiction, contradictions
from suffice.statistics.statistic import Statistic
from suffice.statistics.tally import Tally


class SumCheck(NamedTuple):
    """What was checked, and what is wrong; None if it is right."""

    what: str
    problem: str | None


def check_sums(tally: Tally, are_bits: Sequence[bool]) -> list[SumCheck]:
    """Return the checks of a tally, block by block.

    Parameters
    ----------
    tally : Tally
        The sums.
    are_bits : sequence of bool
        For each block, whether its columns hold zeros and ones, so that a sum is a number of cells.
    """
    found, labels = [], tally.schema.classes.tolist()
    for block, statistic, is_bits in zip(tally.schema.blocks, tally.statistics, are_bits, strict=True):
        for what, problems in _list_checks(block, statistic, tally.class_count[:, None], is_bits):
            first = next(problems, None)
            problem = None if first is None else f"in class {labels[first[0]]!r}, {first[1]}"
            found.append(SumCheck(f"{_describe(block)}: {what}", problem))
    return [*found, SumCheck("moments and cells count the same rows", _compare_moments(tally))]


def _describe(block: Columns) -> str:
    """Return what a block counts, such as "9 columns of levels and 5 columns of cells"."""
    if block.is_forest or block.sizes is None:
        return _name_count(block.count, "tree" if block.is_forest else f"{block.family} column")
    cells = sum(isinstance(each, Cuts) for each in block.codings or ())
    kinds = {"levels": block.count - cells, "cells": cells}
    return " and ".join(f"{_name_count(count, 'column')} of {kind}" for kind, count in kinds.items() if count)


def _name_count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _list_checks(
    block: Columns, statistic: Statistic, rows: Array, is_bits: bool
) -> Iterator[tuple[str, Iterator[Contradiction]]]:
    """Yield the checks of a block, each with the places where it fails. ``rows`` are the rows of each class."""
    errors = statistic.variance_errors if isinstance(statistic, CoMoments) else None
    yield "sums are possible", contradictions(block, statistic, errors, rows, rows, is_bits)
    if not isinstance(statistic, Counts) or block.sizes is None:
        return
    if any(isinstance(each, Words) for each in block.codings or ()):  # a text has any number of words
        return
    levels = by_group(np.add, statistic.total, block.starts)
    if block.is_forest:
        yield "leaves add up to classes", _differences(levels, rows, rows, lambda j: f"the leaves of tree {j}")
    else:
        yield (
            "they add up to columns",
            _differences(levels, statistic.n, rows, lambda j: f"the levels of {block.name(j)}"),
        )
    if isinstance(statistic, PairCounts):
        yield "pairs agree with single levels", _compare_pairs(block, block.sizes, statistic, rows)


def _compare_pairs(block: Columns, sizes: Array, counts: PairCounts, rows: Array) -> Iterator[Contradiction]:
    """Yield where pairs differ from single levels.

    A level with itself counts as the level does, two levels of a column never occur together, and the pairs of a level
    with all levels of a column without missing cells add up to the level.
    """
    column, total = np.repeat(np.arange(block.count), sizes), counts.total[:, :, None]
    within = np.where(column[:, None] == column[None, :], counts.pairs, 0.0)

    def name_pair(a: int, b: int) -> str:
        return f"{block.name_of_cell(a)} together with {block.name_of_cell(b)}"

    yield from _differences(within, np.eye(block.width) * total, rows[:, :, None], name_pair)
    is_complete = np.broadcast_to(counts.n, (len(rows), block.count)) == rows
    margins = by_group(np.add, counts.pairs, block.starts)
    expected = np.where(is_complete[:, None, :], total, margins)
    yield from _differences(
        margins, expected, rows[:, :, None], lambda a, j: f"{block.name_of_cell(a)} with all of {block.name(j)}"
    )


def _compare_moments(tally: Tally) -> str | None:
    """Return where a number has another count in its cells than in its moments."""
    counted: dict[object, tuple[Array, str]] = {}
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        n = np.broadcast_to(statistic.arrays().get("alone_n", statistic.n), (len(tally.class_count), block.count))
        for j, name in enumerate(block.names or ()):
            first, _ = counted.setdefault(name, (n[:, j], block.family))
            if not np.allclose(first, n[:, j], rtol=ROUNDED_WEIGHTS):
                return f"{block.name(j)} has {first.sum():g} cells as {counted[name][1]} and {n[:, j].sum():g} here"
    return None


def _differences(found: Array, expected: Array, rows: Array, name: Callable[..., str]) -> Iterator[Contradiction]:
    """Yield where sums differ by more than the rounding of fractional weights."""
    found, expected, rows = np.broadcast_arrays(found, expected, rows)
    for place in np.argwhere(np.abs(found - expected) > ROUNDED_WEIGHTS * rows).tolist():
        where = tuple(place)
        yield place[0], f"{name(*place[1:])} count {found[where]:g} in place of {expected[where]:g}"
