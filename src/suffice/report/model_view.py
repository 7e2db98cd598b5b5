"""The view of a classifier that a report is made from; no other file of this package sees the classifier."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from suffice.blocks import Block
from suffice.decision.calibration import Calibration
from suffice.explain import Explanation, explain_rows
from suffice.model import Model
from suffice.schema import Array
from suffice.statistics import Tally


@dataclass(frozen=True)
class ScoredRows:
    """Rows that were read and scored once.

    ``blocks`` are the rows as the model scores them, ``log_proba`` [row, class] is log P(class | x), and
    ``read_cells`` returns the column names and the raw cells of the rows at some positions.
    """

    blocks: tuple[Block, ...]
    log_proba: Array
    read_cells: Callable[[Array], tuple[Sequence[Any], list[list[Any]]]]

    def __len__(self) -> int:
        return len(self.log_proba)

    def spaced_positions(self, most: int) -> list[int]:
        """Return at most so many positions, evenly spaced over all rows."""
        return np.linspace(0, len(self) - 1, min(len(self), most)).astype(int).tolist() if len(self) else []


@dataclass(frozen=True)
class ModelView:
    """A fitted classifier as data: its name and settings, tally, estimated model, calibration, and scored rows."""

    classifier: str
    settings: dict[str, Any]
    target: str | None
    left_out: dict[Any, str]
    tally: Tally
    model: Model
    calibration: Calibration | None
    rows: ScoredRows | None

    @property
    def classes(self) -> list[Any]:
        """The class labels."""
        labels: list[Any] = self.tally.schema.classes.tolist()
        return labels

    @property
    def class_names(self) -> list[str]:
        """The class labels as text."""
        return [str(label) for label in self.classes]

    def explain(self, positions: Sequence[int]) -> Explanation:
        """Return the explanation of the rows at some positions."""
        assert self.rows is not None
        chosen = np.asarray(positions, np.intp)
        blocks = tuple(block.take(chosen) for block in self.rows.blocks)
        names, cells = self.rows.read_cells(chosen)
        return explain_rows(self.model, self.classes, blocks, names, cells, self.rows.log_proba[chosen])


def view_model(classifier: Any, X: Any = None) -> ModelView:
    """Return the view of a fitted classifier, with the rows of X if they are given."""
    if not hasattr(classifier, "estimate_model"):
        name = type(classifier).__name__
        raise TypeError(f"a report needs a fitted classifier that learns from sums (a tally); {name} is none")
    model, tally, calibration = classifier.estimate_model(), classifier.chosen_tally(), classifier.fitted_calibration()
    rows = None
    if X is not None:
        blocks = classifier.read_rows(X).blocks
        log_posterior = model.log_posterior(blocks)
        log_proba = log_posterior if calibration is None else np.asarray(calibration(log_posterior))

        def read_cells(chosen: Array) -> tuple[Sequence[Any], list[list[Any]]]:
            read = classifier.read_rows(_safe_indexing(X, chosen))
            return read.names, read.values

        rows = ScoredRows(blocks, log_proba, read_cells)
    return ModelView(
        classifier=type(classifier).__name__,
        settings=classifier.get_params(deep=False),
        target=getattr(classifier, "target_name_", None),
        left_out=getattr(classifier, "left_out_", {}),
        tally=tally,
        model=model,
        calibration=calibration,
        rows=rows,
    )
