"""The one door for data. Everything a user passes in is checked here, and nowhere else."""

from suffice.tables.blocks import Block, Coded, Dense, Gappy, Sparse, cells_of
from suffice.tables.door import Table, Target, as_block, as_sheet, weights_of
from suffice.tables.frames import (
    FrameSheet,
    as_arrow,
    beside,
    check_table,
    coded_frame,
    missing_labels,
    only,
    split_frame,
    stacked,
)
from suffice.tables.labels import EMPTY, as_labels, encode, share_name, spoken
from suffice.tables.parts import Part
from suffice.tables.reading import decoded, matched, read, recoded
from suffice.tables.sheets import Sheet, SparseSheet, label_of

__all__ = [
    "EMPTY",
    "Block",
    "Coded",
    "Dense",
    "FrameSheet",
    "Gappy",
    "Part",
    "Sheet",
    "Sparse",
    "SparseSheet",
    "Table",
    "Target",
    "as_arrow",
    "as_block",
    "as_labels",
    "as_sheet",
    "beside",
    "cells_of",
    "check_table",
    "coded_frame",
    "decoded",
    "encode",
    "label_of",
    "matched",
    "missing_labels",
    "only",
    "read",
    "recoded",
    "share_name",
    "split_frame",
    "spoken",
    "stacked",
    "weights_of",
]
