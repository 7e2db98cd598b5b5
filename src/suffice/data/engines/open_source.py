"""Which engine reads a source. To add one: a file, and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from suffice.data.engines.source import Source

# Where each kind of source comes from, the more special first: a module of its own, so that none is loaded in vain.
ENGINES: tuple[tuple[str, str, str], ...] = (
    ("duckdb_files", "FilesSource", "suffice[sql]"),
    ("ibis_tables", "SqlSource", "suffice[sql]"),
    ("spark", "SparkSource", "suffice[spark]"),
    ("polars_lazy", "LazySource", "suffice[frames]"),
    ("batches", "Batches", "suffice[frames]"),
)


def opened(source: Any) -> Source | None:
    """Return a source as its engine reads it; None if it is a frame, which is read in memory."""
    if hasattr(source, "iloc") or _made_by(source) in (("polars", "DataFrame"), ("pyarrow", "Table")):
        return None
    for module, name, extra in ENGINES:
        engine = getattr(import_module(f"suffice.data.engines.{module}"), name)
        if not engine.accepts(source):
            continue
        try:
            return engine.opened(source) if hasattr(engine, "opened") else engine(source)  # type: ignore[no-any-return]
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(
                f"{missing.name} is needed to read from there, and is not installed: pip install '{extra}'",
                name=missing.name,
            ) from None
    return None


def _made_by(source: Any) -> tuple[str, str]:
    return type(source).__module__.split(".")[0], type(source).__name__
