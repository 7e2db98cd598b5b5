"""One column: its sums, and the form in which it enters the model."""

from dataclasses import dataclass

import numpy as np

from suffice.schema import TIE, Array, Cuts

# Sums of the same weights in another order differ by less.
SAME_WEIGHT = 1e-9

# A number with fewer values than this, each in ROWS_A_VALUE rows on average, is not taken for a Gaussian: its cells
# tell its values apart, and a Gaussian would give a single value any density.
FEW_VALUES, ROWS_A_VALUE = 8, 5


@dataclass(frozen=True)
class Form:
    """How a column enters the model.

    Attributes
    ----------
    cuts : Cuts or None
        The bins of a numeric column; None if it is a Gaussian, or if it is not numeric.
    missing : bool
        Whether a missing cell is a level of its own.
    family : str or None
        The family of a numeric column; None if it is a Gaussian or has bins, or if it is not numeric.
    """

    cuts: Cuts | None = None
    missing: bool = False
    family: str | None = None


@dataclass(frozen=True)
class ColumnSums:
    """The sums of one column.

    Attributes
    ----------
    counts : array [cell, class]
        The weight of the cells or levels.
    missing : array [class]
        The weight of the missing cells.
    cuts : Cuts or None
        The cells of a number.
    moments : tuple of arrays [class] or None
        The weight, the mean and the squared deviations of a number, if they were counted.
    log_moments : tuple of arrays [class] or None
        The same of the logarithms of those numbers that are positive.
    """

    counts: Array
    missing: Array
    cuts: Cuts | None = None
    moments: tuple[Array, Array, Array] | None = None
    log_moments: tuple[Array, Array, Array] | None = None

    @property
    def is_positive(self) -> bool:
        """Whether all numbers are positive, and the moments of their logarithms were counted."""
        if self.moments is None or self.log_moments is None:
            return False
        return bool(self.moments[0].any() and np.allclose(self.log_moments[0], self.moments[0], rtol=SAME_WEIGHT))

    @property
    def edges(self) -> tuple[float, ...] | None:
        """The edges of the cells of a number."""
        return None if self.cuts is None else self.cuts.edges

    @property
    def has_few_values(self) -> bool:
        """Whether the cells tell a few values apart, each of which several rows have."""
        rows = self.counts.sum(axis=1)
        held = int((rows > 0).sum())
        return held < FEW_VALUES and float(rows.sum()) >= ROWS_A_VALUE * held * (1 - TIE)
