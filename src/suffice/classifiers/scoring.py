"""Scoring afar: a table with what a model says of each row beside it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data import beside, matched, only, share_name
from suffice.data.column_names import column_name, names_of, renamed
from suffice.data.engines.open_source import opened
from suffice.data.engines.source import Scored
from suffice.export.dialects import dialect_of


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
    model = copy(model)  # what it is now is what is said, whenever that is computed
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
        matched(there, schema.feature_names, [name for name in schema.feature_names if name in learned])
    elif len(there) < len(its):
        missing = next(name for name in its if name not in there)
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names seen at fit time, yet now missing:\n- {missing}\n"
        )
