"""Lazy tables, whose rows are not in memory: only `fit_table` and `predict_table` take them."""

from typing import Any

# Library and class of each kind of lazy table -> the method that reads its rows into memory.
LAZY = {
    ("dask", "DataFrame"): "compute",
    ("dask", "Series"): "compute",
    ("duckdb", "DuckDBPyRelation"): "to_arrow_table",
    ("_duckdb", "DuckDBPyRelation"): "to_arrow_table",
    ("ibis", "Table"): "to_pyarrow",
    ("polars", "LazyFrame"): "collect",
    ("pyspark", "DataFrame"): "toPandas",
}


def is_lazy(table: Any) -> bool:
    """Return whether a table is lazy."""
    return _kind(table) in LAZY


def check_in_memory(X: Any) -> None:
    """Raise an error if X is lazy: as an array it would lose the names and types of its columns."""
    kind = _kind(X)
    if kind in LAZY:
        raise TypeError(
            f"X is a lazy table of {kind[0].lstrip('_')}, whose rows are not in memory: use fit_table or "
            f"predict_table, which read it where it is, or call X.{LAZY[kind]}() first"
        )


def _kind(table: Any) -> tuple[str, str]:
    return type(table).__module__.split(".")[0], type(table).__name__
