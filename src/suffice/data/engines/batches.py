"""The engine for rows that come in batches: data frames or Arrow record batches, held in memory one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

from suffice.data import Table, Target, as_sheet, read_blocks
from suffice.data.column_names import frame_names, rename_taken
from suffice.data.engines import memory
from suffice.data.engines.source import SAMPLE, PartialTally, Request, Scored, ScoreQuery, Source
from suffice.data.frames import append_columns, as_arrow, concat_frames, encode_frame
from suffice.parallel import stream_threads
from suffice.progress import Progress
from suffice.statistics import Tally

# Small batches are merged to about this many rows, so that a call is worth its overhead.
ROWS = 1 << 17


def tally(batches: Iterable[Any], request: Request, rows: int = 0) -> Tally:
    """Return the tally of all batches: the sum of their tallies, each taken in memory.

    ``rows`` is the number of all rows, for the progress line; 0 if it is not known.
    """
    total = PartialTally() if request.counted is None else request.counted.done
    with Progress("learning", rows or 1) as progress:
        rest = islice(merge_batches(batches), total.batches, None)
        for counted in stream_threads(lambda batch: tally_batch(batch, request), rest):
            total = total + counted
            progress.say(min(total.rows, rows), f"{total.rows:,} rows")
            if request.counted is not None:
                request.counted.keep(total)
    return total.whole(request)


def tally_batch(batch: Any, request: Request) -> PartialTally:
    """Return the tally of a batch."""
    rows = count_rows(batch)
    X, labels, codes, weights = encode_frame(batch, request.target, request.weight, "drop")
    if not len(codes):
        return PartialTally(None, rows, rows, 1)
    sheet = as_sheet(X, owner="fit_table")
    target = Target.coded(labels, codes, weights, "fit_table")
    columns, cells = read_blocks(sheet, request.blocks, grow=True)
    return PartialTally(memory.tally(Table(cells, target), columns, request.features), rows, rows - len(codes), 1)


def merge_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of a sensible size: Arrow record batches as tables of at most `ROWS` rows, data frames as they are.

    Record batches are merged as long as they fit, and split only if they are larger.
    """
    import pyarrow as pa

    held, rows = list[Any](), 0
    for batch in chain(batches, [None]):  # None: the end
        is_arrow = isinstance(batch, pa.RecordBatch)
        if held and (not is_arrow or rows + batch.num_rows > ROWS or held[0].schema != batch.schema):
            yield pa.Table.from_batches(held)
            held, rows = [], 0
        if is_arrow:
            parts = [batch.slice(first, ROWS) for first in range(0, batch.num_rows, ROWS)]
            yield from (pa.Table.from_batches([part]) for part in parts[:-1])
            held += parts[-1:]
            rows += sum(part.num_rows for part in parts[-1:])
        elif batch is not None and count_rows(batch):
            yield batch


def _concat(frames: list[Any]) -> Any:
    """Return frames as one: as an Arrow table if their libraries, columns or types differ."""
    import pyarrow as pa

    if len({(type(frame), tuple(frame_names(frame))) for frame in frames}) == 1:
        with suppress(TypeError, ValueError):  # different types, such as integers and floats
            return concat_frames(frames)
    tables = [as_arrow(frame) for frame in frames]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise ValueError(f"the batches have columns of different types: {' '.join(str(error).split())}") from error


def count_rows(batch: Any) -> int:
    """Return the number of rows of a data frame of any library."""
    return int(batch.num_rows if hasattr(batch, "num_rows") else len(batch))


@dataclass(frozen=True)
class Batches(Source):
    """Batches of rows: a list, a generator, an Arrow reader or an Arrow data set.

    They are read once, so there are no facts about all rows.
    """

    batches: Iterable[Any]

    @classmethod
    def accepts(cls, source: Any) -> bool:
        if type(source).__module__.split(".")[0] == "pyarrow":
            named = ("RecordBatch", "RecordBatchReader", "Scanner")
            return type(source).__name__ in named or hasattr(source, "to_batches")
        return hasattr(source, "__iter__")

    @cached_property
    def _read(self) -> tuple[list[Any], Iterator[Any]]:
        """The first batches, which are the sample, and an iterator over the rest."""
        import pyarrow as pa

        source: Any = [self.batches] if isinstance(self.batches, pa.RecordBatch) else self.batches
        rest, first, rows = iter(source.to_batches() if hasattr(source, "to_batches") else source), list[Any](), 0
        for batch in rest:
            if not hasattr(batch, "columns"):
                raise TypeError(
                    f"a source of batches must yield data frames or Arrow record batches; this one yields a "
                    f"{type(batch).__name__}"
                )
            first.append(batch)
            rows += count_rows(batch)
            if rows >= SAMPLE:
                break
        if not rows:
            raise ValueError("there are no rows to learn from: the source yields no batch, or only empty ones")
        return first, rest

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(frame_names(self._read[0][0]))

    def sample(self, rows: int, *, spread: bool) -> tuple[Any, bool]:
        first, rest = self._read
        sample = _concat(list(merge_batches(first)))
        following = next(rest, None)
        if following is not None:
            first.append(following)  # it was read only to find out whether there are more rows
        return sample, following is None

    def tally(self, request: Request) -> Tally:
        return tally(chain(*self._read), request)

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: ScoreQuery) -> Any:
        batches = merge_batches(chain(*self._read))
        return (append_columns(batch, rename_taken(score(batch), frame_names(batch))) for batch in batches)
