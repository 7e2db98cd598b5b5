"""Checks of single values in a model file. A check returns nothing, or raises an error with what is wrong."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from math import isfinite, isnan
from typing import Any

import numpy as np

Check = Callable[[Any], None]


class InvalidError(ValueError):
    """Raised if a value in a model file cannot be part of a model; the message says what is wrong."""


def require(holds: Any, problem: str) -> None:
    """Raise `InvalidError` with the problem unless the condition holds."""
    if not holds:
        raise InvalidError(problem)


def anything(value: Any) -> None:
    """Accept every value: it is checked where it is used."""


def flag(value: Any) -> None:
    """Accept True and False."""
    require(type(value) is bool, "is not true or false")


def text(value: Any) -> None:
    """Accept a string."""
    require(type(value) is str, "is not a text")


def label(value: Any) -> None:
    """Accept the label of a class or a level: a string, a truth value or a finite number."""
    is_number = type(value) in (int, float) and _is_finite(value)
    require(type(value) in (str, bool) or is_number, "is not a text or a finite number")


def column_name(value: Any) -> None:
    """Accept the name of a column: a label, or a tuple of labels, as those of trees and of several levels are."""
    for part in value if type(value) is tuple else (value,):
        label(part)


def choice(*options: Any) -> Check:
    """Return the check that a value is one of some strings, or None if that is an option."""

    def check(value: Any) -> None:
        require((value is None or type(value) is str) and value in options, f"is not one of {options}")

    return check


def number(low: float = -np.inf, high: float = np.inf, *, infinite: bool = False) -> Check:
    """Return the check that a value is a number in a range; it must be finite unless ``infinite``."""

    def check(value: Any) -> None:
        require(type(value) in (int, float), "is not a number")
        require(not isnan(value) if infinite else _is_finite(value), "is not finite")
        require(low <= value <= high, f"is not between {low:g} and {high:g}")

    return check


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer beyond all doubles
        return False


def whole(low: int, high: int) -> Check:
    """Return the check that a value is an integer in a range."""

    def check(value: Any) -> None:
        require(type(value) is int and low <= value <= high, f"is not a whole number from {low} to {high}")

    return check


def optional(check: Check) -> Check:
    """Return the check that a value is None or passes another check."""
    return lambda value: None if value is None else check(value)


def either(*checks: Check) -> Check:
    """Return the check that a value passes one of several checks."""

    def passes(check: Check, value: Any) -> bool:
        try:
            check(value)
        except InvalidError:
            return False
        return True

    return lambda value: require(any(passes(check, value) for check in checks), "is of a wrong kind")


def instance(*kinds: type) -> Check:
    """Return the check that a value is an object of one of some classes."""
    names = " or ".join(kind.__name__ for kind in kinds)
    return lambda value: require(isinstance(value, kinds), f"is not {names}")


def sequence(check: Check, *kinds: type) -> Check:
    """Return the check that a value is a tuple, or of another kind if given, whose items pass a check."""

    def check_items(value: Any) -> None:
        require(type(value) in (kinds or (tuple,)), "is not a sequence")
        for item in value:
            check(item)

    return check_items


def mapping(check_key: Check, check_value: Check) -> Check:
    """Return the check that a value is a dict whose keys and values pass checks."""

    def check(value: Any) -> None:
        require(type(value) is dict, "is not a dict")
        for key, item in value.items():
            check_key(key)
            check_value(item)

    return check


def doubles(
    *dimensions: int, low: float = -np.inf, high: float = np.inf, infinite: bool = False, single: bool = False
) -> Check:
    """Return the check that a value is an array of doubles in a range, of one of some numbers of dimensions.

    If ``single``, numbers may be in single precision, too.
    """

    def check(value: Any) -> None:
        kinds = (np.float64, np.float32) if single else (np.float64,)
        require(isinstance(value, np.ndarray) and value.dtype in kinds, "is not an array of doubles")
        require(value.ndim in dimensions, f"has {value.ndim} dimensions")
        require(
            not np.isnan(value).any() if infinite else np.isfinite(value).all(), "holds numbers that are not finite"
        )
        require((value >= low).all() and (value <= high).all(), f"holds numbers not between {low:g} and {high:g}")

    return check


def integers(value: Any) -> None:
    """Accept a one-dimensional array of signed integers."""
    require(isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.ndim == 1, "is not a list of integers")


def class_labels(value: Any) -> None:
    """Accept labels of classes: a one-dimensional array, sorted, without repetition, all text or all numbers."""
    is_list = isinstance(value, np.ndarray) and value.ndim == 1
    require(is_list and value.dtype.kind in "biufOU", "is not a list of labels")
    items = value.tolist()
    for item in items if value.dtype.kind in "Of" else ():
        label(item)
    unique_labels(items)
    require(all(a < b for a, b in pairwise(items)), "is not sorted")


def unique_labels(value: Iterable[Any]) -> None:
    """Accept labels that differ from each other, all of one kind: text, numbers, or tuples of both."""
    items = list(value)
    require(len(set(items)) == len(items), "holds a label twice")
    kinds = {"text" if type(item) is str else "tuple" if type(item) is tuple else "number" for item in items}
    require(len(kinds) <= 1, "mixes text and numbers")
