"""Types of the columns of Parquet files, which must agree between the files of one table."""

from collections.abc import Iterable
from typing import Any

from suffice.data.engines.source import SourceError
from suffice.data.files.csv_format import check_names


def check_parquet_types(files: Iterable[tuple[str, str]]) -> None:
    """Raise an error that names the column and two files if a column has two types; files are (path, shown name)."""
    import pyarrow.parquet as pq

    first: dict[str, tuple[str, str]] = {}
    for path, shown in files:
        try:
            schema = pq.read_schema(path)
        except Exception as error:
            message = " ".join(str(error).split())
            raise SourceError(f"{shown} cannot be read as Parquet: {message}") from error
        check_names(schema.names, shown)
        for field in schema:
            kind = _name_type(field.type)
            before, known = first.setdefault(field.name, (shown, kind)) if kind else (shown, "")
            if kind != known:
                raise SourceError(
                    f"column {field.name!r} is {known} in {before} and {kind} in {shown}; make it the same in all files"
                )


def _name_type(kind: Any) -> str:
    """Return the name of a type of Arrow; numbers of any width are numbers, and an empty column has no type."""
    import pyarrow.types as types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "strings"
    return "" if types.is_null(kind) else str(kind)
