"""The engine for rows that come batch by batch: frames, or record batches of Arrow, each learned and let go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from operator import add
from typing import Any

from suffice.data import Table, Target, as_arrow, as_sheet, beside, coded_frame, missing_labels, read, stacked
from suffice.data.column_names import names_of, renamed
from suffice.data.engines import memory
from suffice.data.engines.source import Request, Scored, Source
from suffice.data.plan import Facts
from suffice.progress import Progress
from suffice.statistics import Tally

# Small batches are put together to about this many rows, so that a column is worth a call.
ROWS = 1 << 17


@dataclass(frozen=True)
class Partial:
    """The sums of some batches, how many rows these had, and how many of them no label."""

    tally: Tally | None = None
    rows: int = 0
    missing: int = 0

    def __add__(self, other: Partial) -> Partial:
        known = [its for its in (self.tally, other.tally) if its is not None]
        return Partial(reduce(add, known) if known else None, self.rows + other.rows, self.missing + other.missing)

    def whole(self, request: Request) -> Tally:
        """Return the tally of all batches, or say what was wrong with them."""
        if self.rows == 0:
            raise ValueError("there are no rows to learn from")
        if self.tally is None or (self.missing and request.missing_target == "error"):
            raise missing_labels(request.target, self.missing, self.rows)
        return self.tally


def tally(batches: Iterable[Any], request: Request, rows: int = 0) -> Tally:
    """Return the sums of all batches: that of each is taken in memory, and they are added up.

    ``rows`` is how many there are, for the line that says how far it has come; 0 if nobody knows.
    """
    total = Partial()
    with Progress("learning", rows or 1) as progress:
        for batch in gathered(batches):
            total = total + of_batch(batch, request)
            progress.say(min(total.rows, rows), f"{total.rows:,} rows")
    return total.whole(request)


def of_batch(batch: Any, request: Request) -> Partial:
    """Return the sums of a batch."""
    rows = len_of(batch)
    X, labels, codes, weights = coded_frame(batch, request.target, request.weight, "drop")
    if not len(codes):
        return Partial(None, rows, rows)
    sheet = as_sheet(X, owner="fit_table")
    target = Target.coded(labels, codes, weights, "fit_table")
    columns, cells = read(sheet, request.blocks, grow=True)
    return Partial(memory.tally(Table(cells, target), columns, request.features), rows, rows - len(codes))


def gathered(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of a sensible size: record batches of Arrow one after another in one table, frames as they are."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0

    def together() -> Iterator[Any]:
        nonlocal rows
        if rows:
            yield pa.Table.from_batches(held)
        held.clear()
        rows = 0

    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            yield from together()
            if len_of(batch):
                yield batch
            continue
        if held and held[0].schema != batch.schema:
            yield from together()
        held.append(batch)
        rows += batch.num_rows
        if rows >= ROWS:
            yield from together()
    yield from together()


def _alike(tables: list[Any]) -> Any:
    """Return tables of Arrow as one, columns by name; what one of them lacks is empty there."""
    import pyarrow as pa

    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        said = " ".join(str(error).split())
        raise ValueError(f"the batches do not go together: {said}") from error


def len_of(batch: Any) -> int:
    """Return how many rows a frame has, of any make."""
    return int(batch.num_rows if hasattr(batch, "num_rows") else len(batch))


@dataclass(frozen=True)
class Batches(Source):
    """Batches that can be read once, or again and again: a list, a reader, a generator, a data set of Arrow."""

    batches: Iterable[Any]

    @classmethod
    def accepts(cls, source: Any) -> bool:
        """Say whether something is a source of batches."""
        made = type(source).__module__.split(".")[0]
        if made == "pyarrow":
            named = ("RecordBatch", "RecordBatchReader", "Scanner")
            return type(source).__name__ in named or hasattr(source, "to_batches")
        return isinstance(source, (list, tuple, Iterator)) or hasattr(source, "__iter__")

    @cached_property
    def _read(self) -> tuple[list[Any], Iterator[Any]]:
        """The first batches, which are looked at before any is counted, and the rest."""
        import pyarrow as pa

        source: Any = [self.batches] if isinstance(self.batches, pa.RecordBatch) else self.batches
        if hasattr(source, "to_reader") and not isinstance(source, pa.Table):
            source = source.to_reader()
        elif hasattr(source, "to_batches"):
            source = source.to_batches()
        rest, first, rows = iter(source), list[Any](), 0
        for batch in rest:
            if not hasattr(batch, "columns"):
                raise TypeError(
                    f"a source of batches yields frames or record batches of Arrow, and this one a "
                    f"{type(batch).__name__}"
                )
            first.append(batch)
            rows += len_of(batch)
            if rows >= self._sampled:
                break
        if not rows:
            raise ValueError("there are no rows to learn from: the source yields no batch, or only empty ones")
        return first, rest

    _sampled = 100_000

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(names_of(self._read[0][0]))

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        import pyarrow as pa

        first = [batch for batch in self._read[0] if len_of(batch)]
        frames = [pa.Table.from_batches([b]) if isinstance(b, pa.RecordBatch) else b for b in first]
        if len({(type(its), tuple(names_of(its))) for its in frames}) > 1:  # of several makes, or in another order
            frames = [_alike([as_arrow(its) for its in frames])]
        following = next(self._read[1], None)
        if following is not None:
            self._read[0].append(following)  # it was only looked whether there is one
        try:
            return stacked(frames), following is None
        except (TypeError, ValueError):  # types that differ, as whole numbers and others do
            return _alike([as_arrow(its) for its in frames]), following is None

    def facts(self, kinds: dict[str, str]) -> dict[str, Facts]:
        return {}  # the rows come but once

    def tally(self, request: Request) -> Tally:
        first, rest = self._read
        return tally(chain(first, rest), request)

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: Callable[[str, str], str]) -> Any:
        first, rest = self._read
        return (beside(batch, renamed(score(batch), names_of(batch))) for batch in gathered(chain(first, rest)))
