"""The engine for rows that come in batches: data frames or Arrow record batches, held in memory one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from operator import add
from typing import Any

from suffice.data import Table, Target, as_sheet, read_blocks
from suffice.data.column_names import frame_names, rename_taken
from suffice.data.engines import memory
from suffice.data.engines.source import SAMPLE, Request, Scored, Source
from suffice.data.frames import append_columns, as_arrow, concat_frames, encode_frame
from suffice.data.labelled_table import missing_labels_error
from suffice.progress import Progress
from suffice.statistics import Tally

# Small batches are merged to about this many rows, so that a call is worth its overhead.
ROWS = 1 << 17


@dataclass(frozen=True)
class PartialTally:
    """The tally of some batches, their number of rows, and how many of these have no label."""

    tally: Tally | None = None
    rows: int = 0
    missing: int = 0

    def __add__(self, other: PartialTally) -> PartialTally:
        known = [tally for tally in (self.tally, other.tally) if tally is not None]
        return PartialTally(reduce(add, known) if known else None, self.rows + other.rows, self.missing + other.missing)

    def whole(self, request: Request) -> Tally:
        """Return the tally of all batches; raise an error if there are no rows or labels are missing."""
        if self.rows == 0:
            raise ValueError("there are no rows to learn from")
        if self.tally is None or (self.missing and request.missing_target == "error"):
            raise missing_labels_error(request.target, self.missing, self.rows)
        return self.tally


def tally(batches: Iterable[Any], request: Request, rows: int = 0) -> Tally:
    """Return the tally of all batches: the sum of their tallies, each taken in memory.

    ``rows`` is the number of all rows, for the progress line; 0 if it is not known.
    """
    total = PartialTally()
    with Progress("learning", rows or 1) as progress:
        for batch in merge_batches(batches):
            total = total + tally_batch(batch, request)
            progress.say(min(total.rows, rows), f"{total.rows:,} rows")
    return total.whole(request)


def tally_batch(batch: Any, request: Request) -> PartialTally:
    """Return the tally of a batch."""
    rows = count_rows(batch)
    X, labels, codes, weights = encode_frame(batch, request.target, request.weight, "drop")
    if not len(codes):
        return PartialTally(None, rows, rows)
    sheet = as_sheet(X, owner="fit_table")
    target = Target.coded(labels, codes, weights, "fit_table")
    columns, cells = read_blocks(sheet, request.blocks, grow=True)
    return PartialTally(memory.tally(Table(cells, target), columns, request.features), rows, rows - len(codes))


def merge_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of a sensible size: Arrow record batches merged into tables, data frames as they are."""
    import pyarrow as pa

    held, rows = list[Any](), 0
    for batch in chain(batches, [None]):  # None: the end
        is_arrow = isinstance(batch, pa.RecordBatch)
        if not is_arrow or rows >= ROWS or (held and held[0].schema != batch.schema):
            if rows:
                yield pa.Table.from_batches(held)
            held, rows = [], 0
        if is_arrow:
            held.append(batch)
            rows += batch.num_rows
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

    def scored(self, score: Callable[[Any], Scored], added: dict[str, Any], query: Callable[[str, str], str]) -> Any:
        batches = merge_batches(chain(*self._read))
        return (append_columns(batch, rename_taken(score(batch), frame_names(batch))) for batch in batches)
