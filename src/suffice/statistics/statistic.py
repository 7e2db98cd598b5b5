"""Statistic: the interface of all sufficient statistics, and the checks they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from suffice.schema import Array, Frozen, field_names

# Sums of fractional weights are not exact. If all of a sum is subtracted again, the remainder relative to the sum is
# at most this large.
ROUNDING = 1e-12

# Up to this size, sums of whole numbers are exact.
MOST_WHOLE = 2.0**53


class OverdrawnError(ValueError):
    """Raised when more is subtracted from a statistic than it holds.

    Attributes
    ----------
    place : tuple of int
        The class and the cell; for pair counts, the class and both cells.
    held, asked : float
        The sum in the statistic, and the sum that was to be subtracted.
    """

    def __init__(self, place: tuple[int, ...], held: float, asked: float) -> None:
        self.place, self.held, self.asked = place, held, asked
        cells = " and ".join(f"cell {cell}" for cell in place[1:])
        super().__init__(
            f"cannot subtract more than was added: class {place[0]}, {cells} holds {held:g}, less than {asked:g}"
        )


@dataclass(frozen=True, eq=False)
class Statistic(Frozen, ABC):
    """Sums over rows, by class. Statistics are immutable: every operation returns a new one.

    ``zero``, ``+`` and ``*`` are those of plain sums [class, cell]; statistics that hold anything else have their own.

    Attributes
    ----------
    n : array
        The total weight of the counted rows: [class, 1] if every row counts in every column, [class, column] if cells
        are missing. All other arrays are [class, cell], or [class, cell, cell] for pairs.
    """

    n: Array

    centres: ClassVar[tuple[str, ...]] = ()  # arrays of means, which weights do not change
    bounds: ClassVar[tuple[str, ...]] = ()  # arrays that bound the error of others, and are no sums

    def __post_init__(self) -> None:
        own = self.__dict__
        for name in field_names(type(self)):
            array = np.ascontiguousarray(own[name], np.float64)
            if array.flags.writeable:
                array = array.view()
                array.flags.writeable = False
            own[name] = array

    @classmethod
    def zero(cls, classes: int, width: int) -> Self:
        """Return the statistic of no rows, the neutral element of addition."""
        return cls(**{name: np.zeros((classes, 1 if name == "n" else width)) for name in field_names(cls)})

    def __add__(self, other: Self) -> Self:
        """Return the statistic of both sets of rows."""
        return type(self)(**{name: array + getattr(other, name) for name, array in self.arrays().items()})

    @abstractmethod
    def __sub__(self, other: Self) -> Self:
        """Return the statistic without the other's rows; raise `OverdrawnError` if it does not contain them."""

    def __mul__(self, weight: float) -> Self:
        """Return the statistic of the same rows, with all weights multiplied by ``weight``."""
        weight = check_weight(weight)
        return type(self)(**{name: array * weight for name, array in self.arrays().items()})

    def __rmul__(self, weight: float) -> Self:
        return self * weight

    def weigh_classes(self, factors: Array) -> Self:
        """Return the statistic with the weights of each class multiplied by a factor."""
        weighted = {}
        for name, array in self.arrays().items():
            own = (factors > 0).astype(np.float64) if name in self.centres else factors
            weighted[name] = array * own.reshape(-1, *(1,) * (array.ndim - 1))
        return type(self)(**weighted)

    def rearrange(
        self,
        shape: tuple[int, int],
        class_places: Array,
        column_places: Array | None,
        cell_places: Array | None,
    ) -> Self:
        """Return the same sums in a layout of another shape [class, cell]; cells with the same place are added."""
        rearranged = {}
        for name, array in self.arrays().items():
            # n has an entry per column, not per level
            places = cell_places if name != "n" else column_places if array.shape[1] > 1 else None
            if places is None:
                rearranged[name] = np.zeros((shape[0], *array.shape[1:]))
                rearranged[name][class_places] = array
            else:
                width = array.shape[1] if name == "n" else shape[1]
                array = array if name == "n" else _add_cells(array, places)
                places = np.unique(places) if array.shape[1] < len(places) else places
                rearranged[name] = np.zeros((shape[0], *(width,) * (array.ndim - 1)))
                rearranged[name][np.ix_(class_places, *(places,) * (array.ndim - 1))] = array
        return type(self)(**rearranged)

    def kept(self, classes: Array, cells: Array | None) -> Self:
        """Return only these classes and cells (all cells if None)."""
        selected = {}
        for name, array in self.arrays().items():
            if name == "n" or cells is None:
                selected[name] = array[classes]
            else:
                selected[name] = array[np.ix_(classes, *(cells,) * (array.ndim - 1))]
        return type(self)(**selected)

    def with_columns(self, columns: Array, cells: Array | None) -> Self:
        """Return only these columns; ``cells`` are their cells, if they have levels."""
        places = columns if cells is None else cells
        selected = {}
        for name, array in self.arrays().items():
            if name == "n":
                selected[name] = array[:, columns] if array.shape[1] > 1 else array
            else:
                selected[name] = array[np.ix_(np.arange(len(array)), *(places,) * (array.ndim - 1))]
        return type(self)(**selected)

    def lines(self, classes: slice) -> Self:
        """Return only a range of classes."""
        return type(self)(**{name: array[classes] for name, array in self.arrays().items()})

    def own_without_rows(self, rows: Self, codes: Array, *, has_levels: bool) -> tuple[Statistic, Array]:
        """Return the sums of each row's own class without the row, [row, cell], and for which rows they are exact.

        Counts, pair counts and moments have a closed form; co-moments have none here.

        Parameters
        ----------
        rows : Statistic
            The sums of each row: the statistic in which each row is a class of its own.
        codes : array
            The code of the class of each row.
        has_levels : bool
            Whether cells are levels. A level that no other row has is not exact: without the row it does not exist.
        """
        raise NotImplementedError(f"{type(self).__name__} without a row has no closed form")

    def without_rows(self, rows: Self, codes: Array, *, has_levels: bool) -> tuple[Statistic, Array]:
        """Return the sums of all classes without each of some rows, [row, class, cell]; see `own_without_rows`."""
        own, exact = self.own_without_rows(rows, codes, has_levels=has_levels)
        return self._repeat(own, codes), exact

    def _repeat(self, own: Statistic, codes: Array) -> Self:
        """Return the sums of all classes for each row, [row, class, cell], with ``own`` for the row's own class."""
        repeated, places = {}, np.arange(len(codes))
        for name, array in self.arrays().items():
            repeated[name] = np.repeat(array[None], len(codes), axis=0)
            repeated[name][places, codes] = getattr(own, name)
        return type(self)(**repeated)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays by name."""
        return {name: getattr(self, name) for name in field_names(type(self))}

    def sums(self) -> dict[str, Array]:
        """Return the arrays by name, without bounds of errors."""
        return {name: array for name, array in self.arrays().items() if name not in self.bounds}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.sums(), other.sums()
        return all(_are_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def isclose(self, other: Self, rtol: float = 1e-9) -> bool:
        """Return whether both hold the same sums up to rounding.

        Parameters
        ----------
        other : Statistic
            A statistic of the same type and shape.
        rtol : float, default=1e-9
            The relative and absolute tolerance.
        """
        mine, theirs = self.sums(), other.sums()
        return all(bool(np.allclose(mine[name], theirs[name], rtol=rtol, atol=rtol)) for name in mine)


def subtract_sums(held: Array, asked: Array) -> Array:
    """Return ``held − asked``; raise `OverdrawnError` if the result is negative beyond rounding."""
    left = held - asked
    rounding = _rounding_of(held, asked)
    if bool(np.any(left < -rounding)):
        place = np.unravel_index(int(np.argmin(left + rounding)), left.shape)
        held, asked = np.broadcast_to(held, left.shape), np.broadcast_to(asked, left.shape)
        raise OverdrawnError(tuple(map(int, place)), float(held[place]), float(asked[place]))
    return np.where(left <= rounding, 0.0, left)


def rest_of(whole: Array, part: Array) -> Array:
    """Return ``whole − part``, the rows that are not in a part; 0 where it is negative, or rounding error only."""
    left = whole - part
    return np.where(left <= _rounding_of(whole, part), 0.0, left)


def _rounding_of(whole: Array, part: Array) -> Array:
    """Return how far the difference of two sums of weights may be from 0 because of rounding."""
    # sums of whole numbers are exact: even a single row of many is a difference
    are_exact = (whole == np.floor(whole)) & (part == np.floor(part)) & (whole <= MOST_WHOLE)
    return np.where(are_exact, 0.0, ROUNDING * whole)


def check_weight(weight: float) -> float:
    """Return the factor of a multiplication as a float; raise ValueError unless it is finite and not negative."""
    if not (np.isfinite(weight) and weight >= 0):
        raise ValueError(f"a tally can be multiplied by a finite number that is not negative, not by {weight!r}")
    return float(weight)


def _add_cells(array: Array, places: Array) -> Array:
    """Return the sums of cells with the same place, in the order of the places."""
    distinct, codes = np.unique(places, return_inverse=True)
    if len(distinct) == len(places):
        return array
    if bool(np.all(np.diff(codes) >= 0)):  # adjacent cells, as of bins made of cells
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        for axis in range(1, array.ndim):
            array = np.add.reduceat(array, starts, axis=axis)
        return array
    membership = np.eye(len(distinct))[codes]
    return np.asarray(array @ membership if array.ndim == 2 else membership.T @ array @ membership)


def _are_equal(mine: Array, theirs: Array) -> bool:
    return len(mine) == len(theirs) and bool(np.all(mine == theirs))
