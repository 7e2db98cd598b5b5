"""Sums over columns: squares, logarithms of Γ and of factorials."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from suffice.blocks import Block, Dense, Sparse, cells_of
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


@dataclass(frozen=True)
class GammaTerm(ColumnwiseTerm):
    """A term of log Γ(a + …) − log Γ(a), evaluated by ``kernel``."""

    a: Array

    kernel: ClassVar[Any]
    shared: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def log_gamma(self) -> Array:
        """The log Γ(a) that the kernel subtracts."""
        return np.asarray(gammaln(self.a))

    @property
    def constants(self) -> tuple[Any, ...]:
        """What the kernel takes besides a."""
        return ()

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        if not block.shape[1]:
            return
        poison, gaps = 0.0, True if block.gaps else None
        for cells, part in stored_cells(block, rows, scores):
            work = cells_of(cells) * len(self.a)
            poison += self.kernel(*cells, *self.constants, self.a, self.log_gamma, gaps, part, work=work)
        if poison != 0:
            block.reject_if_not_finite(rows)
            block.reject_uncountable(rows)


@dataclass(frozen=True)
class LogGamma(GammaTerm):
    """weight·Σⱼ (log Γ(a + xⱼ) − log Γ(a)), with counts xⱼ from 0 to 1e15.

    Parameters
    ----------
    a : array [class, column]
        Positive. A missing cell adds 0.
    weight : float, default=1.0
        A factor, such as −1 for Γ in a denominator.

    >>> term = LogGamma(np.array([[1.0]]))
    >>> round(term.contributions(Dense("example", None, np.array([[4.0]]))).item(), 6)  # log 4!
    3.178054
    """

    weight: float = 1.0

    kernel = score_predictive.add_log_gamma
    shared = ("weight",)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        if self.weight == 1:
            super().add(block, rows, scores)
            return
        found = np.zeros(scores.shape)
        super().add(block, rows, found)
        scores += self.weight * found

    def contributions(self, block: Block) -> Array:
        return np.asarray(self.weight * log_rising(self.a, as_doubles(block)[0]))


@dataclass(frozen=True)
class LogGammaOfTotal(GammaTerm):
    """log Γ(a) − log Γ(a + n), with n = Σⱼ xⱼ the total of a row; a missing cell counts as 0.

    Each column's contribution is its share xⱼ / n of the term.

    Parameters
    ----------
    a : array [class] (or [row, class])
        Positive.
    """

    kernel = score_predictive.add_log_gamma_of_total

    def contributions(self, block: Block) -> Array:
        x, _ = as_doubles(block)
        total = x.sum(axis=-1, keepdims=True)
        return np.asarray(-x / np.where(total > 0, total, 1.0) * log_rising(self.a[..., None], total))


@dataclass(frozen=True)
class LogGammaOfRest(GammaTerm):
    """Σⱼ (log Γ(a + trials − xⱼ) − log Γ(a + trials)), with counts xⱼ from 0 to ``trials``.

    A count above ``trials`` has the value of ``trials``.

    Parameters
    ----------
    a : array [class, column]
        Positive. A missing cell adds 0.
    trials : float
        The largest count.

    >>> term = LogGammaOfRest(np.array([[1.0]]), 5.0)
    >>> round(term.contributions(Dense("example", None, np.array([[2.0]]))).item(), 6)  # log 3! − log 5!
    -2.995732
    """

    trials: float

    kernel = score_predictive.add_log_gamma_of_rest
    shared = ("trials",)

    @cached_property
    def highest(self) -> Array:
        """Log Γ(a + trials) − log Γ(a)."""
        return log_rising(self.a, np.full(self.a.shape, self.trials))

    @property
    def constants(self) -> tuple[Any, ...]:
        return self.trials, self.highest

    def contributions(self, block: Block) -> Array:
        rest = np.maximum(self.trials - as_doubles(block)[0], 0.0)
        return log_rising(self.a, rest) - self.highest


@dataclass(frozen=True)
class LogFactorial(ColumnwiseTerm):
    """−Σⱼ log xⱼ!, the same for all classes; a missing cell adds 0. It has no parameters."""

    is_class_independent = True
    shared = ()

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        for cells, part in stored_cells(block, rows, scores):
            if score_predictive.add_factorials(*cells, part, work=cells_of(cells)) != 0:
                block.reject_uncountable(rows)

    def contributions(self, block: Block) -> Array:
        return np.asarray(-gammaln(as_doubles(block)[0] + 1))


@dataclass(frozen=True)
class LogBinomial(ColumnwiseTerm):
    """Σⱼ log C(trials, xⱼ), the same for all classes; −∞ if a count is above ``trials``. A missing cell adds 0.

    Parameters
    ----------
    trials : float
        The largest count.

    >>> term = LogBinomial(5.0)
    >>> np.exp(term.contributions(Dense("example", None, np.array([[2.0, 6.0]])))).round(9).tolist()
    [[[10.0, 0.0]]]
    """

    trials: float

    is_class_independent = True
    shared = ("trials",)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        for cells, part in stored_cells(block, rows, scores):
            score_predictive.add_binomials(*cells, self.trials, part, work=cells_of(cells))

    def contributions(self, block: Block) -> Array:
        x = as_doubles(block)[0]
        with np.errstate(invalid="ignore"):
            found = gammaln(self.trials + 1) - gammaln(x + 1) - gammaln(np.maximum(self.trials - x, 0.0) + 1)
        return np.where(x > self.trials, -np.inf, found)


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


def stored_cells(block: Block, rows: slice, scores: Array) -> Iterator[tuple[tuple[Any, Any, Any], Array]]:
    """Yield row starts, column numbers and values of the cells, each with a part of the scores.

    The columns of dense rows, which have all cells, are None.
    """
    if isinstance(block, Sparse):
        yield block.stored(rows.start, rows.stop), scores
        return
    assert isinstance(block, Dense)
    for x, part in block.scored(rows, scores):
        starts = np.arange(len(x) + 1, dtype=np.uintp) * x.shape[1]  # unsigned indices need no check of their sign
        yield (starts, None, x.reshape(-1)), part
