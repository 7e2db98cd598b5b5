"""The registry of engines. A new engine is one file, and one line in `ENGINES`."""

from importlib import import_module
from typing import Any

from suffice.data.engines.source import Source
from suffice.data.files.table_file import ColumnHints
from suffice.data.lazy_tables import is_lazy

# Module and class of each engine, and what pip installs for it; the more specific first. Modules are imported late.
ENGINES: tuple[tuple[str, str, str], ...] = (
    ("database_urls", "UrlSource", "suffice"),
    ("duckdb_files", "FilesSource", "suffice"),
    ("ibis_tables", "SqlSource", "suffice"),
    ("duckdb_relations", "RelationSource", "suffice"),
    ("spark", "SparkSource", "suffice[spark]"),
    ("polars_lazy", "LazySource", "suffice"),
    ("dask_frames", "DaskSource", "suffice"),
    ("batches", "Batches", "suffice"),
)


def open_source(source: Any, hints: ColumnHints | None = None) -> Source | None:
    """Return a source as its engine reads it; None for a data frame, which is read in memory.

    Parameters
    ----------
    source : object
        A data frame, a path, a table of an engine, an iterable of frames, or a `Source`.
    hints : ColumnHints, default=None
        What is known about the columns, for files.
    """
    if isinstance(source, Source):
        return source
    is_frame = hasattr(source, "iloc") or type(source).__name__ in ("DataFrame", "Table")
    if is_frame and not is_lazy(source):
        return None
    for module, name, extra in ENGINES:
        engine: type[Source] = getattr(import_module(f"suffice.data.engines.{module}"), name)
        if not engine.accepts(source):
            continue
        try:
            return engine.open(source, hints or ColumnHints())
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(
                f"{missing.name} is needed to read this source, and is not installed: pip install '{extra}'",
                name=missing.name,
            ) from None
    return None
