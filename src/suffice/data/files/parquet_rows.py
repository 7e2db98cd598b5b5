"""Rows of Parquet files, read by Arrow: columns of strings keep the dictionaries of the files, which saves hashing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from suffice.data.files.file_formats import FoundFile, is_partitioned
from suffice.parallel import map_threads
from suffice.schema import Array

# A sample is drawn from at most so many row groups, evenly spread, so that its time does not grow with the table.
SAMPLED_GROUPS = 64


@dataclass(frozen=True)
class ParquetRows:
    """Parquet files whose columns are numbers, booleans and strings, of one type in all files.

    Arrow and DuckDB read such columns as the same values. `open_parquet` returns None for other files, which DuckDB
    reads: it converts types and adds the columns that the names of folders hold.
    """

    paths: tuple[str, ...]
    schema: Any

    @cached_property
    def groups(self) -> list[tuple[str, int, int]]:
        """The path, the index and the number of rows of each row group."""
        found = []
        for path in self.paths:
            about = _open(path).metadata
            found += [(path, group, about.row_group(group).num_rows) for group in range(about.num_row_groups)]
        return found

    def has(self, names: Sequence[str]) -> bool:
        """Return whether all columns can be read by Arrow as DuckDB reads them."""
        return set(names) <= set(self.schema.names)

    def read_batches(self, names: Sequence[str], rows: int, levels: Sequence[str] = ()) -> Iterator[Any]:
        """Yield some columns as Arrow record batches of at most ``rows`` rows.

        ``levels`` are columns of strings with few different values, which are read as dictionaries.
        """
        for path, groups in groupby(self.groups, key=itemgetter(0)):
            with _open(path, self._strings(levels)) as file:
                for run in _split_groups(((group, count) for _, group, count in groups), rows):
                    yield from file.iter_batches(rows, run, list(names))

    def sample(self, rows: int, names: Sequence[str], batch: int) -> Any:
        """Return about ``rows`` random rows as an Arrow table, in the order of the files."""
        import pyarrow as pa

        places = np.unique(np.linspace(0, len(self.groups) - 1, SAMPLED_GROUPS).round().astype(int))
        chosen = [self.groups[place] for place in places]
        ends = np.cumsum([count for _, _, count in chosen])
        wanted = np.random.default_rng(0).choice(ends[-1], min(rows, int(ends[-1])), replace=False, shuffle=False)
        wanted.sort()
        parts = np.split(wanted, np.searchsorted(wanted, ends[:-1]))
        starts = ends - [count for _, _, count in chosen]
        tasks = [
            (path, group, part - start)
            for (path, group, _), part, start in zip(chosen, parts, starts, strict=True)
            if len(part)
        ]

        about = {path: _open(path).metadata for path in {path for path, *_ in tasks}}

        def read(task: tuple[str, int, Array]) -> Any:
            path, group, picked = task
            found, first = [], 0
            with _open(path, self._strings(names), about[path]) as file:
                for rows_of_batch in file.iter_batches(batch, [group], list(names), use_threads=False):
                    last = first + rows_of_batch.num_rows
                    inside = picked[(picked >= first) & (picked < last)] - first
                    # few rows are made strings again, as which DuckDB would read them
                    found.append(pa.Table.from_batches([rows_of_batch.take(pa.array(inside))]).cast(self._plain(names)))
                    first = last
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


def _split_groups(groups: Iterable[tuple[int, int]], rows: int) -> Iterator[list[int]]:
    """Yield neighbouring row groups that have at most so many rows together, and larger ones alone.

    A batch of rows of several groups would have two parts, because each group has its own dictionaries.

    >>> list(_split_groups([(0, 2), (1, 1), (2, 9), (3, 1)], rows=3))
    [[0, 1], [2], [3]]
    """
    run, held = list[int](), 0
    for group, count in groups:
        if run and held + count > rows:
            yield run
            run, held = [], 0
        run, held = [*run, group], held + count
    if run:
        yield run


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
