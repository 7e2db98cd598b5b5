"""What `AveragedPairs` adds for pairs of levels, for parameter tables."""

import numpy as np

from suffice.export.sql_expressions import MIN_EXPONENT
from suffice.export.sql_parameters import number_text
from suffice.schema import Array
from suffice.score import AveragedPairs


def values_of_pairs(term: AveragedPairs, of_slot: Array, parents: Array) -> Array:
    """Return log p(b | a) for each level a that is a parent, level b and class; log p(a) where both are the same."""
    values = np.where(
        (of_slot[parents, None] > of_slot)[..., None],
        term.given[parents, :, 0],
        term.given[:, parents, 1].swapaxes(0, 1),
    )
    values[np.arange(len(parents)), parents] = term.given[parents, parents, 0]
    return values


def implied_levels(term: AveragedPairs, of_slot: Array) -> dict[str, Array]:
    """Return pairs of levels of which the first implies the second, so that a row that has both drops the second."""
    if term.implied is None:
        return {"kept": np.zeros(0, np.int64), "dropped": np.zeros(0, np.int64)}
    a, b = np.nonzero(term.implied * (of_slot[:, None] > of_slot))
    first = term.implied[a, b] == 1
    return {"kept": np.where(first, a, b), "dropped": np.where(first, b, a)}


def exponential(text: str) -> str:
    """Return e^x, 0 where x is so small that it is negligible."""
    return f"CASE WHEN {text} > {number_text(MIN_EXPONENT)} THEN EXP({text}) ELSE 0e0 END"
