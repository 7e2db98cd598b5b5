"""What all statistics have in common: named arrays by class, and their algebra."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.schema import Array, Frozen, field_names

# Sums of fractional weights come back with rounding: what is left of a sum after all of it was
# taken away is this small beside what it was.
ROUNDING = 1e-12


class OverdrawnError(ValueError):
    """More was to be taken away than was ever there; ``place`` is (class, cell)."""

    def __init__(self, place: tuple[int, int], held: float, asked: float) -> None:
        self.place, self.held, self.asked = place, held, asked
        super().__init__(
            f"cannot take away more than is there: class {place[0]}, cell {place[1]} holds {held:g}, "
            f"and {asked:g} was asked for"
        )


@dataclass(frozen=True, eq=False)
class Statistic(Frozen, ABC):
    """Sums over rows, one line of arrays a class. Frozen: every operation makes a new one.

    ``n`` is the weight of the rows that were counted, [class, 1] where every row counts in every
    column, [class, column] where cells are missing. The other arrays are [class, cell], or
    [class, cell, cell] of pairs.
    """

    n: Array

    def __post_init__(self) -> None:
        own = self.__dict__
        for name in field_names(type(self)):
            own[name] = np.ascontiguousarray(own[name], dtype=np.float64)
        super().__post_init__()

    @classmethod
    @abstractmethod
    def zero(cls, classes: int, width: int) -> Self:
        """Return the statistic of no rows: what leaves any other as it is when added."""

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Return the statistic of both sets of rows."""

    @abstractmethod
    def __sub__(self, other: Self) -> Self:
        """Return the statistic without the other's rows; raise `OverdrawnError` if it never held them."""

    @abstractmethod
    def __mul__(self, weight: float) -> Self:
        """Return the statistic of the same rows, each of ``weight`` times its weight."""

    def __rmul__(self, weight: float) -> Self:
        return self * weight

    def laid_out(
        self,
        shape: tuple[int, int],
        class_places: Array,
        column_places: Array | None,
        cell_places: Array | None,
    ) -> Self:
        """Return the same sums in another layout [class, cell]: what has the same place there is added up."""
        wider = {}
        for name, array in self.arrays().items():
            # n is by column, and a level more is not a column more
            places = cell_places if name != "n" else column_places if array.shape[1] > 1 else None
            if places is None:
                wider[name] = np.zeros((shape[0], *array.shape[1:]))
                wider[name][class_places] = array
            else:
                width = array.shape[1] if name == "n" else shape[1]
                array = array if name == "n" else _merged(array, places)
                places = np.unique(places) if array.shape[1] < len(places) else places
                wider[name] = np.zeros((shape[0], *(width,) * (array.ndim - 1)))
                wider[name][np.ix_(class_places, *(places,) * (array.ndim - 1))] = array
        return type(self)(**wider)

    def kept(self, classes: Array, cells: Array | None) -> Self:
        """Return only these classes and cells."""
        kept = {}
        for name, array in self.arrays().items():
            if name == "n" or cells is None:
                kept[name] = array[classes]
            else:
                kept[name] = array[np.ix_(classes, *(cells,) * (array.ndim - 1))]
        return type(self)(**kept)

    def lines(self, classes: slice) -> Self:
        """Return only these classes, which stand side by side."""
        return type(self)(**{name: array[classes] for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Array]:
        """Return the arrays by name, as `from_arrays` takes them."""
        return {name: getattr(self, name) for name in field_names(type(self))}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return the statistic that `arrays` came from."""
        return cls(**{name: np.array(array) for name, array in arrays.items()})

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return all(_same(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def isclose(self, other: Self, rtol: float = 1e-9) -> bool:
        """Say whether both hold the same sums but for rounding."""
        mine, theirs = self.arrays(), other.arrays()
        return all(bool(np.allclose(mine[name], theirs[name], rtol=rtol, atol=rtol)) for name in mine)


def difference(held: Array, asked: Array) -> Array:
    """Return what is left when ``asked`` is taken from ``held``; raise `OverdrawnError` if it is not there."""
    left = held - asked
    # whole numbers come out exact, and the last one of many counts as much as any
    whole = (held == np.floor(held)) & (asked == np.floor(asked))
    rounding = np.where(whole, 0.0, ROUNDING * held)
    if bool(np.any(left < -rounding)):
        place = np.unravel_index(int(np.argmin(left + rounding)), left.shape)
        held, asked = np.broadcast_to(held, left.shape), np.broadcast_to(asked, left.shape)
        raise OverdrawnError((int(place[0]), int(place[1])), float(held[place]), float(asked[place]))
    return np.where(left <= rounding, 0.0, left)


def _merged(array: Array, places: Array) -> Array:
    """Return the sums of cells that have the same place, in the order of the places; as they are if none have."""
    met, codes = np.unique(places, return_inverse=True)
    if len(met) == len(places):
        return array
    by_place = np.eye(len(met))[codes]
    return np.asarray(array @ by_place if array.ndim == 2 else by_place.T @ array @ by_place)


def weight_of(weight: float) -> float:
    """Return the factor of a ``*``, which is finite and not negative."""
    if not (np.isfinite(weight) and weight >= 0):
        raise ValueError(f"a tally can be weighed by a finite number from 0 up, not by {weight!r}")
    return float(weight)


def _same(mine: Array, theirs: Array) -> bool:
    return len(mine) == len(theirs) and bool(np.all(mine == theirs))
