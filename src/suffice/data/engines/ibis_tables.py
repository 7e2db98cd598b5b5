"""The engine for tables in a database, through Ibis: the database computes the sums, and only these are transferred."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any
from uuid import uuid4

from suffice.data.column_facts import Facts
from suffice.data.column_names import rename_taken
from suffice.data.engines import batches
from suffice.data.engines.source import NoSqlError, Request, Scored, ScoreQuery, Source, SourceError, check_target_type
from suffice.data.engines.sql_tally import tally_by_sql
from suffice.statistics import Tally

# Databases in which names that differ only in capitals are different names.
CASE_SENSITIVE = ("postgres", "snowflake")


@dataclass(frozen=True)
class SqlSource(Source):
    """A table expression of Ibis, on any backend."""

    table: Any

    @classmethod
    def accepts(cls, source: Any) -> bool:
        return type(source).__module__.startswith("ibis.expr")

    @cached_property
    def names(self) -> tuple[str, ...]:
        names = tuple(self.table.columns)
        seen: dict[str, str] = {}
        for name in names:
            before = seen.setdefault(name.casefold(), name)
            if before != name and self.dialect not in CASE_SENSITIVE:
                raise SourceError(
                    f"columns {before!r} and {name!r} differ in capitals only, which {self.dialect} does not "
                    "distinguish; rename one"
                )
        return names

    @cached_property
    def backend(self) -> Any:
        """The backend of Ibis that holds the table."""
        return self.table.get_backend()

    @property
    def is_embedded(self) -> bool:
        """Whether the database runs in this process, so that reading rows needs no network."""
        return self.dialect == "duckdb"

    @property
    def dialect(self) -> str:
        """The SQL dialect of the backend."""
        return str(self.backend.name)

    def has(self, operation: str) -> bool:
        """Return whether the backend supports an operation of Ibis."""
        import ibis.expr.operations as ops

        return bool(self.backend.has_operation(getattr(ops, operation)))

    def run(self, expression: Any) -> Any:
        """Return the value of an expression as an Arrow table; raise errors of the backend as one line."""
        try:
            return expression.to_pyarrow()
        except Exception as error:
            raise self.explain_error(error) from error

    def read_batches(self, request: Request) -> Iterator[Any]:
        """Yield the columns of a request as Arrow record batches."""
        rows = self.table.select(*request.select(self.table.columns))
        try:
            yield from rows.to_pyarrow_batches(chunk_size=batches.ROWS)
        except Exception as error:
            raise self.explain_error(error) from error

    def explain_error(self, error: Exception) -> SourceError:
        """Return an error of the backend as one line."""
        message = " ".join(str(error).split())
        return SourceError(f"{self.dialect} could not read the table: {message[:600]}")

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.run(self.table.aggregate(n=self.table.count()))["n"][0].as_py())

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        if self.rows == 0:
            raise SourceError("there are no rows to learn from")
        if self.rows <= rows:
            return self.run(self._arrow_compatible), True
        if not spread:
            return self.cheap_rows(rows), False
        import ibis

        share = rows / self.rows
        if self.is_embedded:
            return self.run(self._arrow_compatible.sample(share, method="row", seed=0)), False
        return self.run(self._arrow_compatible.filter(ibis.random() < share)), False  # a view cannot be sampled

    def read_rows(self, most: int | None = None) -> Any:
        """Return the rows, or some of them, as an Arrow table."""
        return self.run(self._arrow_compatible if most is None else self._arrow_compatible.limit(most))

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The names of the columns, by which positions are counted; some of them may be left out."""
        return self.names

    def rows_with(self, name: str, rows: int) -> Any:
        return self.run(self._arrow_compatible.filter(self.table[name].notnull()).limit(rows))

    @property
    def _arrow_compatible(self) -> Any:
        """The table with columns of types that Arrow lacks as text."""
        strange = {name: self.table[name].cast("string") for name in self.names if self.table[name].type().is_uuid()}
        return self.table.mutate(**strange) if strange else self.table

    def cheap_rows(self, rows: int) -> Any:
        """Return rows that are cheap to read."""
        return self.run(self._arrow_compatible.limit(rows))

    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        wanted: dict[str, Any] = {}
        for j, (name, kind) in enumerate(kinds.items()):
            x = self.value(self.table, name)
            wanted |= {f"rows{j}": x.count(), f"distinct{j}": x.nunique()}
            if kind == "number" and not x.type().is_integer():
                small = (x.abs() >= 2.0**53).ifelse(0.5, x)  # larger doubles are all whole, and do not count as such
                wanted[f"fractions{j}"] = (small != small.floor()).ifelse(1, 0).sum()
        found = self.run(self.table.aggregate(**wanted)).to_pylist()[0] if wanted else {}
        return {
            name: Facts(kind, found[f"rows{j}"], found[f"distinct{j}"], not found.get(f"fractions{j}", 0))
            for j, (name, kind) in enumerate(kinds.items())
        }

    def check_target(self, name: str) -> None:
        check_target_type(name, self.table[name].type())

    def tally(self, request: Request) -> Tally:
        return tally_by_sql(self, request)

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: ScoreQuery) -> Any:
        name = f"suffice_{uuid4().hex[:16]}"  # unique: several tables may be scored at once
        try:
            statement = query(self.dialect, name)
        except NoSqlError:
            if self.is_embedded:
                return self._scored_here(score, added)
            statement = self._create_tables(query, name)
        return self.table.alias(name).sql(statement, dialect=self.dialect)

    def _create_tables(self, query: ScoreQuery, name: str) -> str:
        """Create temporary tables of parameters in the session of the backend; return the SELECT that reads them."""
        statements, select = query.tables(self.dialect, name, f"{name}_model")
        try:
            for statement in statements:
                self.backend.raw_sql(statement).close()
        except Exception as error:
            raise SourceError(
                f"{self.dialect} could not create temporary tables for the parameters of the model: "
                f'{" ".join(str(error).split())[:600]}; create them by the script of to_sql(style="tables"), or '
                'use model.set_params(structure="tree"), which needs none'
            ) from error
        return select

    def _scored_here(self, score: Callable[[Any], Scored], added: dict[str, Any]) -> Any:
        """Return the table scored by a Python function that the embedded database calls."""
        import ibis
        import ibis.expr.datatypes as dt
        import pyarrow as pa

        kinds = rename_taken({name: dt.infer(value) for name, value in added.items()}, self.names, folds=True)
        types = tuple(self.table[name].type() for name in self.names)

        def function(*columns: Any) -> Any:
            found = score(pa.table(dict(zip(self.names, columns, strict=True))))
            pairs = zip(found.values(), kinds.values(), strict=True)
            return pa.StructArray.from_arrays([pa.array(v.tolist(), t.to_pyarrow()) for v, t in pairs], list(kinds))

        places = [Parameter(f"x{j}", Parameter.POSITIONAL_OR_KEYWORD) for j in range(len(types))]
        function.__signature__ = Signature(places)  # type: ignore[attr-defined]
        scored = ibis.udf.scalar.pyarrow(
            function, name=f"suffice_{uuid4().hex}", signature=(types, dt.Struct(kinds)), null_handling="special"
        )
        apart = f"suffice_{uuid4().hex}"
        both = self.table.mutate(**{apart: scored(*(self.table[name] for name in self.names))})
        return both.select(*self.names, **{name: both[apart][name] for name in kinds})

    def value(self, table: Any, name: str) -> Any:
        """Return the expression of a column as it is counted: fractions as doubles, NaN as an empty cell."""
        import ibis

        value, kind = table[name], table[name].type()
        if kind.is_uuid():
            return value.cast("string")
        if kind.is_string() and self.dialect == "sqlite":
            return value.concat("")  # a concatenation has no collation, so capitals are distinguished
        if not (kind.is_floating() or kind.is_decimal()):
            return value
        number = value.cast("float64")
        has_nan = kind.is_floating() and self.dialect != "mysql" and self.has("IsNan")  # MySQL has no NaN
        return number.isnan().ifelse(ibis.null("float64"), number) if has_nan else number
