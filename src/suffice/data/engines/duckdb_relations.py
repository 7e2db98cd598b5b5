"""The engine for relations of DuckDB: the queries run in the connection of the relation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from suffice.data.engines.batches import Batches
from suffice.data.engines.ibis_tables import SqlSource
from suffice.data.engines.source import NoSqlError, Request, Scored, ScoreQuery
from suffice.data.files.csv_group import identifier
from suffice.data.files.table_file import ColumnHints

NAME = "suffice_relation"


@dataclass(frozen=True)
class RelationSource(SqlSource):
    """A relation of DuckDB: Ibis, which knows its name and types only, writes the queries."""

    relation: Any

    @classmethod
    def accepts(cls, source: Any) -> bool:
        return type(source).__name__ == "DuckDBPyRelation"

    @classmethod
    def open(cls, source: Any, hints: ColumnHints) -> Self:
        import ibis

        texts = [
            f"CAST({identifier(name)} AS VARCHAR) AS {identifier(name)}" if str(kind) == "UUID" else identifier(name)
            for name, kind in zip(source.columns, source.types, strict=True)
        ]
        relation = source.project(", ".join(texts))  # Arrow lacks UUIDs
        schema = ibis.Schema.from_pyarrow(relation.limit(0).to_arrow_table().schema)
        return cls(ibis.table(schema, name=NAME), relation)

    @property
    def dialect(self) -> str:
        return "duckdb"

    def has(self, operation: str) -> bool:
        return True

    def run(self, expression: Any) -> Any:
        try:
            return self._query(expression).to_arrow_table()
        except Exception as error:
            raise self.explain_error(error) from error

    def read_batches(self, request: Request) -> Iterator[Any]:
        try:
            yield from _read(self._query(self.table.select(*request.select(self.table.columns))))
        except Exception as error:
            raise self.explain_error(error) from error

    def _query(self, expression: Any) -> Any:
        import ibis

        return self.relation.query(NAME, str(ibis.to_sql(expression, dialect="duckdb")))

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: ScoreQuery) -> Any:
        try:
            return self.relation.query(NAME, query(self.dialect, NAME))
        except NoSqlError:
            return Batches(_read(self.relation)).scored(score, added, query)


def _read(relation: Any) -> Any:
    """Return the rows of a relation as an Arrow reader."""
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(relation)
