"""Term and Score: what a model computes, as a sum of a few kinds of functions of a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from suffice.blocks import Block, Coded, Dense, Gappy, Sparse
from suffice.kernels import score_independent
from suffice.schema import Array, Frozen, field_names
from suffice.statistics.kernel_arguments import finite_check

# Rows of a mixture that are scored at once.
ROWS_AT_ONCE = 1 << 13


class SingularError(ValueError):
    """A covariance matrix has no inverse; ``place`` is the code of its class."""

    def __init__(self, place: int) -> None:
        self.place = place
        super().__init__(f"the covariance of class {place} is singular")


@dataclass(frozen=True)
class Term(Frozen, ABC):
    """A part of log p(x | class) of a block of columns: arrays, and how they score rows.

    The fields of a term are its definition. Exports translate them; NumPy and the kernels evaluate them by `add`.
    Arrays are [class, column, …] unless the term says otherwise. A missing cell contributes 0 to a term that is a sum
    over columns, and is integrated out of every other term.

    Attributes
    ----------
    is_class_independent : bool
        Whether the term has the same value for all classes, so that it cancels in P(class | x).
    is_columnwise : bool
        Whether `contributions` has a closed form. Otherwise it scores the rows once for each column.
    """

    is_class_independent: ClassVar[bool] = False
    is_columnwise: ClassVar[bool] = False

    @abstractmethod
    def add(self, block: Block, rows: slice, scores: Array) -> None:
        """Add the value of the term in a range of rows to ``scores`` [row, class]."""

    def contributions(self, block: Block) -> Array:
        """Return what each column adds to the term, [row, class, column]; the sum over columns is what `add` adds.

        The arrays of a columnwise term may have a leading axis of rows, [row, class, column]: each row then has its
        own parameters. Terms that join columns use `sequential_contributions`, averaged over both directions.
        """
        forward = np.arange(block.shape[1])
        return sequential_contributions(self, block, [forward, forward[::-1]])

    @property
    def relative(self) -> Term:
        """A term that differs from this one by a number that the classes of a row share, if that is faster."""
        return self

    @property
    def fields(self) -> tuple[Any, ...]:
        """The values of all fields, in order."""
        return tuple(getattr(self, name) for name in field_names(type(self)))

    @property
    def class_count(self) -> int:
        """The number of classes: the length of the first field, unless a term says otherwise."""
        return len(self.fields[0])

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> Term:
        """Return one term whose classes are those of several terms of this kind, to score many models in one pass."""
        return OneByOne(tuple(terms))

    def __add__(self, other: Term | Score) -> Score:
        return Score((self,)) + other

    def __iter__(self) -> Iterator[Term]:
        yield self


@dataclass(frozen=True)
class Score:
    """A sum of terms: log p(x | class) of a block of columns.

    >>> from suffice.score import Linear, LogFactorial
    >>> rate = np.array([[1.0], [3.0]])
    >>> score = Linear(np.log(rate), -rate) + LogFactorial()
    >>> [type(term).__name__ for term in score]
    ['Linear', 'LogFactorial']
    >>> block = Dense("example", None, np.array([[2.0]]))
    >>> score.contributions(block)[:, :, 0].round(3).tolist()
    [[-1.693, -1.496]]
    """

    terms: tuple[Term, ...]

    def __add__(self, other: Term | Score) -> Score:
        return Score((*self.terms, *other))

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        """Add log p(x | class) of a range of rows to ``scores`` [row, class]."""
        for term in self.terms:
            term.add(block, rows, scores)

    def contributions(self, block: Block) -> Array:
        """Return what each column adds to log p(x | class), [row, class, column]."""
        return np.asarray(sum(term.contributions(block) for term in self.terms))

    def contributions_of(self, values: Array) -> Array:
        """Return the contributions for rows given as a plain array [row, column]."""
        return self.contributions(Dense("score", None, values))

    @property
    def relative(self) -> Score:
        """The score up to a number that the classes of a row share, which P(class | x) does not depend on."""
        return Score(tuple(term.relative for term in self.terms))

    @property
    def is_columnwise(self) -> bool:
        """Whether the contributions of all terms have a closed form."""
        return all(term.is_columnwise for term in self.terms)

    @staticmethod
    def side_by_side(scores: Sequence[Score]) -> Score:
        """Return one score whose classes are those of several scores, which reads rows as few times as possible."""
        if len(scores) == 1:
            return scores[0]
        if len({tuple(map(type, score)) for score in scores}) > 1:
            return Score((OneByOne(tuple(scores)),))
        together = zip(*scores, strict=True)
        return Score(tuple(type(terms[0]).side_by_side(terms) for terms in together))


@dataclass(frozen=True)
class OneByOne(Term):
    """Several terms or scores with the same number of classes, each scored by itself."""

    members: tuple[Term | Score, ...]

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        for part, member in zip(np.split(scores, len(self.members), axis=1), self.members, strict=True):
            own = np.ascontiguousarray(part)
            member.add(block, rows, own)
            part[:] = own


@dataclass(frozen=True)
class ColumnwiseTerm(Term):
    """A sum over columns of a function of one column, with arrays [class, column].

    ``shared`` names the fields that are not arrays of classes. Terms that are equal there are joined to one term with
    the classes of all; terms of a kind that declares no such names are scored one by one.
    """

    is_columnwise = True
    shared: ClassVar[tuple[str, ...] | None] = None

    @abstractmethod
    def contributions(self, block: Block) -> Array:
        """Return what each column adds to the term, [row, class, column]."""

    @classmethod
    def side_by_side(cls, terms: Sequence[Any]) -> Term:
        fields = {name: [getattr(term, name) for term in terms] for name in field_names(cls)}
        shared = cls.shared
        if shared is None or not all(np.array_equal(each, fields[name][0]) for name in shared for each in fields[name]):
            return super().side_by_side(terms)
        return cls(**{name: each[0] if name in shared else np.concatenate(each) for name, each in fields.items()})


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

    def add(self, block: Block, rows: slice, scores: Array) -> None:
        for first in range(rows.start, rows.stop, ROWS_AT_ONCE):
            here = slice(first, min(first + ROWS_AT_ONCE, rows.stop))
            part = scores[here.start - rows.start : here.stop - rows.start]
            for k, (score, log_weights) in enumerate(zip(self.components, self.log_weights, strict=True)):
                found = np.tile(log_weights, (len(part), 1))
                score.add(block, here, found)
                part[:, k] += logsumexp(found, axis=1)


def as_doubles(block: Block) -> tuple[Array, Array]:
    """Return the rows of a small block as doubles, [row, 1, column], with 0 in missing cells, and which cells exist."""
    if isinstance(block, Dense):
        rows = all_rows(block).astype(np.float64)[:, None]
        present = ~np.isnan(rows) if block.gaps else np.ones((1, 1, 1), bool)
        return (np.where(present, rows, 0.0) if block.gaps else rows), present
    assert isinstance(block, Sparse)
    return block.matrix.toarray().astype(np.float64)[:, None], np.ones((1, 1, 1), bool)


def all_rows(block: Dense) -> Array:
    """Return all rows of a block as one array, which is not a copy if the kernels can read the array as it is."""
    pieces = [piece for _, piece in block.pieces(0, block.shape[0])]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def sequential_contributions(term: Term, block: Block, orders: Sequence[Array], each_class: bool = False) -> Array:
    """Return log p(x up to column j | class) − log p(x before column j | class), [row, class, column].

    Columns that come later in the order are integrated out. The result is the mean over all orders; with
    ``each_class`` there is one order for each class instead.
    """
    assert isinstance(block, Dense)
    rows, is_coded = all_rows(block), isinstance(block, Coded)
    rows = rows if is_coded else rows.astype(np.float64)
    kind = Coded if is_coded else Gappy
    missing: Any = -1 if is_coded else np.nan

    def scores(cells: Array) -> Array:
        found = np.zeros((len(cells), term.class_count))
        term.add(kind(block.owner, block.names, cells), slice(0, len(cells)), found)
        return found

    total = np.zeros((len(rows), term.class_count, rows.shape[1]))
    for place, order in enumerate(orders):
        known = np.full(rows.shape, missing, rows.dtype)
        before = scores(known)
        classes = slice(place, place + 1) if each_class else slice(None)
        for j in order.tolist():
            known[:, j] = rows[:, j]
            after = scores(known)
            # an impossible row stays impossible, whatever later columns hold
            added = np.where(np.isneginf(before), 0.0, after - np.where(np.isneginf(before), 0.0, before))
            total[:, classes, j] += added[:, classes] / (1 if each_class else len(orders))
            before = after
    return total


def add_products(
    block: Block,
    rows: slice,
    scores: Array,
    weights: Array,
    biases: Array,
    *,
    centres: Array | None = None,
    limit: Any = None,
    table: Array | None = None,
) -> None:
    """Add Σⱼ bias + weight·z of dense rows, with z = x, or (x − centre)² if there are centres.

    Rows are taken to be complete at first; where the result is not finite, missing cells are left out. If there is a
    ``limit``, x is 1 above it and 0 elsewhere; ``table`` then has the sums of weights over eight columns each.
    """
    assert isinstance(block, Dense)
    check, bias = finite_check(block), biases.sum(axis=1)
    for x, part in block.scored(rows, scores):
        before, work = part.copy() if block.gaps else None, x.size * len(weights)
        part += bias
        if table is None:
            poison = score_independent.add_complete(x, limit, check, weights, centres, part, work=work)
        else:
            poison = score_independent.add_octets(x, limit, check, table, part, work=work // 8)
        if poison != 0 and before is not None:
            part[:] = before
            z = x if limit is None else np.where(np.isnan(x), np.nan, x > limit)
            poison = score_independent.add_present(z, weights, centres, None, biases, True, part, work=work)
        if poison != 0:
            block.reject_if_not_finite(rows)
