"""AveragedPairs: every column in turn is the parent of all others, and the results are averaged (AODE)."""

from dataclasses import dataclass

from suffice.blocks import Block, Coded
from suffice.kernels import score_dependent
from suffice.schema import Array, starts_of
from suffice.score.term import Term


@dataclass(frozen=True)
class AveragedPairs(Term):
    """log Σᵢ wᵢ·p(xᵢ | class)·Πⱼ p(xⱼ | xᵢ, class) / Σᵢ wᵢ, over the columns i whose level is eligible.

    Slots are those of all columns one after another, sizes[j] + 1 for column j; codes become slots as in `PairLookUp`.
    Missing cells are left out of sum and product. If ``implied`` says that a level present in the row implies another
    one, the implied level is left out. If no level is eligible, the value is Σⱼ log p(xⱼ | class).

    Parameters
    ----------
    alone : array [slot, class]
        log p(slot | class).
    given : array [slot a, slot b, 2, class]
        log p(b | a, class) and log p(a | b, class).
    eligible : array [slot]
        1 if the level can be a parent, else 0.
    weights : array [column]
        Weight of each column as a parent; positive.
    implied : array [slot a, slot b] or None
        1 where a implies b, 2 where b implies a, 3 where each implies the other (the first column then stays).
    sizes, is_open : arrays [column]
        The number of known levels, and 1 if there is a probability for unseen levels.
    """

    alone: Array
    given: Array
    eligible: Array
    weights: Array
    implied: Array | None
    sizes: Array
    is_open: Array

    @property
    def class_count(self) -> int:
        return int(self.alone.shape[1])

    @property
    def starts(self) -> Array:
        """The first slot of each column."""
        return starts_of(self.sizes + 1)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Coded)
        arrays = (self.alone, self.given, self.eligible, self.weights, self.implied, self.sizes, self.is_open)
        for x, part in block.scored(rows, scores):
            work = x.size * x.shape[1] * part.shape[1]
            score_dependent.add_averaged(x, self.starts, *arrays, part, work=work)
