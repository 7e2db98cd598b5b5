"""`CentredLinear`: what differs between classes in a density whose squares are the same for all classes."""

from dataclasses import dataclass

import numpy as np

from suffice.blocks import Block, Dense
from suffice.kernels import score_independent
from suffice.schema import Array
from suffice.score.term import Term

# Rows are centred this many cells at a time, so that they stay in the cache until they are multiplied.
CENTRED = 1 << 15


@dataclass(frozen=True)
class CentredLinear(Term):
    """biases[class] + Σⱼ slopes[class, j]·(xⱼ − middle[j]); the term ``whole`` for rows with missing cells.

    Up to a number that the classes of a row share, it has the values of ``whole``.

    Parameters
    ----------
    slopes : array [class, column]
    biases : array [class]
    middle : array [column]
    whole : Term
        The density that this is a part of.

    >>> from suffice.score import TriangularSolve
    >>> whole = TriangularSolve(np.array([[-1.0], [1.0]]), np.array([[[4.0]]]))
    >>> scores = np.zeros((1, 2))
    >>> whole.relative.add(Dense("example", None, np.array([[3.0]])), slice(0, 1), scores)
    >>> scores.tolist()  # −½·(3 ± 1)² / 4 + ½·3² / 4
    [[-0.875, 0.625]]
    """

    slopes: Array
    biases: Array
    middle: Array
    whole: Term

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        for here, piece in block.pieces(rows.start, rows.stop, CENTRED):
            part = scores[here.start - rows.start : here.stop - rows.start]
            found = np.tile(self.biases, (len(part), 1))
            with np.errstate(invalid="ignore", over="ignore"):
                centred = piece - self.middle
            work = centred.size * len(self.slopes)
            if score_independent.add_complete(centred, None, None, self.slopes, None, found, work=work) != 0:
                block.reject_if_not_finite(here)
                wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
                whole = np.zeros((len(wrong), len(self.biases)))
                self.whole.add(block.take(here.start + wrong), slice(0, len(wrong)), whole)
                found[wrong] = whole
            part += found
