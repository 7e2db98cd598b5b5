"""Class labels, and the codes 0, 1, … under which arrays hold them."""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from suffice.schema import Array

# Integer labels within this range are coded by a table instead of a sort.
RANGE = 1 << 16

# The types of a list of labels that NumPy converts as it is, whatever its length.
FLAT = ({int}, {str}, {bool})

# Texts that stand for an empty cell in a CSV file.
EMPTY = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL")


def encode(y: Any, owner: str) -> tuple[Array, Array]:
    """Return the sorted distinct labels, and the code of each row: y = labels[codes].

    >>> labels, codes = encode(["spam", "ham", "spam"], "a test")
    >>> labels.tolist(), codes.tolist()
    (['ham', 'spam'], [1, 0, 1])
    """
    labels = as_labels(y, owner)
    if labels.dtype.kind in "biu" and len(labels):
        return _coded_by_table(labels)
    if labels.dtype.kind in "OU" and len(labels):
        return _coded_by_name(labels)
    known, codes = np.unique(labels, return_inverse=True)
    return known, codes.astype(np.intp, copy=False)


def as_labels(y: Any, owner: str) -> Array:
    """Return y as an array of labels; raise an error if it cannot be one."""
    if y is None:
        raise ValueError(f"This {owner} estimator requires y to be passed, but the target y is None.")
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "biu" and not y.isna().any():
        y = y.to_numpy(kind)  # pandas would convert them to floats, which do not distinguish large numbers
    if type(y) is list and set(map(type, y)) in FLAT:
        y = np.array(y)
    labels: Array = y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)
    if labels.dtype.kind == "O":
        kinds = set(map(type, labels.tolist()))
        if kinds != {str}:
            _reject_missing(labels)
            labels = _plain(labels, kinds)
    if labels.dtype.kind == "S":
        raise TypeError("Support for labels represented as bytes is not supported. Convert y to strings or numbers.")
    if labels.dtype.kind == "T":
        labels = np.array(labels.tolist())
    if not labels.dtype.isnative:
        labels = labels.astype(labels.dtype.newbyteorder("="))
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
        if bool(np.any(labels != np.floor(labels))):
            check_classification_targets(labels)
    elif labels.dtype.kind not in "biuOU":
        raise ValueError(f"Unknown label type: y holds {labels.dtype}; labels are numbers, strings or booleans.")
    return labels


def _coded_by_name(labels: Array) -> tuple[Array, Array]:
    """Return labels and codes by a dictionary, which is faster than sorting all rows."""
    cells = labels.tolist()
    index = {label: code for code, label in enumerate(dict.fromkeys(cells))}
    codes = np.fromiter(map(index.__getitem__, cells), np.intp, len(cells))
    known = np.empty(len(index), labels.dtype)
    known[:] = list(index)
    try:
        order = np.argsort(known)
    except TypeError as error:
        raise ValueError(
            f"Unknown label type: y holds {known[0]!r}, but labels are numbers, strings or booleans, all of one kind; "
            "turn them into strings"
        ) from error
    places = np.empty(len(known), np.intp)
    places[order] = np.arange(len(known))
    return known[order], places[codes]


def _coded_by_table(labels: Array) -> tuple[Array, Array]:
    if labels.dtype.kind == "b":
        labels = labels.view(np.uint8)
        known, codes = _coded_by_table(labels)
        return known.astype(bool), codes
    if len(labels) == 1:  # the next row of a stream
        return labels.copy(), np.zeros(1, np.intp)
    kind, least, most = labels.dtype, int(labels.min()), int(labels.max())
    if most - least >= RANGE:
        known, codes = np.unique(labels, return_inverse=True)
        return known, codes.astype(np.intp, copy=False)
    if labels.dtype.itemsize < 8:
        labels = labels.astype(np.int64)  # differences may not fit into a narrow type
    codes = (labels - labels.dtype.type(least) if least else labels).astype(np.intp, copy=False)
    is_used = np.bincount(codes, minlength=most - least + 1) > 0
    known = np.flatnonzero(is_used).astype(kind) + kind.type(least)
    return known, codes if is_used.all() else (np.cumsum(is_used) - 1)[codes]


def _reject_missing(labels: Array) -> None:
    missing = np.array([is_missing(label) for label in labels.tolist()], bool)
    if missing.any():
        raise ValueError(
            f"Input y contains NaN or None: {int(missing.sum())} missing labels, the first in row "
            f"{int(np.argmax(missing))}; drop those rows."
        )


def is_missing(label: Any) -> bool:
    """Return whether a value of an object array stands for an empty cell."""
    # comparisons with pandas' NA return NA, so it is recognized by its type
    return (
        label is None
        or type(label).__name__ in ("NAType", "NaTType", "MaskedConstant")
        or (isinstance(label, float) and label != label)
    )


def find_missing(y: Any) -> Array:
    """Return which labels are missing: None, NaN, or the missing value of a frame.

    >>> find_missing(["a", None, "b", float("nan")]).tolist()
    [False, True, False, True]
    """
    if isinstance(y, np.ndarray) and y.dtype.kind not in "fO":
        return np.zeros(len(y), bool)
    cells = y.to_list() if hasattr(y, "to_list") else y.tolist() if hasattr(y, "tolist") else list(y)
    return np.array([is_missing(cell) for cell in cells], bool)


def label_text(label: Any) -> str:
    """Return a label as text; booleans as true and false."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def probability_name(label: Any) -> str:
    """Return the name of the column that holds the probability of a class.

    >>> probability_name("spam")
    'p(spam)'
    """
    return f"p({label_text(label)})"


def _plain(labels: Array, kinds: set[type]) -> Array:
    """Return numbers in an object array as an array of numbers; raise an error if the types are mixed."""
    if all(issubclass(kind, (int, float, np.number, np.bool_)) for kind in kinds):
        return np.array(labels.tolist())
    if len(kinds) > 1 and not all(issubclass(kind, str) for kind in kinds):
        first = {type(label): label for label in reversed(labels.tolist())}
        one, other, *_ = sorted(first.values(), key=lambda label: type(label).__name__)
        raise ValueError(f"Unknown label type: y mixes {one!r} and {other!r}; make all labels strings or all numbers.")
    return labels


def encode_numbers(values: Array) -> tuple[list[Any], Array]:
    """Return the distinct numbers, integers as int, and the code of each row, −1 for an empty cell.

    >>> labels, codes = encode_numbers(np.array([2.0, np.nan, 0.5, 2.0]))
    >>> labels, codes.tolist()
    ([0.5, 2], [1, -1, 0, 1])
    """
    if values.dtype.kind in "iu":
        labels, codes = _coded_by_table(values)
        return labels.tolist(), codes
    missing = np.isnan(values)
    there = values[~missing] if missing.any() else values
    if not len(there):
        return [], np.full(len(values), -1, np.intp)
    if bool(np.all(np.abs(there) < RANGE)) and bool(np.all(there == np.floor(there))):
        labels, places = _coded_by_table(there.astype(np.int64))
    else:
        labels, places = np.unique(there, return_inverse=True)
    codes = np.full(len(values), -1, np.intp)
    codes[~missing] = places
    return [int(label) if float(label).is_integer() else label for label in labels.tolist()], codes


def find_narrow(values: Array) -> Array:
    """Return for each column of numbers, [column, row], whether `encode_narrow` takes it.

    Its numbers are whole, and lie so close together that a table of all numbers between them is no larger than the
    column. Missing cells are NaN.
    """
    if values.dtype.kind == "b":
        return np.ones(len(values), bool)
    if values.dtype.kind != "f":
        least, most = values.min(axis=1), values.max(axis=1)
        return np.asarray(most.astype(np.float64) - least.astype(np.float64) < min(values.shape[1] + 16, RANGE))
    is_missing = np.isnan(values)
    there = np.where(is_missing, 0.0, values)
    is_whole = ((there == np.floor(there)) & (np.abs(there) < RANGE)).all(axis=1)
    least, most = np.where(is_missing, np.inf, values).min(axis=1), np.where(is_missing, -np.inf, values).max(axis=1)
    return np.asarray(is_whole & (most - least < values.shape[1] + 16) & ~is_missing.all(axis=1))


def encode_narrow(values: Array) -> tuple[list[list[Any]], Array]:
    """Return the distinct numbers of each column, and the code of each cell, −1 if it is missing: [column, row].

    All columns are encoded at once, by a table for each; `find_narrow` says which columns have small tables.

    >>> labels, codes = encode_narrow(np.array([[3, 1, 3], [7, 7, 9]]))
    >>> labels, codes.tolist()
    ([[1, 3], [7, 9]], [[1, 0, 1], [0, 0, 1]])
    """
    is_missing = np.isnan(values) if values.dtype.kind == "f" else None
    if is_missing is not None and is_missing.any():
        first = np.where(is_missing, np.inf, values).min(axis=1)
        values = np.where(is_missing, first[:, None], values)
    else:
        is_missing = None
    if values.dtype.kind != "u" or values.dtype.itemsize < 8:
        values = values.astype(np.int64, copy=False)
    least = values.min(axis=1)
    offsets = (values - least[:, None]).astype(np.intp, copy=False)
    sizes = offsets.max(axis=1) + 1
    starts = np.cumsum(sizes) - sizes
    offsets += starts[:, None]
    is_used = np.bincount(offsets.ravel(), minlength=int(sizes.sum())) > 0
    places, before = np.cumsum(is_used) - 1, np.add.reduceat(is_used, starts, dtype=np.intp)
    ends = np.cumsum(before)
    places -= np.repeat(ends - before, sizes)
    used = np.flatnonzero(is_used)
    numbers = (used - np.repeat(starts, before)).astype(values.dtype) + np.repeat(least, before)
    codes = places.astype(np.int32)[offsets]
    if is_missing is not None:
        codes[is_missing] = -1
    labels, bounds = numbers.tolist(), [0, *ends.tolist()]
    return [labels[first:last] for first, last in pairwise(bounds)], codes
