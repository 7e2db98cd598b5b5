"""Streams: models of the most recent rows, and evaluation on rows in the order in which they arrive."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from suffice.classifiers.sum_learner import check_decay
from suffice.data import as_labels
from suffice.evaluation.learners import additive_recipe
from suffice.folds.assessment import Assessment, assess_predictions
from suffice.progress import Progress
from suffice.schema import Array
from suffice.statistics import CoMoments, Moments
from suffice.statistics.cancellation import LostDigitsError, has_few_digits


def batches(X: Any, y: Any, size: Any = 100) -> Iterator[tuple[Any, Any]]:
    """Yield rows and labels in batches, in their order.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The labels.
    size : int, default=100
        The number of rows of a batch; the last one may have fewer.

    Yields
    ------
    rows, labels : tuple
        Slices of X and y.

    Examples
    --------
    >>> from suffice import batches
    >>> [labels for _, labels in batches([[1], [2], [3]], ["a", "b", "a"], size=2)]
    [['a', 'b'], ['a']]
    """
    _check_rows(size, "size")
    if _num_samples(X) != _num_samples(y):
        raise ValueError(f"X has {_num_samples(X)} rows and y has {_num_samples(y)}: they must have the same length")
    for first in range(0, _num_samples(X), size):
        rows = slice(first, first + size)
        yield _safe_indexing(X, rows), _safe_indexing(y, rows)


class Window:
    """A model of the most recent rows: new rows are added to its sums, and rows that leave the window are subtracted.

    Counts are exactly those of the rows in the window, and moments are equal up to rounding. The sums are computed
    again from the rows in the window each time the whole window has been replaced, and when subtracting a very large
    row would leave too few digits.

    Parameters
    ----------
    model : classifier
        The model, which is changed in place.
    rows : int
        The number of rows in the window.

    Examples
    --------
    >>> from suffice import GaussianNB, Window
    >>> window = Window(GaussianNB(), rows=2)
    >>> for value, label in [(1.0, "a"), (9.0, "b"), (5.0, "a")]:
    ...     _ = window.learn([[value]], [label])
    >>> window.model.theta_.tolist(), len(window)
    ([[5.0], [9.0]], 2)
    """

    def __init__(self, model: Any, rows: Any) -> None:
        _check_rows(rows, "rows, the size of the window,")
        if additive_recipe(model) is None:
            raise ValueError(f"{model!r} learns more than sums, so rows cannot be subtracted, as a window needs")
        self.model, self.rows = model, int(rows)
        self.held: deque[tuple[Any, Any, Any]] = deque()
        self.count = self.left = 0

    def __len__(self) -> int:
        return self.count

    def learn(self, X: Any, y: Any, sample_weight: Any = None) -> Window:
        """Learn rows, and forget the oldest rows that no longer fit into the window."""
        arrived = _num_samples(X)
        if arrived > self.rows:  # only the last of them stay in the window
            X, y, sample_weight = _select((X, y, sample_weight), slice(arrived - self.rows, arrived))
            arrived = self.rows
        self.model.partial_fit(X, y, sample_weight=sample_weight)
        # copies, because a caller may overwrite its arrays
        self.held.append(tuple(part.copy() if hasattr(part, "copy") else part for part in (X, y, sample_weight)))
        self.count += arrived
        while self.count > self.rows:
            self._drop(self.count - self.rows)
        return self

    def _drop(self, most: int) -> None:
        """Forget the oldest batch, or its first rows if it has more than ``most``."""
        batch = self.held.popleft()
        rows = _num_samples(batch[0])
        if rows > most:
            self.held.appendleft(_select(batch, slice(most, rows)))
            batch, rows = _select(batch, slice(0, most)), most
        X, y, weights = batch
        before, is_lost = self.model.tally_, False
        if weights is None or np.any(weights):
            try:
                self.model.tally_ = self.model.tally_without(X, y, weights, strict=False)
            except LostDigitsError:
                is_lost = True
        self.count -= rows
        self.left += rows
        rounds = any(isinstance(statistic, (Moments, CoMoments)) for statistic in before.statistics)
        if is_lost or (rounds and self.count and (self.left >= self.rows or has_few_digits(before, self.model.tally_))):
            self._sum_again()

    def _sum_again(self) -> None:
        """Compute the sums again from the rows in the window, which removes rounding errors."""
        fresh = self.model.with_tally(self.model.tally_ * 0.0)
        for X, y, weights in self.held:
            fresh.partial_fit(X, y, sample_weight=weights)
        self.model.tally_ = fresh.tally_.trimmed(fresh.tally_.class_count > 0)
        self.left = 0


@dataclass(frozen=True)
class Prequential:
    """How well a model predicted each batch of a stream before learning it.

    ``rows``, ``accuracy`` and ``log_loss`` have one entry for each batch; ``total`` has the means over all rows.
    """

    rows: Array
    accuracy: Array
    log_loss: Array
    seconds: float
    model: Any

    @property
    def total(self) -> dict[str, float]:
        """The means over all predicted rows, their number, and the rows per second."""
        weights = np.maximum(self.rows, 1e-300)
        named = {"accuracy": self.accuracy, "log_loss": self.log_loss}
        means = {name: float(np.average(values, weights=weights)) for name, values in named.items()}
        return means | {"rows": int(self.rows.sum()), "rows_per_second": float(self.rows.sum() / self.seconds)}

    def plot(self, ax: Any = None) -> Any:
        """Plot the accuracy of each batch, and of all rows up to it; return the Axes."""
        from suffice.plots import over_time

        return over_time(self.rows, self.accuracy, ax)


def prequential(
    model: Any,
    stream: Iterable[tuple[Any, ...]],
    *,
    decay: float | None = None,
    window: int | None = None,
    progress: bool = True,
) -> Prequential:
    """Return how well a model predicts a stream: each batch is predicted first, and then learned.

    Parameters
    ----------
    model : classifier
        The model, which is changed in place. If it is not fitted, the first batch is learned but not predicted.
    stream : iterable of (X, y) or (X, y, sample_weight)
        The batches; the function `batches` divides a table into batches.
    decay : float, default=None
        The factor by which all earlier rows are weighted down before each batch.
    window : int, default=None
        The number of most recent rows that the model keeps.
    progress : bool, default=True
        Whether to show progress on a terminal when it takes longer than a second.

    Returns
    -------
    results : Prequential

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from suffice import BernoulliNB, batches, prequential
    >>> X, y = load_digits(return_X_y=True)
    >>> results = prequential(BernoulliNB(binarize=7), batches(X, y, 100))
    >>> round(results.total["accuracy"], 2), results.total["rows"]
    (0.85, 1697)
    """
    if decay is not None and window is not None:
        raise ValueError("decay and window are two ways to forget: choose one")
    if decay is not None:
        check_decay(decay)
    if not hasattr(model, "partial_fit"):
        raise ValueError(f"{type(model).__name__} cannot learn in batches, so it cannot learn a stream")
    if getattr(model, "calibrate", None) is not None and not _is_fitted(model):
        raise ValueError(
            f"calibrate={model.calibrate!r} is learned by fit: fit on some rows first, or set calibrate=None"
        )
    before = dict(model.__dict__)
    sliding = None if window is None else Window(model, window)
    assessed, arrived, started = list[Assessment](), 0, perf_counter()
    settings = {} if decay is None else {"decay": decay}
    with Progress("batches", 0, progress) as line:
        for place, batch in enumerate(stream):
            X, y, weights = _parts(batch, place)
            arrived += _num_samples(X)
            if _is_fitted(model):
                assessed.append(_assess_batch(model, X, y))
            if sliding is not None:
                sliding.learn(X, y, weights)
            else:
                model.partial_fit(X, y, sample_weight=weights, **settings)
            line.say(place + 1)
    if window is not None and arrived < window:
        model.__dict__ = before
        raise ValueError(f"window={window} is longer than the stream, which had {arrived} rows: use a shorter window")
    if not assessed:
        model.__dict__ = before  # not fitted
        raise ValueError(f"the stream had {arrived} rows in at most one batch: no batch was left to predict")
    rows, right, losses = np.array([(len(a.right), a.right.mean(), a.log_loss.mean()) for a in assessed]).T
    return Prequential(rows.astype(int), right, losses, perf_counter() - started, model)


def _check_rows(number: Any, name: str) -> None:
    if isinstance(number, bool) or not isinstance(number, Integral) or int(number) < 1:
        raise ValueError(f"{name} must be a number of rows, 1 or more, not {number!r}")


def _select(batch: tuple[Any, Any, Any], rows: slice) -> tuple[Any, Any, Any]:
    """Return some rows of (X, y, weights); weights may be None."""
    X, y, weights = (None if part is None else _safe_indexing(part, rows) for part in batch)
    return X, y, weights


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _parts(batch: Any, place: int) -> tuple[Any, Any, Any]:
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        raise ValueError(f"batch {place} of the stream is a {type(batch).__name__}, not (X, y) or (X, y, weights)")
    return (*batch, None) if len(batch) == 2 else (batch[0], batch[1], batch[2])


def _assess_batch(model: Any, X: Any, y: Any) -> Assessment:
    """Return the assessment of a model on rows; a label that the model has not seen has probability 0."""
    labels = as_labels(y, type(model).__name__)
    known = model.classes_
    places = np.minimum(np.searchsorted(known, labels), len(known) - 1)
    codes = np.where(known[places] == labels, places, -1)
    return assess_predictions(model.predict_log_proba(X), codes)
