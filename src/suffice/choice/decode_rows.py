"""Decode rows that were drawn from a model: codes and numbers become the values that a table holds."""

from typing import Any

import numpy as np

from suffice.choice.cell_density import CellDensity
from suffice.choice.column_forms import collect_sums
from suffice.data.read_columns import combination_order
from suffice.schema import Array, Columns, Combinations, Cuts, Levels, MissingLevel, Schema, Words
from suffice.statistics import Tally


def decode_rows(
    tally: Tally, chosen: Schema, blocks: tuple[Array, ...], classes: Array, rng: np.random.Generator
) -> Array:
    """Return drawn cells as a table of objects, in the order of the columns; columns that were left out are empty.

    A number in a bin is drawn from the cells of the bin, and a Gaussian number that is counted in cells, too, is mapped
    to the same quantile of the cells. A number whose family was chosen from the sums is drawn from the cells of its
    class. An unknown level and a missing cell are None.

    Parameters
    ----------
    tally : Tally
        The sums as they were counted: numbers in cells, beside their moments.
    chosen : Schema
        The columns in the layout of the model.
    blocks : tuple of arrays [row, column]
        The cells, as the model draws them.
    classes : array [row]
        The code of the class of each row.
    rng : numpy.random.Generator
        The source of random numbers.
    """
    assert chosen.features is not None
    places = {name: place for place, name in enumerate(chosen.features.names)}
    sums = {name: column for name, column in collect_sums(tally).items() if column.cuts and column.counts.any()}
    table = np.full((len(classes), len(places)), None, object)
    for columns, cells in zip(chosen.blocks, blocks, strict=True):
        codings = columns.codings or (None,) * columns.count
        for j, (name, coding) in enumerate(zip(columns.names or (), codings, strict=True)):
            if name not in places:
                continue  # a combination, whose columns are in the table
            values = coding.values if isinstance(coding, MissingLevel) else coding
            column: Any = None
            if isinstance(values, Words):
                words = np.array(values.labels, object)
                column = [" ".join(np.repeat(words, line.astype(int))) for line in cells]
            elif isinstance(values, Levels):
                labels = [*values.labels, None, None, None]  # missing, unknown, and −1
                column = [labels[code] for code in _codes(columns, cells, j)]
            elif isinstance(values, Cuts):
                if name in sums:
                    bins = np.array(_codes(columns, cells, j), np.intp)
                    held, column = (bins >= 0) & (bins < values.size), np.full(len(bins), None, object)
                    column[held] = CellDensity.of(sums[name]).draw(bins[held], values, classes[held], rng)
            elif name in sums:
                density = CellDensity.of(sums[name])
                is_gaussian = columns.family == "gaussian"
                column = density.map_gaussian(cells[:, j], classes) if is_gaussian else density.draw_any(classes, rng)
            else:
                column = cells[:, j].tolist()
            table[:, places[name]] = column
    return table


def _codes(columns: Columns, cells: Array, j: int) -> list[int]:
    """Return the codes of a column, from the combination if one was drawn."""
    last = columns.codings[-1] if columns.codings else None
    if not isinstance(last, Combinations):
        return cells[:, j].tolist()  # type: ignore[no-any-return]
    coding = columns.codings[j]  # type: ignore[index]
    place = combination_order((columns.names or ())[:-1]).index(j)
    codes = []
    for line in cells.tolist():
        if 0 <= line[-1] < last.size:
            label = last.labels[line[-1]][place]
            codes.append(coding.index[label] if isinstance(coding, Levels) else label)
        else:
            codes.append(line[j])
    return codes
