"""Learning from afar, and telling afar: a sample shows what the columns are, and the engine takes all sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suffice.engines.opening import opened
from suffice.engines.source import SAMPLE, Request, Scored, Source
from suffice.plan import MOST_LEVELS, facts_of, family_of
from suffice.tables import as_sheet, beside, missing_labels, only, share_name, split_frame
from suffice.tallies import Tally


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
    families = {} if whole else _corrected(source, near, X)
    if families:
        said = near.families if isinstance(near.families, Mapping) else {}
        near.families = {**families, **said}
    near.fit(X, y, weights)
    return near, source.tally(Request(target, weight, missing_target, near.tally_))


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
        """Return the new columns of a frame."""
        X = only(frame, self.model.tally_.schema.feature_names or self.model.n_features_in_)
        shares = self.model.predict_proba(X)
        return dict(zip(self.names, [self.model.classes_[shares.argmax(axis=1)], *shares.T], strict=True))

    @property
    def added(self) -> dict[str, Any]:
        """The names of the new columns, each with a value as it may hold."""
        return {name: self.model.classes_.tolist()[0] if name == "prediction" else 0.5 for name in self.names}


def predicted_at(model: Any, source: Any) -> Any:
    """Return a source with what a model says of each row beside it, to be computed when it is asked for."""
    scoring, far = Scoring(model), opened(source)
    if far is None:
        return beside(source, scoring(source))
    return far.scored(scoring, scoring.added, lambda dialect, table: model.to_sql(dialect, table=table))
