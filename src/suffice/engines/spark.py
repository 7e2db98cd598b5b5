"""The engine for frames of Spark: each partition is counted where it lies, and the tallies are merged in a tree."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from threading import Event
from time import monotonic
from typing import Any
from uuid import uuid4

from suffice.engines import batches
from suffice.engines.batches import Partial
from suffice.engines.source import Request, Scored, Source, SourceError
from suffice.engines.sql import SqlSource
from suffice.plan import Facts
from suffice.progress import meanwhile
from suffice.tables import beside
from suffice.tables.names import renamed
from suffice.tallies import Tally

# So many tallies are merged at once; the driver gets no more than these.
FAN = 32

# A cluster whose last worker is lost may get another; after so many seconds nobody waits for it.
PATIENCE, EVERY = 90, 2.0


@dataclass(frozen=True)
class SparkSource(Source):
    """A frame of Spark, classic or Connect. A column of vectors or arrays counts as one column for each place."""

    frame: Any

    @classmethod
    def accepts(cls, source: Any) -> bool:
        """Say whether something is a frame of Spark."""
        return type(source).__module__.startswith("pyspark.sql") and type(source).__name__ == "DataFrame"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for each in self.frame.columns for name in _places(each, self._widths.get(each)))

    @cached_property
    def _widths(self) -> dict[str, int]:
        """How many places the arrays of a column have: the longest of them."""
        import pyspark.sql.functions as f

        wide = [field.name for field in self._flat.schema.fields if field.dataType.typeName() == "array"]
        if not wide:
            return {}
        first = self._asked(lambda: self._flat.select([f.max(f.size(f.col(_quoted(name)))) for name in wide]).first())
        return {name: int(width or 0) for name, width in zip(wide, first, strict=True)}

    @cached_property
    def _flat(self) -> Any:
        """The frame with arrays in place of vectors, which Arrow does not know."""
        import pyspark.sql.functions as f

        vectors = [field.name for field in self.frame.schema.fields if field.dataType.typeName() == "vectorudt"]
        if not vectors:
            return self.frame
        from pyspark.ml.functions import vector_to_array

        made = [
            vector_to_array(f.col(_quoted(name))).alias(name) if name in vectors else f.col(_quoted(name))
            for name in self.frame.columns
        ]
        return self.frame.select(made)

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._asked(self.frame.count))

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        met = self._asked(lambda: _arrow(self._flat.limit(rows + 1)))
        if met.num_rows == 0:
            raise SourceError("there are no rows to learn from")
        whole = met.num_rows <= rows
        if spread and not whole:
            met = self._asked(lambda: _arrow(self._flat.sample(rows / self.rows, seed=0)))
        return widened(met, self._widths), whole

    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        import pyspark.sql.functions as f

        known = {name: kind for name, kind in kinds.items() if name in self.frame.columns}
        wanted = []
        for j, (name, kind) in enumerate(known.items()):
            column = f.col(_quoted(name))
            its = self.frame.schema[name].dataType.typeName()
            floating = its in ("double", "float")
            value = f.when(~f.isnan(column), column) if floating else column
            wanted += [f.count(value).alias(f"rows{j}"), f.countDistinct(value).alias(f"distinct{j}")]
            if kind == "number" and (floating or its == "decimal"):
                broken = (value != f.floor(value)) | (f.abs(value) >= 2.0**53)
                wanted.append(f.max(f.when(broken, 1).otherwise(0)).alias(f"fraction{j}"))
        if not wanted:
            return {}
        found = self._asked(lambda: self._flat.select(wanted).first()).asDict()
        return {
            name: Facts(kind, found[f"rows{j}"], found[f"distinct{j}"], not found.get(f"fraction{j}", 0))
            for j, (name, kind) in enumerate(known.items())
        }

    def rows_with(self, name: str, rows: int) -> Any:
        import pyspark.sql.functions as f

        if name not in self.frame.columns:
            return None
        some = self._flat.filter(f.col(_quoted(name)).isNotNull()).limit(rows)
        return widened(self._asked(lambda: _arrow(some)), self._widths)

    def tally(self, request: Request) -> Tally:
        import pyspark.sql.functions as f

        names = {name for block in request.blocks for name in block.names or ()}
        needed = [
            name
            for name in self.frame.columns
            if names & set(_places(name, self._widths.get(name))) or name in (request.target, request.weight)
        ]
        rows = self._flat.select([f.col(_quoted(name)) for name in needed])
        if all(block.family == "gaussian" and not block.pairs for block in request.blocks) and not self._widths:
            return self._asked(lambda: _by_spark(rows, request))  # type: ignore[no-any-return]
        parts = _plainly(rows).mapInArrow(_counting(request, needed, self._widths), "part long, tally binary")
        count = self._asked(lambda: rows.rdd.getNumPartitions()) if hasattr(type(rows), "rdd") else FAN
        while count > FAN:
            count = -(-count // FAN)
            parts = parts.repartition(count).mapInArrow(_merging, "part long, tally binary")
        met = self._asked(parts.collect)
        # in the order of the partitions, so that sums are rounded alike each time
        found = [pickle.loads(bytes(row.tally)) for row in sorted(met, key=lambda row: row.part)]
        return reduce(add, found, Partial()).whole(request)

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: Callable[[str, str], str]) -> Any:
        import pyspark.sql.types as t

        schema = t.StructType(list(self._flat.schema.fields))
        taken = list(self._flat.columns)
        for name, value in renamed(added, taken, folds=True).items():
            schema = schema.add(name, t.StringType() if isinstance(value, str) else _type_of(value, t))

        def free(frame: Any) -> Scored:
            return renamed(score(frame), taken, folds=True)

        return _plainly(self._flat).mapInArrow(_scoring(free, taken, self._widths), schema)

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """Return what Spark answers, or its complaint in a line; what a worker raised is what is said."""
        gone = Event()
        try:
            with _not_for_ever(self.frame.sparkSession, gone):
                return ask()
        except SourceError:
            raise
        except Exception as error:
            if gone.is_set():
                raise SourceError(f"Spark has lost all its workers, and got no other in {PATIENCE} s") from error
            raise _complaint(error) from error


@contextmanager
def _not_for_ever(session: Any, gone: Event) -> Iterator[None]:
    """Cancel what is asked of a cluster that has no worker left: Spark itself would wait until one comes."""
    context = None if session.__class__.__module__.startswith("pyspark.sql.connect") else session.sparkContext
    if context is None or context._jsc is None or _workers(context) == 0:
        yield
        return
    group, last = f"suffice {uuid4().hex}", [monotonic()]
    context.setJobGroup(group, "suffice", interruptOnCancel=True)

    def look() -> None:
        if _workers(context):
            last[0] = monotonic()
        elif monotonic() - last[0] >= PATIENCE:
            gone.set()
            context.cancelJobGroup(group)

    try:
        with meanwhile(EVERY, look):
            yield
    finally:
        for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
            context.setLocalProperty(name, None)


def _workers(context: Any) -> int:
    """Return how many executors there are beside the driver."""
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1


@dataclass(frozen=True)
class _View(SqlSource):
    """A view of Spark's, of which its own aggregates are asked: moments cost it less than to hand out rows."""

    session: Any

    @property
    def dialect(self) -> str:
        return "pyspark"

    def has(self, operation: str) -> bool:
        return True

    def run(self, expression: Any) -> Any:
        import ibis

        return _arrow(self.session.sql(ibis.pyspark.compile(expression)))


def _by_spark(rows: Any, request: Request) -> Tally:
    """Return the moments of columns as Spark itself takes them."""
    import ibis
    from pyspark.sql.pandas.types import to_arrow_schema

    name = f"suffice_{uuid4().hex}"
    rows.createTempView(name)
    try:
        table = ibis.table(ibis.Schema.from_pyarrow(to_arrow_schema(rows.schema)), name=name)
        return _View(table, rows.sparkSession).tally(request)
    finally:
        rows.sparkSession.catalog.dropTempView(name)


def _plainly(frame: Any) -> Any:
    """Return a frame under plain names: mapInArrow would take a dot in a name for a place in a structure."""
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _places(name: str, width: int | None) -> list[str]:
    """Return the names under which a column is counted: one for each place of an array."""
    return [name] if width is None else [f"{name}[{place}]" for place in range(width)]


def _arrow(frame: Any) -> Any:
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    import pyarrow as pa

    return pa.Table.from_pandas(frame.toPandas(), preserve_index=False)  # before Spark 4


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
        columns |= {each: pa.array(values[:, j]) for j, each in enumerate(_places(name, width))}
    return pa.table(columns)


def _counting(request: Request, names: list[str], widths: dict[str, int]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what counts the batches of a partition, where it lies."""

    def count(rows: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        total = Partial()
        for batch in batches.gathered(rows):
            total = total + batches.of_batch(widened(batch.rename_columns(names), widths), request)
        yield _line(context.partitionId() if context is not None else 0, total)

    return count


def _merging(rows: Iterator[Any]) -> Iterator[Any]:
    """Merge the tallies that came together."""
    parts = [line for batch in rows for line in batch.to_pylist()]
    if parts:
        parts.sort(key=lambda line: line["part"])
        yield _line(parts[0]["part"], reduce(add, (pickle.loads(line["tally"]) for line in parts)))


def _line(part: int, total: Partial) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"part": pa.array([part], pa.int64()), "tally": [pickle.dumps(total)]})


def _scoring(
    score: Callable[[Any], Scored], names: list[str], widths: dict[str, int]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what scores the batches of a partition, where it lies."""

    def scored(rows: Iterator[Any]) -> Iterator[Any]:
        for batch in batches.gathered(rows):
            table = batch.rename_columns(names)
            yield from beside(table, score(widened(table, widths))).to_batches()

    return scored


def _type_of(value: Any, types: Any) -> Any:
    for kind, name in ((bool, "BooleanType"), (int, "LongType"), (float, "DoubleType")):
        if isinstance(value, kind):
            return getattr(types, name)()
    return types.StringType()


def _complaint(error: Exception) -> Exception:
    """Return what is wrong: a worker's own words if it had any, else Spark's, in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [re.match(r"(?:[\w.]*\.)?(\w*Error): (.*)", line) for line in lines]
    kind, said = next(((its[1], its[2]) for its in reversed(raised) if its), ("", ""))
    if kind in ("ValueError", "TypeError", "SourceError"):
        return TypeError(said) if kind == "TypeError" else SourceError(said)
    if kind == "ModuleNotFoundError":
        return SourceError(
            f"Spark's workers cannot count: {said}; install suffice where they run, and let them know the interpreter "
            "(PYSPARK_PYTHON)"
        )
    if kind:
        return SourceError(f"Spark could not count the rows: {kind}: {said[:600]}")
    said = next((line for line in lines if not line.startswith(("at ", "File "))), type(error).__name__)
    return SourceError(f"Spark could not count the rows: {said[:600]}")
