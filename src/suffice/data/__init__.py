"""Data from users: arrays, data frames, files and databases. Input is checked here; lower layers rely on it."""

from suffice.data.frames import (
    FrameSheet,
    append_columns,
    as_arrow,
    concat_frames,
    encode_frame,
    select_columns,
    split_frame,
)
from suffice.data.labelled_table import check_table, missing_labels_error
from suffice.data.labels import EMPTY, as_labels, encode, find_missing, label_text, probability_name
from suffice.data.read_columns import compare_columns, read_blocks
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
    "append_columns",
    "check_table",
    "encode_frame",
    "find_missing",
    "encode",
    "label_of",
    "compare_columns",
    "missing_labels_error",
    "select_columns",
    "read_blocks",
    "probability_name",
    "split_frame",
    "label_text",
    "concat_frames",
    "weights_of",
]
