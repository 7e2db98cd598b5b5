"""SQL expressions: the few building blocks that scores and probabilities are written with.

Two conventions make sums correct. A log probability of −∞ is NULL, because NULL plus anything is NULL. An empty cell
contributes 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sqlglot import exp

from suffice.export.dialects import Dialect

Expression = exp.Expression

# Parsers limit how deep an expression may nest, so a long sum is written as a sum of sums.
MAX_CHAIN = 40

# SQLite accepts at most 127 arguments of a function, older versions 100.
MAX_ARGUMENTS = 40

# exp(x) is negligible below this x. PostgreSQL raises an underflow error soon after.
MIN_EXPONENT = -700.0

# Added to a number before it is squared in PostgreSQL, where an underflow is an error: its square is still a double.
TINY = 1e-150


def column(name: str) -> Expression:
    """Return a reference to a computed column."""
    return exp.column(name, quoted=True)


def number(value: Any) -> Expression:
    """Return a float literal with all digits, in a form that every dialect reads as a double.

    >>> [number(value).sql() for value in (0.1, -3.0, 1e-300)]
    ['0.1e0', '-3.0e0', '1e-300']
    """
    digits = repr(abs(float(value)))
    literal = exp.Literal.number(digits if "e" in digits else f"{digits}e0")
    return exp.Neg(this=literal) if value < 0 else literal


def integer(value: int) -> Expression:
    """Return an integer literal."""
    literal = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def cast_double(expression: Expression) -> Expression:
    """Return an expression cast to double precision."""
    return exp.Cast(this=expression, to=exp.DataType.build("double"))


def double(value: Any) -> Expression:
    """Return a float literal with an explicit cast, which makes the sum or the CASE that contains it a double.

    >>> double(0.0).sql("postgres")
    'CAST(0.0e0 AS DOUBLE PRECISION)'
    """
    return cast_double(number(value))


def log_probability(value: Any) -> Expression:
    """Return a log probability as a literal; −∞ is NULL.

    >>> log_probability(-np.inf).sql(), log_probability(np.log(0.5)).sql()
    ('NULL', '-0.6931471805599453e0')
    """
    return exp.null() if value == -np.inf else number(value)


def add(terms: Iterable[Expression]) -> Expression:
    """Return the sum of expressions, nested in groups of at most `MAX_CHAIN`.

    >>> add([number(1), number(2)]).sql()
    '1.0e0 + 2.0e0'
    """
    return _chain(list(terms), exp.Add)


def multiply(factors: Iterable[Expression]) -> Expression:
    """Return the product of expressions; a factor that is a sum must be in parentheses."""
    return _chain(list(factors), exp.Mul)


def _chain(terms: list[Expression], kind: type[exp.Binary]) -> Expression:
    while len(terms) > MAX_CHAIN:
        groups = [terms[first : first + MAX_CHAIN] for first in range(0, len(terms), MAX_CHAIN)]
        terms = [exp.Paren(this=_chain(group, kind)) for group in groups]
    chained = terms[0]
    for term in terms[1:]:
        chained = kind(this=chained, expression=term)
    return chained


def subtract(left: Expression, right: Expression) -> Expression:
    """Return left − right."""
    return exp.Sub(this=left, expression=right)


def divide(left: Expression, right: Expression) -> Expression:
    """Return left / right of two doubles."""
    return exp.Div(this=left, expression=right, typed=True)


def shift(expression: Expression, origin: Any) -> Expression:
    """Return (expression − origin) in parentheses.

    >>> shift(column("x"), -2.0).sql(), shift(column("x"), 0.0).sql()
    ('("x" + 2.0e0)', '"x"')
    """
    if origin == 0:
        return expression
    kind = exp.Add if origin < 0 else exp.Sub
    return exp.Paren(this=kind(this=expression, expression=number(abs(origin))))


def ln(expression: Expression) -> Expression:
    """Return the natural logarithm."""
    return exp.Ln(this=expression)


def exponential(expression: Expression) -> Expression:
    """Return e^expression, and 0 where the exponent is NULL or less than `MIN_EXPONENT`."""
    condition = exp.GTE(this=expression.copy(), expression=number(MIN_EXPONENT))
    return searched_case([(condition, exp.Exp(this=expression))], double(0.0))


def square(expression: Expression, dialect: Dialect) -> Expression:
    """Return the square of an expression of magnitude about 1, which is written once."""
    if dialect.underflow_is_error:
        expression = exp.Add(this=exp.Abs(this=expression), expression=number(TINY))
    return exp.Pow(this=expression, expression=exp.Literal.number("2"))


def greatest(terms: Iterable[Expression], dialect: Dialect) -> Expression:
    """Return the greatest of expressions, none of which is NULL."""
    # by name: sqlglot's own node differs between its versions and may guard every argument against NULL
    function, left = "MAX" if dialect.name == "sqlite" else "GREATEST", list(terms)
    while len(left) > 1:
        groups = [left[first : first + MAX_ARGUMENTS] for first in range(0, len(left), MAX_ARGUMENTS)]
        left = [group[0] if len(group) == 1 else exp.Anonymous(this=function, expressions=group) for group in groups]
    return left[0]


def is_null(expression: Expression) -> Expression:
    """Return the condition that an expression is NULL."""
    return exp.Is(this=expression, expression=exp.null())


def is_not_null(expression: Expression) -> Expression:
    """Return the condition that an expression is not NULL."""
    return exp.Not(this=is_null(expression))


def zero_if_null(expression: Expression) -> Expression:
    """Return a double, or 0 where it is NULL."""
    return exp.Coalesce(this=expression, expressions=[number(0.0)])


def searched_case(branches: Iterable[tuple[Expression, Expression]], otherwise: Expression | None = None) -> Expression:
    """Return CASE WHEN condition THEN result … ELSE otherwise END."""
    return exp.Case(ifs=[exp.If(this=when, true=then) for when, then in branches], default=otherwise)


def simple_case(
    key: Expression, branches: Iterable[tuple[Expression, Expression]], otherwise: Expression | None = None
) -> Expression:
    """Return CASE key WHEN value THEN result … ELSE otherwise END; a NULL key matches no value."""
    ifs = [exp.If(this=value, true=then) for value, then in branches]
    return exp.Case(this=key, ifs=ifs, default=otherwise) if ifs else (otherwise or exp.null())


def select_by_code(code: Expression, results: Iterable[Expression], otherwise: Expression | None = None) -> Expression:
    """Return results[code] as a double; ``otherwise``, by default 0, where the code is NULL.

    >>> select_by_code(column("c"), [log_probability(-1.0), log_probability(-np.inf)]).sql()
    'CASE "c" WHEN 0 THEN -1.0e0 WHEN 1 THEN NULL ELSE CAST(0.0e0 AS DOUBLE) END'
    """
    branches = ((integer(code), result) for code, result in enumerate(results))
    return simple_case(code, branches, otherwise or double(0.0))
