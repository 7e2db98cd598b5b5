"""Sources: tables that stay where they are. A sample shows the types of the columns, and one scan takes the sums."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol, Self

from suffice.data.column_facts import Facts
from suffice.data.files.table_file import ColumnHints
from suffice.data.labelled_table import missing_labels_error
from suffice.data.plan_columns import SAMPLE as SAMPLE
from suffice.schema import Array, Columns, Features
from suffice.statistics import Tally

# The columns that scoring adds to a frame: names, in order, and the numbers or labels of each.
Scored = dict[str, Array]


class SourceError(ValueError):
    """Raised if a source cannot be read; the message says what is wrong and what to do."""


class NoSqlError(ValueError):
    """Raised if a model or a setting cannot be written as SQL."""


@dataclass(frozen=True)
class PartialTally:
    """The tally of some batches, their number, that of their rows, and how many of these have no label."""

    tally: Tally | None = None
    rows: int = 0
    missing: int = 0
    batches: int = 0

    def __add__(self, other: "PartialTally") -> "PartialTally":
        known = [tally for tally in (self.tally, other.tally) if tally is not None]
        counts = (self.rows + other.rows, self.missing + other.missing, self.batches + other.batches)
        return PartialTally(reduce(add, known) if known else None, *counts)

    def whole(self, request: "Request") -> Tally:
        """Return the tally of all batches; raise an error if there are no rows or labels are missing."""
        if self.rows == 0:
            raise ValueError("there are no rows to learn from")
        if self.tally is None or (self.missing and request.missing_target == "error"):
            raise missing_labels_error(request.target, self.missing, self.rows)
        return self.tally


@dataclass(frozen=True)
class Counted:
    """How much of a source was counted before, and the function that keeps how much is counted now."""

    done: PartialTally
    keep: Callable[[PartialTally], None]


@dataclass(frozen=True)
class Request:
    """What an engine counts.

    Parameters
    ----------
    target : str
        The column of labels.
    weight : str or None
        The column of row weights.
    missing_target : {"error", "drop"}
        What to do with rows without a label.
    sample : Tally
        The tally of a sample: it names the columns of each family, with their levels and cuts.
    counted : Counted, default=None
        For a source that has a `fingerprint`: what was counted already. None counts everything.
    """

    target: str
    weight: str | None
    missing_target: str
    sample: Tally
    counted: Counted | None = None

    @property
    def blocks(self) -> tuple[Columns, ...]:
        """The columns by family, with the levels and cuts of the sample."""
        return self.sample.schema.blocks

    @property
    def features(self) -> Features | None:
        """All columns of the table, including those that are left out; None if all are in the only block."""
        return self.sample.schema.features

    def select(self, names: Iterable[str]) -> list[str]:
        """Return the columns of a table that are read: those that are counted, the target and the weight."""
        wanted = {self.target, self.weight}.union(*(block.read_names for block in self.blocks))
        return [name for name in names if name in wanted]


class ScoreQuery(Protocol):
    """The scores of a model as SQL."""

    def __call__(self, dialect: str, table: str) -> str:
        """Return one SELECT for a dialect and a table; raise `NoSqlError` if there is none."""

    def tables(self, dialect: str, table: str, prefix: str) -> tuple[list[str], str]:
        """Return the statements that create temporary tables of parameters, and the SELECT that reads them.

        Raise `NoSqlError` if there are none. The names of the tables start with ``prefix``.
        """


class Source(ABC):
    """A table outside memory, of which only sums are collected."""

    @classmethod
    @abstractmethod
    def accepts(cls, source: Any) -> bool:
        """Return whether this engine reads a source."""

    @classmethod
    def open(cls, source: Any, hints: ColumnHints) -> Self:
        """Return a source that this engine accepts, ready to be read."""
        return cls(source)  # type: ignore[call-arg]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        """Return a frame of about ``rows`` rows at most, and whether it is the whole table.

        The rows come from the whole table if ``spread``, and otherwise from where they are cheapest to read.
        """

    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        """Return facts about columns, given their kinds, from all rows; columns without facts are left out."""
        return {}

    def rows_with(self, name: str, rows: int) -> Any:
        """Return a frame of some rows in which a column is not empty; None if the engine cannot select them."""
        return None

    def check_target(self, name: str) -> None:  # noqa: B027
        """Raise an error if the type of the target is not one of labels."""

    @property
    def reading(self) -> dict[str, Any]:
        """How cells are read, as attributes of a model, which reads other tables in the same way."""
        return {}

    @property
    def fingerprint(self) -> str | None:
        """Text that is the same as long as the source has the same rows in the same order; None if that is unknown."""
        return None

    @abstractmethod
    def tally(self, request: Request) -> Tally:
        """Return the tally of all rows, taken in one scan."""

    @abstractmethod
    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: ScoreQuery) -> Any:
        """Return the table with the scores of each row in new columns, computed lazily.

        Parameters
        ----------
        score : callable
            Returns the new columns of a frame.
        added : dict
            An example value of each new column, by name.
        query : ScoreQuery
            The same scores as SQL.
        """


def check_target_type(name: str, kind: Any) -> None:
    """Raise an error if the target, of a type of Arrow or Ibis, holds dates or times."""
    is_temporal = kind.is_temporal() if hasattr(kind, "is_temporal") else str(kind).startswith(("date", "time"))
    if is_temporal:
        raise SourceError(f"column {name!r}, the target, holds dates or times; make it text")
