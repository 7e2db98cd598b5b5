"""Quadratic and LogQuadratic: the log densities of a Gaussian and of Student's t, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.blocks import Block, Dense
from suffice.kernels import score_independent, score_predictive
from suffice.schema import Array
from suffice.score.term import ColumnwiseTerm, add_with_fallback, as_doubles


@dataclass(frozen=True)
class Quadratic(ColumnwiseTerm):
    """Σⱼ peak − scale·(xⱼ − centre)².

    Parameters
    ----------
    centre, scale, peak : arrays [class, column]
        Finite; ``scale`` is positive and may be as large as 1e300. A missing cell adds 0.

    >>> term = Quadratic(np.array([[1.0]]), np.array([[0.5]]), np.array([[-1.0]]))
    >>> term.contributions(Dense("example", None, np.array([[3.0]]))).item()
    -3.0
    """

    centre: Array
    scale: Array
    peak: Array

    @cached_property
    def bias(self) -> Array:
        """The sum of the peaks of all columns, [class]."""
        return np.asarray(self.peak.sum(axis=1))

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        arrays, each = (self.centre, self.scale), 2 * len(self.centre)

        def complete(x: Array, part: Array) -> float:
            part += self.bias
            return score_independent.add_gaussian(x, *arrays, part, work=x.size * each)  # type: ignore[no-any-return]

        def present(x: Array, part: Array) -> float:
            return score_independent.add_gaussian_present(x, *arrays, self.peak, part, work=x.size * each)  # type: ignore[no-any-return]

        add_with_fallback(block, rows, scores, complete, present)

    def contributions(self, block: Block) -> Array:
        x, present = as_doubles(block)
        return np.asarray(present * (self.peak - (x - self.centre) ** 2 * self.scale))

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> Quadratic:
        return cls.concatenated(terms)


@dataclass(frozen=True)
class LogQuadratic(ColumnwiseTerm):
    """Σⱼ peak − exponent·log(1 + scale·(xⱼ − centre)²).

    Parameters
    ----------
    centre, scale, exponent, peak : arrays [class, column]
        Finite; ``scale`` and ``exponent`` are positive. A missing cell adds 0.
    """

    centre: Array
    scale: Array
    exponent: Array
    peak: Array

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        arrays = (self.centre, self.scale, self.exponent, self.peak)
        poison, gaps = 0.0, True if block.gaps else None
        for x, part in block.scored(rows, scores):
            poison += score_predictive.add_student(x, *arrays, gaps, part, work=4 * x.size * len(self.centre))
        if poison != 0:
            block.reject_if_not_finite(rows)

    def contributions(self, block: Block) -> Array:
        x, present = as_doubles(block)
        return np.asarray(present * (self.peak - self.exponent * np.log1p((x - self.centre) ** 2 * self.scale)))

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> LogQuadratic:
        return cls.concatenated(terms)
