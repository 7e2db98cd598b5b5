"""Terms: the few kinds of expressions that scores are made of.

Two conventions make sums of them right. What is impossible (a log probability of −∞) is NULL, because NULL and
anything is NULL. What is empty adds 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sqlglot import exp

Term = exp.Expression

# Databases and parsers have a limit to how deep a sum may nest, so long ones are sums of sums.
LONGEST_SUM = 40

# Below this, e^x is 0 as far as probabilities go; PostgreSQL calls it an error to come closer to 0.
LEAST_EXPONENT = -700.0


def number(value: Any) -> Term:
    """Return a number with all its digits, written so that every dialect reads a double.

    >>> [number(value).sql() for value in (0.1, -3.0, 1e-300)]
    ['0.1e0', '-3.0e0', '1e-300']
    """
    digits = repr(abs(float(value)))
    literal = exp.Literal.number(digits if "e" in digits else f"{digits}e0")
    return exp.Neg(this=literal) if value < 0 else literal


def double(value: Any) -> Term:
    """Return a number that is a double for certain: one of them makes a whole sum, or a whole CASE, double.

    >>> double(0.0).sql("postgres")
    'CAST(0.0e0 AS DOUBLE PRECISION)'
    """
    return as_double(number(value))


def as_double(term: Term) -> Term:
    """Return a term cast to double precision."""
    return exp.Cast(this=term, to=exp.DataType.build("double"))


def whole(value: int) -> Term:
    """Return a whole number."""
    literal = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def log(value: Any) -> Term:
    """Return a log probability; −∞ is NULL.

    >>> log(-np.inf).sql(), log(np.log(0.5)).sql()
    ('NULL', '-0.6931471805599453e0')
    """
    return exp.null() if value == -np.inf else number(value)


def total(terms: Iterable[Term]) -> Term:
    """Return a sum, in which no more than a few terms hang on each other.

    >>> total([number(1), number(2)]).sql()
    '1.0e0 + 2.0e0'
    """
    return _chained(list(terms), exp.Add)


def product(terms: Iterable[Term]) -> Term:
    """Return a product; the factors are names, numbers, calls or in brackets."""
    return _chained(list(terms), exp.Mul)


def _chained(terms: list[Term], kind: type[exp.Binary]) -> Term:
    while len(terms) > LONGEST_SUM:
        terms = [
            exp.Paren(this=_chained(terms[first : first + LONGEST_SUM], kind))
            for first in range(0, len(terms), LONGEST_SUM)
        ]
    found: Term = terms[0]
    for term in terms[1:]:
        found = kind(this=found, expression=term)
    return found


def times(factor: Any, term: Term) -> Term:
    """Return factor · term."""
    return exp.Mul(this=number(factor), expression=term)


def ratio(above: Term, below: Term) -> Term:
    """Return above / below, of doubles."""
    return exp.Div(this=above, expression=below, typed=True)


def less(term: Term, value: Any) -> Term:
    """Return (term − value), in brackets: first the difference, so that a large mean costs no digits.

    >>> less(exp.column("x"), -2.0).sql(), less(exp.column("x"), 0.0).sql()
    ('(x + 2.0e0)', 'x')
    """
    if value == 0:
        return term
    kind = exp.Add if value < 0 else exp.Sub
    return exp.Paren(this=kind(this=term, expression=number(abs(value))))


def ln(term: Term) -> Term:
    """Return the natural logarithm."""
    return exp.Ln(this=term)


def exponential(term: Callable[[], Term]) -> Term:
    """Return e^term, and 0 where that is too small for a number or where the term is NULL."""
    there = exp.GTE(this=term(), expression=number(LEAST_EXPONENT))
    return choose([(there, exp.Exp(this=term()))], double(0.0))


def squared(term: Term) -> Term:
    """Return the square of a long term, which is written once."""
    return exp.Pow(this=term, expression=exp.Literal.number("2"))


def choose(branches: Iterable[tuple[Term, Term]], otherwise: Term | None = None) -> Term:
    """Return CASE WHEN condition THEN term … ELSE otherwise END."""
    return exp.Case(ifs=[exp.If(this=when, true=then) for when, then in branches], default=otherwise)


def look_up(key: Term, found: Iterable[tuple[Term, Term]], otherwise: Term | None = None) -> Term:
    """Return CASE key WHEN value THEN term … ELSE otherwise END; a key that is NULL finds nothing."""
    ifs = [exp.If(this=value, true=then) for value, then in found]
    return exp.Case(this=key, ifs=ifs, default=otherwise) if ifs else (otherwise or exp.null())


def by_slot(slot: Term, terms: Iterable[Term], otherwise: Term | None = None) -> Term:
    """Return the term in the place that a slot says, as a double; ``otherwise``, or 0, where there is no slot.

    >>> by_slot(exp.column("c"), [log(-1.0), log(-np.inf)]).sql()
    'CASE c WHEN 0 THEN -1.0e0 WHEN 1 THEN NULL ELSE CAST(0.0e0 AS DOUBLE) END'
    """
    return look_up(slot, ((whole(place), term) for place, term in enumerate(terms)), otherwise or double(0.0))


def is_null(term: Term) -> Term:
    """Return whether a term is NULL."""
    return exp.Is(this=term, expression=exp.null())


def is_there(term: Term) -> Term:
    """Return whether a term is not NULL."""
    return exp.Not(this=is_null(term))
