"""The plan: what is counted of each column of a table. Labels are not used."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.data import Sheet, SparseSheet, Target
from suffice.data.cells import count_cells, fit_cells_of_columns
from suffice.data.choose_families import ANY, BINNED, choose_families
from suffice.families import FAMILIES
from suffice.schema import Array, Coding, Columns, Cuts, Features, Levels, Text, Words

# The moments of greater numbers are not counted, because their squares overflow.
MOST_SQUARED = 1e150

# Cells are chosen from at most this many rows, drawn with a fixed seed.
SAMPLE = 100_000


def plan_columns(sheet: Sheet, target: Target, families: Any, complete: bool) -> tuple[tuple[Columns, ...], Features]:
    """Return the blocks of a sheet's columns, and which columns are left out for which reason."""
    if isinstance(sheet, SparseSheet):
        return (_of_sparse(sheet, families, complete),), Features(sheet.names)
    chosen, ignored = choose_families(sheet, families, target.weights, complete)
    most_cells = count_cells(sheet.shape[1], len(target.classes))
    return _blocks(sheet, target.weights, chosen, most_cells), Features(sheet.names, tuple(ignored.items()))


def _of_sparse(sheet: SparseSheet, families: Any, complete: bool) -> Columns:
    """Return a sparse matrix as one block, bernoulli if it is complete and all stored values are 1, or multinomial."""
    if families in ("auto", ANY):
        stored = sheet.block.matrix.data
        bits = stored.dtype == bool or (complete and bool(np.all(stored == 1)))
        families = "bernoulli" if bits else "multinomial"
    sparse = [name for name, family in FAMILIES.items() if family.accepts_sparse]
    if families not in FAMILIES or not FAMILIES[families].accepts_sparse:
        raise ValueError(
            f"a sparse matrix has one family, {', '.join(sparse[:-1])} or {sparse[-1]}, not {families!r}; for "
            "other families make it dense (X.toarray())"
        )
    return replace(FAMILIES[families].sparse_columns(sheet.names), family=_block_name(families))


def _block_name(family: str) -> str:
    """Return the name of a family in the plan, in which a setting is written in one way: "binomial(10)"."""
    return FAMILIES[family].full_name if "(" in family else family


def _blocks(sheet: Sheet, weights: Array | None, chosen: Mapping[Any, Any], most_cells: int) -> tuple[Columns, ...]:
    """Return the blocks: one of all columns with levels or cells, one for each family of numbers, one for each text."""
    coded: dict[str, dict[Any, Coding]] = {"categorical": {}}
    # these come first, in this order, because saved models have them so
    plain: dict[str, list[Any]] = {"gaussian": [], "poisson": [], "multinomial": [], "complement": []}
    texts, logarithms = [], list[Any]()
    cells, largest, are_positive = _fit_cells(sheet, chosen, weights, most_cells)
    for name, setting in chosen.items():
        if setting == "ignore":
            continue
        family = "text" if isinstance(setting, Text) else setting
        if family in ("number", ANY) or family in BINNED:
            coded["categorical"][name] = cells[name]
            if family in ("number", ANY) and largest[name] < MOST_SQUARED:
                plain["gaussian"].append(name)
                if family == ANY and name in are_positive:
                    logarithms.append(name)
            continue
        kind = FAMILIES[family]
        if kind.cells == "words":
            words = Words((), text=setting if isinstance(setting, Text) else Text())
            texts.append(Columns.coded(family, (name,), (words,)))
        elif kind.coded_as is not None:
            # a boolean has two levels, whether both were seen or not
            both = (False, True) if sheet.kind(name) == "boolean" else ()
            coded.setdefault(kind.coded_as, {})[name] = Levels(both, kind.cells == "bits")
        else:
            plain.setdefault(_block_name(family), []).append(name)
    blocks = [Columns.coded(family, tuple(named), tuple(named.values())) for family, named in coded.items() if named]
    blocks += [Columns(family, len(names), tuple(names)) for family, names in plain.items() if names]
    # a block of their own: log-normal columns that the user named reject numbers that are not positive
    blocks += [Columns("log-normal", len(logarithms), tuple(logarithms))] if logarithms else []
    return (*blocks, *texts)


def _fit_cells(
    sheet: Sheet, chosen: Mapping[Any, Any], weights: Array | None, most: int
) -> tuple[dict[Any, Cuts], dict[Any, float], set[Any]]:
    """Return the cells of columns of numbers, the largest number of each without its sign, and which are positive.

    A column is positive if all its numbers are, also those of rows of weight 0.
    """
    cells: dict[Any, Cuts] = {}
    largest: dict[Any, float] = {}
    names = [name for name, family in chosen.items() if family in ("number", ANY, *BINNED)]
    kinds = {name: sheet.kind(name) for name in names}
    for name, kind in kinds.items():
        if kind not in ("number", "boolean", "empty"):
            raise ValueError(f"column {name!r} cannot be cut into bins: it does not hold numbers")
    cells |= {name: Cuts((), "cells", whole=True) for name, kind in kinds.items() if kind == "empty"}
    largest |= dict.fromkeys(cells, 0.0)
    are_positive = set(cells)
    held = None if weights is None else np.flatnonzero(weights > 0)
    for own, stack in sheet.stack_numbers([name for name in names if name not in cells]):
        values = np.asarray(stack, np.float64)
        least = np.fmin.reduce(values, axis=1, initial=np.inf).tolist()
        are_positive |= {name for name, its_least in zip(own, least, strict=True) if its_least > 0}
        values = values if held is None else values[:, held]
        its_weights = None if weights is None else weights[held]
        if values.shape[1] > SAMPLE:
            (column,), places = values, np.flatnonzero(~np.isnan(values[0]))
            if len(places) > SAMPLE:
                places = np.sort(np.random.default_rng(0).choice(places, SAMPLE, replace=False))
            values, its_weights = column[places][None], None if its_weights is None else its_weights[places]
        cuts, ends = fit_cells_of_columns(values, its_weights, most)
        cells |= dict(zip(own, cuts, strict=True))
        largest |= dict(zip(own, ends.tolist(), strict=True))
    return cells, largest, are_positive
