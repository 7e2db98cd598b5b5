"""Learning from afar, and telling afar: a sample shows what the columns are, and the engine takes all sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from suffice.engines.opening import opened
from suffice.engines.source import SAMPLE, Request, Scored, Source
from suffice.export.dialects import dialect_of
from suffice.plan import MOST_LEVELS, facts_of, family_of
from suffice.tables import as_sheet, beside, matched, missing_labels, only, share_name, split_frame, stacked
from suffice.tables.names import column_name, names_of, renamed
from suffice.tallies import Tally

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
        near.families = {**families, **said}
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
        words = met[name].words
        family, _ = family_of(type(facts)(facts.kind, facts.rows, facts.distinct, facts.whole, words), near._numeric)
        here, _ = family_of(met[name], near._numeric)
        if family != here:
            found[name] = family
    return found


@dataclass(frozen=True)
class Scoring:
    """What a model says of a frame: the label of each row, and the probability of each class."""

    model: Any

    @property
    def names(self) -> list[str]:
        """The names of the new columns."""
        return ["prediction", *map(share_name, self.model.classes_.tolist())]

    def __call__(self, frame: Any) -> Scored:
        """Return the new columns of a frame; the label is that of ``predict``."""
        X = only(frame, self.model.tally_.schema.feature_names or self.model.n_features_in_)
        said = self.model.predict_log_proba(X)
        # without a map predict compares scores, which may differ where probabilities have no digits left for it
        equal = (said == said.max(axis=1, keepdims=True)).sum(axis=1) > 1
        close = self.model.calibrate is None and bool(equal.any())
        labels = self.model.predict(X) if close else self.model.classes_[said.argmax(axis=1)]
        return dict(zip(self.names, [labels, *np.exp(said).T], strict=True))

    @property
    def added(self) -> dict[str, Any]:
        """The names of the new columns, each with a value as it may hold."""
        return {name: self.model.classes_.tolist()[0] if name == "prediction" else 0.5 for name in self.names}


def predicted_at(model: Any, source: Any) -> Any:
    """Return a source with what a model says of each row beside it, to be computed when it is asked for."""
    scoring, far = Scoring(model), opened(source)
    if far is None:
        return beside(source, renamed(scoring(source), names_of(source)))
    names = far.names

    def query(dialect: str, table: str) -> str:
        _check_there(model, names, dialect_of(dialect).folds)
        return str(model._sql(dialect, table, names))

    return far.scored(scoring, scoring.added, query)


def _check_there(model: Any, names: Sequence[str], folds: bool) -> None:
    """Warn of columns that were learned and are not there; raise if the model needs them, or if there is none."""
    met = {name.lower() if folds else name for name in names}
    schema = model.tally_.schema
    its = [column_name(name) for name in schema.feature_names or range(schema.feature_count)]
    there = [name for name in its if (name.lower() if folds else name) in met]
    if schema.features is not None and schema.feature_names is not None and there:
        learned = {name for block in schema.blocks for name in block.names or ()}
        sheet: Any = SimpleNamespace(names=there, places={name: place for place, name in enumerate(there)})
        matched(sheet, schema.feature_names, [name for name in schema.feature_names if name in learned])
    elif len(there) < len(its):
        missing = next(name for name in its if name not in there)
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names seen at fit time, yet now missing:\n- {missing}\n"
        )
