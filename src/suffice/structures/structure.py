"""What every structure provides: parameters of a block of columns, from one tally."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

from suffice.estimation import RULES
from suffice.families import Family
from suffice.families.family import Parameters
from suffice.schema import Columns
from suffice.tallies import Statistic

Subject = tuple[Family, Columns, Statistic]


@dataclass(frozen=True)
class Structure(ABC):
    """Which column depends on which, given the class: by default none on any, in each block by itself.

    A structure says which blocks must be counted in pairs; from the tally of such a block it builds the
    parameters of p(block given class), so that the data are not looked at again.
    """

    name: ClassVar[str]
    paired: ClassVar[tuple[str, ...]] = ()
    numeric: ClassVar[str | None] = None  # what numeric="auto" means under it, if not what it always means

    def extended(self, columns: Columns) -> Columns:
        """Return a block with what the structure counts beside the columns themselves."""
        return columns

    def pairs(self, columns: Columns, classes: int, complete: float) -> bool:
        """Say whether a block is to be counted in pairs; ``complete`` is the share of rows without an empty cell."""
        return columns.family in self.paired and columns.count > 1

    def parameters(self, rule: str, subject: Subject, prior: Any) -> Parameters:
        """Return the parameters of a block under a rule and a prior."""
        family, columns, statistic = subject
        if columns.family not in self.paired:
            return RULES[rule](family, columns, statistic, prior)
        return self.dependent(rule, subject, prior)

    def dependent(self, rule: str, subject: Subject, prior: Any) -> Parameters:
        """Return the parameters of a block of columns that depend on each other."""
        raise NotImplementedError


@dataclass(frozen=True)
class Naive(Structure):
    """Every column independent of the others given the class."""

    name = "naive"
