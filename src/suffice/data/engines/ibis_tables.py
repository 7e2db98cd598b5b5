"""The engine for tables at a database, through Ibis: its aggregates are the sums, and only they travel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any
from uuid import uuid4

from suffice.data.column_names import renamed
from suffice.data.engines import batches
from suffice.data.engines.source import NoSqlError, Request, Scored, Source, SourceError
from suffice.data.engines.sql_tally import Counting
from suffice.data.plan import Facts
from suffice.statistics import Tally

# Where names that differ in capitals alone are two names.
TELLS_CAPITALS = ("postgres", "snowflake")


@dataclass(frozen=True)
class SqlSource(Source):
    """A table expression of Ibis, on whatever backend it lives."""

    table: Any

    @classmethod
    def accepts(cls, source: Any) -> bool:
        """Say whether something is a table expression of Ibis."""
        return type(source).__module__.startswith("ibis.expr")

    @cached_property
    def names(self) -> tuple[str, ...]:
        names = tuple(self.table.columns)
        met: dict[str, str] = {}
        for name in names:
            before = met.setdefault(name.casefold(), name)
            if before != name and self.dialect not in TELLS_CAPITALS:
                raise SourceError(
                    f"columns {before!r} and {name!r} differ in capitals only, which {self.dialect} does not tell "
                    "apart; rename one"
                )
        return names

    @cached_property
    def backend(self) -> Any:
        """Where the table lives."""
        return self.table.get_backend()

    @property
    def at_hand(self) -> bool:
        """Whether the database lives in this process, so that rows are handed out without a journey."""
        return self.dialect == "duckdb"

    @property
    def dialect(self) -> str:
        """Which SQL is spoken there."""
        return str(self.backend.name)

    def has(self, operation: str) -> bool:
        """Say whether the backend can do something."""
        import ibis.expr.operations as ops

        return bool(self.backend.has_operation(getattr(ops, operation)))

    def run(self, expression: Any) -> Any:
        """Return what an expression says as a table of Arrow, or the backend's complaint in a sentence."""
        try:
            return expression.to_pyarrow()
        except Exception as error:
            raise self.complaint(error) from error

    def handed_out(self, request: Request) -> Iterator[Any]:
        """Yield the rows, batch by batch, with the columns that are asked for."""
        own = {request.target, request.weight, *(name for block in request.blocks for name in block.names or ())}
        rows = self.table.select(*[name for name in self.table.columns if name in own])
        try:
            yield from rows.to_pyarrow_batches(chunk_size=batches.ROWS)
        except Exception as error:
            raise self.complaint(error) from error

    def complaint(self, error: Exception) -> SourceError:
        """Return what a backend says went wrong, in one line."""
        said = " ".join(str(error).split())
        return SourceError(f"{self.dialect} could not read the table: {said[:600]}")

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.run(self.table.aggregate(n=self.table.count()))["n"][0].as_py())

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        if self.rows == 0:
            raise SourceError("there are no rows to learn from")
        if self.rows <= rows:
            return self.run(self._readable), True
        if not spread:
            return self.few(rows), False
        import ibis

        share = rows / self.rows
        if self.at_hand:
            return self.run(self._readable.sample(share, method="row", seed=0)), False
        return self.run(self._readable.filter(ibis.random() < share)), False  # also of a view

    def rows_with(self, name: str, rows: int) -> Any:
        return self.run(self._readable.filter(self.table[name].notnull()).limit(rows))

    @property
    def _readable(self) -> Any:
        """The table with columns of types that Arrow has no word for as text."""
        strange = {name: self.table[name].cast("string") for name in self.names if self.table[name].type().is_uuid()}
        return self.table.mutate(**strange) if strange else self.table

    def few(self, rows: int) -> Any:
        """Return rows that cost little to come by."""
        return self.run(self._readable.limit(rows))

    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        wanted: dict[str, Any] = {}
        for j, (name, kind) in enumerate(kinds.items()):
            x = self.value(self.table, name, kind)
            wanted |= {f"rows{j}": x.count(), f"distinct{j}": x.nunique()}
            if kind == "number" and not x.type().is_integer():
                small = (x.abs() < 2.0**53).ifelse(x, 0.5)  # beyond, a double cannot tell
                wanted[f"fractions{j}"] = (small != small.floor()).ifelse(1, 0).sum()
        found = self.run(self.table.aggregate(**wanted)).to_pylist()[0] if wanted else {}
        return {
            name: Facts(kind, found[f"rows{j}"], found[f"distinct{j}"], not found.get(f"fractions{j}", 0))
            for j, (name, kind) in enumerate(kinds.items())
        }

    def tally(self, request: Request) -> Tally:
        return Counting(self, request).tally()

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: Callable[[str, str], str]) -> Any:
        name = f"suffice_{uuid4().hex[:16]}"  # no table has it, and no other that is scored beside this one
        try:
            said = query(self.dialect, name)
        except NoSqlError:  # a model that no SQL says
            if not self.at_hand:
                raise
            return self._scored_here(score, added)
        return self.table.alias(name).sql(said, dialect=self.dialect)

    def _scored_here(self, score: Callable[[Any], Scored], added: dict[str, Any]) -> Any:
        """Return the table scored by a function that the database calls, as it lives in this process."""
        import ibis
        import ibis.expr.datatypes as dt
        import pyarrow as pa

        kinds = renamed({name: dt.infer(value) for name, value in added.items()}, self.names, folds=True)
        types = tuple(self.table[name].type() for name in self.names)

        def function(*columns: Any) -> Any:
            found = score(pa.table(dict(zip(self.names, columns, strict=True))))
            pairs = zip(found.values(), kinds.values(), strict=True)
            return pa.StructArray.from_arrays([pa.array(v.tolist(), its.to_pyarrow()) for v, its in pairs], list(kinds))

        places = [Parameter(f"x{j}", Parameter.POSITIONAL_OR_KEYWORD) for j in range(len(types))]
        function.__signature__ = Signature(places)  # type: ignore[attr-defined]
        scored = ibis.udf.scalar.pyarrow(
            function, name=f"suffice_{uuid4().hex}", signature=(types, dt.Struct(kinds)), null_handling="special"
        )
        apart = f"suffice_{uuid4().hex}"
        both = self.table.mutate(**{apart: scored(*(self.table[name] for name in self.names))})
        return both.select(*self.names, **{name: both[apart][name] for name in kinds})

    def value(self, table: Any, name: str, kind: str) -> Any:
        """Return a column as it is counted: numbers that are not whole as doubles, NaN as an empty cell."""
        import ibis

        value = table[name]
        if value.type().is_uuid():
            value = value.cast("string")
        if value.type().is_string() and self.dialect == "sqlite":
            value = value.concat("")  # a sum of texts has no collation: capitals are told apart
        if kind not in ("number", "boolean") or value.type().is_boolean() or value.type().is_integer():
            return value
        floating = value.type().is_floating() and self.has("IsNan")
        number = value.cast("float64")
        return number.isnan().ifelse(ibis.null("float64"), number) if floating else number
