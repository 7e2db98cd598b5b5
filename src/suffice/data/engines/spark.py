"""The engine for Spark: workers tally their partitions, and the tallies are merged in a tree."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any
from uuid import uuid4

from suffice.data.column_names import rename_taken
from suffice.data.engines.batches import PartialTally
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import Request, Scored, Source, SourceError
from suffice.data.engines.spark_partitions import element_names, make_counter, make_scorer, merge_partials, split_arrays
from suffice.data.engines.spark_waiting import call_spark
from suffice.data.plan import Facts
from suffice.statistics import Tally

# Number of tallies that are merged at once; the driver receives no more than these.
FAN = 32


@dataclass(frozen=True)
class SparkSource(Source):
    """A frame of Spark, classic or Connect. A column of vectors or arrays counts as one column for each element."""

    frame: Any

    @classmethod
    def accepts(cls, source: Any) -> bool:
        return type(source).__module__.startswith("pyspark.sql") and type(source).__name__ == "DataFrame"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for each in self.frame.columns for name in element_names(each, self._widths.get(each)))

    @cached_property
    def _widths(self) -> dict[str, int]:
        """The length of the longest array of each column of arrays."""
        import pyspark.sql.functions as f

        wide = [field.name for field in self._flat.schema.fields if field.dataType.typeName() == "array"]
        if not wide:
            return {}
        first = self._call(lambda: self._flat.select([f.max(f.size(f.col(_quoted(name)))) for name in wide]).first())
        return {name: int(width or 0) for name, width in zip(wide, first, strict=True)}

    @cached_property
    def _flat(self) -> Any:
        """The frame with arrays in place of vectors, which Arrow lacks."""
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
        """The number of rows."""
        return int(self._call(self.frame.count))

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        table = self._call(lambda: _arrow(self._flat.limit(rows + 1)))
        if table.num_rows == 0:
            raise SourceError("there are no rows to learn from")
        whole = table.num_rows <= rows
        if spread and not whole:
            table = self._call(lambda: _arrow(self._flat.sample(rows / self.rows, seed=0)))
        return split_arrays(table, self._widths), whole

    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        import pyspark.sql.functions as f

        known = {name: kind for name, kind in kinds.items() if name in self.frame.columns}
        wanted = []
        for j, (name, kind) in enumerate(known.items()):
            column = f.col(_quoted(name))
            kind_name = self.frame.schema[name].dataType.typeName()
            floating = kind_name in ("double", "float")
            value = f.when(~f.isnan(column), column) if floating else column
            wanted += [f.count(value).alias(f"rows{j}"), f.countDistinct(value).alias(f"distinct{j}")]
            if kind == "number" and (floating or kind_name == "decimal"):
                broken = (value != f.floor(value)) | (f.abs(value) >= 2.0**53)
                wanted.append(f.max(f.when(broken, 1).otherwise(0)).alias(f"fraction{j}"))
        if not wanted:
            return {}
        found = self._call(lambda: self._flat.select(wanted).first()).asDict()
        return {
            name: Facts(kind, found[f"rows{j}"], found[f"distinct{j}"], not found.get(f"fraction{j}", 0))
            for j, (name, kind) in enumerate(known.items())
        }

    def rows_with(self, name: str, rows: int) -> Any:
        import pyspark.sql.functions as f

        if name not in self.frame.columns:
            return None
        filled = self._flat.filter(f.col(_quoted(name)).isNotNull()).limit(rows)
        return split_arrays(self._call(lambda: _arrow(filled)), self._widths)

    def tally(self, request: Request) -> Tally:
        import pyspark.sql.functions as f

        wanted = request.column_names
        needed = [
            name for name in self.frame.columns if wanted.intersection(element_names(name, self._widths.get(name)))
        ]
        rows = self._flat.select([f.col(_quoted(name)) for name in needed])
        if all(block.family == "gaussian" and not block.pairs for block in request.blocks) and not self._widths:
            return self._call(lambda: _tally_by_spark(rows, request))  # type: ignore[no-any-return]
        parts = _with_plain_names(rows).mapInArrow(
            make_counter(request, needed, self._widths), "part long, tally binary"
        )
        count = self._call(lambda: rows.rdd.getNumPartitions()) if hasattr(type(rows), "rdd") else FAN
        while count > FAN:
            count = -(-count // FAN)
            parts = parts.repartition(count).mapInArrow(merge_partials, "part long, tally binary")
        partials = self._call(parts.collect)
        # in the order of the partitions, so that rounding is reproducible
        found = [pickle.loads(bytes(row.tally)) for row in sorted(partials, key=lambda row: row.part)]
        return reduce(add, found, PartialTally()).whole(request)

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: Callable[[str, str], str]) -> Any:
        import pyspark.sql.types as t

        schema = t.StructType(list(self._flat.schema.fields))
        taken = list(self._flat.columns)
        for name, value in rename_taken(added, taken, folds=True).items():
            schema = schema.add(name, t.StringType() if isinstance(value, str) else _type_of(value, t))

        def free(frame: Any) -> Scored:
            return rename_taken(score(frame), taken, folds=True)

        return _with_plain_names(self._flat).mapInArrow(make_scorer(free, taken, self._widths), schema)

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


def _tally_by_spark(rows: Any, request: Request) -> Tally:
    """Return the tally of columns of numbers from aggregates of Spark."""
    import ibis
    from pyspark.sql.pandas.types import to_arrow_schema

    name = f"suffice_{uuid4().hex}"
    rows.createTempView(name)
    try:
        table = ibis.table(ibis.Schema.from_pyarrow(to_arrow_schema(rows.schema)), name=name)
        return _View(table, rows.sparkSession).tally(request)
    finally:
        rows.sparkSession.catalog.dropTempView(name)


def _with_plain_names(frame: Any) -> Any:
    """Return a frame with plain names: mapInArrow takes a dot in a name for access to a structure."""
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _arrow(frame: Any) -> Any:
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    import pyarrow as pa

    return pa.Table.from_pandas(frame.toPandas(), preserve_index=False)  # before Spark 4


def _type_of(value: Any, types: Any) -> Any:
    for kind, name in ((bool, "BooleanType"), (int, "LongType"), (float, "DoubleType")):
        if isinstance(value, kind):
            return getattr(types, name)()
    return types.StringType()
