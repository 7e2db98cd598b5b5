"""Excel files: the first sheet is copied as CSV, so that it is read like one."""

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from suffice.data.engines.source import SourceError
from suffice.data.files.file_formats import FoundFile, ScratchFolder, inspect_file


def sheet_as_csv(file: FoundFile, folder: ScratchFolder) -> FoundFile:
    """Return the first sheet of an Excel file as a CSV file."""
    try:
        import fastexcel
    except ImportError as error:
        raise ImportError(
            f"{file.shown} is an Excel file, which the package fastexcel reads: pip install 'suffice[excel]', or save "
            "the sheet as CSV"
        ) from error
    import pyarrow as pa
    from pyarrow import csv

    try:
        sheet = fastexcel.read_excel(file.path).load_sheet(0, header_row=None, dtypes="string").to_arrow()
    except fastexcel.FastExcelError as error:
        problem = str(error).splitlines()[0]
        raise SourceError(
            f"{file.shown} cannot be read as an Excel spreadsheet ({problem}); save the table as CSV"
        ) from error
    if not sheet.num_rows:
        raise SourceError(f"the first sheet of {file.shown} is empty")
    path = Path(folder.path, f"{uuid4().hex}.csv")
    csv.write_csv(pa.Table.from_batches([sheet]), path, csv.WriteOptions(include_header=False))
    return replace(inspect_file(str(path), folder), shown=file.shown)
