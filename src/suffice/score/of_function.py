"""Terms of a function of each column: `OfFunction`, and `NegativeLog`, which densities of logarithms need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.blocks import Block, Dense, Function
from suffice.blocks.mapped import FunctionName
from suffice.schema import Array
from suffice.score.term import ColumnwiseTerm, Term, as_doubles

LOG = Function("log")


@dataclass(frozen=True)
class OfFunction(ColumnwiseTerm):
    """Another term, of f(factor·xⱼ) in place of xⱼ.

    Parameters
    ----------
    term : Term
        A sum over columns: `Linear`, `Quadratic` or `LogQuadratic`.
    function : {"log", "sqrt", "cos", "sin"}
        The function f.
    factor : float, default=1.0
        A factor of x, such as π/180 for angles in degrees.

    >>> from suffice.score import Linear
    >>> term = OfFunction(Linear(np.array([[3.0]]), np.array([[1.0]])), "log")
    >>> term.contributions(Dense("example", None, np.array([[np.e]]))).item()
    4.0
    """

    term: Any
    function: FunctionName
    factor: float = 1.0

    @property
    def mapping(self) -> Function:
        """The function of a cell."""
        return Function(self.function, self.factor)

    @property
    def class_count(self) -> int:
        return int(self.term.class_count)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        self.term.add(self.mapping.map_block(block), rows, scores)

    def contributions(self, block: Block) -> Array:
        return np.asarray(self.term.contributions(self.mapping.map_block(block)))

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> Term:
        first = terms[0]
        if any(type(each.term) is not type(first.term) or each.mapping != first.mapping for each in terms):
            return super().side_by_side(terms)
        joined = type(first.term).side_by_side([each.term for each in terms])
        return cls(joined, first.function, first.factor)


@dataclass(frozen=True)
class NegativeLog(ColumnwiseTerm):
    """−Σⱼ log xⱼ, the same for all classes; a missing cell adds 0. It has no parameters."""

    is_class_independent = True
    shared = ()

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        assert isinstance(block, Dense)
        for logs, part in LOG.map_block(block).scored(rows, scores):
            part -= np.where(np.isnan(logs), 0.0, logs).sum(axis=1)[:, None]

    def contributions(self, block: Block) -> Array:
        logs, present = as_doubles(LOG.map_block(block))
        return np.asarray(-logs * present)
