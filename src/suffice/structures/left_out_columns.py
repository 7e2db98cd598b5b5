"""How independent columns score rows by all other rows, for leave-one-out."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from suffice.blocks import Part
from suffice.data.engines import memory
from suffice.data.table import Table, Target
from suffice.families.left_out import LeftOut
from suffice.schema import Array, Schema
from suffice.score import Score
from suffice.structures.structure import Rule, Subject


def left_out_columns(subject: Subject, rule: Rule, prior: Any) -> LeftOut | None:
    """Return what scores rows by all other rows, or None if every class has to be estimated again for each row."""
    if subject.family.is_separate:
        return OwnClassLeftOut(subject, rule, prior)
    return subject.family.left_out(subject.columns, subject.statistic) if rule == "mle" else None


@dataclass(frozen=True)
class OwnClassLeftOut(LeftOut):
    """Columns whose classes are estimated apart: without a row, only its own class is estimated again."""

    subject: Subject
    rule: Rule
    prior: Any

    @property
    def width(self) -> int:
        return self.subject.columns.width

    @cached_property
    def _score(self) -> Score:
        return self.subject.independent(self.rule, self.prior).score()

    def score(self, part: Part) -> tuple[Array, Array]:
        columns, statistic, places = self.subject.columns, self.subject.statistic, np.arange(len(part.codes))
        block = part.block.between(part.rows.start, part.rows.stop)
        table = Table((block,), Target(places, places, part.weights))
        (rows,) = memory.tally_rows(table, Schema(places, (columns,))).statistics
        own, exact = statistic.own_without_rows(rows, part.codes, has_levels=columns.sizes is not None)
        of_one_class = type(own)(**{name: array[:, None] for name, array in own.arrays().items()})
        parameters = replace(self.subject, statistic=of_one_class).independent(self.rule, self.prior)
        scores = np.zeros((len(places), len(statistic.n)))
        self._score.add(block, slice(0, len(places)), scores)
        scores[places, part.codes] = parameters.score().contributions(block).sum(axis=-1)[:, 0]
        return scores, exact
