"""What Spark's workers do with a partition, where it lies: count it, merge tallies, score it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

from suffice.data import beside
from suffice.data.engines import batches
from suffice.data.engines.batches import Partial
from suffice.data.engines.source import Request, Scored


def places(name: str, width: int | None) -> list[str]:
    """Return the names under which a column is counted: one for each place of an array."""
    return [name] if width is None else [f"{name}[{place}]" for place in range(width)]


def widened(table: Any, widths: dict[str, int]) -> Any:
    """Return a table of Arrow with a column for each place of its arrays."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name in table.column_names:
        if name not in widths:
            columns[name] = table[name]
            continue
        arrays, width = table[name].combine_chunks(), widths[name]
        lengths = arrays.value_lengths()
        if arrays.null_count or bool((lengths.to_numpy(zero_copy_only=False) != width).any()):
            raise ValueError(f"column {name!r} holds arrays of {width} places, and some that are shorter or empty")
        values = arrays.flatten().to_numpy(zero_copy_only=False).reshape(len(arrays), width)
        columns |= {each: pa.array(values[:, j]) for j, each in enumerate(places(name, width))}
    return pa.table(columns)


def counting(request: Request, names: list[str], widths: dict[str, int]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what counts the batches of a partition, where it lies."""

    def count(rows: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        total = Partial()
        for batch in batches.gathered(rows):
            total = total + batches.of_batch(widened(batch.rename_columns(names), widths), request)
        yield _line(context.partitionId() if context is not None else 0, total)

    return count


def merging(rows: Iterator[Any]) -> Iterator[Any]:
    """Merge the tallies that came together."""
    parts = [line for batch in rows for line in batch.to_pylist()]
    if parts:
        parts.sort(key=lambda line: line["part"])
        yield _line(parts[0]["part"], reduce(add, (pickle.loads(line["tally"]) for line in parts)))


def _line(part: int, total: Partial) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"part": pa.array([part], pa.int64()), "tally": [pickle.dumps(total)]})


def scoring(
    score: Callable[[Any], Scored], names: list[str], widths: dict[str, int]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what scores the batches of a partition, where it lies."""

    def scored(rows: Iterator[Any]) -> Iterator[Any]:
        for batch in batches.gathered(rows):
            table = batch.rename_columns(names)
            yield from beside(table, score(widened(table, widths))).to_batches()

    return scored
