"""Read the columns of a sheet into blocks of cells, which are counted and scored."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from suffice.blocks import Block, Coded, Function, Sparse
from suffice.caller_warnings import warn_caller
from suffice.data.column_names import list_names
from suffice.data.labels import is_missing
from suffice.data.read_trees import read_leaves
from suffice.data.sheets import Sheet
from suffice.data.texts import count_words
from suffice.families import FAMILIES
from suffice.families.domain import POSITIVE
from suffice.kernels import binning as kernels
from suffice.schema import Array, Columns, Combinations, Cuts, Levels, MissingLevel, Words, recoding

# Doubles from here on are all whole, so they do not count as whole numbers.
MOST_WHOLE = 2.0**53

# Fractions are looked for in so many rows first, and then in so many rows at a time, which stay in the cache.
FEWEST_ROWS, FEW_ROWS = 16, 2048


def read_blocks(
    sheet: Sheet, blocks: Iterable[Columns], grow: bool, chosen: Collection[Any] | None = None
) -> tuple[tuple[Columns, ...], tuple[Block, ...]]:
    """Return the columns, with new levels and words if ``grow``, and their cells.

    Columns are matched by name. The cells of a column that the sheet lacks are empty. In the columns whose family was
    ``chosen`` from the rows, and not by the user, numbers outside of its domain count as missing; by default these are
    the columns that are in several blocks.
    """
    blocks = tuple(blocks)
    if chosen is None:
        chosen = find_repeated(blocks)
    found, texts = [], dict[int, tuple[Columns, Block]]()
    for block in blocks:
        words = block.codings[0] if block.codings else None
        if isinstance(words, Words):  # several models of a pool read the same text, which is slow to split
            found.append(texts.setdefault(id(words), texts.get(id(words)) or _read(sheet, block, grow, chosen)))
        else:
            found.append(_read(sheet, block, grow, chosen))
    columns, cells = zip(*found, strict=True)
    return columns, cells


def find_repeated(blocks: Iterable[Columns]) -> set[Any]:
    """Return the columns that are counted in several ways, from which a form is chosen."""
    names = [name for block in blocks for name in block.names or ()]
    return {name for name, count in Counter(names).items() if count > 1}


def _read(sheet: Sheet, columns: Columns, grow: bool, chosen: Collection[Any]) -> tuple[Columns, Block]:
    assert columns.names is not None
    if columns.is_forest:
        return columns, read_leaves(sheet, columns)
    if columns.codings is None:
        for name in columns.names:
            if name in sheet.places and sheet.kind(name) not in ("number", "boolean", "empty"):
                raise ValueError(
                    f"column {name!r} is {columns.family}, but holds {_first_non_number(sheet, name)}; turn it into "
                    f"numbers, or learn it as levels: BayesClassifier(families={{{name!r}: 'categorical'}})"
                )
        numbers = sheet.numbers(columns.names)
        family = FAMILIES[columns.family]
        if family.domain == POSITIVE and all(name in chosen for name in columns.names):
            return columns, Function("positive").map_block(numbers)
        check_domain(numbers, columns)
        family.check_cells(numbers)
        return columns, numbers
    if isinstance(columns.codings[0], Words):
        return _read_text(sheet, columns, grow)
    return _read_levels(sheet, columns, grow)


def check_domain(block: Block, columns: Columns) -> None:
    """Raise if a number is outside of the domain of its family, naming the cell and the families that take it."""
    domain = FAMILIES[columns.family].domain
    if not domain.is_bounded or FAMILIES[columns.family].cells != "numbers":
        return  # counts and bits are checked where they are counted
    found = block.find(slice(0, block.shape[0]), domain.excludes)
    if found is not None:
        row, column, value = found
        if np.isinf(value):
            block.reject_not_finite(row, column, value)
        raise outside_domain(block.name(column), columns.family, value, f" in row {row}")


def outside_domain(column: str, family: str, value: float, where: str = "") -> ValueError:
    """Return the error for a number outside of the domain of a family."""
    x = np.array(value)
    others = [name for name, its in FAMILIES.items() if its.cells == "numbers" and not its.domain.excludes(x)]
    return ValueError(
        f"{column} is {value:g}{where}, but {family} columns hold {FAMILIES[family].domain.text}; families that take "
        f"{value:g}: {', '.join(['number', *others, 'quantiles', 'mdl', 'kernel'])}"
    )


def _read_text(sheet: Sheet, columns: Columns, grow: bool) -> tuple[Columns, Block]:
    assert columns.codings is not None
    assert columns.names is not None
    name, words = columns.names[0], columns.codings[0]
    assert isinstance(words, Words)
    texts = sheet.strings(name) if name in sheet.places else [None] * sheet.shape[0]
    grown, counts = count_words(texts, words, grow, f"column {name!r}")
    return columns.recoded((grown,)), Sparse(sheet.owner, None, counts)


def _read_levels(sheet: Sheet, columns: Columns, grow: bool) -> tuple[Columns, Block]:
    """Return the block of codes of levels and of bins."""
    assert columns.codings is not None
    assert columns.names is not None
    kept = sheet.kept_cells(columns)
    if kept is not None:
        return columns, kept
    # a missing cell gets its code at the end
    codings: list[Any] = [coding.values if type(coding) is MissingLevel else coding for coding in columns.codings]
    places = {name: place for place, name in enumerate(columns.names) if type(codings[place]) is Levels}
    read: list[tuple[list[int], Array, list[list[int]]]] = []
    for names, labels, codes in sheet.code_columns([name for name in places if name in sheet.places]):
        own = [places[name] for name in names]
        final = [
            _place_labels(codings, place, f"column {columns.names[place]!r}", its_labels, grow)
            for place, its_labels in zip(own, labels, strict=True)
        ]
        read.append((own, codes, final))
    sizes = [levels.size for levels in codings]
    narrow = np.min_scalar_type(-max(*sizes, 2) - 2)
    cells = np.full((sheet.shape[0], len(codings)), -1, narrow)
    for own, codes, final in read:
        _recode_lines(codes, final, own, cells)
    _cut_numbers(sheet, columns.names, codings, cells)
    if isinstance(codings[-1], Combinations):
        codings[-1], combined = combine_levels(columns.names[:-1], codings, cells[:, :-1], grow)
        wide = np.min_scalar_type(-codings[-1].size - 2)
        cells = cells.astype(np.promote_types(cells.dtype, wide))
        cells[:, -1] = combined
    for place, (coding, values) in enumerate(zip(columns.codings, codings, strict=True)):
        if type(coding) is MissingLevel:
            cells[:, place] = recoding(values, coding)[cells[:, place]]
    block = Coded(sheet.owner, columns.names, cells)
    if not grow:
        return columns, block
    grown = columns.recoded(tuple(codings))
    sheet.keep_cells(grown, block)
    return grown, block


def _place_labels(codings: list[Any], place: int, name: str, labels: list[Any], grow: bool) -> list[int]:
    """Return the code of each label in the coding of a column, which grows by new labels if ``grow``."""
    levels = codings[place]
    if grow:
        codings[place] = levels = levels.grown(labels, name)
    elif labels and levels.labels and isinstance(labels[0], str) != isinstance(levels.labels[0], str):
        warn_caller(
            f"{name} holds {labels[0]!r}, but was learned with levels such as {levels.labels[0]!r}: "
            "all its values count as unknown levels"
        )
    return [levels.index.get(label, levels.size) for label in labels]


def _recode_lines(codes: Array, final: list[list[int]], places: list[int], cells: Array) -> None:
    """Write the final codes of lines of codes to columns of cells; −1, which is the code of an empty cell, stays."""
    if len(codes) == 1:
        cells[:, places[0]] = np.take(np.array([*final[0], -1], cells.dtype), codes[0], mode="wrap")
        return
    sizes = np.array([len(line) + 1 for line in final])
    table = np.fromiter(chain.from_iterable((-1, *line) for line in final), cells.dtype)
    cells[:, places] = table[codes + (np.cumsum(sizes) - sizes + 1)[:, None]].T


def combination_order(names: tuple[Any, ...]) -> list[int]:
    """Return the order of columns in a combination: by name, so that it does not depend on the table."""
    return sorted(range(len(names)), key=lambda place: str(names[place]))


def combine_levels(names: tuple[Any, ...], codings: list[Any], cells: Array, grow: bool) -> tuple[Combinations, Array]:
    """Return the combinations of levels, and the code of each row, −1 if a cell is empty."""
    last, order = codings[-1], combination_order(names)
    codings, cells = [codings[place] for place in order], cells[:, order]
    distinct, inverse = np.unique(cells, axis=0, return_inverse=True)
    labels: list[Any] = []
    for line in distinct.tolist():
        known = all(0 <= code < coding.size for code, coding in zip(line, codings, strict=True))
        pairs = zip(line, codings, strict=True)
        labels.append(tuple(of.labels[c] if isinstance(of, Levels) else c for c, of in pairs) if known else None)
    if grow:
        last = last.grown([label for label in labels if label is not None], "a combination of levels")
    empty = (distinct < 0).any(axis=1)
    final = [last.index.get(label, last.size) for label in labels]
    return last, np.where(empty, -1, final)[inverse.ravel()]


def _cut_numbers(sheet: Sheet, names: tuple[Any, ...], codings: list[Any], cells: Array) -> None:
    """Write the bins of columns of numbers into ``cells``, and mark the codings that are no longer whole."""
    places = [p for p, column in enumerate(codings) if type(column) is Cuts and names[p] in sheet.places]
    if not places:
        return
    for place in places:
        if sheet.kind(names[place]) not in ("number", "boolean", "empty"):
            raise ValueError(
                f"column {names[place]!r} was learned as numbers, but holds "
                f"{_first_non_number(sheet, names[place])}; turn it into numbers"
            )
    block = sheet.numbers(tuple(names[p] for p in places))
    edges = [codings[p].edges for p in places]
    ends = np.cumsum([len(column) for column in edges])
    flat = np.fromiter(chain.from_iterable(edges), np.float64, int(ends[-1]))
    starts, targets = ends - [len(column) for column in edges], np.array(places)
    marked = np.flatnonzero([codings[place].whole for place in places])
    whole = marked
    for rows, columns, x in block.strips():  # type: ignore[attr-defined]
        first, here = int(starts[columns.start]), ends[columns] - starts[columns.start]
        if kernels.cut(x, flat[first:], here, targets[columns], cells[rows], work=4 * x.size) != 0:
            block.reject_if_not_finite(rows)
        if x.dtype.kind == "f":
            is_here = (whole >= columns.start) & (whole < columns.stop)
            held = _whole_columns(x, whole[is_here] - columns.start) + columns.start
            whole = np.concatenate([whole[~is_here], held])
    for j in np.setdiff1d(marked, whole):
        codings[places[j]] = Cuts(codings[places[j]].edges, codings[places[j]].by)


def _whole_columns(x: Array, columns: Array) -> Array:
    """Return those of the columns whose numbers are whole or missing."""
    # a few rows of most columns show that they are not whole
    for rows in (slice(0, FEWEST_ROWS), *(slice(top, top + FEW_ROWS) for top in range(FEWEST_ROWS, len(x), FEW_ROWS))):
        if not len(columns):
            break
        part = x[rows, columns]
        is_wrong = (part > np.floor(part)) | (np.abs(part) >= MOST_WHOLE)
        columns = columns[~is_wrong.any(axis=0)]
    return columns


def _first_non_number(sheet: Sheet, name: Any) -> str:
    """Return the first value of a column that is not a number, for a message."""
    held = [value for value in sheet.strings(name) if not is_missing(value)]
    for value in held:
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r}, which is not a number"
    return f"{held[0]!r}, which is a text and not a number"


def compare_columns(there: Sequence[Any], names: Iterable[Any], needed: Iterable[Any]) -> None:
    """Warn about columns of the model that are missing, and about columns that the model does not have."""
    present, known = set(there), set(names)
    missing = [name for name in needed if name not in present]
    new = [name for name in there if name not in known]
    if missing and len(new) == len(there):
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names unseen at fit time:\n- {new[0]}\nFeature names seen at fit time, yet now missing:\n"
            f"- {missing[0]}\n"
        )
    if missing:
        warn_caller(
            "columns of the model are missing, and all their cells count as empty: "
            + list_names(list(map(repr, missing)), 10)
        )
    if new:
        warn_caller(f"columns that the model does not have are ignored: {list_names(list(map(repr, new)), 10)}")
