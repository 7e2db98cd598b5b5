"""Joint: one probability for each combination of the levels of all discrete columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.categorical import CategoricalParameters, draw_slots, insert_unseen
from suffice.families.family import Parameters
from suffice.schema import Array, Columns, Combinations
from suffice.score import JointLookUp, LookUp, Score
from suffice.structures.structure import Rule, Structure, Subject

COMBINATION = ("all levels together",)


@dataclass(frozen=True)
class Joint(Structure):
    """p(x | class) is a table with a probability for each combination of levels that was seen in training.

    A row with a missing cell, or with an unseen combination, is scored column by column.

    Examples
    --------
    >>> Joint()
    Joint()
    """

    name = "joint"
    uses_combinations = True
    paired = ("categorical",)
    shares_counts = False

    def extended(self, columns: Columns) -> Columns:
        """Return the columns with an additional one for their combinations."""
        if columns.family != "categorical" or columns.count < 2:
            return columns
        names, codings = columns.names or (), columns.codings or ()
        return Columns.coded(columns.family, (*names, COMBINATION), (*codings, Combinations(())))

    def pairs(self, columns: Columns, classes: int, complete: float) -> bool:
        return False

    def dependent(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        return self._combined(subject.columns, subject.independent(rule, prior))

    def counts_for(self, other: Structure) -> bool:
        return other == self

    def _combined(self, columns: Columns, naive: Parameters) -> Parameters:
        assert isinstance(naive, CategoricalParameters)
        if columns.codings is None or not isinstance(columns.codings[-1], Combinations):
            if columns.count < 2:
                return naive
            raise ValueError(
                "this structure needs combinations of levels, but the model was learned without them: fit it again"
            )
        return JointParameters(naive.log_p, naive.log_unseen, naive.sizes)


@dataclass(frozen=True)
class JointParameters(CategoricalParameters):
    """The log probabilities of levels; the levels of the last column are combinations of all others."""

    def score(self) -> Score:
        first = int(self.sizes[:-1].sum())
        alone = insert_unseen(self.log_p[:, :first], self.log_unseen[:, :-1], self.sizes[:-1])
        # "mle" leaves no probability for unseen combinations: they are then scored column by column
        left = self.log_unseen[:, -1] if np.isfinite(self.log_unseen).all() else np.zeros(len(self.log_p))
        return Score((JointLookUp(self.log_p[:, first:], left, LookUp(alone, self.sizes[:-1])),))

    @property
    def n_parameters(self) -> int:
        return len(self.log_p) * max(int(self.sizes[-1]) - 1, 0)

    def sample(self, k: int, count: int, rng: np.random.Generator) -> Array:
        drawn = np.full((count, len(self.sizes)), -1, np.intp)
        first = int(self.sizes[:-1].sum())
        line = np.append(self.log_p[k, first:], self.log_unseen[k, -1])
        drawn[:, -1] = draw_slots(line, count, rng)
        new = np.flatnonzero(drawn[:, -1] == self.sizes[-1])
        drawn[new] = super().sample(k, len(new), rng)  # an unseen combination is drawn column by column
        drawn[new, -1] = self.sizes[-1]
        return drawn
