"""Dates as their parts: a column of dates becomes columns of its year, month, weekday and hour."""

from collections.abc import Mapping, Sequence
from typing import Any

from suffice.data.engines.source import SourceError
from suffice.data.files.csv_group import identifier, literal

# The parts of a timestamp in SQL. Weekdays have names, because their numbers differ between programs.
PARTS = {"year": "year({0})", "month": "month({0})", "weekday": "dayname({0})", "hour": "hour({0})"}


def part_name(column: str, part: str) -> str:
    """Return the name of the column of a part of a date.

    >>> part_name("sold", "month")
    'sold_month'
    """
    return f"{column}_{part}"


def undo_parts(columns: Sequence[str], parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the columns of a file, given those of a model: dates instead of their parts.

    >>> undo_parts(["sold_year", "price"], {"sold": ["year"]})
    ('price', 'sold')
    """
    made = {part_name(name, part) for name, its in parts.items() for part in its}
    return (*(name for name in columns if name not in made), *parts)


def find_parts(connection: Any, query: str, types: Mapping[str, str], others: Sequence[str]) -> dict[str, list[str]]:
    """Return the parts of each column of dates in a query; dates without a time of day have no hour.

    ``others`` are columns that stay as they are, such as the target.
    """
    dates = [name for name, kind in types.items() if kind.startswith(("DATE", "TIMESTAMP")) and name not in others]
    if not dates:
        return {}
    times = (
        f"coalesce(bool_or({_timestamp(n, types[n])} <> date_trunc('day', {identifier(n)})), false)" for n in dates
    )
    has_times = connection.execute(f"SELECT {', '.join(times)} FROM ({query})").fetchone()
    parts = {
        name: [part for part in PARTS if part != "hour" or has] for name, has in zip(dates, has_times, strict=True)
    }
    for name in (part_name(date, part) for date, its in parts.items() for part in its):
        if name in types:
            raise SourceError(f"column {name!r} would be a part of a date, but there is one of this name: rename it")
    return parts


def select_parts(query: str, parts: Mapping[str, Sequence[str]], types: Mapping[str, str], keeps_dates: bool) -> str:
    """Return a query with columns of parts after all other columns, with or without the dates themselves."""
    there = {name: its for name, its in parts.items() if name in types}
    if not there:
        return query
    made = [
        f"{PARTS[part].format(_timestamp(name, types[name]))} AS {identifier(part_name(name, part))}"
        for name, its in there.items()
        for part in its
    ]
    without = "" if keeps_dates else f" EXCLUDE ({', '.join(map(identifier, there))})"
    return f"SELECT *{without}, {', '.join(made)} FROM ({query})"


def _timestamp(name: str, kind: str) -> str:
    """Return the SQL of a column as a timestamp; times with a zone are those of UTC."""
    zone = f" AT TIME ZONE {literal('UTC')}" if kind.endswith("TIME ZONE") else ""
    return f"TRY_CAST({identifier(name)}{zone} AS TIMESTAMP)"
