"""The one door for data: what a user passes becomes a checked block, class codes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, check_array, check_consistent_length

from suffice.schema import Array, merged_classes
from suffice.tables.blocks import Block, Dense, Sparse, handed_out
from suffice.tables.labels import encode
from suffice.tables.parts import Part, part_of


@dataclass(frozen=True)
class Table:
    """Rows to learn from: a block of columns, the class of each row, and its weight (None: 1)."""

    block: Block
    classes: Array
    codes: Array
    weights: Array | None

    @classmethod
    def of(cls, block: Block, y: Any, sample_weight: Any = None, known: Array | None = None) -> Table:
        """Return the table of a block's rows with their labels, coded among the known ones and new ones."""
        met, codes = encode(y, owner=block.owner)
        if len(codes) != block.shape[0]:
            check_consistent_length(np.empty(block.shape[0]), codes)
        classes = met if known is None else merged_classes(known, met)
        if classes is not met:
            codes = np.searchsorted(classes, met)[codes]
        return cls(block, classes, codes, weights_of(sample_weight, block.shape[0]))

    def part(self, rows: slice) -> Part:
        """Return a range of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return part_of(self.block, rows, self.codes[rows], weights, len(self.classes))


def weights_of(sample_weight: Any, rows: int) -> Array | None:
    """Return the weights as an array of doubles, or None where every row counts once."""
    if sample_weight is None:
        return None
    weights = np.array(_check_sample_weight(sample_weight, np.empty((rows, 0)), dtype=np.float64))
    if bool(np.any(weights < 0)):
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: {weights[row]:g} in row {row}; "
            "to take rows away, use forget"
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError("the sum of `sample_weight` overflows; divide the weights by their mean")
    weights.flags.writeable = False
    return weights


def as_block(X: Any, *, owner: str, sparse: bool) -> Block:
    """Return the user's X as a block, unconverted, or say what is wrong with its form."""
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "biuf":
        return Dense(owner, None, X)
    if sp.issparse(X):
        return _sparse_block(X, owner, sparse)
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        from suffice.tables.frames import frame_block

        block = frame_block(X, owner)
        if block is not None:
            return block
    array = check_array(X, dtype="numeric", ensure_all_finite=False, input_name="X", estimator=owner)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"X holds {array.dtype}, and {owner} needs numbers; turn X into numbers first")
    return Dense(owner, None, array)


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
