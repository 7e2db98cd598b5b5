"""Sums over columns of squares, and of logarithms of them."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from suffice.blocks import Block, Dense
from suffice.kernels import score_independent, score_predictive
from suffice.schema import Array
from suffice.score.term import ColumnwiseTerm, add_products, as_doubles


class CentredTerm(ColumnwiseTerm):
    """A term of the squared distance to a centre, which has a tail: what was lost when it was rounded."""

    centre: Array
    tail: Array

    shared = ()

    def __post_init__(self) -> None:
        if self.tail is None:
            object.__setattr__(self, "tail", np.zeros(np.shape(self.centre)))

    @abstractmethod
    def evaluate(self, x: Array, k: Any) -> Array:
        """Return the value of each cell for the classes k."""

    def contributions(self, block: Block) -> Array:
        x, present = as_doubles(block)
        return np.asarray(present * self.evaluate(x, slice(None)))

    def add_by_class(self, block: Block, rows: slice, scores: Array) -> None:
        """Add the term without a kernel, which may regroup sums so that the tails are lost."""
        assert isinstance(block, Dense)
        for x, part in block.scored(rows, scores):
            if not block.gaps and not np.isfinite(x).all():
                block.reject_if_not_finite(rows)
            for k in range(len(self.centre)):
                with np.errstate(over="ignore"):
                    found = self.evaluate(np.asarray(x, np.float64), k)
                part[:, k] += np.where(np.isnan(x), 0.0, found).sum(axis=1)


@dataclass(frozen=True)
class Quadratic(CentredTerm):
    """Σⱼ peak − scale·(xⱼ − centre − tail)².

    Parameters
    ----------
    centre, scale, peak : arrays [class, column]
        Finite; ``scale`` is positive and may be as large as 1e306. A missing cell adds 0.
    tail : array [class, column], optional
        What was lost when the centre was rounded, which matters for numbers that are far from 0 and close together.

    >>> term = Quadratic(np.array([[1.0]]), np.array([[0.5]]), np.array([[-1.0]]))
    >>> term.contributions(Dense("example", None, np.array([[3.0]]))).item()
    -3.0
    """

    centre: Array
    scale: Array
    peak: Array
    tail: Array = None  # type: ignore[assignment]

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        if self.tail.any():
            self.add_by_class(block, rows, scores)
        else:
            add_products(block, rows, scores, -self.scale, self.peak, centres=self.centre)

    def evaluate(self, x: Array, k: Any) -> Array:
        squares = (x - self.centre[k] - self.tail[k]) ** 2
        return np.asarray(self.peak[k] - squares * self.scale[k])


@dataclass(frozen=True)
class LogQuadratic(CentredTerm):
    """Σⱼ peak − exponent·log(1 + scale·(xⱼ − centre − tail)²).

    Parameters
    ----------
    centre, scale, exponent, peak : arrays [class, column]
        Finite; ``scale`` and ``exponent`` are positive. A missing cell adds 0.
    tail : array [class, column], optional
        What was lost when the centre was rounded.
    """

    centre: Array
    scale: Array
    exponent: Array
    peak: Array
    tail: Array = None  # type: ignore[assignment]

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        if self.tail.any():
            self.add_by_class(block, rows, scores)
            return
        arrays = (self.scale, self.centre, self.exponent, self.peak)
        poison, gaps = 0.0, True if block.gaps else None
        for x, part in block.scored(rows, scores):
            work = 4 * x.size * len(self.centre)
            poison += score_independent.add_present(x, *arrays, gaps, part, work=work)
        if poison != 0:
            block.reject_if_not_finite(rows)

    def evaluate(self, x: Array, k: Any) -> Array:
        squares = (x - self.centre[k] - self.tail[k]) ** 2
        return np.asarray(self.peak[k] - self.exponent[k] * np.log1p(squares * self.scale[k]))


def log_rising(a: Array, x: Array | float) -> Array:
    """Return log Γ(a + x) − log Γ(a), accurate even if a is so large that the two are almost equal.

    >>> float(log_rising(np.array(1e16), 2.0) - 2 * np.log(1e16))
    0.0
    """
    large, small = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    found = np.empty(large.size)
    logs = np.broadcast_to(gammaln(a), large.shape)
    score_predictive.fill_log_rising(*map(np.ravel, (large, small, logs)), found, work=found.size)
    return found.reshape(large.shape)
