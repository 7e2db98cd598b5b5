"""The engine for dask: each partition is tallied where it is, and the tallies are merged in a tree."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

from suffice.data import append_columns
from suffice.data.column_names import rename_taken
from suffice.data.engines.batches import tally_batch
from suffice.data.engines.source import PartialTally, Request, Scored, ScoreQuery, Source, SourceError
from suffice.statistics import Tally

# Number of tallies that are merged at once; the caller receives no more than these.
FAN = 32


@dataclass(frozen=True)
class DaskSource(Source):
    """A data frame of dask."""

    frame: Any

    @classmethod
    def accepts(cls, source: Any) -> bool:
        return type(source).__module__.startswith("dask.dataframe") and hasattr(source, "columns")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return _compute(lambda: len(self.frame))  # type: ignore[no-any-return]

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        if self.rows == 0:
            raise SourceError("there are no rows to learn from")
        if self.rows <= rows:
            return _compute(self.frame.compute), True
        if spread:
            return _compute(self.frame.sample(frac=rows / self.rows, random_state=0).compute), False
        return _compute(lambda: self.frame.head(rows, npartitions=-1)), False

    def rows_with(self, name: str, rows: int) -> Any:
        return _compute(lambda: self.frame[self.frame[name].notnull()].head(rows, npartitions=-1))

    def tally(self, request: Request) -> Tally:
        import dask

        count, merge = dask.delayed(_count_partition), dask.delayed(_merge)
        parts = [count(part, request) for part in self.frame[request.select(self.names)].to_delayed()]
        while len(parts) > FAN:
            parts = [merge(parts[first : first + FAN]) for first in range(0, len(parts), FAN)]
        return _merge(_compute(lambda: dask.compute(*parts))).whole(request)  # type: ignore[no-any-return]

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: ScoreQuery) -> Any:
        names = self.names
        kinds = {bool: "bool", int: "int64", float: "float64"}
        types = {name: kinds.get(type(value), "string") for name, value in rename_taken(added, names).items()}
        result = {**self.frame.dtypes.to_dict(), **types}

        def score_partition(part: Any) -> Any:
            found = append_columns(part, rename_taken(score(part), names)) if len(part) else part.assign(**dict(types))
            return found.astype(types)

        return self.frame.map_partitions(score_partition, meta=result)


def _count_partition(part: Any, request: Request) -> PartialTally:
    return tally_batch(part, request) if len(part) else PartialTally()


def _merge(parts: Any) -> Any:
    # in the order of the partitions, so that rounding is reproducible
    return reduce(add, parts, PartialTally())


def _compute(call: Callable[[], Any]) -> Any:
    """Return the result of a computation of dask; raise errors of its readers as one line."""
    try:
        return call()
    except (SourceError, TypeError, ValueError):
        raise
    except Exception as error:
        raise SourceError(f"dask could not read the table: {' '.join(str(error).split())[:600]}") from error
