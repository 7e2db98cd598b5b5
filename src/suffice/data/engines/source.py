"""Sources: rows that stay where they are. A sample shows what the columns are; then one scan takes the sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from suffice.data.plan import Facts
from suffice.schema import Array, Columns, Features
from suffice.statistics import Tally

# Rows by which columns are planned, numbers cut and maps calibrated: a table of no more is looked at whole.
SAMPLE = 100_000

# What a scored frame gets beside its own columns: names, in order, and the numbers or labels of each.
Scored = dict[str, Array]


class SourceError(ValueError):
    """What is wrong with a source, and what to do about it."""


class NoSqlError(ValueError):
    """Why something has no form in SQL."""


@dataclass(frozen=True)
class Request:
    """What is to be counted: which columns as what, in which classes; ``near`` is the tally of a sample.

    ``missing_target`` says what becomes of rows without a label, "error" or "drop".
    """

    target: str
    weight: str | None
    missing_target: str
    near: Tally

    @property
    def blocks(self) -> tuple[Columns, ...]:
        """The columns, by family, with the levels and cuts that the sample gave them."""
        return self.near.schema.blocks

    @property
    def features(self) -> Features:
        """All columns of the table, with those that are left out."""
        assert self.near.schema.features is not None
        return self.near.schema.features


class Source(ABC):
    """A table somewhere else, of which only sums travel."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        """Return a frame of so many rows, and whether these are all that there are.

        They come from everywhere in the table if ``spread``; otherwise from where it costs least.
        """

    @abstractmethod
    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        """Return of columns of these kinds what is true of all rows, of those for which it can be said."""

    def rows_with(self, name: str, rows: int) -> Any:
        """Return a frame of some rows in which a column is not empty; None if they cannot be asked for."""
        return None

    @abstractmethod
    def tally(self, request: Request) -> Tally:
        """Return the sums of all rows, in one scan."""

    @abstractmethod
    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: Callable[[str, str], str]) -> Any:
        """Return the table with what ``score`` says of each of its frames beside it, to be computed when asked for.

        ``added`` maps the name of each new column to a value as it may hold. ``query`` returns the same as
        SQL, in a dialect and of a table, or raises that there is none.
        """
