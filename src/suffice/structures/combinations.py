"""Combinations of levels: an extra column that `Joint` counts, and that other structures leave out."""

from dataclasses import replace

import numpy as np

from suffice.blocks import Block, Coded
from suffice.caller_warnings import warn_caller
from suffice.schema import Columns, Combinations
from suffice.statistics import Tally


def has_combinations(columns: Columns) -> bool:
    """Return whether the last column of a block counts combinations of the others."""
    return columns.codings is not None and isinstance(columns.codings[-1], Combinations)


def drop_combinations(tally: Tally) -> Tally:
    """Return a tally without the counts of combinations."""
    if not any(map(has_combinations, tally.schema.blocks)):
        return tally
    blocks, statistics = [], []
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        if has_combinations(block):
            count = block.count - 1
            block = Columns.coded(block.family, (block.names or ())[:count], (block.codings or ())[:count], block.pairs)
            statistic = statistic.kept(np.arange(len(tally.class_count)), np.arange(block.width))
            statistic = replace(statistic, n=statistic.n[:, :count] if statistic.n.shape[1] > 1 else statistic.n)
        blocks.append(block)
        statistics.append(statistic)
    return Tally(replace(tally.schema, blocks=tuple(blocks)), tally.class_count, tuple(statistics))


def drop_combination_cells(columns: Columns, block: Block) -> Block:
    """Return a block of cells without the column of combinations."""
    if not has_combinations(columns):
        return block
    assert isinstance(block, Coded)
    count = columns.count - 1
    return Coded(block.owner, (block.names or ())[:count], np.ascontiguousarray(block.array[:, :count]))


def warn_unseen_combinations(columns: tuple[Columns, ...], cells: tuple[Block, ...]) -> None:
    """Warn if rows hold combinations of levels that were not seen in training."""
    unseen = 0
    for block_columns, block in zip(columns, cells, strict=True):
        if has_combinations(block_columns):
            assert isinstance(block, Coded)
            assert block_columns.codings is not None
            unseen += int((block.array[:, -1] >= block_columns.codings[-1].size).sum())
    if unseen:
        warn_caller(
            f"{unseen} of {cells[0].shape[0]} rows have a combination of levels that was not in the training data; "
            "their columns are treated as independent"
        )
