"""The engine for lazy frames of polars, which its streaming engine yields in batches."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from suffice.data import append_columns
from suffice.data.column_facts import Facts
from suffice.data.column_names import rename_taken
from suffice.data.engines import batches
from suffice.data.engines.source import Request, Scored, ScoreQuery, Source, SourceError
from suffice.statistics import Tally


@dataclass(frozen=True)
class LazySource(Source):
    """A lazy frame of polars."""

    frame: Any

    @classmethod
    def accepts(cls, source: Any) -> bool:
        return type(source).__module__.startswith("polars") and type(source).__name__ == "LazyFrame"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._collect(self.frame.collect_schema).names())

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        import polars as pl

        return int(self._collect(lambda: self.frame.select(pl.len()).collect(engine="streaming")).item())

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        if self.rows == 0:
            raise SourceError("there are no rows to learn from")
        whole = self.rows <= rows
        # every k-th row: spread over the whole table, and deterministic
        sampled = self.frame if whole else self.frame.gather_every(-(-self.rows // rows))
        return self._collect(lambda: sampled.collect(engine="streaming")), whole

    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        import polars as pl

        wanted, types = list[Any](), self.frame.collect_schema()
        for j, (name, kind) in enumerate(kinds.items()):
            x = pl.col(name).fill_nan(None) if types[name].is_float() else pl.col(name)
            wanted += [x.count().alias(f"rows{j}"), x.drop_nulls().n_unique().alias(f"distinct{j}")]
            if kind == "number" and not types[name].is_integer():
                wanted.append(((x == x.floor()) & (x.abs() < 2**53)).all().alias(f"whole{j}"))
        if not wanted:
            return {}
        found = self._collect(lambda: self.frame.select(wanted).collect(engine="streaming")).row(0, named=True)
        return {
            name: Facts(kind, found[f"rows{j}"], found[f"distinct{j}"], bool(found.get(f"whole{j}", True)))
            for j, (name, kind) in enumerate(kinds.items())
        }

    def rows_with(self, name: str, rows: int) -> Any:
        import polars as pl

        filled = self.frame.filter(pl.col(name).is_not_null()).head(rows)
        return self._collect(lambda: filled.collect(engine="streaming"))

    def tally(self, request: Request) -> Tally:
        rows = self.frame.select(request.select(self.names))
        rows = rows.collect_batches(chunk_size=batches.ROWS, maintain_order=False)
        return self._collect(lambda: batches.tally(rows, request, self.rows))  # type: ignore[no-any-return]

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: ScoreQuery) -> Any:
        import polars as pl

        kinds = {name: pl.Series([value]).dtype for name, value in added.items()}
        taken = self.names
        schema = pl.Schema({**self.frame.collect_schema(), **rename_taken(kinds, taken)})

        def score_batch(frame: Any) -> Any:
            if not len(frame):
                return schema.to_frame()
            return append_columns(frame, rename_taken(score(frame), taken)).cast(dict(schema))

        return self.frame.map_batches(score_batch, schema=schema, streamable=True)

    def _collect(self, call: Callable[[], Any]) -> Any:
        """Return the result of a call of polars; raise its errors as one line."""
        import polars as pl

        try:
            return call()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise SourceError(f"polars could not read the table: {' '.join(str(error).split())[:600]}") from error
