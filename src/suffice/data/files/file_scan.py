"""The one reader of table files: files of any format as one view of an embedded DuckDB database.

The command line and ``fit_table`` both read files with `scan_files`, so that a file gives the same table everywhere.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suffice.caller_warnings import warn_caller
from suffice.data.engines.source import SourceError
from suffice.data.files.csv_encoding import as_utf8
from suffice.data.files.csv_format import check_names, detect_csv_format
from suffice.data.files.csv_group import group_files, identifier, literal
from suffice.data.files.csv_repair import repair_csv
from suffice.data.files.csv_types import find_row_counter, infer_types, reading_of
from suffice.data.files.date_parts import find_parts, select_parts
from suffice.data.files.excel_sheets import sheet_as_csv
from suffice.data.files.file_formats import FoundFile, ScratchFolder, find_files, inspect_file, is_partitioned
from suffice.data.files.table_file import AS_ROW, ColumnHints, TableFile, resolve_column
from suffice.data.labelled_table import missing_column
from suffice.data.labels import EMPTY
from suffice.progress import watched

VIEW = "suffice_files"
# each column is read once, so a cache would only use memory
SETTINGS = "SET enable_external_file_cache = false"
# `watched` shows the progress on a terminal; DuckDB's own bar would mix with the output of a program
TERMINAL_SETTINGS = "SET enable_progress_bar = true; SET enable_progress_bar_print = false"


@dataclass(frozen=True)
class FileScan:
    """Files as one view of a DuckDB database.

    ``names`` are the columns of the view, and ``file_columns`` those of the files, of which some may be left out.
    ``folder`` keeps copies of what DuckDB cannot read in place. ``reading`` is how cells were read, as attributes of a
    model.
    """

    connection: Any
    files: tuple[FoundFile, ...]
    names: tuple[str, ...]
    file_columns: tuple[str, ...]
    folder: ScratchFolder
    reading: dict[str, Any]

    @property
    def format(self) -> str:
        """The format of the files."""
        return self.files[0].format

    def count_rows(self) -> int:
        """Return the number of rows."""
        return int(self.run(f"SELECT count(*) AS n FROM {VIEW}")["n"][0].as_py())

    def read_rows(self, most: int | None = None) -> Any:
        """Return the rows, or the first of them, as an Arrow table."""
        return self.run(f"SELECT * FROM {VIEW}" + ("" if most is None else f" LIMIT {most}"))

    def run(self, query: str) -> Any:
        """Return the answer to a query as an Arrow table."""
        import duckdb

        try:
            with watched("reading files", self.connection.query_progress):
                return self.connection.sql(query).to_arrow_table()
        except duckdb.Error as error:
            raise self.explain_error(error) from error

    def explain_error(self, error: Exception) -> SourceError:
        """Return an error of DuckDB as one line that names the file."""
        return _explain_error(error, self.files)


def scan_files(table: TableFile, hints: ColumnHints) -> FileScan:
    """Return the files that a path names as one table; columns are matched by name.

    Parameters
    ----------
    table : TableFile
        The files, and settings for CSV.
    hints : ColumnHints
        What is known about the columns: it decides whether the first line of a CSV file names them.
    """
    import duckdb

    folder = ScratchFolder()
    files = tuple(inspect_file(name, folder) for name in find_files(table.path))
    formats = sorted({file.format for file in files})
    if len(formats) > 1:
        raise SourceError(f"all files must have the same format, not several: {', '.join(formats)}")
    if formats == ["Excel"]:
        files, formats = tuple(sheet_as_csv(file, folder) for file in files), ["CSV"]
        table = replace(table, delimiter=",", encoding="utf-8")
    _check_settings(table, files[0], formats[0])
    connection = duckdb.connect()
    connection.execute(SETTINGS)
    if sys.stderr.isatty():  # in Jupyter without ipywidgets, DuckDB raises an error for these settings
        connection.execute(TERMINAL_SETTINGS)
    reading: dict[str, Any] = {} if table.na_values is None else {"na_values_": list(table.na_values)}
    try:
        if formats == ["CSV"]:
            query, left_out, columns, found = _select_csv(connection, files, table, hints, folder)
            reading |= found
        else:
            query = READERS[formats[0]](connection, files)
            columns = tuple(_describe(connection, query))
            left_out = _find_ignored(table, columns)
        if left_out:
            query = f"SELECT * EXCLUDE ({', '.join(map(identifier, left_out))}) FROM ({query})"
        types = _describe(connection, query)
        for name, kind in types.items():
            if kind == "UUID":  # which Arrow lacks
                query = f"SELECT * REPLACE (CAST({identifier(name)} AS VARCHAR) AS {identifier(name)}) FROM ({query})"
        parts = hints.date_parts
        if table.dates == "parts":
            parts = find_parts(connection, query, types, [resolve_column(name, columns) for name in hints.exact])
            reading |= {"date_parts_": parts} if parts else {}
        query = select_parts(query, parts, types, keeps_dates=bool(hints.learned))
        connection.execute(f"CREATE VIEW {VIEW} AS {query}")
        names = tuple(_describe(connection, query))
    except duckdb.Error as error:
        raise _explain_error(error, files) from error
    return FileScan(connection, files, names, tuple(dict.fromkeys((*columns, *names))), folder, reading)


def _check_settings(table: TableFile, file: FoundFile, format: str) -> None:
    """Raise an error if a setting for CSV is given for files of another format."""
    of_csv = ("header", "delimiter", "encoding", "skip_rows", "na_values")
    given = [name for name in of_csv if getattr(table, name) is not None]
    if format != "CSV" and given:
        setting = f"header={table.header}" if given[0] == "header" else f"{given[0]}=…"
        raise SourceError(f"TableFile(…, {setting}) is for files of CSV, and {file.shown} is {format}")


def _describe(connection: Any, query: str) -> dict[str, str]:
    """Return the type of each column of a query."""
    return {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE {query}").fetchall()}


def _find_ignored(table: TableFile, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns that are not read; raise an error if one does not exist, or none is left."""
    ignored = tuple(dict.fromkeys(resolve_column(name, columns) for name in table.ignore))
    unknown = [name for name in ignored if name not in columns]
    if unknown:
        raise missing_column(unknown[0], columns)
    if len(ignored) == len(columns):
        raise SourceError("all columns are ignored, so there is none to learn from")
    return ignored


def _select_csv(
    connection: Any, files: Sequence[FoundFile], table: TableFile, hints: ColumnHints, folder: ScratchFolder
) -> tuple[str, tuple[str, ...], tuple[str, ...], dict[str, dict[str, str]]]:
    """Return the query that reads CSV files, the columns to leave out of it, all columns, and how cells are read."""
    import duckdb

    na_values = next(tuple(each) for each in (table.na_values, hints.na_values, EMPTY) if each is not None)
    files = [as_utf8(file, table.encoding, folder) for file in files]
    layouts = [detect_csv_format(file, table, hints) for file in files]
    columns = tuple(dict.fromkeys(name for layout in layouts for name in layout.names))
    ignored = _find_ignored(table, columns)
    groups = group_files(files, layouts, na_values)
    try:
        types = infer_types(connection, groups, hints, ignored)
    except duckdb.Error:
        files = [file if table.encoding else as_utf8(file, None, folder, whole=True) for file in files]
        repaired = [repair_csv(file, layout, folder.path) for file, layout in zip(files, layouts, strict=True)]
        groups = group_files([file for file, _ in repaired], [layout for _, layout in repaired], na_values)
        types = infer_types(connection, groups, hints, ignored)
    counter = find_row_counter(connection, groups, types, hints)
    if counter:
        warn_caller("the first column has no name and counts the rows: it is left out")
    query = " UNION ALL BY NAME ".join(group.typed(types) for group in groups)
    if not connection.execute(f"SELECT 1 FROM ({query}) LIMIT 1").fetchall():
        hint = f"; if line 1 is a row, use {AS_ROW}" if table.header is None else ""
        raise SourceError(f"{files[0].shown} has a header and no rows{hint}")
    return query, tuple(dict.fromkeys((*counter, *ignored))), columns, reading_of(types, table.dates == "parts")


def _select_parquet(connection: Any, files: Sequence[FoundFile]) -> str:
    _check_parquet_types(files)
    return (
        f"SELECT * FROM read_parquet([{_list(files)}], union_by_name={str(len(files) > 1).lower()}, "
        f"hive_partitioning={str(is_partitioned(files)).lower()})"
    )


def _check_parquet_types(files: Sequence[FoundFile]) -> None:
    """Raise an error that names the column and two files if a column has two types."""
    import pyarrow.parquet as pq

    first: dict[str, tuple[str, str]] = {}
    for file in files:
        for field in _read_schema(file, pq.read_schema):
            kind = _name_type(field.type)
            before, known = first.setdefault(field.name, (file.shown, kind)) if kind else (file.shown, "")
            if kind != known:
                types = f"column {field.name!r} is {known} in {before} and {kind} in {file.shown}"
                raise SourceError(f"{types}; make it the same in all files")


def _read_schema(file: FoundFile, read: Callable[[str], Any]) -> Any:
    """Return the schema of a file of Arrow or Parquet; raise an error if it is damaged or two names are equal."""
    try:
        schema = read(file.path)
    except Exception as error:
        raise _explain_error(error, [file]) from error
    check_names(schema.names, file.shown)
    return schema


def _name_type(kind: Any) -> str:
    """Return the name of a type of Arrow; numbers of any width are numbers, and an empty column has no type."""
    import pyarrow.types as types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "strings"
    return "" if types.is_null(kind) else str(kind)


def _select_json(connection: Any, files: Sequence[FoundFile]) -> str:
    layout = "array" if files[0].head.lstrip().startswith(b"[") else "newline_delimited"
    settings = f"format='{layout}', compression={literal(files[0].compression)}"
    # the types are inferred from all rows: the first rows may differ from the rest
    described = connection.execute(f"DESCRIBE SELECT * FROM read_json([{_list(files)}], sample_size=-1, {settings})")
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind, *_ in described.fetchall())
    return f"SELECT * FROM read_json([{_list(files)}], columns={{{columns}}}, {settings})"


def _select_arrow(connection: Any, files: Sequence[FoundFile]) -> str:
    import pyarrow.dataset as ds

    for file in files:
        _read_schema(file, lambda path: ds.dataset(path, format="arrow").schema)
    connection.register("arrow_files", ds.dataset([file.path for file in files], format="arrow"))
    return "SELECT * FROM arrow_files"


READERS: dict[str, Callable[[Any, Sequence[FoundFile]], str]] = {
    "Parquet": _select_parquet,
    "JSON lines": _select_json,
    "Arrow": _select_arrow,
}


def _list(files: Sequence[FoundFile]) -> str:
    return ", ".join(literal(file.path) for file in files)


def _explain_error(error: Exception, files: Sequence[FoundFile]) -> SourceError:
    """Return an error of a reader as one line that names the file."""
    message = " ".join(str(error).split()).split(" LINE 1:")[0][:700]  # without the query
    guilty = next((file for file in files if file.path in message), None) or _find_broken_file(files)
    message = message.replace(guilty.path, guilty.shown.strip("'"))
    return SourceError(f"{guilty.shown} cannot be read as {guilty.format}: {message}")


def _find_broken_file(files: Sequence[FoundFile]) -> FoundFile:
    """Return the file that cannot be read by itself; the last one if all others can."""
    import duckdb

    reader = {"Parquet": "read_parquet", "CSV": "read_csv", "JSON lines": "read_json"}.get(files[0].format)
    for file in files[:-1] if reader else ():
        try:
            duckdb.sql(f"SELECT max(CAST(COLUMNS(*) AS VARCHAR)) FROM {reader}({literal(file.path)})").fetchall()
        except duckdb.Error:
            return file
    return files[-1]
