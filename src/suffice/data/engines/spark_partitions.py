"""The functions that Spark's workers run on a partition: tally it, merge tallies, score it."""

import pickle
from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

from suffice.data import append_columns
from suffice.data.engines import batches
from suffice.data.engines.batches import PartialTally
from suffice.data.engines.source import Request, Scored


def element_names(name: str, width: int | None) -> list[str]:
    """Return the names under which a column is counted: one for each element of an array."""
    return [name] if width is None else [f"{name}[{place}]" for place in range(width)]


def split_arrays(table: Any, widths: dict[str, int]) -> Any:
    """Return an Arrow table with one column for each element of its arrays."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name in table.column_names:
        if name not in widths:
            columns[name] = table[name]
            continue
        arrays, width = table[name].combine_chunks(), widths[name]
        lengths = arrays.value_lengths()
        if arrays.null_count or bool((lengths.to_numpy(zero_copy_only=False) != width).any()):
            raise ValueError(f"column {name!r} holds arrays of {width} elements, and also shorter or empty ones")
        values = arrays.flatten().to_numpy(zero_copy_only=False).reshape(len(arrays), width)
        columns |= {each: pa.array(values[:, j]) for j, each in enumerate(element_names(name, width))}
    return pa.table(columns)


def make_counter(
    request: Request, names: list[str], widths: dict[str, int]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that tallies the batches of a partition."""

    def count(rows: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        total = PartialTally()
        for batch in batches.merge_batches(rows):
            total = total + batches.tally_batch(split_arrays(batch.rename_columns(names), widths), request)
        yield _line(context.partitionId() if context is not None else 0, total)

    return count


def merge_partials(rows: Iterator[Any]) -> Iterator[Any]:
    """Merge the tallies of a partition into one."""
    parts = [line for batch in rows for line in batch.to_pylist()]
    if parts:
        parts.sort(key=lambda line: line["part"])
        yield _line(parts[0]["part"], reduce(add, (pickle.loads(line["tally"]) for line in parts)))


def _line(part: int, total: PartialTally) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"part": pa.array([part], pa.int64()), "tally": [pickle.dumps(total)]})


def make_scorer(
    score: Callable[[Any], Scored], names: list[str], widths: dict[str, int]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that scores the batches of a partition."""

    def scored(rows: Iterator[Any]) -> Iterator[Any]:
        for batch in batches.merge_batches(rows):
            table = batch.rename_columns(names)
            yield from append_columns(table, score(split_arrays(table, widths))).to_batches()

    return scored
