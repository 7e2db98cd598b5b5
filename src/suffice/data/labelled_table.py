"""Checks of a table to learn from: whether it has the columns of labels and weights, and what else is wrong with it."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from suffice.data.column_names import quote_names
from suffice.data.files.table_file import AS_NAMES, is_position


def check_table(names: Sequence[Any], target: str, weight: str | None, missing_target: str) -> str:
    """Return the target; raise an error if a column is missing or no column is left to learn from."""
    if missing_target not in ("error", "drop"):
        raise ValueError(f"missing_target is 'error' or 'drop', not {missing_target!r}")
    for name in (target, *([] if weight is None else [weight])):
        if name not in names:
            raise missing_column(name, names)
    if target == weight:
        raise ValueError(f"column {target!r} holds the labels, so it cannot hold the weights; name another column")
    if not set(names) - {target, weight}:
        raise ValueError(f"there is no column to learn from besides {target!r}")
    return target


def missing_column(name: Any, names: Sequence[Any]) -> ValueError:
    """Return the error for a column that a table does not have."""
    similar = get_close_matches(str(name), [str(each) for each in names], 1, 0.4)
    hint = f"did you mean {similar[0]!r}?" if similar else f"there are {quote_names(names, 20)}"
    return ValueError(f"there is no column {name!r}; {hint}{header_hint(names)}")


def header_hint(names: Sequence[Any]) -> str:
    """Return a hint for a header that was read as data; an empty text if columns have names."""
    is_headerless = all(isinstance(name, str) and is_position(name) for name in names)
    return f"; line 1 was read as data; if it names the columns, use {AS_NAMES}" if is_headerless else ""


def missing_labels_error(target: str, missing: int, rows: int, first: int | None = None) -> ValueError:
    """Return the error for rows without a label."""
    if missing == rows:
        return ValueError(f"column {target!r}, the target, is empty in all {rows} rows")
    place = "" if first is None else f", the first of them {first}"
    return ValueError(
        f"column {target!r}, the target, is empty in {missing} of {rows} rows{place}; fill them in, or leave those "
        "rows out: missing_target='drop'"
    )
