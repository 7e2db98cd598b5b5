"""LeftOut: the interface by which a family scores rows by the sums of all other rows."""

from abc import ABC, abstractmethod

from suffice.blocks import Part
from suffice.schema import Array


class LeftOut(ABC):
    """Scores rows of a block by parameters that are estimated from all other rows, for leave-one-out."""

    @property
    def width(self) -> int:
        """The numbers that are held for each row of a part that is scored."""
        return 0

    @abstractmethod
    def score(self, part: Part) -> tuple[Array, Array]:
        """Return log p(x | class) without the row itself, [row, class], and for which rows it is exact.

        Scores may differ from log p(x | class) by a number that the classes of a row share. Rows for which they are not
        exact are scored again, by a model of the other rows.
        """
