"""Rows of Parquet files, read by Arrow: columns of strings keep the dictionaries of the files, which saves hashing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from suffice.data.files.file_formats import FoundFile, is_partitioned
from suffice.parallel import map_threads
from suffice.schema import Array

# A sample is drawn from at most so many runs of row groups, evenly spread: its time does not grow with the table.
SAMPLED_RUNS = 64

# About so many bytes of the rows that are read for a sample stay in memory, because all rows are read afterwards.
KEPT_BYTES = 1 << 28


class Run(NamedTuple):
    """Neighbouring row groups of a file, which are read together, and their numbers of rows and bytes."""

    path: str
    groups: tuple[int, ...]
    rows: int
    size: int


@dataclass(frozen=True)
class ParquetRows:
    """Parquet files whose columns are numbers, booleans and strings, of one type in all files.

    Arrow and DuckDB read such columns as the same values. `open_parquet` returns None for other files, which DuckDB
    reads: it converts types and adds the columns that the names of folders hold.
    """

    paths: tuple[str, ...]
    schema: Any
    kept: dict[Run, list[Any]] = field(default_factory=dict)  # the batches of runs that were read for a sample

    @cached_property
    def groups(self) -> list[Run]:
        """Each row group as a run of its own."""
        # codes of strings have 4 bytes; strings that are not repeated take about what they take in the file
        found, width = [], sum(4 if _is_string(kind) else max(kind.bit_width // 8, 1) for kind in self.schema.types)
        for path in self.paths:
            about = _open(path).metadata
            for place in range(about.num_row_groups):
                group = about.row_group(place)
                size = max(group.total_byte_size, group.num_rows * width)
                found.append(Run(path, (place,), group.num_rows, size))
        return found

    def has(self, names: Sequence[str]) -> bool:
        """Return whether all columns can be read by Arrow as DuckDB reads them."""
        return set(names) <= set(self.schema.names)

    def read_batches(self, names: Sequence[str], rows: int, levels: Sequence[str] = ()) -> Iterator[Any]:
        """Yield some columns as Arrow record batches of at most ``rows`` rows.

        ``levels`` are columns of strings with few different values, which are read as dictionaries. Batches that were
        kept of a sample are not read again.
        """
        for path, runs in groupby(_merge_groups(self.groups, rows), key=attrgetter("path")):
            with _open(path, self._strings(levels)) as file:
                for run in runs:
                    kept = self.kept.pop(run, [])
                    if kept and set(self._strings(names)) <= set(levels):
                        yield from (batch.select(list(names)) for batch in kept)
                    else:
                        yield from file.iter_batches(rows, run.groups, list(names))

    def sample(self, rows: int, names: Sequence[str], batch: int) -> Any:
        """Return about ``rows`` random rows as an Arrow table, in the order of the files.

        The first batches that are read are kept for `read_batches`, as far as there is room for them.
        """
        import pyarrow as pa

        runs = list(_merge_groups(self.groups, batch))
        runs = [runs[place] for place in np.unique(np.linspace(0, len(runs) - 1, SAMPLED_RUNS).round().astype(int))]
        ends = np.cumsum([run.rows for run in runs])
        wanted = np.random.default_rng(0).choice(ends[-1], min(rows, int(ends[-1])), replace=False, shuffle=False)
        wanted.sort()
        parts = np.split(wanted, np.searchsorted(wanted, ends[:-1]))
        tasks = [
            (run, part - end + run.rows) for run, part, end in zip(runs, parts, ends.tolist(), strict=True) if len(part)
        ]
        about = {path: _open(path).metadata for path in {run.path for run, _ in tasks}}
        total = np.cumsum([run.size for run, _ in tasks])
        fitting = {run for run, _ in tasks[: np.searchsorted(total, KEPT_BYTES)]}

        def read(task: tuple[Run, Array]) -> Any:
            run, picked = task
            found, kept, first = [], list[Any](), 0
            with _open(run.path, self._strings(names), about[run.path]) as file:
                for rows_of_batch in file.iter_batches(batch, run.groups, list(names), use_threads=False):
                    last = first + rows_of_batch.num_rows
                    inside = picked[(picked >= first) & (picked < last)] - first
                    # few rows are made strings again, as which DuckDB would read them
                    found.append(pa.Table.from_batches([rows_of_batch.take(pa.array(inside))]).cast(self._plain(names)))
                    first = last
                    if run in fitting:
                        kept.append(rows_of_batch)
            if kept:  # only now, when they are complete
                self.kept[run] = kept
            return pa.concat_tables(found)

        return pa.concat_tables(map_threads(read, tasks))

    def _strings(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if _is_string(self.schema.field(name).type)]

    def _plain(self, names: Sequence[str]) -> Any:
        import pyarrow as pa

        fields = [(name, self.schema.field(name).type) for name in names]
        return pa.schema([(name, pa.string() if _is_string(kind) else kind) for name, kind in fields])


def open_parquet(files: Sequence[FoundFile]) -> ParquetRows | None:
    """Return Parquet files as rows; None if they are partitioned or if their columns are not those of the first."""
    import pyarrow as pa

    if is_partitioned(files):
        return None
    schemas = [_open(file.path).schema_arrow for file in files]
    types = [dict(zip(schema.names, schema.types, strict=True)) for schema in schemas]
    common = [(name, kind) for name, kind in types[0].items() if all(each.get(name) == kind for each in types)]
    fields = [(name, kind) for name, kind in common if _is_simple(kind)]
    return ParquetRows(tuple(file.path for file in files), pa.schema(fields))


def _merge_groups(groups: Iterable[Run], rows: int) -> Iterator[Run]:
    """Yield neighbouring row groups that have at most so many rows together as one run, and larger ones alone.

    A batch of rows of several groups would have two parts, because each group has its own dictionaries.

    >>> groups = [Run("a", (place,), rows, 8) for place, rows in enumerate([2, 1, 9, 1])]
    >>> [run.groups for run in _merge_groups(groups, rows=3)]
    [(0, 1), (2,), (3,)]
    """
    held: Run | None = None
    for group in groups:
        if held and held.path == group.path and held.rows + group.rows <= rows:
            held = Run(held.path, held.groups + group.groups, held.rows + group.rows, held.size + group.size)
        else:
            if held:
                yield held
            held = group
    if held:
        yield held


def _open(path: str, dictionaries: list[str] | None = None, about: Any = None) -> Any:
    import pyarrow.parquet as pq

    # without read-ahead of whole row groups, which may be large
    return pq.ParquetFile(path, read_dictionary=dictionaries, pre_buffer=False, metadata=about)


def _is_string(kind: Any) -> bool:
    import pyarrow.types as types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_simple(kind: Any) -> bool:
    import pyarrow.types as types

    return _is_string(kind) or types.is_boolean(kind) or types.is_integer(kind) or str(kind) in ("float", "double")
