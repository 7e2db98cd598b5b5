"""Receipt: the record of rows that a model forgets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from suffice.data import Target
from suffice.data.dictionaries import read_dictionaries
from suffice.statistics import Tally
from suffice.statistics.digest import compute_row_digest

FORMAT = 1

# Rows are read in chunks of at most this many cells.
CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Receipt:
    """What a model holds before and after it forgets some rows, as digests that anyone can compare.

    `model.receipt(X, y)` returns it and leaves the model unchanged; ``model.forget(X, y)`` then leads to
    ``digest_after``. A receipt contains no cell of the rows.

    Attributes
    ----------
    digest_before, digest_after : str
        ``model.tally_.digest()`` with the rows and without them.
    rows : int
        The number of rows.
    rows_digest : str
        SHA-256 of the rows: of the columns that the model has learned, with labels and weights, in any order.
    time : str
        When the receipt was made, in UTC (ISO 8601).
    version : str
        The version of suffice.

    Methods
    -------
    verify(model)
        Whether a model holds exactly what is left without the rows.
    covers(model, X, y, sample_weight=None)
        Whether the receipt is about these rows.
    to_json(), from_json(text)
        The receipt as JSON, and back.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "b"])
    >>> receipt = model.receipt([[1, 1]], ["b"])
    >>> receipt.rows, receipt.verify(model)
    (1, False)
    >>> receipt.verify(model.forget([[1, 1]], ["b"]))
    True
    """

    digest_before: str
    digest_after: str
    rows: int
    rows_digest: str
    time: str
    version: str

    @classmethod
    def of(cls, model: Any, after: Tally, X: Any, y: Any, sample_weight: Any) -> Receipt:
        """Return the receipt of a model for rows without which its tally is ``after``."""
        rows, rows_digest = _digest_rows(model, X, y, sample_weight)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        version = import_module("suffice").__version__
        return cls(model.tally_.digest(), after.digest(), rows, rows_digest, now, version)

    def verify(self, model: Any) -> bool:
        """Return whether a model holds exactly what is left without the rows.

        It is False as well if the model has learned or forgotten other rows since.

        Parameters
        ----------
        model : classifier
            The model that has forgotten the rows.

        Returns
        -------
        bool
        """
        return bool(model.tally_.digest() == self.digest_after)

    def covers(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> bool:
        """Return whether the receipt is about these rows, in any order.

        Parameters
        ----------
        model : classifier
            A model of the same columns, which reads the rows.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The label of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row.

        Returns
        -------
        bool
        """
        return _digest_rows(model, X, y, sample_weight) == (self.rows, self.rows_digest)

    def to_json(self) -> str:
        """Return the receipt as JSON.

        Returns
        -------
        text : str
        """
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """Return the receipt that `to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON text.

        Returns
        -------
        receipt : Receipt
        """
        try:
            found = json.loads(text)
            if found["format"] > FORMAT:
                raise ValueError(f"the receipt was written by suffice {found.get('version')}: upgrade suffice")
            return cls(**{field.name: found[field.name] for field in fields(cls)})
        except (json.JSONDecodeError, KeyError, TypeError):
            raise ValueError("this is not a receipt of suffice") from None

    def __str__(self) -> str:
        return (
            f"{self.rows} row{'' if self.rows == 1 else 's'} to forget, {self.time}, suffice {self.version}\n"
            f"digest before  {self.digest_before}\n"
            f"digest after   {self.digest_after}\n"
            f"digest of rows {self.rows_digest}"
        )


def _digest_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[int, str]:
    """Return the number of rows, and the digest of their learned columns, labels and weights."""
    X = read_dictionaries(X)
    count, schema = _num_samples(X), model.tally_.schema
    target = Target.of(count, y, sample_weight, None, type(model).__name__)
    weights = [1.0] * count if target.weights is None else target.weights.tolist()
    labels = target.classes[target.codes].tolist()
    if schema.features is None:
        names = list(schema.feature_names or range(schema.feature_count))
        places = list(range(len(names)))
    else:
        learned = {name for block in schema.blocks for name in block.names or ()}
        places = [place for place, name in enumerate(schema.features.names) if name in learned]
        names = [schema.features.names[place] for place in places]
    return count, compute_row_digest(names, zip(_read_cells(model, X, places, count), labels, weights, strict=True))


def _read_cells(model: Any, X: Any, places: list[int], count: int) -> Iterator[list[Any]]:
    """Yield the cells of each row in the columns at these places, as the model reads them."""
    step = max(CELLS_AT_ONCE // max(model.n_features_in_, 1), 1)
    for first in range(0, count, step):
        for line in model.read_rows(_safe_indexing(X, slice(first, first + step))).values:
            yield [line[place] for place in places]
