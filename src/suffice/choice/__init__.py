"""Choice: what is decided after the rows were counted, from the sums alone.

Numbers are counted in cells, beside their moments. From these sums each numeric column gets its form: a Gaussian, or
bins that are unions of cells. It is also decided here whether a missing cell is evidence.
"""

from suffice.choice.column_forms import MISSING, NUMERIC, Form, choose_forms
from suffice.choice.layout import lay_out_columns, lay_out_rows

__all__ = ["MISSING", "NUMERIC", "Form", "choose_forms", "lay_out_columns", "lay_out_rows"]
