"""Names of columns: as they are said, and of what is computed beside a table, whose own columns keep theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

Value = TypeVar("Value")


def column_name(name: Any) -> str:
    """Return the name that a column has in a table: its own, or x0, x1, … where it has none.

    >>> column_name("age"), column_name(3)
    ('age', 'x3')
    """
    return name if isinstance(name, str) else f"x{name}"


def few(names: Sequence[str], most: int = 12) -> str:
    """Return names one after another, of many the first.

    >>> few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def quote_names(names: Sequence[Any], most: int = 10) -> str:
    """Return names in quotes, at most so many of them.

    >>> quote_names(["a", "b", "c"], most=2)
    "'a', 'b', …"
    """
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")


def names_of(frame: Any) -> list[Any]:
    """Return the names of a frame's columns, of any make."""
    return list(frame.schema.names if hasattr(frame, "num_rows") else frame.columns)


def renamed(found: Mapping[str, Value], taken: Iterable[Any], *, folds: bool = False) -> dict[str, Value]:
    """Return what was found under names that are free: with _1, or _2, and so on, where a column has the name.

    ``folds`` says whether names that differ in capitals alone are the same.

    >>> renamed({"prediction": "a", "p(a)": 0.5}, ["prediction", "P(A)", "prediction_1"])
    {'prediction_2': 'a', 'p(a)': 0.5}
    >>> renamed({"p(a)": 0.5, "p(A)": 0.5}, ["age"], folds=True)
    {'p(a)': 0.5, 'p(A)_1': 0.5}
    """

    def folded(name: Any) -> Any:
        return name.lower() if folds and isinstance(name, str) else name

    met = {folded(name) for name in taken}
    named = {}
    for name, value in found.items():
        free, count = name, 0
        while folded(free) in met:
            count += 1
            free = f"{name}_{count}"
        met.add(folded(free))
        named[free] = value
    return named
