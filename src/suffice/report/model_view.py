"""The view of a classifier that a report is made from; no other file of this package sees the classifier."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from suffice.blocks import Block
from suffice.decision.calibration import Calibration
from suffice.explain import Explanation, explain_rows
from suffice.pooled_model import AnyModel, Component, PooledModel
from suffice.report.column_counts import CountedColumn, binned_recipe, count_columns, cut_rows, read_coded
from suffice.report.inputs import plain_value
from suffice.schema import Array, Columns
from suffice.statistics import Tally
from suffice.structures import Naive


@dataclass(frozen=True)
class ModelView:
    """A fitted classifier as data: its name and settings, tally, estimated model and calibration.

    ``separate`` is the tally that describes each column by itself: that of a naive model if the model is a pool, whose
    components count a column in different forms. ``binned`` has numbers in intervals, too, if they were counted so.
    """

    classifier: str
    settings: dict[str, Any]
    target: str | None
    left_out: dict[Any, str]
    tally: Tally
    class_count: Array
    separate: Tally
    binned: Tally
    model: AnyModel
    calibration: Calibration | None

    @property
    def classes(self) -> list[Any]:
        """The class labels."""
        labels: list[Any] = self.tally.schema.classes.tolist()
        return labels

    @property
    def components(self) -> tuple[Component, ...]:
        """The members of a pool; empty if the model is none."""
        return self.model.components if isinstance(self.model, PooledModel) else ()

    @property
    def counted_blocks(self) -> list[tuple[Columns, Any]]:
        """The blocks of columns that are described, with their statistics."""
        return list(zip(self.separate.schema.blocks, self.separate.statistics, strict=True))

    @property
    def class_names(self) -> list[str]:
        """The class labels as text."""
        return [str(label) for label in self.classes]

    @property
    def class_shares(self) -> list[tuple[str, float, float]]:
        """The name of each class, its rows, and their share of all rows."""
        count = self.class_count
        shares = count / max(count.sum(), 1e-300)
        return list(zip(self.class_names, count.tolist(), shares.tolist(), strict=True))


def view_model(classifier: Any) -> ModelView:
    """Return the view of a fitted classifier."""
    if hasattr(classifier, "as_model"):
        return _view_linear(classifier)
    if not hasattr(classifier, "estimate_model"):
        name = type(classifier).__name__
        raise TypeError(f"a report needs a fitted classifier of this library; {name} is none")
    tally, recipe = classifier.chosen_tally(), classifier.recipe()
    separate = recipe.part(Naive()).lay_out(classifier.tally_) if recipe.is_pooled else tally
    is_table = tally.schema.features is not None
    return ModelView(
        classifier=type(classifier).__name__,
        settings=classifier.get_params(deep=False),
        target=getattr(classifier, "target_name_", None),
        left_out=getattr(classifier, "left_out_", {}),
        tally=tally,
        class_count=classifier.class_count_,
        separate=separate,
        binned=binned_recipe(recipe).lay_out(classifier.tally_) if is_table else separate,
        model=classifier.estimate_model(),
        calibration=classifier.fitted_calibration(),
    )


def _view_linear(classifier: Any) -> ModelView:
    """Return the view of a logistic regression, whose columns are described by their moments in each class."""
    model = classifier.as_model(centred=True)
    tally = getattr(classifier, "column_moments_", None)
    if tally is None:
        raise ValueError(
            "the model is of a version that kept no moments of the columns, which a report shows: fit again"
        )
    return ModelView(
        classifier=type(classifier).__name__,
        settings=classifier.get_params(deep=False),
        target=getattr(classifier, "target_name_", None),
        left_out={},
        tally=tally,
        class_count=tally.class_count,
        separate=tally,
        binned=tally,
        model=model,
        calibration=None,
    )


@dataclass(frozen=True)
class ScoredRows:
    """Rows that were read and scored once.

    ``blocks`` are the rows as the model scores them, ``log_proba`` [row, class] is log P(class | x), ``columns`` have
    the codes of the rows, and ``read`` reads the rows at some positions again.
    """

    view: ModelView
    blocks: tuple[Block, ...]
    log_proba: Array
    columns: dict[Any, CountedColumn]
    read: Callable[[Array], Any]

    def plain_cells(self, positions: Sequence[int]) -> list[list[Any]]:
        """Return the cells of the rows at some positions, as JSON holds them."""
        cells = self.read(np.asarray(positions)).values if positions else []
        return [[plain_value(value) for value in line] for line in cells]

    def spaced_positions(self, most: int) -> list[int]:
        """Return at most so many positions, evenly spaced over all rows."""
        count = len(self.log_proba)
        return [int(place) for place in np.linspace(0, count - 1, min(count, most))]

    def explain(self, positions: Sequence[int]) -> Explanation:
        """Return the explanation of the rows at some positions."""
        chosen = np.asarray(positions, np.intp)
        blocks, read = tuple(block.take(chosen) for block in self.blocks), self.read(chosen)
        model, classes = self.view.model, self.view.classes
        slope = 1.0 if self.view.calibration is None else self.view.calibration.slope
        return explain_rows(model, classes, blocks, read.names, read.values, self.log_proba[chosen], slope)


def score_rows(view: ModelView, classifier: Any, X: Any) -> ScoredRows:
    """Return rows with the predictions of a classifier."""
    read = classifier.read_rows(X)
    blocks = read.blocks
    log_proba = view.model.log_posterior(blocks)
    if view.calibration is not None:
        log_proba = np.asarray(view.calibration(log_proba))
    columns = cut_rows(view.model.columns, blocks)
    if view.tally.schema.features is not None:
        columns |= count_columns(view.binned, read_coded(binned_recipe(classifier.recipe()), view.binned, read.opened))
    return ScoredRows(view, blocks, log_proba, columns, lambda chosen: classifier.read_rows(_safe_indexing(X, chosen)))
