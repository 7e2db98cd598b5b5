"""Prediction of tables: a table with the predictions of a model as new columns."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice import decision
from suffice.data import append_columns, compare_columns, probability_name, select_columns
from suffice.data.column_names import column_name, frame_names, rename_taken
from suffice.data.engines.open_source import open_source
from suffice.data.engines.source import Scored
from suffice.data.files.date_parts import undo_parts
from suffice.data.files.table_file import ColumnHints, learned_kinds
from suffice.export.dialects import ExportError, find_dialect
from suffice.schema import Schema


@dataclass(frozen=True)
class TablePredictor:
    """The function that an engine applies to each frame: labels and probabilities as new columns."""

    model: Any

    @property
    def names(self) -> list[str]:
        """The names of the new columns."""
        return ["prediction", *map(probability_name, self.model.classes_.tolist())]

    def __call__(self, frame: Any) -> Scored:
        """Return the new columns of a frame."""
        X = select_columns(frame, self.model.schema_.feature_names or self.model.n_features_in_)
        log_proba = self.model.predict_log_proba(X)
        labels = self.model.classes_[decision.first_of_highest(log_proba)]
        return dict(zip(self.names, [labels, *np.exp(log_proba).T], strict=True))

    @property
    def examples(self) -> dict[str, Any]:
        """The names of the new columns, each with an example of its values."""
        return {name: self.model.classes_.tolist()[0] if name == "prediction" else 0.5 for name in self.names}


@dataclass(frozen=True)
class PredictionQuery:
    """The predictions of a model for a table with some columns as SQL, for engines that run it."""

    model: Any
    names: Sequence[str]

    def __call__(self, dialect: str, table: str) -> str:
        """Return one SELECT."""
        self._check(dialect)
        return str(self.model.to_sql(dialect, table=table, columns=self.names, style="select"))

    def tables(self, dialect: str, table: str, prefix: str) -> tuple[list[str], str]:
        """Return the statements that create temporary tables of parameters, and the SELECT that reads them."""
        from suffice.export.sql_script import write_script

        self._check(dialect)
        database = find_dialect(dialect)
        if not database.temporary:
            raise ExportError(
                f"{database.title} has no temporary tables for the parameters of this model; run the script of "
                'to_sql(style="tables"), or use model.set_params(structure="tree") or "naive", which needs none'
            )
        model, calibration = self.model.exported_model()
        classes = self.model.classes_.tolist()
        script = write_script(model, classes, dialect, table, calibration, self.names, prefix, temporary=True)
        *statements, select = script.statements(view=False)
        return statements, select

    def _check(self, dialect: str) -> None:
        check_columns(self.model.schema_, self.names, find_dialect(dialect).folds)


def predict_source(model: Any, source: Any) -> Any:
    """Return a source with the predictions of a model as new columns, computed when they are needed."""
    model = copy(model)  # later changes of the model must not change what is computed lazily
    predictor, table = TablePredictor(model), open_source(source, prediction_hints(model))
    if table is None:
        return append_columns(source, rename_taken(predictor(source), frame_names(source)))
    return table.scored(predictor, predictor.examples, PredictionQuery(model, table.names))


def prediction_hints(model: Any) -> ColumnHints:
    """Return what a model knows about the tables that it predicts."""
    schema = model.schema_
    reading = learned_reading(model)
    learned = undo_parts(schema.feature_names or (), reading["date_parts"])
    return ColumnHints(learned, learned, has_labels=False, **reading | learned_kinds(schema))


def learned_reading(model: Any) -> dict[str, Any]:
    """Return how a model reads the cells of files, as fields of `ColumnHints`."""
    na_values = getattr(model, "na_values_", None)
    return {
        "na_values": None if na_values is None else tuple(na_values),
        "decimal_marks": getattr(model, "decimal_marks_", {}),
        "date_parts": getattr(model, "date_parts_", {}),
        "date_orders": getattr(model, "date_orders_", {}),
    }


def check_columns(schema: Schema, names: Sequence[str], folds_case: bool) -> None:
    """Warn of learned columns that a table lacks; raise if the model cannot do without them, or if none is there."""
    fold = str.lower if folds_case else str
    present = set(map(fold, names))
    learned_names = [column_name(name) for name in schema.feature_names or range(schema.feature_count)]
    found = [name for name in learned_names if fold(name) in present]
    if schema.features is not None and schema.feature_names is not None and found:
        learned = {name for block in schema.blocks for name in block.names or ()}
        compare_columns(found, schema.feature_names, [name for name in schema.feature_names if name in learned])
    elif len(found) < len(learned_names):
        missing = next(name for name in learned_names if name not in found)
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names seen at fit time, yet now missing:\n- {missing}\n"
        )
