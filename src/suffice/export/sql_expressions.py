"""SQL expressions, written like formulas.

Two conventions make sums correct. A log probability of −∞ is NULL, because NULL plus anything is NULL. A missing cell
contributes 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sqlglot import exp, parse_one

from suffice.export.dialects import Dialect

# A long sum is a sum of sums of so many terms, because parsers limit how deep an expression may nest. A function has at
# most so many arguments: SQLite allows 127, in older versions 100.
MAX_TERMS = 40

# exp(x) is negligible below this x. PostgreSQL raises an underflow error soon after.
MIN_EXPONENT = -700.0

# Added to a number before it is squared in PostgreSQL, where an underflow is an error: its square is still a double.
TINY = 1e-150

_SUM, _PRODUCT = (exp.Add, exp.Sub), (exp.Add, exp.Sub, exp.Mul, exp.Div)


class Expression:
    """An SQL expression. Arithmetic and comparisons with expressions and numbers give new expressions.

    >>> x = column("x")
    >>> 2.0 * (x - 1.5) * -x
    2.0e0 * ("x" - 1.5e0) * -"x"
    """

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class

    def __init__(self, node: exp.Expression) -> None:
        self._node = node

    @property
    def node(self) -> exp.Expression:
        """The syntax tree; a copy of it if it is already part of another expression."""
        return self._node if self._node.parent is None else self._node.copy()

    def __add__(self, other: Operand) -> Expression:
        if isinstance(other, Expression):
            return Expression(exp.Add(this=self.node, expression=other.node))
        if other == 0:
            return self
        kind = exp.Sub if other < 0 else exp.Add
        return Expression(kind(this=self.node, expression=number(abs(other)).node))

    def __radd__(self, other: float) -> Expression:
        return number(other) + self

    def __sub__(self, other: Operand) -> Expression:
        if not isinstance(other, Expression):
            return self + -other
        return Expression(exp.Sub(this=self.node, expression=_enclosed(other, _SUM)))

    def __rsub__(self, other: float) -> Expression:
        return number(other) - self

    def __mul__(self, other: Operand) -> Expression:
        return Expression(exp.Mul(this=_enclosed(self, _SUM), expression=_enclosed(other, _SUM)))

    def __rmul__(self, other: float) -> Expression:
        return number(other) * self

    def __truediv__(self, other: Operand) -> Expression:
        return Expression(exp.Div(this=_enclosed(self, _SUM), expression=_enclosed(other, _PRODUCT), typed=True))

    def __rtruediv__(self, other: float) -> Expression:
        return number(other) / self

    def __neg__(self) -> Expression:
        return Expression(exp.Neg(this=_enclosed(self, _SUM)))

    def __abs__(self) -> Expression:
        return Expression(exp.Abs(this=self.node))

    def __lt__(self, other: Operand) -> Expression:
        return self._compare(exp.LT, other)

    def __le__(self, other: Operand) -> Expression:
        return self._compare(exp.LTE, other)

    def __gt__(self, other: Operand) -> Expression:
        return self._compare(exp.GT, other)

    def __ge__(self, other: Operand) -> Expression:
        return self._compare(exp.GTE, other)

    def equals(self, other: Operand) -> Expression:
        """Return the condition self = other."""
        return self._compare(exp.EQ, other)

    def is_null(self) -> Expression:
        """Return the condition that this is NULL."""
        return Expression(exp.Is(this=self.node, expression=exp.null()))

    def is_not_null(self) -> Expression:
        """Return the condition that this is not NULL."""
        return Expression(exp.Not(this=self.is_null().node))

    def if_null(self, value: Operand) -> Expression:
        """Return this, or a value where this is NULL."""
        return Expression(exp.Coalesce(this=self.node, expressions=[as_expression(value).node]))

    def null_if(self, value: float) -> Expression:
        """Return this, or NULL where this is equal to a value."""
        return Expression(exp.Nullif(this=self.node, expression=number(value).node))

    def cast(self, kind: str) -> Expression:
        """Return this cast to a type."""
        return Expression(exp.Cast(this=self.node, to=exp.DataType.build(kind)))

    def _compare(self, kind: type[exp.Binary], other: Operand) -> Expression:
        return Expression(kind(this=self.node, expression=as_expression(other).node))

    def __repr__(self) -> str:
        return self._node.sql()


Operand = Expression | float


def as_expression(value: Operand) -> Expression:
    """Return an expression as it is, and a number as a literal."""
    return value if isinstance(value, Expression) else number(value)


def _enclosed(value: Operand, kinds: tuple[type[exp.Expression], ...]) -> exp.Expression:
    """Return the node of an operand, in parentheses if it is one of some kinds."""
    node = as_expression(value).node
    return exp.Paren(this=node) if isinstance(node, kinds) else node


def column(name: str, table: str | None = None) -> Expression:
    """Return a reference to a computed column."""
    return Expression(exp.column(name, table=table, quoted=True))


def fill(text: str, parts: dict[str, Expression]) -> Expression:
    """Return SQL that this package wrote, with expressions in place of the names of columns.

    >>> fill("COALESCE(x_, 0)", {"x_": column("x") + 1.0})
    COALESCE(("x" + 1.0e0), 0)
    """
    root = exp.Paren(this=parse_one(text, read="duckdb"))  # so that the text may be a name, which is replaced
    for each in list(root.find_all(exp.Column)):
        if each.name in parts:
            each.replace(_enclosed(parts[each.name], (exp.Binary, exp.Unary)))
    return Expression(root.this.pop())


def number(value: Any) -> Expression:
    """Return a float literal with all digits, in a form that every dialect reads as a double; −∞ is NULL.

    >>> [number(value) for value in (0.1, -3.0, 1e-300, -np.inf)]
    [0.1e0, -3.0e0, 1e-300, NULL]
    """
    if value == -np.inf:
        return Expression(exp.null())
    digits = repr(abs(float(value)))
    return _signed(digits if "e" in digits else f"{digits}e0", value)


def integer(value: int) -> Expression:
    """Return an integer literal."""
    return _signed(str(abs(value)), value)


def _signed(digits: str, value: float) -> Expression:
    literal = exp.Literal.number(digits)
    return Expression(exp.Neg(this=literal) if value < 0 else literal)


def double(value: float) -> Expression:
    """Return a number with an explicit cast, which makes the sum or the CASE that contains it a double.

    >>> double(0.0)
    CAST(0.0e0 AS DOUBLE)
    """
    return number(value).cast("double")


def add(terms: Iterable[Expression]) -> Expression:
    """Return the sum of expressions, in groups of at most `MAX_TERMS`.

    >>> add([number(1), column("x")])
    1.0e0 + "x"
    """
    return _chain(list(terms), exp.Add)


def multiply(factors: Iterable[Expression]) -> Expression:
    """Return the product of expressions, in groups of at most `MAX_TERMS`."""
    return _chain([Expression(_enclosed(factor, _SUM)) for factor in factors], exp.Mul)


def _chain(terms: list[Expression], kind: type[exp.Binary]) -> Expression:
    while len(terms) > MAX_TERMS:
        terms = [Expression(exp.Paren(this=_chain(group, kind).node)) for group in _split(terms)]
    chained = terms[0].node
    for term in terms[1:]:
        chained = kind(this=chained, expression=term.node)
    return Expression(chained)


def ln(expression: Expression) -> Expression:
    """Return the natural logarithm."""
    return Expression(exp.Ln(this=expression.node))


def exponential(exponent: Expression) -> Expression:
    """Return e^exponent, and 0 where the exponent is NULL or less than `MIN_EXPONENT`."""
    return case_when([(exponent >= MIN_EXPONENT, Expression(exp.Exp(this=exponent.node)))], double(0.0))


def square(expression: Expression, dialect: Dialect) -> Expression:
    """Return the square of an expression of magnitude about 1, which is written once."""
    if dialect.underflow_is_error:
        expression = abs(expression) + TINY
    return Expression(exp.Pow(this=expression.node, expression=integer(2).node))


def greatest(terms: Iterable[Expression], dialect: Dialect) -> Expression:
    """Return the greatest of expressions, none of which is NULL."""
    # by name: sqlglot's own node differs between its versions and may guard every argument against NULL
    function, left = "MAX" if dialect.name == "sqlite" else "GREATEST", list(terms)
    while len(left) > 1:
        calls = [exp.Anonymous(this=function, expressions=[term.node for term in group]) for group in _split(left)]
        left = [Expression(call if len(call.expressions) > 1 else call.expressions[0]) for call in calls]
    return left[0]


def _split(terms: list[Expression]) -> list[list[Expression]]:
    return [terms[first : first + MAX_TERMS] for first in range(0, len(terms), MAX_TERMS)]


def case_when(
    branches: Iterable[tuple[Expression, Operand]], otherwise: Operand | None = None, *, key: Expression | None = None
) -> Expression:
    """Return CASE WHEN condition THEN result … ELSE otherwise END.

    With a key, it is CASE key WHEN value THEN result … END; a NULL key matches no value.
    """
    ifs = [exp.If(this=when.node, true=as_expression(then).node) for when, then in branches]
    default = None if otherwise is None else as_expression(otherwise).node
    if not ifs:
        return Expression(default or exp.null())
    return Expression(exp.Case(this=None if key is None else key.node, ifs=ifs, default=default))


def select_by_code(code: Expression, results: Iterable[Operand], otherwise: Operand | None = None) -> Expression:
    """Return results[code] as a double; ``otherwise``, by default 0, where the code is NULL.

    >>> select_by_code(column("c"), [-1.0, -np.inf])
    CASE "c" WHEN 0 THEN -1.0e0 WHEN 1 THEN NULL ELSE CAST(0.0e0 AS DOUBLE) END
    """
    branches = [(integer(place), result) for place, result in enumerate(results)]
    return case_when(branches, double(0.0) if otherwise is None else otherwise, key=code)
