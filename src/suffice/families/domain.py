"""Domain: the numbers that a column of a family may hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.schema import Array


@dataclass(frozen=True)
class Domain:
    """The finite numbers from ``low`` to ``high``.

    Parameters
    ----------
    low, high : float
        The ends, which belong to the domain.
    text : str
        The domain in words, for a message.

    >>> Domain(0.0, text="numbers from 0 up").excludes(np.array([-1.0, 0.0, np.nan, np.inf])).tolist()
    [True, False, False, True]
    """

    low: float = -np.inf
    high: float = np.inf
    text: str = "finite numbers"

    @property
    def is_bounded(self) -> bool:
        """Whether some finite numbers are excluded."""
        return self.low > -np.inf or self.high < np.inf

    def excludes(self, x: Array) -> Array:
        """Return which numbers are outside; NaN is a missing cell."""
        return np.asarray((x < self.low) | (x > self.high) | np.isinf(x))

    def clip(self, x: Array) -> Array:
        """Return numbers with those outside moved to the ends."""
        return np.clip(x, self.low, self.high)


# Greater than 0, and so that neither a number nor its inverse overflows.
POSITIVE = Domain(float(np.finfo(np.float64).tiny), text="numbers greater than 0")

NOT_NEGATIVE = Domain(0.0, text="numbers from 0 up")
