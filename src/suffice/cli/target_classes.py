"""Classes of a target: a warning for a target that looks like a quantity, and bins of one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.cli.output import CommandError
from suffice.data import label_text

# A target with more different numbers than this looks like a quantity.
MOST_NUMBERS = 100
EXAMINED_ROWS = 10_000


def read_target(source: Any, column: str, frame: Any, bins: int | None, yes: bool) -> tuple[Any, list[float] | None]:
    """Return a table whose target has classes, and the cuts between its bins if there are any.

    Parameters
    ----------
    source : SqlSource
        The files, or a table of a database.
    column : str
        The target.
    frame : polars.DataFrame or None
        All rows, if they were read already. If not, they are read only to make bins.
    bins : int or None
        The number of bins that a target of numbers is divided into.
    yes : bool
        Whether to accept a target that looks like a quantity.

    Returns
    -------
    table : polars.DataFrame or SqlSource
    cuts : list of float or None
    """
    import polars as pl

    from suffice.cli.model_rows import read_frame

    if bins is None:
        if not yes:
            first = pl.from_arrow(source.read_rows(EXAMINED_ROWS)) if frame is None else frame
            _check_no_quantity(first[column], column)  # type: ignore[index]
        return source if frame is None else frame, None
    frame = read_frame(source) if frame is None else frame
    values = frame[column]
    if not values.dtype.is_numeric():
        raise CommandError(f"--bins divides numbers, and column {column!r} has none: leave it out")
    cuts = find_cuts(values.drop_nulls().to_numpy(), bins)
    labels = pl.Series(column, [None if value is None else label_bin(value, cuts) for value in values.to_list()])
    return frame.with_columns(labels), cuts


def _check_no_quantity(values: Any, column: str) -> None:
    """Raise an error if a column of labels looks like a quantity."""
    if not values.dtype.is_numeric():
        return
    different = values.drop_nulls().unique()
    has_fractions = values.dtype.is_float() and bool((different != different.floor()).any())
    if has_fractions or len(different) > MOST_NUMBERS:
        otherwise = "" if has_fractions else ", or --yes to take each number as a class"
        raise CommandError(
            f"column {column!r} looks like a quantity: it has {len(different)} different numbers, such as "
            f"{', '.join(f'{value:g}' for value in different.sort()[:3])}; use --bins 3 to predict ranges{otherwise}"
        )


def check_several_classes(classes: Sequence[Any], column: str) -> None:
    """Raise an error if there is one class only."""
    if len(classes) < 2:
        raise CommandError(
            f"column {column!r} has one class only, {label_text(classes[0])!r}: there is nothing to tell apart"
        )


def find_cuts(values: Any, bins: int) -> list[float]:
    """Return the cuts between bins with about the same number of rows; cuts are short numbers where that is possible.

    >>> find_cuts(np.arange(1000) / 7, 4)
    [35.6, 71.3, 107.0]
    """
    if bins < 2:
        raise CommandError(f"--bins {bins}: there must be at least 2 bins")
    ordered = np.unique(values)
    exact = np.unique(np.quantile(values, np.arange(1, bins) / bins, method="closest_observation"))
    exact = exact[exact > ordered[0]] if len(ordered) else exact
    short = np.array([float(f"{cut:.3g}") for cut in exact])
    if not len(exact):
        raise CommandError("--bins: nearly all numbers of the target are the same, so they cannot be divided into bins")
    is_possible = len(np.unique(short)) == len(short) and ordered[0] < short[0] and short[-1] < ordered[-1]
    cuts: list[float] = (short if is_possible else exact).tolist()
    return cuts


def label_bin(value: float, cuts: Sequence[float]) -> str:
    """Return the label of the bin of a number; labels are sorted as their numbers are.

    >>> [label_bin(value, [10.0, 20.5]) for value in (3, 10, 99)]
    ['1: below 10', '2: 10 to 20.5', '3: 20.5 or more']
    """
    place = int(np.searchsorted(cuts, value, side="right"))
    number = f"{place + 1:0{len(str(len(cuts) + 1))}d}"
    if place == 0:
        return f"{number}: below {cuts[0]:g}"
    return f"{number}: {cuts[place - 1]:g} " + (f"to {cuts[place]:g}" if place < len(cuts) else "or more")
