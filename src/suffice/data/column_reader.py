"""Reader of columns of any kind: numbers, categories, booleans, texts and missing cells side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from suffice.blocks import Block
from suffice.caller_warnings import warn_caller
from suffice.data.choose_families import ANY, BINNED
from suffice.data.plan_columns import plan_columns
from suffice.data.read_columns import compare_columns, read_blocks
from suffice.data.reader import Reader, check_features
from suffice.data.sheets import Sheet, SparseSheet
from suffice.data.table import Target, as_sheet
from suffice.families import FAMILIES
from suffice.schema import Array, Columns, Cuts, Plan, Schema, check_plan_columns
from suffice.schema.columns import MUCH_PAIR_BYTES
from suffice.settings import comparable


@dataclass(frozen=True)
class ColumnReader(Reader):
    """Reads X column by column: numbers, categories, booleans, texts and missing cells side by side.

    ``families`` is the setting of `BayesClassifier`, and ``default`` is what "auto" means in it: "auto" or "any".
    """

    families: Any
    default: Literal["auto", "any"] = "auto"

    def name_families(self, names: Iterable[Any]) -> Mapping[Any, Any]:
        named = self.families if isinstance(self.families, Mapping) else dict.fromkeys(names, self.families)
        if self.default == "auto":
            return named
        found = dict.fromkeys(names, self.default)
        return found | {name: family for name, family in named.items() if family != "auto"}

    def _open(self, X: Any, schema: Schema | None, check_names: bool) -> Sheet:
        sheet = as_sheet(X, owner=self.owner)
        if schema is None:
            return sheet
        assert schema.features is not None
        names = schema.features.names
        if sheet.is_named and (set(sheet.names) & set(names) or type(sheet.names[0]) is type(names[0])):
            learned = {name for block in schema.blocks for name in block.names or ()}
            compare_columns(sheet.names, names, [name for name in names if name in learned])
            return sheet
        check_features(X, schema, self.owner, check_names)
        if isinstance(sheet, SparseSheet) and any(_stores_no_zeros(block) for block in schema.blocks):
            raise ValueError(
                "X is sparse, but the model was fitted on dense numbers: convert it to a dense array (X.toarray())"
            )
        return replace(sheet, names=names)

    def plan(self, opened: Sheet, target: Target, *, is_complete: bool = True) -> Plan:
        is_sparse = isinstance(opened, SparseSheet)  # one family for all columns
        families = self.families if is_sparse else self.name_families(opened.names)
        return Plan(*plan_columns(opened, target, families, is_complete))

    def adopt(self, plan: Plan, opened: Sheet) -> Plan:
        if plan.features is None:
            raise ValueError(
                f"the plan is of a classifier that takes numbers only; use the plan of another {self.owner}"
            )
        check_plan_columns(plan, opened.names, opened.shape[1])
        return replace(plan, is_marked=True)

    def known_plan(self, opened: Sheet, schema: Schema) -> Plan:
        return Plan(schema.blocks, schema.features, is_marked=True)

    def read(self, opened: Sheet, blocks: tuple[Columns, ...], *, grow: bool) -> tuple[tuple[Columns, ...], Any]:
        names = [name for block in blocks for name in block.names or ()]
        named = self.name_families(names)
        return read_blocks(opened, blocks, grow, {name for name in names if named.get(name, "auto") in ("auto", ANY)})

    def list_cells(self, opened: Sheet, schema: Schema) -> tuple[list[Any], list[list[Any]]]:
        assert schema.features is not None
        names = list(schema.features.names)
        missing = [None] * opened.shape[0]
        columns = [opened.values(name) if name in opened.places else missing for name in names]
        return names, [list(line) for line in zip(*columns, strict=True)]

    @property
    def plans_from_rows(self) -> bool:
        return True

    @property
    def plan_depends_on_rows(self) -> bool:
        # with "auto", what is counted of a column depends on its values; cells depend on all rows
        return not isinstance(self.families, str) or self.families in ("auto", ANY, *BINNED)

    def covers(self, other: Reader) -> bool:
        return (
            isinstance(other, ColumnReader)
            and self.owner == other.owner
            and self.default in (other.default, ANY)
            and comparable(self.families) == comparable(other.families)
        )


def mark_pairs(
    columns: tuple[Columns, ...], cells: tuple[Block, ...], target: Target, structure: Any
) -> tuple[Columns, ...]:
    """Return the columns; blocks of which the structure needs pair counts are marked."""
    marked, classes = [], len(target.classes)
    for block, its_cells in zip(columns, cells, strict=True):
        pairs = structure.pairs(block, classes, 1.0)
        if pairs and block.family == "gaussian":  # pairs of levels are counted in rows that are not complete, too
            pairs = structure.pairs(block, classes, _complete_share(its_cells, target))
        has_fourths = pairs and block.family == "gaussian" and structure.needs_fourths
        marked.append(replace(block, pairs=pairs, fourths=has_fourths))
        marked[-1].check_pairs(classes)
        if marked[-1].pair_bytes(classes) > MUCH_PAIR_BYTES:
            levels = f" with {block.width:,} levels in all" if block.sizes is not None else ""
            warn_caller(
                f"the pair counts of {block.count:,} columns{levels} in {classes} classes take "
                f"{marked[-1].pair_bytes(classes) / 2**30:.2f} GiB of memory: fewer columns or levels take less, and "
                'structure="naive" needs none'
            )
    return tuple(marked)


def _complete_share(block: Block, target: Target) -> float:
    """Return the share of rows, by weight, that have no missing cell."""
    complete: Array | None = block.complete()
    if complete is None:
        return 1.0
    weights = np.ones(block.shape[0]) if target.weights is None else target.weights
    return float(complete @ weights / max(weights.sum(), 1e-300))


def _stores_no_zeros(block: Columns) -> bool:
    """Return whether a block holds numbers whose zeros a sparse matrix would not store."""
    if block.codings is None:
        return not FAMILIES[block.family].accepts_sparse
    return any(isinstance(coding, Cuts) for coding in block.codings)
