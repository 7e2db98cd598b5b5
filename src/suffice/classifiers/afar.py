"""Learning from afar: a sample shows what the columns are, and the engine takes the sums of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from suffice.data import as_sheet, missing_labels, split_frame, stacked
from suffice.data.engines.source import SAMPLE, Request, Source
from suffice.data.plan import MOST_LEVELS, facts_of, family_of
from suffice.statistics import Tally

RARE = 1000  # rows in which a column holds something, if it is empty in the sample


def learned_from(source: Source, near: Any, target: str, weight: str | None, missing_target: str) -> tuple[Any, Tally]:
    """Return a model that has learned a sample of the rows, and the tally of them all.

    Planning is fitting the sample: it says what each column is, where numbers are cut, which columns are
    counted in pairs, and what is chosen beside (a prior, a map that calibrates).
    """
    frame, whole = source.sample(SAMPLE, spread=near._hangs_on_rows)
    X, y, weights = split_frame(frame, target, weight, "drop")
    if not len(y):
        if whole:
            raise missing_labels(target, len(frame), len(frame))
        raise ValueError(f"column {target!r}, the target, is empty in all of {len(frame)} rows that were looked at")
    if not whole:
        frame = _with_rare(source, frame, near)
        X, y, weights = split_frame(frame, target, weight, "drop")
    families = {} if whole else _corrected(source, near, X)
    if families:
        said = near.families if isinstance(near.families, Mapping) else {}
        near.families = {**said, **families}
    near.fit(X, y, weights)
    return near, source.tally(Request(target, weight, missing_target, near.tally_))


def _with_rare(source: Source, frame: Any, near: Any) -> Any:
    """Return a sample with some rows more, in which columns hold something that are empty in all others."""
    sheet = as_sheet(frame, owner=type(near).__name__)
    some = [source.rows_with(name, RARE) for name in sheet.names if sheet.kind(name) == "empty"]
    return stacked([frame, *(its for its in some if its is not None and len(its))]) if some else frame


def _corrected(source: Source, near: Any, X: Any) -> dict[str, str]:
    """Return the family of columns of which a sample may say too little: of few values, or no two alike.

    What is constant in a sample may not be so in all rows, and what has few levels there may have many.
    """
    if near.families != "auto" and not isinstance(near.families, Mapping):
        return {}
    sheet = as_sheet(X, owner=type(near).__name__)
    asked = near.families if isinstance(near.families, Mapping) else {}
    met = {
        name: facts_of(sheet, name, None)
        for name in sheet.names
        if asked.get(name, "auto") == "auto" and sheet.kind(name) not in ("date", "empty", "boolean")
    }
    doubtful = {
        name: its.kind
        for name, its in met.items()
        if its.distinct <= (MOST_LEVELS if its.kind == "number" else 2) or its.distinct == its.rows
    }
    found = {}
    for name, facts in source.facts(doubtful).items():
        family, _ = family_of(replace(facts, words=met[name].words), near._numeric)
        here, _ = family_of(met[name], near._numeric)
        if family != here:
            found[name] = family
    return found
