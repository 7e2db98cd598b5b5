"""Row keys: a number for each row that depends only on its cells, to order rows in a way that is no order of theirs."""

from typing import Any
from zlib import crc32

import numpy as np

from suffice.blocks import Block, Dense, Sparse
from suffice.data.sheets import Sheet
from suffice.data.table import Target
from suffice.schema import Array

# Odd constants of multiplicative hashing (64 bits).
FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)

# So many cells are mixed at once, which stay in the cache.
CELLS = 1 << 15


def row_keys(opened: Block | Sheet) -> Array:
    """Return a key of 64 bits for each row: Σ over columns of mixed(cell)·mixed(column), modulo 2⁶⁴.

    Equal rows have equal keys, in any order of rows and in dense or sparse form; a zero adds nothing.

    Parameters
    ----------
    opened : Block or Sheet
        The rows, as a reader opens them.

    Returns
    -------
    keys : array of uint64 [row]

    Examples
    --------
    >>> keys = row_keys(Dense("doc", None, np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    if not isinstance(opened, Sheet):
        return _block_keys(opened, np.arange(opened.shape[1]))
    places = opened.places
    numbers = tuple(name for name in opened.names if opened.kind(name) in ("number", "boolean"))
    keys = np.zeros(opened.shape[0], np.uint64)
    if numbers:
        keys += _block_keys(opened.numbers(numbers), np.array([places[name] for name in numbers]))
    levels = [name for name in opened.names if opened.kind(name) not in ("number", "boolean", "empty")]
    for own, labels, codes in opened.code_columns(levels, last=False):
        factors = _column_factors(np.array([places[name] for name in own]))
        for its_labels, its_codes, factor in zip(labels, codes, factors, strict=True):
            hashed = np.array([*(crc32(str(label).encode()) + 1 for label in its_labels), 0], np.uint64)
            keys += (_mixed(hashed) * factor)[its_codes]  # a code of −1 is a missing cell
    return keys


def distinct_keys(opened: Block | Sheet, target: Target) -> Array:
    """Return a key of 64 bits for each row that depends on its cells, its class, and how many equal rows come before.

    So the keys of a table do not depend on the order of its rows, nor do those of other rows change if one is removed;
    of equal rows, the last key is removed.

    Parameters
    ----------
    opened : Block or Sheet
        The rows, as a reader opens them.
    target : Target
        Their classes and weights. Equal rows are told apart by weight, the heaviest first.
    """
    labels = np.array([crc32(str(label).encode()) + 1 for label in target.classes.tolist()], np.uint64)
    keys = _mixed(row_keys(opened) + _mixed(labels)[target.codes])
    order = np.argsort(keys) if target.weights is None else np.lexsort((-target.weights, keys))
    ordered = keys[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(keys)]
    if not is_first.all():
        place = np.arange(len(keys))
        copies = np.empty(len(keys), np.uint64)
        copies[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
        keys = mix_keys(keys, copies)
    return keys


def mix_keys(keys: Array, number: Any) -> Array:
    """Return other keys of the same rows, which depend on a number, too."""
    return _mixed(keys + (np.atleast_1d(number).astype(np.uint64) + np.uint64(1)) * FIRST)


def smallest_keys(keys: Array, count: int) -> Array:
    """Return the positions of the smallest keys, from the first position to the last."""
    return np.arange(len(keys)) if count >= len(keys) else np.sort(np.argpartition(keys, count)[:count])


def _block_keys(block: Any, columns: Array) -> Array:
    factors = _column_factors(columns)
    if isinstance(block, Sparse):
        matrix = block.matrix
        terms = _mixed_numbers(matrix.data) * factors[matrix.indices]
        sums = np.append(np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64))  # differences are exact modulo 2⁶⁴
        return np.asarray(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])
    assert isinstance(block, Dense)
    keys = np.empty(block.shape[0], np.uint64)
    step = max(CELLS // max(len(columns), 1), 1)
    for rows, piece in block.pieces(0, block.shape[0], cells=1 << 18):
        for first in range(0, len(piece), step):
            part = piece[first : first + step]
            keys[rows.start + first : rows.start + first + len(part)] = _mixed_numbers(part) @ factors
    return keys


def _column_factors(columns: Array) -> Array:
    return _mixed((columns + 1).astype(np.uint64)) | np.uint64(1)


def _mixed_numbers(values: Array) -> Array:
    doubles = np.asarray(values, np.float64) + 0.0  # −0 becomes 0
    return _mixed(np.where(np.isnan(doubles), np.nan, doubles).view(np.uint64))  # one NaN for all


def _mixed(bits: Array) -> Array:
    """Return well mixed bits; those of 0 are 0."""
    mixed = bits * FIRST
    mixed = (mixed ^ (mixed >> np.uint64(29))) * SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(32)))
