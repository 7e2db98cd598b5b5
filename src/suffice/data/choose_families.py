"""The family of each column of a table: the one that the user set, or one that the facts about the column suggest.

`choose_family` applies the first rule that holds:

| contents of the column | family |
|---|---|
| nothing | left out |
| dates, times, durations | left out |
| one value only | left out |
| booleans, or two values of any kind | bernoulli |
| strings of three words or more on average, most of them different | text |
| other strings, no two alike, in 20 rows or more | left out, as an identifier |
| other strings, categories | categorical |
| whole numbers, no more than 20 different ones, each in 5 rows or more on average | categorical |
| whole numbers, no two alike, in 100 rows or more | left out, as an identifier |
| other numbers | number: counted in cells, beside their moments |

The first batch of a stream (`partial_fit`) is not the whole table, so only dates are left out of it.
"""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from suffice.caller_warnings import warn_caller
from suffice.data import Sheet
from suffice.data.column_facts import MOST_CODED_NUMBERS, Facts, collect_facts
from suffice.data.column_names import quote_names
from suffice.families import FAMILIES
from suffice.schema import Array, Text

# The ways to cut a numeric column into bins, after it was counted in cells; "kernel" keeps and smooths the cells.
BINNED = ("quantiles", "mdl", "kernel")

# The setting of a column that may have any family. It is "auto", and of a number whose values are all positive the
# moments of the logarithms are counted, too, from which it may be exponential, gamma or log-normal.
ANY = "any"

# Whole numbers with few different values are levels if each has so many rows on average.
ROWS_A_LEVEL = 5
WORDS_OF_A_TEXT = 3
# If so many columns are left out for one reason, they are counted in the warning.
MANY_COLUMNS = 10
STRINGS_ALL_DIFFERENT, NUMBERS_ALL_DIFFERENT = 20, 100
DATE = "a date or time"  # the reason why a column is left out


def choose_families(
    sheet: Sheet, families: Any, weights: Array | None, complete: bool
) -> tuple[dict[Any, Any], dict[Any, str]]:
    """Return the family of each column, and for each column that is left out the reason. Warn of the latter."""
    settings = dict.fromkeys(sheet.names, "auto") | _check_settings(families, sheet)
    facts = collect_facts(sheet, [name for name, setting in settings.items() if setting in ("auto", ANY)], weights)
    found = {name: _choose(settings[name], own, complete) for name, own in facts.items()}
    chosen = settings | {name: family for name, (family, _) in found.items()}
    left_out = {name: reason for name, (family, reason) in found.items() if family == "ignore"}
    if all(family == "ignore" for family in chosen.values()):
        constant = _constant_columns(sheet, left_out)
        chosen |= constant
        left_out = {name: reason for name, reason in left_out.items() if name not in constant}
    _warn_left_out(left_out)
    levels = {name: own for name, own in facts.items() if chosen[name] == "categorical"}
    _warn_values([name for name, own in levels.items() if own.are_values])
    _warn_phrases([name for name, own in levels.items() if own.are_phrases])
    return chosen, {name: left_out.get(name, "as asked") for name, family in chosen.items() if family == "ignore"}


def choose_family(facts: Facts, complete: bool = True) -> tuple[str, str]:
    """Return the family of a column, or "ignore" with the reason.

    >>> choose_family(Facts("number", rows=1000, distinct=900))
    ('number', '')
    >>> choose_family(Facts("string", rows=1000, distinct=1000, words=1.0))
    ('ignore', 'no two alike, an identifier')
    """
    if facts.kind == "date":
        return "ignore", DATE
    if complete and facts.distinct == 0:
        return "ignore", "empty"
    if complete and facts.distinct == 1:
        return "ignore", "constant"
    if facts.kind == "boolean" or (facts.distinct == 2 and complete):
        return "bernoulli", ""
    if facts.kind == "number":
        return _family_of_whole_numbers(facts) if facts.whole and complete else ("number", "")
    if facts.words >= WORDS_OF_A_TEXT and facts.distinct > facts.rows / 2:
        return "text", ""
    if complete and facts.distinct == facts.rows >= STRINGS_ALL_DIFFERENT:
        return "ignore", "no two alike, an identifier"
    return "categorical", ""


def _family_of_whole_numbers(facts: Facts) -> tuple[str, str]:
    if facts.distinct <= MOST_CODED_NUMBERS and facts.rows >= ROWS_A_LEVEL * facts.distinct:
        return "categorical", ""
    if facts.distinct == facts.rows >= NUMBERS_ALL_DIFFERENT:
        return "ignore", "no two alike, an identifier"
    return "number", ""


def _choose(setting: str, facts: Facts, complete: bool) -> tuple[str, str]:
    """Return the family of a column that is "auto" or "any", or "ignore" with the reason."""
    family, reason = choose_family(facts, complete)
    return (ANY if setting == ANY and family == "number" else family), reason


def _constant_columns(sheet: Sheet, left_out: Mapping[Any, str]) -> dict[Any, str]:
    """Return families of constant columns: a table of nothing else still gives a model, which predicts the prior."""
    constant = [name for name, reason in left_out.items() if reason in ("constant", "empty")]
    if not constant:
        raise ValueError(f"there is no column to learn from: {_reasons(left_out) or 'all are set to ignore'}")
    return {name: "gaussian" if sheet.kind(name) == "number" else "categorical" for name in constant}


def _warn_left_out(left_out: Mapping[Any, str]) -> None:
    """Say which columns are left out, and how they can be learned."""
    if not left_out:
        return
    date = next((name for name, reason in left_out.items() if reason == DATE), None)
    advice = []
    if any(reason != DATE for reason in left_out.values()):
        advice.append("to learn such a column anyway, set its family: families={…}")
    if date is not None:
        advice.append(
            "TableFile(…, dates='parts') uses the year, month, weekday and hour of dates in a file; in a data "
            f"frame, add columns such as X[{date!r}].dt.month"
        )
    warn_caller(f"columns left out: {_reasons(left_out)}; {'; '.join(advice)}")


def _warn_values(names: Sequence[Any]) -> None:
    """Say which columns of levels may be numbers or dates that were not converted."""
    if names:
        warn_caller(
            f"columns of strings that look like numbers or dates are learned as levels: {quote_names(names)}; convert "
            "them, or pass the file to fit_table(…), which reads numbers such as '1.234,50 €'"
        )


def _warn_phrases(names: Sequence[Any]) -> None:
    """Say which columns of levels may be texts."""
    if names:
        warn_caller(
            f"columns of many different phrases are learned as levels: {quote_names(names)}; to learn the words of "
            f"one of them, set its family, as in families={{{names[0]!r}: 'text'}}"
        )


def _check_settings(families: Any, sheet: Sheet) -> dict[Any, Any]:
    """Return the setting of each column for which the user made one; raise if it is not a family."""
    if not isinstance(families, Mapping):
        families = dict.fromkeys(sheet.names, families)
    known = tuple(dict.fromkeys(("auto", ANY, "number", *BINNED, *FAMILIES, "ignore")))
    for name, family in families.items():
        if name not in sheet.places:
            near = _did_you_mean(name, sheet.names) or f"; there are {_few(sheet.names)}"
            raise ValueError(f"families={{…}} names column {name!r}, which is not there{near}")
        if not isinstance(family, Text) and family not in known and not _has_setting(family):
            near = _did_you_mean(family, known) or f"; families are {', '.join(known)} and Text(…)"
            raise ValueError(f"families={{…}} sets {family!r} for column {name!r}, which is not a family{near}")
    return dict(families)


def _did_you_mean(given: Any, names: Sequence[Any]) -> str:
    near = difflib.get_close_matches(str(given), [str(name) for name in names], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _has_setting(family: Any) -> bool:
    """Return whether a name is that of a family with a setting, such as "binomial(10)"; raise if that is wrong."""
    try:
        return bool(FAMILIES[family])
    except (KeyError, TypeError):
        return False


def _reasons(left_out: Mapping[Any, str]) -> str:
    """Return the reasons and the columns of each; only the first of many columns are listed."""
    by_reason: dict[str, list[Any]] = {}
    for name, reason in left_out.items():
        by_reason.setdefault(reason, []).append(name)
    if max(map(len, by_reason.values()), default=0) < MANY_COLUMNS:
        return ", ".join(f"{name!r} ({reason})" for name, reason in left_out.items())
    return "; ".join(f"{len(names):,} {reason} ({_few(tuple(names))})" for reason, names in by_reason.items())


def _few(names: tuple[Any, ...]) -> str:
    listed = ", ".join(repr(name) for name in names[:10])
    return listed + (", …" if len(names) > 10 else "")
