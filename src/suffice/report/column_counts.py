"""Columns as counts: the rows of each class at each level or in each interval of a column, and codes of new rows."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.blocks import Block, Coded
from suffice.classifiers.read_rows import Rows
from suffice.explain import column_keys, column_title
from suffice.families.description import support_of_coding
from suffice.recipe import Recipe
from suffice.report.inputs import plain_value
from suffice.schema import Array, Columns, Cuts, Levels, MissingLevel, Words
from suffice.statistics import Tally
from suffice.structures import Naive

BINS_OF_ROWS = 5
MISSING = "(missing)"


@dataclass(frozen=True)
class CountedColumn:
    """A column whose values are levels or intervals.

    Attributes
    ----------
    key : object
        The name of the column, or its position.
    labels : list of str
        The levels or intervals; the last one may be that of missing cells.
    edges : list of float or None
        Where a number is cut into intervals; None if the column has levels.
    values : list
        A value with each label: the level, a number within the interval, or None for a missing cell.
    counts : array [class, label] or None
        The training rows of each class; None if they were not counted in this form.
    codes : array [row] or None
        The label of each new row, −1 if the cell is missing, the number of labels if its level is unknown. None if
        there are no new rows.
    """

    key: Any
    labels: list[str]
    edges: list[float] | None
    values: list[Any]
    counts: Array | None
    codes: Array | None = None

    @property
    def name(self) -> str:
        """The name of the column as text."""
        return column_title(self.key)


def binned_recipe(recipe: Recipe) -> Recipe:
    """Return a recipe whose layout has each number in intervals of about equal counts, and missing cells as a level."""
    return replace(recipe.part(Naive()), numeric="quantiles", missing="level", unseen="share")


def read_coded(recipe: Recipe, tally: Tally, opened: Any) -> tuple[Block, ...]:
    """Return new rows as they are counted in a tally."""
    return Rows(recipe, opened, tally.schema).blocks


def count_columns(tally: Tally, blocks: tuple[Block, ...] | None = None) -> dict[Any, CountedColumn]:
    """Return the columns that have levels or intervals, by name; ``blocks`` are new rows, if there are any."""
    found: dict[Any, CountedColumn] = {}
    given = blocks or (None,) * len(tally.schema.blocks)
    statistics: tuple[Any, ...] = tally.statistics
    for columns, statistic, block in zip(tally.schema.blocks, statistics, given, strict=True):
        codings = columns.codings or ()
        if columns.sizes is None or any(isinstance(coding, Words) for coding in codings):
            continue
        array = block.array if isinstance(block, Coded) else None
        for j, key in enumerate(column_keys(columns)):
            start, size = int(columns.starts[j]), int(columns.sizes[j])
            labels, edges, values = _describe_coding(codings[j] if codings else None, size)
            counts, codes = statistic.total[:, start : start + size], None if array is None else array[:, j].astype(int)
            found[key] = CountedColumn(key, labels, edges, values, counts, codes)
    return found


def _describe_coding(coding: Any, size: int) -> tuple[list[str], list[float] | None, list[Any]]:
    """Return the labels of the codes of a column, its edges if it is a number, and a value with each label."""
    if isinstance(coding, MissingLevel):
        labels, edges, values = _describe_coding(coding.values, size - 1)
        return [*labels, MISSING], edges, [*values, None]
    if coding is None:
        return [str(code) for code in range(size)], None, list(range(size))
    values = [plain_value(value) for value in support_of_coding(coding).values]
    if isinstance(coding, Levels):
        return [str(label) for label in coding.labels], None, values
    return [coding.label(code) for code in range(size)], list(coding.edges), values


def cut_rows(columns: tuple[Columns, ...], blocks: tuple[Block, ...]) -> dict[Any, CountedColumn]:
    """Return numbers that were not counted in intervals, cut at quantiles of the new rows."""
    found: dict[Any, CountedColumn] = {}
    for its, block in zip(columns, blocks, strict=True):
        if its.sizes is not None or its.is_forest or not hasattr(block, "array"):
            continue
        values = np.asarray(block.array, np.float64)
        for j, key in enumerate(column_keys(its)[: values.shape[1]]):
            present = values[:, j][~np.isnan(values[:, j])]
            if len(present):
                edges = np.unique(np.quantile(present, np.linspace(0, 1, BINS_OF_ROWS + 1)[1:-1]).round(12))
                codes = np.where(np.isnan(values[:, j]), -1, np.searchsorted(edges, values[:, j], side="right"))
                cuts = Cuts(tuple(edges.tolist()))
                labels = [cuts.label(code) for code in range(cuts.size)]
                inside = support_of_coding(cuts).values
                found[key] = CountedColumn(key, labels, list(cuts.edges), inside, None, codes)
    return found


def count_rows(columns: Iterable[CountedColumn], truth: Array, classes: int) -> dict[Any, CountedColumn]:
    """Return the columns that training rows were not counted for, with the counts of new rows by their true class."""
    found: dict[Any, CountedColumn] = {}
    for column in columns:
        if column.counts is None and column.codes is not None:
            counts, is_there = np.zeros((classes, len(column.labels))), (truth >= 0) & (column.codes >= 0)
            np.add.at(counts, (truth[is_there], column.codes[is_there]), 1)
            found[column.key] = replace(column, counts=counts)
    return found
