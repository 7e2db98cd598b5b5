"""The plan: what is counted of each column of a table. Labels are not used.

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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.caller_warnings import warn_caller
from suffice.data import Sheet, SparseSheet, Target
from suffice.data.cells import count_cells, fit_cells_of_columns
from suffice.data.column_names import quote_names
from suffice.families import FAMILIES
from suffice.schema import Array, Coding, Columns, Cuts, Features, Levels, Text, Words

# The ways to cut a numeric column into bins, after it was counted in cells; "kernel" keeps and smooths the cells.
BINNED = ("quantiles", "mdl", "kernel")

# The setting of a column that may have any family. It is "auto", and of a number whose values are all positive the
# moments of the logarithms are counted, too, from which it may be exponential, gamma or log-normal.
ANY = "any"

MOST_CODED_NUMBERS, ROWS_A_LEVEL = 20, 5
WORDS_OF_A_TEXT = 3
# A column of levels with more than so many different phrases may be one of texts.
WORDS_OF_A_PHRASE, MANY_PHRASES = 2, 50
# If so many columns are left out for one reason, they are counted in the warning.
MANY_COLUMNS = 10
STRINGS_ALL_DIFFERENT, NUMBERS_ALL_DIFFERENT = 20, 100
DATE = "a date or time"  # the reason why a column is left out

# The moments of greater numbers are not counted, because their squares overflow.
MOST_SQUARED = 1e150

# The first look at a column of numbers is at about so many rows.
ROWS_EXAMINED = 1000

# Cells are chosen from at most this many rows, drawn with a fixed seed.
SAMPLE = 100_000


@dataclass(frozen=True)
class Facts:
    """The facts about a column on which the choice of its family depends.

    Attributes
    ----------
    kind : {"number", "boolean", "string", "category", "date", "empty"}
        The type of the values.
    rows : int
        The number of cells that are not missing.
    distinct : int
        The number of different values.
    whole : bool
        Whether all numbers are whole.
    words : float
        The mean number of words of a string.
    """

    kind: str
    rows: int
    distinct: int
    whole: bool = False
    words: float = 0.0

    @property
    def are_phrases(self) -> bool:
        """Whether the strings have several words, and are many."""
        is_many = self.distinct > max(MANY_PHRASES, self.rows / 10)
        return self.kind == "string" and is_many and self.words >= WORDS_OF_A_PHRASE


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


def plan_columns(sheet: Sheet, target: Target, families: Any, complete: bool) -> tuple[tuple[Columns, ...], Features]:
    """Return the blocks of a sheet's columns, and which columns are left out for which reason."""
    if isinstance(sheet, SparseSheet):
        return (_of_sparse(sheet, families, complete),), Features(sheet.names)
    asked = _asked(families, sheet)
    weights = target.weights
    chosen: dict[Any, Any] = {}
    left_out: dict[Any, str] = {}
    facts = collect_facts(sheet, _open_columns(sheet, asked), weights)
    for name in sheet.names:
        chosen[name] = asked.get(name, "auto")
        if chosen[name] in ("auto", ANY):
            chosen[name], reason = _choose(chosen[name], facts[name], complete)
            if chosen[name] == "ignore":
                left_out[name] = reason
    if all(family == "ignore" for family in chosen.values()):
        # a table of constants still gives a model, which predicts the class priors
        constant = [name for name, reason in left_out.items() if reason in ("constant", "empty")]
        if not constant:
            raise ValueError(f"there is no column to learn from: {_reasons(left_out) or 'all are set to ignore'}")
        chosen |= {name: "gaussian" if sheet.kind(name) == "number" else "categorical" for name in constant}
        left_out = {name: reason for name, reason in left_out.items() if name not in constant}
    if left_out:
        reasons = set(left_out.values())
        advice = ["to learn such a column anyway, set its family: families={…}"] if reasons - {DATE} else []
        if DATE in reasons:
            date = next(name for name, reason in left_out.items() if reason == DATE)
            advice.append(
                "TableFile(…, dates='parts') uses the year, month, weekday and hour of dates in a file; in a data "
                f"frame, add columns such as X[{date!r}].dt.month"
            )
        warn_caller(f"columns left out: {_reasons(left_out)}; {'; '.join(advice)}")
    _note_phrases([name for name, own in facts.items() if chosen[name] == "categorical" and own.are_phrases])
    ignored = {name: left_out.get(name, "as asked") for name, family in chosen.items() if family == "ignore"}
    most_cells = count_cells(sheet.shape[1], len(target.classes))
    return _blocks(sheet, weights, chosen, most_cells), Features(sheet.names, tuple(ignored.items()))


def _note_phrases(names: Sequence[Any]) -> None:
    """Say which columns of levels may be texts."""
    if names:
        warn_caller(
            f"columns of many different phrases are learned as levels: {quote_names(names)}; to learn their words, set "
            f"the family text, such as families={{{names[0]!r}: 'text'}}"
        )


def _choose(setting: str, facts: Facts, complete: bool) -> tuple[str, str]:
    """Return the family of a column that is "auto" or "any", or "ignore" with the reason."""
    family, reason = choose_family(facts, complete)
    return (ANY if setting == ANY and family == "number" else family), reason


def _open_columns(sheet: Sheet, asked: Mapping[Any, Any]) -> list[Any]:
    """Return the columns whose family is to be chosen."""
    return [name for name in sheet.names if asked.get(name, "auto") in ("auto", ANY)]


def _of_sparse(sheet: SparseSheet, families: Any, complete: bool) -> Columns:
    """Return a sparse matrix as one block, bernoulli if it is complete and all stored values are 1, or multinomial."""
    if families in ("auto", ANY):
        stored = sheet.block.matrix.data
        bits = stored.dtype == bool or (complete and bool(np.all(stored == 1)))
        families = "bernoulli" if bits else "multinomial"
    sparse = [name for name, family in FAMILIES.items() if family.accepts_sparse]
    if families not in FAMILIES or not FAMILIES[families].accepts_sparse:
        raise ValueError(
            f"a sparse matrix has one family, {', '.join(sparse[:-1])} or {sparse[-1]}, not {families!r}; for "
            "other families make it dense (X.toarray())"
        )
    return replace(FAMILIES[families].sparse_columns(sheet.names), family=_block_name(families))


def collect_facts(sheet: Sheet, names: Sequence[Any], weights: Array | None) -> dict[Any, Facts]:
    """Return the facts about some columns; a row of weight 2 counts as two rows."""
    kinds = {name: sheet.kind(name) for name in names}
    found = {name: Facts(kind, 0, 0) for name, kind in kinds.items() if kind in ("date", "empty")}
    levels = [name for name, kind in kinds.items() if name not in found and kind not in ("number", "boolean")]
    for own, labels, codes in sheet.code_columns(levels, last=False):
        for name, its_labels, its_codes in zip(own, labels, codes, strict=True):
            found[name] = _facts_of_levels(kinds[name], its_labels, its_codes, weights)
    for own, values in sheet.stack_numbers([name for name in names if name not in found]):
        facts = _facts_of_few_rows([kinds[name] for name in own], values, weights) if len(own) > 1 else None
        if facts is None:
            facts = [_facts_of_numbers(kinds[name], column, weights) for name, column in zip(own, values, strict=True)]
        found |= zip(own, facts, strict=True)
    return {name: found[name] for name in names}


def _facts_of_levels(kind: str, labels: list[Any], codes: Array, weights: Array | None) -> Facts:
    there = codes >= 0 if weights is None else (codes >= 0) & (weights > 0)
    distinct = len(labels) if weights is None else len(np.unique(codes[there]))
    few = labels[:1000]
    words = sum(len(label.split()) for label in few if isinstance(label, str)) / max(len(few), 1)
    return Facts(kind, _rows(there, weights), distinct, False, words)


def _facts_of_few_rows(kinds: list[str], values: Array, weights: Array | None) -> list[Facts] | None:
    """Return the facts about columns of numbers, [column, row], all at once; None if there are many rows."""
    if values.shape[1] >= 2 * ROWS_EXAMINED or (weights is not None and not (weights > 0).all()):
        return None
    ordered = np.sort(values.view(np.uint8) if values.dtype == bool else values, axis=1)
    rows = np.full(len(ordered), ordered.shape[1])
    whole = np.ones(len(ordered), bool)
    is_new = ordered[:, 1:] != ordered[:, :-1]
    weight = rows if weights is None else np.full(len(ordered), np.ceil(weights.sum()))
    if ordered.dtype.kind == "f":
        is_empty = np.isnan(ordered)  # the last ones
        rows, is_new = rows - is_empty.sum(axis=1), is_new & ~is_empty[:, 1:]
        whole = (((ordered == np.floor(ordered)) & (np.abs(ordered) < 2**53)) | is_empty).all(axis=1)
        weight = rows if weights is None else np.ceil((~np.isnan(values) * weights).sum(axis=1))
    lines = zip(kinds, rows.tolist(), weight.tolist(), is_new.sum(axis=1).tolist(), whole.tolist(), strict=True)
    return [
        Facts(kind, int(w), new + 1, is_whole) if held else Facts("empty", 0, 0)
        for kind, held, w, new, is_whole in lines
    ]


def _rows(there: Array, weights: Array | None) -> int:
    return int(there.sum() if weights is None else np.ceil(weights[there].sum()))


def _facts_of_numbers(kind: str, values: Array, weights: Array | None) -> Facts:
    held = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
    there = values if held.all() else values[held]
    if not len(there):
        return Facts("empty", 0, 0)
    # if a thousand rows already hold many distinct numbers, the other rows need not be examined
    sample = there[:: max(len(there) // ROWS_EXAMINED, 1)]
    distinct, whole = len(np.unique(sample)), _whole(sample)
    if distinct <= MOST_CODED_NUMBERS or (whole and distinct == len(sample)):
        distinct, whole = len(np.unique(there)), _whole(there)
    return Facts(kind, _rows(held, weights), distinct, whole)


def _whole(values: Array) -> bool:
    """Return whether all numbers are whole; numbers beyond 2⁵³ do not count as whole, because all doubles there are."""
    return values.dtype.kind in "iu" or bool(np.all((values == np.floor(values)) & (np.abs(values) < 2**53)))


def _asked(families: Any, sheet: Sheet) -> dict[Any, Any]:
    """Return the family of each column for which the user named one."""
    if not isinstance(families, Mapping):
        families = dict.fromkeys(sheet.names, families)
    known = ("auto", ANY, "number", *BINNED, *FAMILIES, "ignore")
    for name, family in families.items():
        if name not in sheet.places:
            near = difflib.get_close_matches(str(name), [str(each) for each in sheet.names], 1)
            raise ValueError(
                f"families={{…}} names column {name!r}, which is not there"
                + (f"; did you mean {near[0]!r}?" if near else f"; there are {_few(sheet.names)}")
            )
        if not isinstance(family, Text) and family not in known and not _has_setting(family):
            raise ValueError(
                f"families={{…}} sets {family!r} for column {name!r}, which is not a family; families are "
                f"{', '.join(known)} and Text(…)"
            )
    return dict(families)


def _has_setting(family: Any) -> bool:
    """Return whether a name is that of a family with a setting, such as "binomial(10)"; raise if that is wrong."""
    try:
        return bool(FAMILIES[family])
    except (KeyError, TypeError):
        return False


def _block_name(family: str) -> str:
    """Return the name of a family in the plan, in which a setting is written in one way: "binomial(10)"."""
    return FAMILIES[family].full_name if "(" in family else family


def _blocks(sheet: Sheet, weights: Array | None, chosen: Mapping[Any, Any], most_cells: int) -> tuple[Columns, ...]:
    """Return the blocks: one of all columns with levels or cells, one for each family of numbers, one for each text."""
    coded: dict[str, dict[Any, Coding]] = {"categorical": {}}
    # these come first, in this order, because saved models have them so
    plain: dict[str, list[Any]] = {"gaussian": [], "poisson": [], "multinomial": [], "complement": []}
    texts, logarithms = [], list[Any]()
    cells, largest = _fit_cells(sheet, chosen, weights, most_cells)
    for name, setting in chosen.items():
        if setting == "ignore":
            continue
        family = "text" if isinstance(setting, Text) else setting
        if family in ("number", ANY) or family in BINNED:
            coded["categorical"][name] = cells[name]
            if family in ("number", ANY) and largest[name] < MOST_SQUARED:
                plain["gaussian"].append(name)
                if family == ANY and np.nanmin(sheet.number(name), initial=np.inf) > 0:
                    logarithms.append(name)
            continue
        kind = FAMILIES[family]
        if kind.cells == "words":
            words = Words((), text=setting if isinstance(setting, Text) else Text())
            texts.append(Columns.coded(family, (name,), (words,)))
        elif kind.coded_as is not None:
            # a boolean has two levels, whether both were seen or not
            both = (False, True) if sheet.kind(name) == "boolean" else ()
            coded.setdefault(kind.coded_as, {})[name] = Levels(both, kind.cells == "bits")
        else:
            plain.setdefault(_block_name(family), []).append(name)
    blocks = [Columns.coded(family, tuple(named), tuple(named.values())) for family, named in coded.items() if named]
    blocks += [Columns(family, len(names), tuple(names)) for family, names in plain.items() if names]
    # a block of their own: log-normal columns that the user named reject numbers that are not positive
    blocks += [Columns("log-normal", len(logarithms), tuple(logarithms))] if logarithms else []
    return (*blocks, *texts)


def _fit_cells(
    sheet: Sheet, chosen: Mapping[Any, Any], weights: Array | None, most: int
) -> tuple[dict[Any, Cuts], dict[Any, float]]:
    """Return the cells of columns of numbers, and the largest number of each, without its sign."""
    cells: dict[Any, Cuts] = {}
    largest: dict[Any, float] = {}
    names = [name for name, family in chosen.items() if family in ("number", ANY, *BINNED)]
    kinds = {name: sheet.kind(name) for name in names}
    for name, kind in kinds.items():
        if kind not in ("number", "boolean", "empty"):
            raise ValueError(f"column {name!r} cannot be cut into bins: it does not hold numbers")
    cells |= {name: Cuts((), "cells", whole=True) for name, kind in kinds.items() if kind == "empty"}
    largest |= dict.fromkeys(cells, 0.0)
    held = None if weights is None else np.flatnonzero(weights > 0)
    for own, stack in sheet.stack_numbers([name for name in names if name not in cells]):
        values = np.asarray(stack, np.float64)
        values = values if held is None else values[:, held]
        its_weights = None if weights is None else weights[held]
        if values.shape[1] > SAMPLE:
            (column,), places = values, np.flatnonzero(~np.isnan(values[0]))
            if len(places) > SAMPLE:
                places = np.sort(np.random.default_rng(0).choice(places, SAMPLE, replace=False))
            values, its_weights = column[places][None], None if its_weights is None else its_weights[places]
        cuts, ends = fit_cells_of_columns(values, its_weights, most)
        cells |= dict(zip(own, cuts, strict=True))
        largest |= dict(zip(own, ends.tolist(), strict=True))
    return cells, largest


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
