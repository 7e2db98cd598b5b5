"""Twin: what logistic regression changes of the coefficients of words and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from suffice.blocks import Block, Dense, Sparse
from suffice.families import FAMILIES
from suffice.families.family import Parameters
from suffice.schema import Array, Columns, Words
from suffice.score import Linear, Score
from suffice.structures.structure import Rule, Structure, Subject


@dataclass(frozen=True, eq=False)
class Twin(Structure):
    """b[class] + Σⱼ δ[class, j]·xⱼ over words, counts and bits: a component that corrects the others of a pool.

    The scores of naive Bayes are linear in words and counts. With δ added to its coefficients they have the form of
    logistic regression, the discriminative twin of naive Bayes. ``fit`` chooses the δ that minimise the log-loss of
    held-out rows + ½·penalty·(|δ|² + |b|²), where the score of a row is that of the other components + b + x·δ.

    δ belongs to the plan, by column and word: learning and forgetting rows keeps it, while the coefficients of naive
    Bayes follow the counts. A word that occurs in one row only has no δ.

    Parameters
    ----------
    penalty : float, default=1.0
        A large penalty keeps the coefficients of the other components.
    classes : list, optional
        The labels; as all that follows, it is set by ``fit``.
    keys : tuple
        The blocks of columns, as `block_key` names them.
    labels : tuple of tuple
        The words of each block, or the names of its columns.
    changes : tuple of arrays [class, label]
        δ of each block.
    biases : array [class]
        b.

    Examples
    --------
    >>> from suffice import BayesClassifier, Pooled
    >>> model = BayesClassifier(structure=Pooled(("naive", Twin(penalty=3.0))))
    """

    penalty: float = 1.0
    classes: Any = ()
    keys: tuple[Any, ...] = ()
    labels: tuple[Any, ...] = ()
    changes: tuple[Any, ...] = ()
    biases: Any = ()

    name = "twin"
    is_conditional = True
    is_correction = True

    def __post_init__(self) -> None:
        if isinstance(self.penalty, bool) or not isfinite(self.penalty) or not self.penalty > 0:
            raise ValueError(f"penalty is a number of more than 0, not {self.penalty!r}")

    def uses(self, columns: Columns) -> bool:
        is_number = columns.codings is None and FAMILIES[columns.family].cells in ("counts", "bits")
        return is_number or _has_words(columns)

    def for_classes(self, classes: list[Any]) -> Twin:
        if list(self.classes) == classes:
            return self
        changes = tuple(self._changes_of(key, classes, of) for key, of in zip(self.keys, self.labels, strict=True))
        return replace(self, classes=classes, changes=changes, biases=self.biases_of(classes))

    def check(self, subject: Subject, prior: Any) -> None:
        """Accept any prior: δ has a penalty instead."""

    def merge(self, other: Structure, share: float) -> Twin:
        assert isinstance(other, Twin)
        classes = sorted({*self.classes, *other.classes})
        keys = tuple(dict.fromkeys([*self.keys, *other.keys]))
        labels, changes = [], []
        for key in keys:
            both = [label for each in (self, other) if key in each.keys for label in each.labels[each.keys.index(key)]]
            labels.append(tuple(sorted(set(both))))
            mine, its = (each._changes_of(key, classes, labels[-1]) for each in (self, other))
            changes.append(share * mine + (1 - share) * its)
        biases = share * self.biases_of(classes) + (1 - share) * other.biases_of(classes)
        return replace(self, classes=classes, keys=keys, labels=tuple(labels), changes=tuple(changes), biases=biases)

    def _estimate(self, rule: Rule, subject: Subject, prior: Any) -> Parameters:
        columns = subject.columns
        return TwinParameters(self._changes_of(block_key(columns), self.classes, labels_of(columns)), columns.threshold)

    def biases_of(self, classes: list[Any]) -> Array:
        known = dict(zip(self.classes, self.biases, strict=True))
        return np.array([float(known.get(label, 0.0)) for label in classes])

    def _changes_of(self, key: Any, classes: Sequence[Any], labels: Sequence[Any]) -> Array:
        """Return δ [class, label] for other classes and labels; 0 for those that have none."""
        found = np.zeros((len(classes), len(labels)))
        if key not in self.keys:
            return found
        place = self.keys.index(key)
        index = {label: j for j, label in enumerate(self.labels[place])}
        rows = {label: k for k, label in enumerate(self.classes)}
        pairs = [(j, index[label]) for j, label in enumerate(labels) if label in index]
        kept = [(k, rows[label]) for k, label in enumerate(classes) if label in rows]
        if pairs and kept:
            (to, of), (here, there) = np.array(pairs).T, np.array(kept).T
            found[np.ix_(here, to)] = self.changes[place][np.ix_(there, of)]
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Twin):
            return NotImplemented
        mine, its = ((each.penalty, list(each.classes), each.keys, each.labels) for each in (self, other))
        arrays = zip((*self.changes, self.biases), (*other.changes, other.biases), strict=False)
        return mine == its and all(np.array_equal(a, b) for a, b in arrays)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Twin(penalty={self.penalty!r})"


@dataclass(frozen=True)
class TwinParameters(Parameters):
    """δ, [class, column], and the number above which a bit is 1, if the columns hold bits."""

    changes: Array
    threshold: float | None = None

    is_correction = True

    def score(self) -> Score:
        return Score((Linear(self.changes, np.zeros(self.changes.shape), threshold=self.threshold),))


def block_key(columns: Columns) -> tuple[str, Any]:
    """Return what tells a block from others: its family, and the name of a text, which is a block of its own."""
    return columns.family, (columns.names or (None,))[0] if _has_words(columns) else None


def labels_of(columns: Columns) -> tuple[Any, ...]:
    """Return the words of a text, or the names of other columns."""
    words = columns.codings[0] if columns.codings else None
    return words.labels if isinstance(words, Words) else columns.names or tuple(range(columns.count))


def linear_cells(columns: Sequence[Columns], cells: Sequence[Block]) -> Iterator[tuple[Columns, Any]]:
    """Yield the blocks that a twin uses, and their cells [row, label] as sparse matrices."""
    for block, its_cells in zip(columns, cells, strict=True):
        if not Twin().uses(block):
            continue
        if isinstance(its_cells, Sparse):
            x = sp.csr_array(its_cells.matrix.astype(np.float64))
        else:
            assert isinstance(its_cells, Dense)
            pieces = [np.nan_to_num(piece) for _, piece in its_cells.pieces(0, its_cells.shape[0])]
            x = sp.csr_array(np.concatenate(pieces).astype(np.float64))
        yield block, x if block.threshold is None else sp.csr_array((x > block.threshold).astype(np.float64))


def _has_words(columns: Columns) -> bool:
    return bool(columns.codings) and isinstance((columns.codings or ())[0], Words)
