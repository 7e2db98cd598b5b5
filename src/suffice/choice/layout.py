"""Layout: the sums of a tally in the form that the model needs, and rows in the same form.

Cells become bins, a column leaves the block that its form does not need, and a missing cell may become a level.
Everything is computed from the sums, so a fold or a merged model has its own layout without another pass.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.blocks import Block, Coded, Dense, Sparse
from suffice.choice.column_forms import find_moments
from suffice.choice.single_column import Form
from suffice.data.read_columns import combine_levels
from suffice.schema import Array, Coding, Columns, Combinations, Cuts, MissingLevel, join_places, recodings, starts_of
from suffice.statistics import Counts, FunctionSums, PairCounts, Statistic, Tally, rest_of

# Cells are recoded in pieces of about so many, which stay in the cache.
PIECE = 1 << 16


def lay_out_columns(tally: Tally, forms: Mapping[Any, Form]) -> Tally:
    """Return the tally in which each column has its form.

    Parameters
    ----------
    tally : Tally
        The sums as they were counted.
    forms : mapping of column to Form
        The forms; columns that are not named stay as they are.
    """
    if not forms:
        return tally
    blocks, statistics = list[Columns](), list[Statistic]()
    families = _names_by_family(forms)
    kernels = {*families.get("kernel", ())}
    for block, statistic in zip(tally.schema.blocks, tally.statistics, strict=True):
        kept = [j for j, name in enumerate(block.names or ()) if _stays(block, j, forms.get(name))]
        if not kept:
            continue
        smoothed = [j for j in kept if (block.names or ())[j] in kernels]
        if smoothed and isinstance(statistic, Counts):
            kernel, counts = _select_levels(
                replace(block, pairs=False), Counts(statistic.n, statistic.total), smoothed, forms
            )
            blocks.append(replace(kernel, family="kernel"))
            statistics.append(counts)
            kept = [j for j in kept if j not in smoothed]
            if not kept:
                continue
        if block.codings is None:
            block, statistic = _select_numbers(block, statistic, kept)
        elif isinstance(statistic, Counts):
            block, statistic = _select_levels(block, statistic, kept, forms)
            block, statistic = _add_missing(block, statistic, forms, tally.class_count)
        blocks.append(block)
        statistics.append(statistic)
    for block, statistic in _derive_blocks(tally, families):
        blocks.append(block)
        statistics.append(statistic)
    return Tally(replace(tally.schema, blocks=tuple(blocks)), tally.class_count, tuple(statistics))


def _names_by_family(forms: Mapping[Any, Form]) -> dict[str, list[Any]]:
    """Return the columns of each family that a form names."""
    found: dict[str, list[Any]] = {}
    for name, form in forms.items():
        if form.family is not None:
            found.setdefault(form.family, []).append(name)
    return found


def _derive_blocks(tally: Tally, families: Mapping[str, list[Any]]) -> Iterator[tuple[Columns, Statistic]]:
    """Yield the blocks of families whose sums follow from the moments of x and of log x."""
    for family in ("exponential", "gamma"):
        names = tuple(families.get(family, ()))
        if not names:
            continue
        moments, logarithms = find_moments(tally, "gaussian"), find_moments(tally, "log-normal")
        n, mean, _ = (np.column_stack([moments[name][part] for name in names]) for part in range(3))
        totals: Statistic = Counts(n, n * mean)
        if family == "gamma":
            means = np.column_stack([logarithms[name][1] for name in names])
            totals = FunctionSums(n, n * mean, n * means)
        yield Columns(family, len(names), names), totals


def lay_out_rows(
    cells: tuple[Block, ...], counted: tuple[Columns, ...], chosen: tuple[Columns, ...]
) -> tuple[Block | None, ...]:
    """Return rows that were read for counting in the layout of a model; None for a block that must be read again."""
    blocks: list[Block | None] = []
    for columns in chosen:
        place = next(
            (
                place
                for place, other in enumerate(counted)
                if other.family == columns.family and all(name in other.places for name in columns.names or ())
            ),
            None,
        )
        if place is None:  # of a family whose sums were computed from others
            blocks.append(None)
            continue
        block, other = cells[place], counted[place]
        if columns.codings is None:
            order = columns.order_in(other)
            if order is not None:
                assert isinstance(block, Dense)
                block = block.select(order)
            blocks.append(block)
        else:
            blocks.append(_recode(block, other, columns))
    return tuple(blocks)


def _stays(block: Columns, j: int, form: Form | None) -> bool:
    """Return whether a column stays in a block, given its form: cells leave for a Gaussian, moments for bins."""
    if form is None:
        return True
    if block.codings is None:
        return form.cuts is None and block.family == (form.family or "gaussian")
    return form.cuts is not None or not _has_cells(block.codings[j])


def _has_cells(coding: Coding) -> bool:
    return type(coding) is Cuts and coding.by == "cells"


def _select_numbers(block: Columns, statistic: Statistic, kept: list[int]) -> tuple[Columns, Statistic]:
    if len(kept) == block.count:
        return block, statistic
    names = tuple((block.names or ())[j] for j in kept)
    return replace(block, count=len(kept), names=names), statistic.with_columns(np.array(kept), None)


def _select_levels(
    block: Columns, statistic: Counts, kept: list[int], forms: Mapping[Any, Form]
) -> tuple[Columns, Counts]:
    """Return a block of levels with some of its columns, whose cells are bins."""
    names = tuple((block.names or ())[j] for j in kept)
    old = [(block.codings or ())[j] for j in kept]
    new = [
        forms[name].cuts or coding if _has_cells(coding) and name in forms else coding
        for name, coding in zip(names, old, strict=True)
    ]
    last = None
    if isinstance(old[-1], Combinations):
        places = {name: mine.places_in(its) for name, mine, its in zip(names[:-1], old, new, strict=False)}
        new[-1], last = _recombine(block, names[:-1], places)
    selected = Columns.coded(block.family, names, tuple(new), block.pairs)
    if len(kept) < block.count:
        sizes = (block.sizes if block.sizes is not None else np.ones(block.count, np.intp))[kept]
        cells = np.arange(sizes.sum()) + np.repeat(block.starts[kept] - starts_of(sizes), sizes)
        statistic = statistic.with_columns(np.array(kept), cells)
    plain = len(new) if last is None else len(new) - 1
    flat = join_places(old[:plain], new[:plain], selected.starts[:plain])
    if last is not None:
        flat = np.concatenate([flat, selected.starts[-1] + last])
    if len(flat) == selected.width:
        return selected, statistic
    classes = len(statistic.total)
    return selected, statistic.rearrange((classes, selected.width), np.arange(classes), None, flat)


def _recombine(block: Columns, names: tuple[Any, ...], places: Mapping[Any, Array]) -> tuple[Combinations, Array]:
    """Return the combinations of the levels of some columns, and the place of each old combination among them."""
    codings = dict(zip(block.names or (), block.codings or (), strict=True))
    order = sorted((block.names or ())[:-1], key=str)
    (*_, last) = block.codings or ()
    assert isinstance(last, Combinations)

    def recode(name: Any, entry: Any) -> Any:
        return int(places[name][entry]) if isinstance(codings[name], Cuts) else entry

    labels = [
        tuple(recode(name, entry) for name, entry in zip(order, label, strict=True) if name in names)
        for label in last.labels
    ]
    combined = Combinations(tuple(sorted(set(labels))))
    return combined, np.array([combined.index[label] for label in labels], np.intp)


def _add_missing(
    block: Columns, statistic: Counts, forms: Mapping[Any, Form], class_count: Array
) -> tuple[Columns, Counts]:
    """Return a block in which missing cells are levels, in the columns whose form says so.

    The rows in which a column is missing are all rows without those that have one of its levels. The same holds for
    pairs: rows with level a in which the other column is missing are those with a, without those that have one of its
    levels, too.
    """
    names = block.names or ()
    chosen = [j for j, name in enumerate(names) if name in forms and forms[name].missing]
    if not chosen:
        return block, statistic
    assert block.codings is not None
    codings = tuple(MissingLevel(coding) if j in chosen else coding for j, coding in enumerate(block.codings))
    wider = Columns.coded(block.family, names, codings, block.pairs)
    kept = np.concatenate(
        [start + np.arange(coding.size) for start, coding in zip(wider.starts, block.codings, strict=True)]
    )
    added = np.array([wider.starts[j] + block.codings[j].size for j in chosen])
    n = np.array(np.broadcast_to(statistic.n, (len(class_count), block.count)))
    absent = rest_of(class_count[:, None], n[:, chosen])
    n[:, chosen] = class_count[:, None]
    total = np.zeros((len(class_count), wider.width))
    total[:, kept], total[:, added] = statistic.total, absent
    if not isinstance(statistic, PairCounts):
        return wider, Counts(n, total)
    # rows of a level in which each of the chosen columns is present, [class, cell, column]
    present = np.stack(
        [statistic.pairs[:, :, block.starts[j] : block.starts[j] + block.codings[j].size].sum(axis=2) for j in chosen],
        axis=2,
    )
    without = rest_of(statistic.total[:, :, None], present)
    pairs = np.zeros((len(class_count), wider.width, wider.width))
    pairs[:, kept[:, None], kept[None, :]] = statistic.pairs
    pairs[:, kept[:, None], added[None, :]] = without
    pairs[:, added[:, None], kept[None, :]] = without.transpose(0, 2, 1)
    both = np.stack(
        [present[:, block.starts[j] : block.starts[j] + block.codings[j].size].sum(axis=1) for j in chosen], axis=1
    )
    held = class_count[:, None] - absent
    pairs[:, added[:, None], added[None, :]] = rest_of(
        class_count[:, None, None] + both, held[:, :, None] + held[:, None, :]
    )
    return wider, PairCounts(n, total, pairs)


def _recode(block: Block, counted: Columns, chosen: Columns) -> Block:
    """Return cells with the codes of other columns, which are some of the same columns with fewer levels."""
    assert counted.codings is not None
    assert chosen.codings is not None
    if chosen is counted:
        return block
    if isinstance(block, Sparse):
        words = counted.codings[0].codes_in(chosen.codings[0])
        kept = np.flatnonzero(words < chosen.codings[0].size)
        return Sparse(block.owner, block.names, block.matrix[:, kept[np.argsort(words[kept])]])
    assert isinstance(block, Coded)
    order = chosen.order_in(counted) or list(range(chosen.count))
    old = [counted.codings[place] for place in order]
    table, starts = recodings(old, chosen.codings)
    widest = np.min_scalar_type(-max(coding.size for coding in chosen.codings) - 2)
    cells = np.empty((block.shape[0], len(order)), np.promote_types(block.array.dtype, widest))
    table, starts = table.astype(cells.dtype), np.append(0, starts) + 1  # the first entry is that of code −1
    is_whole = order == list(range(block.shape[1]))
    step = max(PIECE // len(order), 1)
    for first in range(0, len(cells), step):
        rows = slice(first, first + step)
        np.take(table, (block.array[rows] if is_whole else block.array[rows, order]) + starts, out=cells[rows])
    if isinstance(chosen.codings[-1], Combinations):
        # a combination of fewer columns may be complete where that of all columns was not
        names, codings = (chosen.names or ())[:-1], list(chosen.codings)
        cells[:, -1] = combine_levels(names, codings, cells[:, :-1], grow=False)[1]
    return Coded(block.owner, chosen.names, cells)
