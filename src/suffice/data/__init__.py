"""Data from users: arrays, data frames, files and databases. Input is checked here, and nowhere below."""

from suffice.data.frames import (
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
from suffice.data.labels import EMPTY, as_labels, encode, share_name, spoken
from suffice.data.read_columns import decoded, matched, read, recoded
from suffice.data.sheets import Sheet, SparseSheet, label_of
from suffice.data.table import Table, Target, as_block, as_sheet, weights_of

__all__ = [
    "EMPTY",
    "FrameSheet",
    "Sheet",
    "SparseSheet",
    "Table",
    "Target",
    "as_arrow",
    "as_block",
    "as_labels",
    "as_sheet",
    "beside",
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
