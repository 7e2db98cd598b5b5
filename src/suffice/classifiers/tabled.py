"""Learning from tables: columns are planned, read by name, and counted block by block."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from suffice.blocks import Block, Coded
from suffice.classifiers.base import TallyClassifier
from suffice.classifiers.learner import comparable
from suffice.data import FrameSheet, Sheet, SparseSheet, Table, Target, as_sheet, decoded, matched, read, recoded
from suffice.data.engines import memory
from suffice.data.plan import NUMERIC, planned
from suffice.folds.training_sums import Run, Trained, trained
from suffice.schema import Array, Columns, Cuts, Features, Schema
from suffice.statistics import Tally
from suffice.structures import Joint, backed_off, without_combinations

Plan = tuple[tuple[Columns, ...], Features]


class TabledClassifier(TallyClassifier):
    """A classifier of tables, whose columns may be of several families."""

    families: Any
    numeric: str

    @property
    def _features(self) -> Features:
        features = self._learned().schema.features
        assert features is not None
        return features

    @property
    def _numeric(self) -> str:
        """What columns of many different numbers are: as said, or as the structure would have them."""
        return (self._structure().numeric if self.numeric == "auto" else None) or self.numeric

    def _opened(self, X: Any, known: Tally | None) -> Sheet:
        """Return X as a sheet whose columns go by the names that were learned."""
        sheet = as_sheet(X, owner=type(self).__name__)
        if known is None:
            return sheet
        features = known.schema.features
        assert features is not None
        met, alike = set(sheet.names) & set(features.names), type(sheet.names[0]) is type(features.names[0])
        if isinstance(sheet, FrameSheet) and (met or alike):
            learned = {name for block in known.schema.blocks for name in block.names or ()}
            matched(sheet.names, features.names, [name for name in features.names if name in learned])
            return sheet
        validate_data(self, X, reset=False, skip_check_array=True)
        if isinstance(sheet, SparseSheet) and any(_needs_all_cells(block) for block in known.schema.blocks):
            raise ValueError(
                "X is sparse, and this was fitted on numbers that are all there: make it dense (X.toarray())"
            )
        return replace(sheet, names=features.names)

    def _tallied(self, opened: Sheet, target: Target, known: Tally | None, whole: bool) -> Tally:
        if known is None:
            blocks, features = self._planned(opened, target, whole)
        else:
            blocks, features = known.schema.blocks, self._features
        columns, cells = read(opened, blocks, grow=True)
        if known is None:
            columns = _marked(columns, self._pairs(columns, cells, target))
        return memory.tally(Table(cells, target), columns, features)

    def _planned(self, opened: Sheet, target: Target, whole: bool) -> Plan:
        """Return what each column is to be counted as, judged by the rows that have weight."""
        blocks, features = planned(opened, target, self.families, self._numeric, whole)
        return tuple(self._structure().extended(block) for block in blocks), features

    def _trained(self, opened: Sheet, target: Target, run: Run) -> list[Trained]:
        """Return what each split of a run has learned: columns are planned by each split's training rows alone.

        Splits that plan alike but for where they cut numbers are counted in one pass, in the bins of all
        their cuts: a bin of one of them is a sum of such bins, so nothing that a split must not know is in
        its counts.
        """
        plans = [self._planned(opened, target.only(run.splits[0].train), True)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first has said it
            plans += [self._planned(opened, target.only(split.train), True) for split in run.splits[1:]]
        shapes = [_shape(blocks) for blocks, _ in plans]
        found: dict[int, Trained] = {}
        for shape in {repr(shape): shape for shape in shapes}.values():
            alike = [place for place, its in enumerate(shapes) if its == shape]
            some = Run(tuple(run.splits[place] for place in alike), run.atoms, run.wanted[alike])
            found |= zip(alike, self._counted(opened, target, some, [plans[place] for place in alike]), strict=True)
        return [found[place] for place in range(len(plans))]

    def _counted(self, opened: Sheet, target: Target, run: Run, plans: Sequence[Plan]) -> list[Trained]:
        """Return what each split has learned, of splits whose plans differ in cuts alone."""
        columns, cells = read(opened, _finest([blocks for blocks, _ in plans]), grow=True)
        pairs = self._pairs(tuple(map(_with_cuts, columns, plans[0][0])), cells, target)
        columns = _marked(columns, pairs)
        results = []
        for tally, (blocks, features) in zip(trained(run, Table(cells, target), columns), plans, strict=True):
            coarse = tuple(map(_with_cuts, tally.schema.blocks, blocks))
            tally = tally.on(Schema(tally.schema.classes, coarse, features))
            results.append(Trained(tally, self._reader(cells, columns, coarse)))
        return results

    def _reader(self, cells: tuple[Block, ...], columns: tuple[Columns, ...], known: tuple[Columns, ...]) -> Any:
        return lambda rows: tuple(
            recoded(block.take(rows), its, other) for block, its, other in zip(cells, columns, known, strict=True)
        )

    def _blocks(self, X: Any, tally: Tally) -> tuple[Block, ...]:
        return self._scorable(*read(self._opened(X, tally), tally.schema.blocks, grow=False))

    def _cells(self, opened: Sheet, tally: Tally) -> tuple[Block, ...]:
        return read(opened, tally.schema.blocks, grow=False)[1]

    def _reads_for(self, other: Any) -> bool:
        if type(other) is not type(self) or comparable(self.families) != comparable(other.families):
            return False
        mine, its = self._structure(), other._structure()
        return bool(self._numeric == other._numeric and mine.counts_for(its))

    @property
    def _closed_form(self) -> bool:
        # what a column is, and where it is cut, may hang on a single row
        fixed = isinstance(self.families, str) and self.families not in NUMERIC[1:]
        return fixed and super()._closed_form

    def _scorable(self, columns: tuple[Columns, ...], cells: tuple[Block, ...]) -> tuple[Block, ...]:
        """Return what the structure scores of the cells."""
        if not isinstance(self._structure(), Joint):
            return tuple(map(_without_combinations, columns, cells))
        new = sum(map(backed_off, columns, cells))
        if new:
            warnings.warn(
                f"{new} of {cells[0].shape[0]} rows hold a combination of levels that was never met: they are judged "
                "column by column",
                UserWarning,
                stacklevel=3,
            )
        return cells

    def _pairs(self, columns: tuple[Columns, ...], cells: tuple[Block, ...], target: Target) -> list[bool]:
        """Say which blocks the structure needs counted in pairs."""
        structure, pairs, classes = self._structure(), list[bool](), len(target.classes)
        for its, block in zip(columns, cells, strict=True):
            there = block.complete()
            weights = np.ones(block.shape[0]) if target.weights is None else target.weights
            share = 1.0 if there is None else float(there @ weights / max(weights.sum(), 1e-300))
            pairs.append(structure.pairs(its, classes, share))
            size = classes * replace(its, pairs=True).size * 8 / 2**30
            if pairs[-1] and size > 1:
                warnings.warn(
                    f"the pairs of {its.count} columns in {classes} classes take {size:.1f} GiB; "
                    'structure="naive" needs none',
                    UserWarning,
                    stacklevel=2,
                )
        return pairs

    def _held(self, X: Any, tally: Tally) -> tuple[Sequence[Any], list[list[Any]]]:
        sheet = self._opened(X, tally)
        assert tally.schema.features is not None
        names = tally.schema.features.names
        columns = [sheet.values(name) if name in sheet.places else [None] * sheet.shape[0] for name in names]
        return names, [list(line) for line in zip(*columns, strict=True)]

    def _decoded(self, tally: Tally, blocks: tuple[Array, ...], rng: np.random.Generator) -> Array:
        return decoded(tally.schema, blocks, rng)

    def _laid_out(self, tally: Tally) -> Tally:
        """Return the tally without combinations of levels, unless the structure is made of them."""
        if isinstance(self._structure(), Joint):
            return tally
        blocks, statistics = [], []
        for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
            count = without_combinations(block)
            if count < block.count:
                assert block.sizes is not None
                names, codings = (block.names or ())[:count], (block.codings or ())[:count]
                block = Columns.coded(block.family, names, codings, block.pairs)
                statistic = statistic.kept(np.arange(len(tally.class_count)), np.arange(block.width))
                statistic = replace(statistic, n=statistic.n[:, :count] if statistic.n.shape[1] > 1 else statistic.n)
            blocks.append(block)
            statistics.append(statistic)
        return Tally(replace(tally.schema, blocks=tuple(blocks)), tally.class_count, tuple(statistics))


def _needs_all_cells(block: Columns) -> bool:
    """Say whether a block is of numbers that most of a sparse matrix does not store."""
    return block.family == "gaussian" or any(isinstance(its, Cuts) for its in block.codings or ())


def _marked(columns: tuple[Columns, ...], pairs: list[bool]) -> tuple[Columns, ...]:
    return tuple(replace(its, pairs=two) for its, two in zip(columns, pairs, strict=True))


def _shape(blocks: tuple[Columns, ...]) -> list[Any]:
    """Return what plans must have in common to be counted in one pass: all but where numbers are cut.

    Combinations of levels are of bins as they are, so with them cuts have to agree as well.
    """
    shape: list[Any] = []
    for block in blocks:
        joint = without_combinations(block) < block.count
        codings = [
            ("cuts", its.edges if joint else None) if isinstance(its, Cuts) else its for its in block.codings or ()
        ]
        shape.append((block.family, block.names, codings))
    return shape


def _finest(plans: Sequence[tuple[Columns, ...]]) -> tuple[Columns, ...]:
    """Return the blocks with the cuts of all plans."""
    blocks = []
    for alike in zip(*plans, strict=True):
        if alike[0].codings is None:
            blocks.append(alike[0])
            continue
        codings = zip(*(block.codings or () for block in alike), strict=True)
        finest = tuple(its[0].finer(*its[1:]) if isinstance(its[0], Cuts) else its[0] for its in codings)
        blocks.append(alike[0].recoded(finest))
    return tuple(blocks)


def _with_cuts(columns: Columns, plan: Columns) -> Columns:
    """Return the columns with the cuts of a plan."""
    if columns.codings is None or plan.codings is None:
        return columns
    pairs = zip(columns.codings, plan.codings, strict=True)
    return columns.recoded(tuple(planned if isinstance(planned, Cuts) else its for its, planned in pairs))


def _without_combinations(columns: Columns, block: Block) -> Block:
    count = without_combinations(columns)
    if count == columns.count:
        return block
    assert isinstance(block, Coded)
    return Coded(block.owner, (block.names or ())[:count], np.ascontiguousarray(block.array[:, :count]))
