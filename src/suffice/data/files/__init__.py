"""Files of tables, in every format that is read."""
