"""Choice: what is decided after the rows were counted, from the sums alone.

Numbers are counted in cells, beside their moments. From these sums each numeric column gets its form: a Gaussian, or
bins that are unions of cells. It is also decided here whether a missing cell is evidence. The cells also tell how a
number is distributed within its bin, which samples and densities need.
"""

from suffice.choice.cell_density import log_density_in_bins
from suffice.choice.column_forms import MISSING, NUMERIC, choose_forms
from suffice.choice.decode_rows import decode_rows
from suffice.choice.layout import lay_out_columns, lay_out_rows
from suffice.choice.single_column import Form

__all__ = [
    "MISSING",
    "NUMERIC",
    "Form",
    "choose_forms",
    "decode_rows",
    "lay_out_columns",
    "lay_out_rows",
    "log_density_in_bins",
]
