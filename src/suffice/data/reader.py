"""Readers: how the X that a user passes becomes blocks of columns that are counted and scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from suffice.blocks import Block, Dense, Sparse
from suffice.data.dictionaries import Dictionaries, read_dictionaries
from suffice.data.sheets import Sheet
from suffice.data.table import Target, as_block
from suffice.schema import Columns, Plan, Schema, check_plan_columns
from suffice.score.term import all_rows

# X after its form was checked, before its cells are read: one block of numbers, or a sheet of columns of any kind.
Opened = Block | Sheet


@dataclass(frozen=True)
class Reader(ABC):
    """How rows become blocks. ``owner`` is the classifier's name, which error messages mention."""

    owner: str

    def open(self, X: Any, schema: Schema | None = None, *, check_names: bool = True) -> Any:
        """Return X after checking its form and matching its columns with those of a schema."""
        return self._open(read_dictionaries(X, None if schema is None else schema.feature_names), schema, check_names)

    @abstractmethod
    def _open(self, X: Any, schema: Schema | None, check_names: bool) -> Any: ...

    @abstractmethod
    def plan(self, opened: Any, target: Target, *, is_complete: bool = True) -> Plan:
        """Return what to count; ``is_complete`` is False if more rows may follow."""

    @abstractmethod
    def adopt(self, plan: Plan, opened: Any) -> Plan:
        """Return the plan of another model, for these rows; raise if it is for other columns or another reader."""

    @abstractmethod
    def known_plan(self, opened: Any, schema: Schema) -> Plan:
        """Return the plan under which the rows of a schema were counted, for more rows."""

    @abstractmethod
    def read(self, opened: Any, blocks: tuple[Columns, ...], *, grow: bool) -> tuple[tuple[Columns, ...], Any]:
        """Return the columns, with new levels if ``grow``, and their cells, block by block."""

    @abstractmethod
    def list_cells(self, opened: Any, schema: Schema) -> tuple[list[Any], list[list[Any]]]:
        """Return the names of the columns, and the value that each row has in each of them."""

    @property
    @abstractmethod
    def plans_from_rows(self) -> bool:
        """Whether the plan is made by looking at the rows, and columns may be of any kind."""

    @property
    def plan_depends_on_rows(self) -> bool:
        """Whether leaving out a single row may change the plan."""
        return self.plans_from_rows

    def name_families(self, names: Iterable[Any]) -> Mapping[Any, Any]:
        """Return the family that the settings name for each column; none where all columns have one family."""
        return {}

    @abstractmethod
    def covers(self, other: Reader) -> bool:
        """Return whether blocks from this reader contain all that another reader would give."""


@dataclass(frozen=True)
class NumberReader(Reader):
    """Reads X as one block of numbers of one family, as scikit-learn's naive Bayes classes do."""

    family: str
    accepts_sparse: bool = True
    threshold: float | None = None
    pairs: bool = False
    skips_missing: bool = False
    fourths: bool = False

    def _open(self, X: Any, schema: Schema | None, check_names: bool) -> Block:
        block = as_block(X, owner=self.owner, sparse=self.accepts_sparse, gaps=self.skips_missing)
        if schema is not None:
            columns = schema.blocks[0]
            if not (type(X) is np.ndarray and block.shape[1] == columns.count and columns.names is None):
                check_features(X, schema, self.owner, check_names)
        return block

    def plan(self, opened: Block, target: Target | None, *, is_complete: bool = True) -> Plan:
        columns = Columns(self.family, opened.shape[1], opened.names, self.threshold)
        return Plan((replace(columns, pairs=self.pairs, fourths=self.fourths),))

    def adopt(self, plan: Plan, opened: Block) -> Plan:
        columns = plan.blocks[0]
        if plan.features is not None or columns.family != self.family:
            raise ValueError(
                f"the plan counts {', '.join(block.family for block in plan.blocks)} columns, and {self.owner} counts "
                f"{self.family} columns; use the plan of another {self.owner}"
            )
        check_plan_columns(plan, opened.names, opened.shape[1])
        if opened.names and columns.names and opened.names != columns.names:
            raise ValueError("the plan has the columns in another order: put those of X into the order of the plan")
        return Plan((replace(columns, names=opened.names or columns.names),))

    def known_plan(self, opened: Block, schema: Schema) -> Plan:
        # the levels that are known already keep their places, and the sums that were taken are taken again
        known, shape = schema.blocks[0], (opened.shape[1], opened.names, self.threshold)
        columns = Columns(self.family, *shape, known.sizes, pairs=known.pairs, fourths=known.fourths)
        return Plan((known if columns == known else columns,))

    def read(self, opened: Block, blocks: tuple[Columns, ...], *, grow: bool) -> tuple[tuple[Columns, ...], Any]:
        return blocks, (opened,)

    def list_cells(self, opened: Block, schema: Schema) -> tuple[list[Any], list[list[Any]]]:
        names = schema.feature_names or range(opened.shape[1])
        if isinstance(opened, Sparse):
            cells = opened.matrix.toarray().astype(np.float64)
        else:
            assert isinstance(opened, Dense)
            cells = all_rows(opened).astype(np.float64)
        return list(names), cells.tolist()

    @property
    def plans_from_rows(self) -> bool:
        return False

    def covers(self, other: Reader) -> bool:
        return (
            isinstance(other, NumberReader)
            and replace(other, pairs=self.pairs, fourths=self.fourths) == self
            and other.pairs <= self.pairs
            and other.fourths <= self.fourths
        )


def check_features(X: Any, schema: Schema, owner: str, check_names: bool = True) -> None:
    """Raise scikit-learn's error if X does not have the columns that were learned."""
    if isinstance(X, Dictionaries):
        if check_names:
            X.check_names(schema.feature_names, owner)
        X, check_names = np.empty((1, len(X.names))), False
    learned: Any = type(owner, (), {})()  # scikit-learn's messages take the name of the estimator's class
    learned.n_features_in_ = schema.feature_count
    if schema.feature_names is not None:
        learned.feature_names_in_ = np.array(schema.feature_names, dtype=object)
    if check_names:
        _check_feature_names(learned, X, reset=False)
    _check_n_features(learned, X, reset=False)
