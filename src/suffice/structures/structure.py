"""Structure: which column depends on which, and how the parameters of a block are estimated from one tally."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar

import numpy as np

from suffice.estimation import RULES, estimate_by_column, posterior_hyperparameters, prior_hyperparameters
from suffice.families import Family
from suffice.families.family import Hyperparameters, Parameters
from suffice.schema import Array, Columns, Schema
from suffice.statistics import Statistic

# The name of an estimation rule, one name for each column of levels, or a random generator that draws parameters from
# their posterior.
Rule = str | tuple[str, ...] | np.random.Generator


@dataclass(frozen=True)
class Subject:
    """A block to be estimated: its family, its columns and their statistic, and the rows of each class, if known."""

    family: Family
    columns: Columns
    statistic: Statistic
    class_count: Array | None = None

    @property
    def parts(self) -> tuple[Family, Columns, Statistic]:
        """Family, columns and statistic, as the functions of `estimation` take them."""
        return self.family, self.columns, self.statistic

    def prior_hyperparameters(self, prior: Any) -> Hyperparameters:
        """Return the hyperparameters of a prior of independent columns."""
        return prior_hyperparameters(*self.parts, prior)

    def independent(self, rule: Rule, prior: Any) -> Parameters:
        """Return the parameters of columns that are independent given the class."""
        if isinstance(rule, str):
            return RULES[rule](*self.parts, prior)
        if isinstance(rule, tuple):
            return estimate_by_column(rule, *self.parts, prior)
        return self.family.draw(self.columns, posterior_hyperparameters(*self.parts, prior), rule)


@dataclass(frozen=True)
class Structure(ABC):
    """Which column depends on which, given the class; by default all are independent.

    A structure says which blocks are counted in pairs, and estimates the parameters of p(block | class) from the
    tally of a block, without reading the data again.

    Attributes
    ----------
    name : str
        The name of the structure in settings.
    paired : tuple of str
        The families of the blocks in which columns depend on each other.
    shares_counts : bool
        Whether other structures with the same families can use its counts of pairs.
    numeric : str or None
        The meaning of ``numeric="auto"`` under this structure, if it differs from the usual one.
    numeric_in_pool : str or None
        The same for a component of a pool.
    grows_trees : bool
        Whether decision trees are part of the plan.
    is_conditional : bool
        Whether the parameters are P(class | x) under the class shares of the rows, not p(x | class).
    estimates_by_row : bool
        Whether parameters can be estimated from sums [row, class, cell], as leave-one-out has them.
    is_automatic : bool
        Whether ``fit`` chooses between one model and a pool.
    is_correction : bool
        Whether the scores are added to those of other components of a pool, with `biases_of` the classes in place of
        their prior.
    """

    name: ClassVar[str]
    paired: ClassVar[tuple[str, ...]] = ()
    uses_combinations: ClassVar[bool] = False
    shares_counts: ClassVar[bool] = True
    numeric: ClassVar[str | None] = None
    numeric_in_pool: ClassVar[str | None] = None
    grows_trees: ClassVar[bool] = False
    is_conditional: ClassVar[bool] = False
    estimates_by_row: ClassVar[bool] = False
    is_automatic: ClassVar[bool] = False
    is_correction: ClassVar[bool] = False

    @property
    def members(self) -> tuple[Structure, ...]:
        """The structures that ``fit`` pools; empty if there is nothing to pool."""
        return (self,) if self.grows_trees else ()

    def uses(self, columns: Columns) -> bool:
        """Return whether the scores depend on a block of columns."""
        return True

    def for_classes(self, classes: list[Any]) -> Structure:
        """Return the structure for the labels of a tally, if it has parameters by class."""
        return self

    def biases_of(self, classes: list[Any]) -> Array:
        """Return what a correction adds to the scores of classes whatever the row."""
        return np.zeros(len(classes))

    def merge(self, other: Structure, share: float) -> Structure:
        """Return the structure of two models; the first has a share of their rows."""
        return self

    def extended(self, columns: Columns) -> Columns:
        """Return a block with the additional columns that the structure counts."""
        return columns

    def counts_for(self, other: Structure) -> bool:
        """Return whether the counts of this structure are all that another one needs."""
        is_shared = other.shares_counts and other.needs_fourths <= self.needs_fourths
        return other == self or (is_shared and set(other.paired) <= set(self.paired))

    def pairs(self, columns: Columns, classes: int, complete: float) -> bool:
        """Return whether a block is counted in pairs; ``complete`` is the share of rows without a missing cell."""
        return columns.family in self.paired and columns.count > 1

    @property
    def needs_fourths(self) -> bool:
        """Whether fourth moments of numbers that are counted in pairs are needed, too."""
        return False

    def check_columns(self, schema: Schema) -> None:  # noqa: B027  (most structures name no columns)
        """Raise if the structure names columns that a laid out table does not have, or that it cannot join."""

    def check(self, subject: Subject, prior: Any) -> None:
        """Raise if a prior does not suit the parameters of a block."""
        subject.prior_hyperparameters(prior)

    def joins(self, columns: Columns) -> bool:
        """Return whether the columns of a block depend on each other."""
        return columns.family in self.paired

    def parameters(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        """Return the parameters of a block under a rule, or one rule for each column of levels, and a prior."""
        return self._estimate(rule, subject, prior)

    def drawn(self, subject: Subject, prior: Any, rng: np.random.Generator) -> Parameters:
        """Return parameters of a block drawn from their posterior."""
        return self._estimate(rng, subject, prior)

    def _estimate(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        if self.joins(subject.columns):
            return self.dependent(rule, subject, prior)
        return subject.independent(rule, prior)

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        """Return the parameters of a block whose columns depend on each other, by a rule or drawn."""
        raise NotImplementedError


def check_known(setting: str, names: Sequence[Any], schema: Schema) -> None:
    """Raise if a name is not that of a column of a table."""
    columns = names if schema.features is None else schema.features.names
    for name in names:
        if name not in columns:
            similar = get_close_matches(str(name), [str(column) for column in columns], 1)
            hint = f"; did you mean {similar[0]!r}?" if similar else ""
            raise ValueError(f"{setting} names {name!r}, which is not a column{hint}")


@dataclass(frozen=True)
class Naive(Structure):
    """Every column is independent of the others given the class."""

    name = "naive"
    estimates_by_row = True
