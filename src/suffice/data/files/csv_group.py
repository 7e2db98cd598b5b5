"""CSV files of one layout as a table of DuckDB: the query that reads them as text, or with the types of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.data.files.csv_dates import ORDERS, date_value
from suffice.data.files.csv_format import CsvFormat
from suffice.data.files.csv_numbers import DECIMAL_COMMA, DECIMAL_POINT, number_value
from suffice.data.files.file_formats import FoundFile, is_partitioned

# Expressions that convert text to some types; other types are plain casts.
EXPRESSIONS = {
    "VARCHAR": "{0}",
    "DIGITS": "{0}",
    "COMMA": number_value(DECIMAL_COMMA),
    "MARKED": number_value(DECIMAL_POINT),
    "NEARLY BIGINT": "TRY_CAST({0} AS BIGINT)",
    "NEARLY DOUBLE": "TRY_CAST({0} AS DOUBLE)",
    "NEARLY TIMESTAMP": "TRY_CAST({0} AS TIMESTAMP)",
    **{kind: date_value(order) for kind, order in ORDERS.items()},
}


@dataclass(frozen=True)
class CsvGroup:
    """Files of one layout, which DuckDB reads as one table."""

    files: tuple[FoundFile, ...]
    layout: CsvFormat
    is_partitioned: bool
    na_values: tuple[str, ...]

    def texts(self, more: str = "") -> str:
        """Return the SQL of a table whose columns are all text."""
        layout = self.layout
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in layout.names)
        longest = 2 * layout.longest_row + 1024  # in a repaired file; DuckDB's own limit is 2,000,000 bytes
        large = f", max_line_size={longest}, buffer_size={2 * longest}" if longest > 2_000_000 else ""
        return (
            f"read_csv([{', '.join(literal(file.path) for file in self.files)}], auto_detect=false, "
            f"columns={{{columns}}}, header={str(layout.has_header).lower()}, skip={layout.skip}, "
            f"delim={literal(layout.delimiter)}, quote='\"', escape='\"', "
            f"nullstr=[{', '.join(map(literal, dict.fromkeys(('', *self.na_values))))}], "
            f"compression={literal(self.files[0].compression)}, "
            f"hive_partitioning={str(self.is_partitioned).lower()}{large}{more})"
        )

    def typed(self, types: Mapping[str, str]) -> str:
        """Return the SQL that reads the columns with their types."""
        made = []
        for name in self.layout.names:
            read = EXPRESSIONS.get(types[name], f"CAST({{0}} AS {types[name]})")
            if read != "{0}":
                made.append(f"{read.format(identifier(name))} AS {identifier(name)}")
        replaced = f" REPLACE ({', '.join(made)})" if made else ""
        return f"SELECT *{replaced} FROM {self.texts()}"


def group_files(files: Sequence[FoundFile], layouts: Sequence[CsvFormat], na_values: tuple[str, ...]) -> list[CsvGroup]:
    """Return groups of files with the same layout and compression."""
    partitioned = is_partitioned(files)
    groups: dict[Any, list[FoundFile]] = {}
    for file, layout in zip(files, layouts, strict=True):
        groups.setdefault((layout, file.compression), []).append(file)
    return [CsvGroup(tuple(grouped), layout, partitioned, na_values) for (layout, _), grouped in groups.items()]


def literal(text: str) -> str:
    """Return a text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return the name of a column as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
