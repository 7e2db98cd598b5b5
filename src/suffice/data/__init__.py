"""Data from users: arrays, data frames, files and databases. Input is checked here; lower layers rely on it."""

from suffice.registry import import_late

__all__, __getattr__ = import_late(
    __name__,
    {
        "suffice.data.frames": (
            "FrameSheet append_columns as_arrow concat_frames encode_frame select_columns split_frame"
        ),
        "suffice.data.labelled_table": "check_table missing_labels_error",
        "suffice.data.labels": "EMPTY as_labels encode find_missing label_text probability_name",
        "suffice.data.read_columns": "compare_columns read_blocks",
        "suffice.data.sheets": "Sheet SparseSheet label_of",
        "suffice.data.table": "Table Target as_block as_sheet weights_of",
    },
)
