"""Names of columns: in messages, and of new columns that are added to a table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

Value = TypeVar("Value")


def column_name(name: Any) -> str:
    """Return the name of a column in a table: its own, or x0, x1, … for columns of an array.

    >>> column_name("age"), column_name(3)
    ('age', 'x3')
    """
    return name if isinstance(name, str) else f"x{name}"


def list_names(names: Sequence[str], most: int = 12) -> str:
    """Return names as text; only the first ``most`` of them are listed.

    >>> list_names(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def quote_names(names: Sequence[Any], most: int = 10) -> str:
    """Return names in quotes; only the first ``most`` of them are listed.

    >>> quote_names(["a", "b", "c"], most=2)
    "'a', 'b', …"
    """
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")


def frame_names(frame: Any) -> list[Any]:
    """Return the column names of a data frame of any library."""
    return list(frame.schema.names if hasattr(frame, "num_rows") else frame.columns)


def rename_taken(columns: Mapping[str, Value], taken: Iterable[Any], *, folds: bool = False) -> dict[str, Value]:
    """Return new columns under names that are not taken: _1, _2 and so on are appended where needed.

    If ``folds``, names that differ only in capitals are the same.

    >>> rename_taken({"prediction": "a", "p(a)": 0.5}, ["prediction", "P(A)", "prediction_1"])
    {'prediction_2': 'a', 'p(a)': 0.5}
    >>> rename_taken({"p(a)": 0.5, "p(A)": 0.5}, ["age"], folds=True)
    {'p(a)': 0.5, 'p(A)_1': 0.5}
    """

    def folded(name: Any) -> Any:
        return name.lower() if folds and isinstance(name, str) else name

    used = {folded(name) for name in taken}
    named = {}
    for name, value in columns.items():
        free, count = name, 0
        while folded(free) in used:
            count += 1
            free = f"{name}_{count}"
        used.add(folded(free))
        named[free] = value
    return named
