"""Sums over columns of logarithms of Γ and of factorials."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from suffice.blocks import Block, Dense, Sparse, cells_of
from suffice.kernels import score_predictive
from suffice.schema import Array
from suffice.score.columnwise import log_rising
from suffice.score.term import ColumnwiseTerm, as_doubles


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
