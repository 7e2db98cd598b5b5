"""What every structure provides: parameters of a block of columns, from one tally."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from suffice.estimation import RULES, believed, posterior
from suffice.families import Family
from suffice.families.family import Parameters
from suffice.schema import Columns
from suffice.statistics import Statistic

Subject = tuple[Family, Columns, Statistic]


# The name of a rule, or what parameters are drawn with from what is believed of them.
Rule = str | np.random.Generator


def independent(rule: Rule, subject: Subject, prior: Any) -> Parameters:
    """Return the parameters of columns that are independent given the class."""
    if isinstance(rule, str):
        return RULES[rule](*subject, prior)
    family, columns, statistic = subject
    return family.draw(columns, posterior(family, columns, statistic, prior), rule)


@dataclass(frozen=True)
class Structure(ABC):
    """Which column depends on which, given the class: by default none on any, in each block by itself.

    A structure says which blocks must be counted in pairs; from the tally of such a block it builds the
    parameters of p(block given class), so that the data are not looked at again.
    """

    name: ClassVar[str]
    paired: ClassVar[tuple[str, ...]] = ()
    uses_combinations: ClassVar[bool] = False  # whether it scores the column that counts combinations of levels
    shares_counts: ClassVar[bool] = True  # whether its pairs are those that others count, too
    numeric: ClassVar[str | None] = None  # what numeric="auto" means under it, if not what it always means

    def extended(self, columns: Columns) -> Columns:
        """Return a block with what the structure counts beside the columns themselves."""
        return columns

    def counts_for(self, other: Structure) -> bool:
        """Say whether what is counted for this structure is all that another needs."""
        return other == self or (other.shares_counts and set(other.paired) <= set(self.paired))

    def pairs(self, columns: Columns, classes: int, complete: float) -> bool:
        """Say whether a block is to be counted in pairs; ``complete`` is the share of rows without an empty cell."""
        return columns.family in self.paired and columns.count > 1

    def check(self, subject: Subject, prior: Any) -> None:
        """Raise if a prior is none of what is to be estimated of a block."""
        believed(*subject, prior)

    def parameters(self, rule: str, subject: Subject, prior: Any) -> Parameters:
        """Return the parameters of a block under a rule and a prior."""
        dependent = subject[1].family in self.paired
        return self.dependent(rule, subject, prior) if dependent else independent(rule, subject, prior)

    def drawn(self, subject: Subject, prior: Any, rng: np.random.Generator) -> Parameters:
        """Return parameters of a block drawn from what is believed of them."""
        dependent = subject[1].family in self.paired
        return self.dependent(rng, subject, prior) if dependent else independent(rng, subject, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        """Return the parameters of a block of columns that depend on each other, by a rule or drawn."""
        raise NotImplementedError


@dataclass(frozen=True)
class Naive(Structure):
    """Every column independent of the others given the class."""

    name = "naive"
