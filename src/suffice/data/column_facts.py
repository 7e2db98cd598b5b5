"""Facts about the columns of a table, on which the choice of their families depends. Labels are not used."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from suffice.data import Sheet
from suffice.data.files.csv_dates import DATE
from suffice.data.files.csv_numbers import NEARLY_ALL, looks_like_number
from suffice.schema import Array

# Numbers with at most so many different values may be levels.
MOST_CODED_NUMBERS = 20

# A column with more than so many different strings may be one of texts, or of numbers or dates that were not converted.
WORDS_OF_A_PHRASE, MANY_STRINGS = 2, 50

# The first look at a column of numbers is at about so many rows, and at so many strings for their words.
ROWS_EXAMINED = 1000

# So many of a column's least numbers are looked at first, to see whether they are whole.
FEW_NUMBERS = 16


class Facts(NamedTuple):
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
    values : float
        The share of the strings that are numbers or dates as people write them, such as '1.234,50 €'. Strings of
        digits do not count: they may be codes.
    """

    kind: str
    rows: int
    distinct: int
    whole: bool = False
    words: float = 0.0
    values: float = 0.0

    @property
    def are_values(self) -> bool:
        """Whether many different strings look like numbers or dates."""
        return self._are_many and self.values >= NEARLY_ALL

    @property
    def are_phrases(self) -> bool:
        """Whether many different strings have several words."""
        return self._are_many and self.words >= WORDS_OF_A_PHRASE and not self.are_values

    @property
    def _are_many(self) -> bool:
        return self.kind == "string" and self.distinct > max(MANY_STRINGS, self.rows / 10)


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
    few = labels[:ROWS_EXAMINED]
    strings = [label for label in few if isinstance(label, str)]
    words = sum(len(label.split()) for label in strings) / max(len(few), 1)
    values = sum(map(_is_value, strings)) / max(len(few), 1) if distinct > MANY_STRINGS else 0.0
    return Facts(kind, _rows(there, weights), distinct, False, words, values)


def _is_value(label: str) -> bool:
    return not label.isdigit() and (looks_like_number(label) or re.match(DATE, label) is not None)


def _facts_of_few_rows(kinds: list[str], values: Array, weights: Array | None) -> list[Facts] | None:
    """Return the facts about columns of numbers, [column, row], all at once; None if there are many rows."""
    if values.shape[1] >= 2 * ROWS_EXAMINED or (weights is not None and not (weights > 0).all()):
        return None
    ordered = np.sort(values.view(np.uint8) if values.dtype == bool else values, axis=1)
    rows = np.full(len(ordered), ordered.shape[1])
    whole, weight = np.ones(len(ordered), bool), rows
    if weights is not None:
        weight = np.full(len(ordered), np.ceil(weights.sum()))
    new = np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    if ordered.dtype.kind == "f":
        if np.isnan(ordered[:, -1:]).any():
            is_empty = np.isnan(ordered)  # the last ones, each of which differs from the one before it
            rows = rows - is_empty.sum(axis=1)
            new = new - is_empty[:, 1:].sum(axis=1)
            weight = rows if weights is None else np.ceil((~np.isnan(values) * weights).sum(axis=1))
        for part in (ordered[:, :FEW_NUMBERS], ordered):  # few numbers of most columns show that they are not whole
            own = np.flatnonzero(whole)
            its = part if len(own) == len(part) else part[own]
            whole[own] = (((its == np.floor(its)) & (np.abs(its) < 2**53)) | np.isnan(its)).all(axis=1)
    lines = zip(kinds, rows.tolist(), weight.tolist(), new.tolist(), whole.tolist(), strict=True)
    return [
        Facts(kind, int(w), changes + 1, is_whole) if held else Facts("empty", 0, 0)
        for kind, held, w, changes, is_whole in lines
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
