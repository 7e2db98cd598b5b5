"""Types of the names that `__init__.py` imports when they are first used."""

from suffice.data.frames import FrameSheet as FrameSheet
from suffice.data.frames import append_columns as append_columns
from suffice.data.frames import as_arrow as as_arrow
from suffice.data.frames import concat_frames as concat_frames
from suffice.data.frames import encode_frame as encode_frame
from suffice.data.frames import select_columns as select_columns
from suffice.data.frames import split_frame as split_frame
from suffice.data.labelled_table import check_table as check_table
from suffice.data.labelled_table import missing_labels_error as missing_labels_error
from suffice.data.labels import EMPTY as EMPTY
from suffice.data.labels import as_labels as as_labels
from suffice.data.labels import encode as encode
from suffice.data.labels import find_missing as find_missing
from suffice.data.labels import label_text as label_text
from suffice.data.labels import probability_name as probability_name
from suffice.data.read_columns import compare_columns as compare_columns
from suffice.data.read_columns import read_blocks as read_blocks
from suffice.data.sheets import Sheet as Sheet
from suffice.data.sheets import SparseSheet as SparseSheet
from suffice.data.sheets import label_of as label_of
from suffice.data.table import Table as Table
from suffice.data.table import Target as Target
from suffice.data.table import as_block as as_block
from suffice.data.table import as_sheet as as_sheet
from suffice.data.table import weights_of as weights_of
