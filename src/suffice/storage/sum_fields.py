"""Checks of the sums in a model file: their shapes against the schema, and that they are finite and not negative."""

from typing import Any

import numpy as np

from suffice.families import FAMILIES
from suffice.schema import Columns, Schema, field_names
from suffice.statistics import (
    CoMoments,
    Counts,
    FourthMoments,
    FunctionSums,
    Moments,
    PairCounts,
    SquaredCounts,
    Statistic,
    Tally,
)
from suffice.storage.field_checks import Check, doubles, instance, require, sequence
from suffice.storage.stored_kind import StoredKind

# Sums that cannot be negative; a mean, its rounding error and a product of two columns can.
NOT_NEGATIVE = {"n", "total", "squares", "pairs", "m2", "alone_n", "alone_m2", "error", "alone_error", "fourths"}
MATRICES = {"pairs", "scatter", "cubes", "fourths"}
SYMMETRIC = {"pairs", "scatter", "fourths"}

# Sums in the two triangles of a matrix are added in the same order, but not by every engine.
ROUNDING = 1e-9


def _sums(kind: type[Statistic]) -> dict[str, Check]:
    """Return the checks of the arrays of a statistic."""
    return {
        name: doubles(3 if name in MATRICES else 2, low=0.0 if name in NOT_NEGATIVE else -np.inf)
        for name in field_names(kind)
    }


def _check_statistic(statistic: Statistic) -> None:
    """Check that the arrays of a statistic have the same classes and cells, and that matrices are symmetric."""
    arrays = statistic.arrays()
    classes, width = arrays[_main_sum(statistic)].shape
    for name, array in arrays.items():
        shape = (classes, width, width) if name in MATRICES else (classes, width)
        require(array.shape == shape or (name == "n" and len(array) == classes), f"has {name} of a wrong shape")
        if name in SYMMETRIC:
            require(_is_symmetric(array), f"has {name} that are not symmetric")
    if isinstance(statistic, CoMoments):
        require(statistic.n.shape == (classes, 1), "has n of a wrong shape")
        diagonal = np.diagonal(statistic.scatter, axis1=1, axis2=2)
        require((diagonal >= 0).all(), "has a negative sum of squares")


def _is_symmetric(matrices: Any) -> bool:
    size = np.abs(matrices).max(initial=0.0)
    return all(bool((np.abs(each - each.T) <= ROUNDING * size).all()) for each in matrices)


def _main_sum(statistic: Statistic) -> str:
    """Return the name of an array that has an entry for each class and cell."""
    return "total" if isinstance(statistic, Counts) else "first" if isinstance(statistic, FunctionSums) else "mean"


def check_fit(statistic: Statistic, block: Columns, classes: int) -> None:
    """Raise if a statistic does not have the shape and the kind of sums that its block of columns needs."""
    arrays, sums = statistic.arrays(), FAMILIES[block.family].sql_sums
    if sums is not None:
        kinds: dict[str, Any] = {"moments": (Moments, CoMoments), "squares": SquaredCounts, "functions": FunctionSums}
        wanted = kinds.get(sums, Counts)
        require(isinstance(statistic, wanted), f"has {type(statistic).__name__} of {block.family} columns")
    require(block.pairs == isinstance(statistic, (PairCounts, CoMoments)), "has pairs that the schema does not have")
    has_fourths = isinstance(statistic, FourthMoments)
    require(block.fourths == has_fourths, "has fourth moments that the schema does not have, or the other way round")
    shape = arrays[_main_sum(statistic)].shape
    require(shape == (classes, block.width), "has sums of other classes or columns than the schema")
    require(statistic.n.shape[1] in (1, block.count), "has n of other columns than the schema")


def _check_tally(tally: Tally) -> None:
    classes = len(tally.schema.classes)
    require(classes > 0 and tally.class_count.shape == (classes,), "does not have a count for each class")
    require(len(tally.statistics) == len(tally.schema.blocks), "does not have sums for each block of columns")
    for statistic, block in zip(tally.statistics, tally.schema.blocks, strict=True):
        check_fit(statistic, block, classes)


SUM_KINDS = (
    *(
        StoredKind(kind, _sums(kind), _check_statistic)
        for kind in (Counts, PairCounts, SquaredCounts, Moments, CoMoments, FourthMoments, FunctionSums)
    ),
    StoredKind(
        Tally,
        {
            "schema": instance(Schema),
            "class_count": doubles(1, low=0.0),
            "statistics": sequence(instance(Statistic)),
        },
        _check_tally,
    ),
)
