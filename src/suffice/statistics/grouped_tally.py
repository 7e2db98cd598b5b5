"""GroupedTally: the tallies of the models of a pool as one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.statistics.tally import Tally


@dataclass(frozen=True, eq=False)
class GroupedTally(Tally):
    """Several tallies of the same rows, whose blocks follow one another: one for each model of a pool.

    ``members`` are the positions of the models in the pool, and ``ends`` the position after the last block of each.
    """

    members: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    @classmethod
    def join(cls, tallies: dict[int, Tally]) -> GroupedTally:
        """Return tallies, by their position in the pool, as one."""
        first = next(iter(tallies.values()))
        blocks = tuple(block for tally in tallies.values() for block in tally.schema.blocks)
        statistics = tuple(statistic for tally in tallies.values() for statistic in tally.statistics)
        ends = np.cumsum([len(tally.schema.blocks) for tally in tallies.values()]).tolist()
        return cls(replace(first.schema, blocks=blocks), first.class_count, statistics, tuple(tallies), tuple(ends))

    def groups(self) -> dict[int, Tally]:
        """Return the tallies by their position in the pool."""
        found, first = {}, 0
        for member, last in zip(self.members, self.ends, strict=True):
            schema = replace(self.schema, blocks=self.schema.blocks[first:last])
            found[member] = Tally(schema, self.class_count, self.statistics[first:last])
            first = last
        return found
