"""The engine for Spark: workers tally their partitions, and the tallies are merged in a tree."""

import pickle  # nosec B403
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import Any
from uuid import uuid4

from suffice.data import append_columns
from suffice.data.column_facts import Facts
from suffice.data.column_names import rename_taken
from suffice.data.engines.batches import merge_batches, tally_batch
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import PartialTally, Request, Scored, ScoreQuery, Source, SourceError
from suffice.data.engines.spark_waiting import call_spark, is_connect
from suffice.families import FAMILIES
from suffice.statistics import Tally

# Number of tallies that are merged at once; the driver receives no more than these.
FAN = 32
# Spark's types of labels and probabilities; other labels are strings.
TYPES = {bool: "boolean", int: "long", float: "double"}


@dataclass(frozen=True)
class SparkSource(Source):
    """A frame of Spark, classic or Connect. A column of vectors or arrays counts as one column for each element."""

    frame: Any

    @classmethod
    def accepts(cls, source: Any) -> bool:
        return type(source).__module__.startswith("pyspark.sql") and type(source).__name__ == "DataFrame"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for each in self.frame.columns for name in self._elements(each))

    def _elements(self, name: str) -> list[str]:
        return _element_names(name, self._widths.get(name))

    @cached_property
    def _widths(self) -> dict[str, int]:
        """The length of the longest array of each column of arrays."""
        import pyspark.sql.functions as f

        wide = [field.name for field in self._flat.schema.fields if field.dataType.typeName() == "array"]
        if not wide:
            return {}
        first = self._call(lambda: self._flat.select([f.max(f.size(each)) for each in _columns(wide)]).first())
        return {name: int(width or 0) for name, width in zip(wide, first, strict=True)}

    @cached_property
    def _flat(self) -> Any:
        """The frame with arrays in place of vectors, which Arrow lacks."""
        vectors = [field.name for field in self.frame.schema.fields if field.dataType.typeName() == "vectorudt"]
        if not vectors:
            return self.frame
        from pyspark.ml.functions import vector_to_array

        names = self.frame.columns
        columns = zip(names, _columns(names), strict=True)
        return self.frame.select([vector_to_array(c).alias(name) if name in vectors else c for name, c in columns])

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return int(self._call(self.frame.count))

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        table = self._read(self._flat.limit(rows + 1))
        if table.num_rows == 0:
            raise SourceError("there are no rows to learn from")
        is_whole = table.num_rows <= rows
        if spread and not is_whole:
            table = self._read(self._flat.sample(rows / self.rows, seed=0))
        return table, is_whole

    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        known = {name: kind for name, kind in kinds.items() if name in self.frame.columns}
        if not known:
            return {}
        with _view_of(self._flat.select(_columns(known))) as view:
            return self._call(lambda: view.facts(known))  # type: ignore[no-any-return]

    def rows_with(self, name: str, rows: int) -> Any:
        if name not in self.frame.columns:
            return None
        return self._read(self._flat.filter(_columns([name])[0].isNotNull()).limit(rows))

    def tally(self, request: Request) -> Tally:
        needed = [name for name in self.frame.columns if request.select(self._elements(name))]
        rows = self._flat.select(_columns(needed))
        has_moments_only = all(
            FAMILIES[each.family].sql_sums == "moments" and not each.pairs for each in request.blocks
        )
        if has_moments_only and not self._widths:
            with _view_of(rows) as view:
                return self._call(lambda: view.tally(request))  # type: ignore[no-any-return]
        count_partition = partial(_count_partition, request, needed, self._widths)
        parts = _with_plain_names(rows).mapInArrow(count_partition, "part long, tally binary")
        # a client of Spark Connect cannot know the number of partitions
        is_remote = is_connect(rows.sparkSession)
        count = 4 * FAN if is_remote else self._call(lambda: rows.rdd.getNumPartitions())
        while count > FAN:
            count = -(-count // FAN)
            parts = parts.repartition(count).mapInArrow(_merge_partials, "part long, tally binary")
        partials = self._call(parts.collect)
        # in the order of the partitions, so that rounding is reproducible
        found = [_read_partial(bytes(row.tally)) for row in sorted(partials, key=lambda row: row.part)]
        return reduce(add, found, PartialTally()).whole(request)

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: ScoreQuery) -> Any:
        import pyspark.sql.types as t

        schema = t.StructType(list(self._flat.schema.fields))
        for name, value in rename_taken(added, self._flat.columns, folds=True).items():
            schema = schema.add(name, TYPES.get(type(value), "string"))
        score_partition = partial(_score_partition, score, list(self._flat.columns), self._widths)
        return _with_plain_names(self._flat).mapInArrow(score_partition, schema)

    def _read(self, frame: Any) -> Any:
        return _split_arrays(self._call(lambda: _arrow(frame)), self._widths)

    def _call(self, call: Callable[[], Any]) -> Any:
        return call_spark(self.frame.sparkSession, call)


@dataclass(frozen=True)
class _View(SqlSource):
    """A view of Spark that is queried for aggregates: Spark computes moments faster than it passes rows to Python."""

    session: Any

    @property
    def dialect(self) -> str:
        return "pyspark"

    def has(self, operation: str) -> bool:
        return True

    def run(self, expression: Any) -> Any:
        import ibis

        return _arrow(self.session.sql(ibis.pyspark.compile(expression)))


@contextmanager
def _view_of(rows: Any) -> Iterator[_View]:
    """Register a frame as a temporary view, which SQL can query."""
    import ibis
    from pyspark.sql.pandas.types import to_arrow_schema

    name = f"suffice_{uuid4().hex}"
    rows.createTempView(name)
    try:
        yield _View(ibis.table(ibis.Schema.from_pyarrow(to_arrow_schema(rows.schema)), name=name), rows.sparkSession)
    finally:
        rows.sparkSession.catalog.dropTempView(name)


def _with_plain_names(frame: Any) -> Any:
    """Return a frame with plain names: mapInArrow takes a dot in a name for access to a structure."""
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))


def _columns(names: Iterable[str]) -> list[Any]:
    import pyspark.sql.functions as f

    return [f.col("`" + name.replace("`", "``") + "`") for name in names]


def _arrow(frame: Any) -> Any:
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    import pyarrow as pa

    return pa.Table.from_pandas(frame.toPandas(), preserve_index=False)  # before Spark 4


def _element_names(name: str, width: int | None) -> list[str]:
    """Return the names under which a column is counted: one for each element of an array."""
    return [name] if width is None else [f"{name}[{place}]" for place in range(width)]


def _split_arrays(table: Any, widths: dict[str, int]) -> Any:
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
        columns |= {each: pa.array(values[:, j]) for j, each in enumerate(_element_names(name, width))}
    return pa.table(columns)


# Spark's workers run the following functions on the batches of a partition.


def _count_partition(request: Request, names: list[str], widths: dict[str, int], rows: Iterator[Any]) -> Iterator[Any]:
    """Yield the number and the tally of a partition."""
    from pyspark import TaskContext

    context, total = TaskContext.get(), PartialTally()
    for batch in merge_batches(rows):
        total = total + tally_batch(_split_arrays(batch.rename_columns(names), widths), request)
    yield _line(context.partitionId() if context is not None else 0, total)


def _merge_partials(rows: Iterator[Any]) -> Iterator[Any]:
    """Merge the tallies of a partition into one."""
    parts = [line for batch in rows for line in batch.to_pylist()]
    if parts:
        parts.sort(key=lambda line: line["part"])
        yield _line(parts[0]["part"], reduce(add, (_read_partial(line["tally"]) for line in parts)))


def _read_partial(content: bytes) -> PartialTally:
    """Return the tally of a partition; a worker of the same job pickled it."""
    found: PartialTally = pickle.loads(content)  # nosec B301
    return found


def _line(part: int, total: PartialTally) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"part": pa.array([part], pa.int64()), "tally": [pickle.dumps(total)]})


def _score_partition(
    score: Callable[[Any], Scored], names: list[str], widths: dict[str, int], rows: Iterator[Any]
) -> Iterator[Any]:
    """Yield the batches of a partition with their scores."""
    for batch in merge_batches(rows):
        table = batch.rename_columns(names)
        added = rename_taken(score(_split_arrays(table, widths)), names, folds=True)
        yield from append_columns(table, added).to_batches()
