"""LogSumExp: a class as a mixture of components."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from suffice.blocks import Block
from suffice.schema import Array
from suffice.score.term import Score, Term

ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class LogSumExp(Term):
    """log Σᵢ exp(log_weights[class][i] + components[class]ᵢ), with i the components of a class.

    Parameters
    ----------
    components : tuple of Score
        One score for each class; the "classes" of each score are the components of that class.
    log_weights : tuple of arrays [component]
        The logarithm of each component's weight, one array for each class.
    """

    components: tuple[Score, ...]
    log_weights: tuple[Array, ...]

    is_multithreaded = True

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        for first in range(rows.start, rows.stop, ROWS_AT_ONCE):
            here = slice(first, min(first + ROWS_AT_ONCE, rows.stop))
            part = scores[here.start - rows.start : here.stop - rows.start]
            for k, (score, log_weights) in enumerate(zip(self.components, self.log_weights, strict=True)):
                found = np.tile(log_weights, (len(part), 1))
                score.add(block, here, found)
                part[:, k] += logsumexp(found, axis=1)
