"""Dates that are not ISO dates: 31.12.2026 and 31/12/2026, with the day first, and 12/31/2026, with the month first."""

from typing import Literal

Order = Literal["day", "month"]

# A cell that looks like a date, in any order.
DATE = r"^\s*(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2})([T ].*)?\s*$"

# The types of columns of such dates.
ORDERS: dict[str, Order] = {"DAY FIRST": "day", "MONTH FIRST": "month"}

# The month is never first between dots.
SEPARATORS: dict[Order, str] = {"day": "./-", "month": "/-"}
TIMES = ("", " %H:%M", " %H:%M:%S")


def date_value(order: Order) -> str:
    """Return the SQL of a cell, {0}, as a timestamp; NULL if it is not a date. ISO dates are read as well.

    A year of two digits is not read, because 12.11.10 may be any of three orders.
    """
    return f"coalesce({_parse(order)}, TRY_CAST({{0}} AS TIMESTAMP))"


def date_test(order: Order) -> str:
    """Return the SQL of whether a cell, {0}, is a date in this order."""
    # one character is looked at first, because other tests are slow
    return f"CASE WHEN ascii(ltrim({{0}})) BETWEEN 48 AND 57 THEN {_parse(order)} IS NOT NULL END"


def _parse(order: Order) -> str:
    first, second = ("%d", "%m") if order == "day" else ("%m", "%d")
    formats = [f"'{first}{mark}{second}{mark}%Y{time}'" for mark in SEPARATORS[order] for time in TIMES]
    has_year = "regexp_matches({0}, '^\\s*\\d+\\D\\d+\\D\\d{{4}}(\\D|$)')"
    return f"CASE WHEN {has_year} THEN try_strptime(trim({{0}}), [{', '.join(formats)}]) END"
