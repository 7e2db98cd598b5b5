"""Tables: the input of a user as checked blocks of columns, class codes and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, check_array, check_consistent_length

from suffice.blocks.block import Block, Dense, Gappy, Sparse, handed_out
from suffice.blocks.part import Part, part_of
from suffice.data.dictionaries import Dictionaries, DictionarySheet
from suffice.data.labels import encode
from suffice.data.lazy_tables import check_in_memory
from suffice.data.sheets import ArraySheet, Sheet, SparseSheet
from suffice.schema import Array, merged_classes


@dataclass(frozen=True)
class Target:
    """The class of each row and its weight; weights of None are all 1."""

    classes: Array
    codes: Array
    weights: Array | None

    @classmethod
    def of(cls, rows: int, y: Any, sample_weight: Any, known: Array | None, owner: str) -> Target:
        """Return the target of labels; its classes are the known classes and the new labels.

        The label of one row may be given by itself.
        """
        labels, codes = encode([y] if rows == 1 and np.isscalar(y) else y, owner=owner)
        if len(codes) != rows:
            check_consistent_length(np.empty(rows), codes)
        classes = labels if known is None else merged_classes(known, labels)
        if classes is not labels:
            codes = np.searchsorted(classes, labels)[codes]
        return cls(classes, codes, weights_of(sample_weight, rows))

    @classmethod
    def coded(cls, labels: Array, codes: Array, weights: Any, owner: str) -> Target:
        """Return the target of labels that are already coded, in any order."""
        classes, places = encode(labels, owner=owner)
        return cls(classes, places[codes], weights_of(weights, len(codes)))

    @cached_property
    def row_count(self) -> Array:
        """The number of rows of each class, whatever their weights."""
        return np.bincount(self.codes, minlength=len(self.classes))

    def only(self, rows: Array) -> Target:
        """Return the target in which all other rows have weight 0."""
        weights = np.zeros(len(self.codes))
        weights[rows] = 1.0 if self.weights is None else self.weights[rows]
        return replace(self, weights=weights)


@dataclass(frozen=True)
class Table:
    """Rows to learn from: blocks of columns, and the class and weight of each row."""

    blocks: tuple[Block, ...]
    target: Target

    def between(self, start: int, stop: int) -> Table:
        """Return a range of the rows."""
        target = self.target
        weights = None if target.weights is None else target.weights[start:stop]
        blocks = tuple(block.between(start, stop) for block in self.blocks)
        return Table(blocks, replace(target, codes=target.codes[start:stop], weights=weights))

    def parts(self, rows: slice) -> list[Part]:
        """Return a range of the rows of each block."""
        target = self.target
        weights = None if target.weights is None else target.weights[rows]
        first = part_of(self.blocks[0], rows, target.codes[rows], weights, len(target.classes))
        return [first, *(replace(first, block=block) for block in self.blocks[1:])]


def weights_of(sample_weight: Any, rows: int) -> Array | None:
    """Return the weights as an array of doubles; None if there are none."""
    if sample_weight is None:
        return None
    weights = np.array(_check_sample_weight(sample_weight, np.empty((rows, 0)), dtype=np.float64))
    if bool(np.any(weights < 0)):
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: {weights[row]:g} in row {row}; "
            "to unlearn rows, use forget"
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError("the sum of `sample_weight` overflows; divide the weights by their mean")
    weights.flags.writeable = False
    return weights


def as_block(X: Any, *, owner: str, sparse: bool, gaps: bool = False) -> Block:
    """Return X as a block of numbers without a copy; raise an error if it cannot be one.

    With ``gaps``, NaN is a missing cell, except in a sparse matrix.
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "biuf":
        return (Gappy if gaps and X.dtype.kind == "f" else Dense)(owner, None, X)
    if sp.issparse(X):
        return _sparse_block(X, owner, sparse)
    if isinstance(X, Dictionaries):
        return X.as_block(owner, gaps)
    check_in_memory(X)
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        from suffice.data.frames import frame_block

        block = frame_block(X, owner, gaps)
        if block is not None:
            return block
    array = check_array(X, dtype="numeric", ensure_all_finite=False, input_name="X", estimator=owner)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"X holds {array.dtype}, but {owner} needs numbers; turn X into numbers first")
    return (Gappy if gaps and array.dtype.kind == "f" else Dense)(owner, None, array)


def as_sheet(X: Any, *, owner: str) -> Sheet:
    """Return X as a sheet with columns of any kind; raise an error if it cannot be one."""
    if sp.issparse(X):
        block = _sparse_block(X, owner, True)
        return SparseSheet(owner, tuple(range(block.shape[1])), block)
    if isinstance(X, Dictionaries):
        return DictionarySheet(owner, X.names, X.cells)
    check_in_memory(X)
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        from suffice.data.frames import FrameSheet

        sheet = FrameSheet.of(X, owner)
        if sheet is not None and sheet.shape[1] == 0:
            raise ValueError(f"0 feature(s) (shape={sheet.shape}) while a minimum of 1 is required: X has no columns")
        if sheet is not None and 0 not in sheet.shape:
            return sheet
    array = _as_array(X)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biufO":
        array = check_array(X, dtype=None, ensure_all_finite=False, input_name="X", estimator=owner)
        array = array.astype(object) if array.dtype.kind not in "biuf" else array
    return ArraySheet(owner, tuple(range(array.shape[1])), array)


def _as_array(X: Any) -> Array:
    """Return lists and masked arrays as arrays; the cells of lists of lists keep their types."""
    if isinstance(X, np.ma.MaskedArray):
        numbers = X.dtype.kind in "biuf"
        hole, cells = (np.nan, X.data.astype(np.float64)) if numbers else (None, X.data.astype(object))
        return np.where(np.ma.getmaskarray(X), np.asarray(hole), cells)
    if isinstance(X, np.ndarray) or not isinstance(X, (list, tuple)):
        return np.asarray(X)
    try:
        array = np.array(X, dtype=object)
    except ValueError:  # rows of unequal length, for which `check_array` raises the error
        return np.asarray(X)
    if array.ndim != 2 or not array.size:
        return array
    kinds = {type(cell) for cell in array.ravel().tolist()}
    return array.astype(np.float64) if kinds <= {int, float, type(None)} else array


def _sparse_block(X: Any, owner: str, accepted: bool) -> Sparse:
    if not accepted or 0 in X.shape or X.ndim != 2 or X.dtype.kind not in "biuf":
        X = check_array(
            X, accept_sparse="csr" if accepted else False, ensure_all_finite=False, input_name="X", estimator=owner
        )
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.data.dtype != handed_out(rows.data.dtype):
        rows = rows.astype(handed_out(rows.data.dtype))
    return Sparse(owner, None, rows)
