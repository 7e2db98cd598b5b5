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
from suffice.statistics.cancellation import has_few_digits


def batches(X: Any, y: Any, size: Any = 100) -> Iterator[tuple[Any, Any]]:
    """Yield rows and labels in batches, as a stream would bring them.

    >>> [labels for _, labels in batches([[1], [2], [3]], ["a", "b", "a"], size=2)]
    [['a', 'b'], ['a']]
    """
    if isinstance(size, bool) or not isinstance(size, Integral) or int(size) < 1:
        raise ValueError(f"size is a number of rows, 1 or more, not {size!r}")
    if _num_samples(X) != _num_samples(y):
        raise ValueError(f"X has {_num_samples(X)} rows and y has {_num_samples(y)}: they must be as many")
    for first in range(0, _num_samples(X), size):
        rows = slice(first, first + size)
        yield _safe_indexing(X, rows), _safe_indexing(y, rows)


class Window:
    """A model of the last rows alone: what comes in is added, what drops out is taken away.

    Counts are then exactly those of the rows in the window, moments to rounding; where a row that drops out
    was so large that too few digits would be left, and once in a window's length, sums are taken anew.

    Parameters
    ----------
    model : classifier
        It is learned in place.
    rows : int
        How many rows the window has.

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
        if isinstance(rows, bool) or not isinstance(rows, Integral) or int(rows) < 1:
            raise ValueError(f"a window has a number of rows, 1 or more, not {rows!r}")
        if additive_recipe(model) is None:
            raise ValueError(f"{model!r} is no sum, so that nothing can be taken away from it: it has no window")
        self.model, self.rows = model, int(rows)
        self.held: deque[tuple[Any, Any, Any]] = deque()
        self.count = self.left = 0

    def __len__(self) -> int:
        return self.count

    def learn(self, X: Any, y: Any, sample_weight: Any = None) -> Window:
        """Learn rows, and forget as many of the oldest as there are too many."""
        arrived = _num_samples(X)
        if arrived > self.rows:  # only the last of them will stay
            last = slice(arrived - self.rows, arrived)
            X, y = _safe_indexing(X, last), _safe_indexing(y, last)
            sample_weight = None if sample_weight is None else _safe_indexing(sample_weight, last)
            arrived = self.rows
        self.model.partial_fit(X, y, sample_weight=sample_weight)
        # copies: a caller may fill the same array again
        self.held.append(tuple(its.copy() if hasattr(its, "copy") else its for its in (X, y, sample_weight)))
        self.count += arrived
        while self.count > self.rows:
            self._drop(self.count - self.rows)
        return self

    def _drop(self, many: int) -> None:
        """Forget the oldest rows, up to so many."""
        X, y, weights = self.held.popleft()
        rows = _num_samples(X)
        if rows > many:
            first, rest = slice(0, many), slice(many, rows)
            self.held.appendleft(tuple(None if its is None else _safe_indexing(its, rest) for its in (X, y, weights)))  # type: ignore[arg-type]
            X, y, weights = (None if its is None else _safe_indexing(its, first) for its in (X, y, weights))
            rows = many
        before = self.model.tally_
        if weights is None or np.any(weights):
            self.model.tally_ = self.model.tally_without(X, y, weights)
        self.count -= rows
        self.left += rows
        rounds = any(isinstance(its, (Moments, CoMoments)) for its in before.statistics)
        if rounds and self.count and (self.left >= self.rows or has_few_digits(before, self.model.tally_)):
            self._anew()

    def _anew(self) -> None:
        """Take the sums of the rows in the window anew: nothing is left of what rounding did."""
        fresh = self.model.with_tally(self.model.tally_ * 0.0)
        for X, y, weights in self.held:
            fresh.partial_fit(X, y, sample_weight=weights)
        self.model.tally_ = fresh.tally_.trimmed(fresh.tally_.class_count > 0)
        self.left = 0


@dataclass(frozen=True)
class Prequential:
    """What was said of each row of a stream before it was learned, batch by batch.

    ``rows``, ``accuracy`` and ``log_loss`` are those of each batch; ``total`` has the means over all rows.
    """

    rows: Array
    accuracy: Array
    log_loss: Array
    seconds: float
    model: Any

    @property
    def total(self) -> dict[str, float]:
        """The means over all rows of which something was said, and the rows a second."""
        weights = np.maximum(self.rows, 1e-300)
        named = {"accuracy": self.accuracy, "log_loss": self.log_loss}
        found = {name: float(np.average(values, weights=weights)) for name, values in named.items()}
        return found | {"rows": int(self.rows.sum()), "rows_per_second": float(self.rows.sum() / self.seconds)}

    def plot(self, ax: Any = None) -> Any:
        """Draw the accuracy over the stream, of a batch and of all rows so far; return the Axes."""
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
    """Return how well a model predicts a stream of which it learns each batch after it has predicted it.

    Parameters
    ----------
    model : classifier
        It is learned in place, on top of what it knows. Of the first batch nothing is said if it knows nothing.
    stream : iterable of (X, y) or (X, y, sample_weight)
        The batches; `batches` cuts a table into some.
    decay : float, default=None
        What is known still counts this much with every batch.
    window : int, default=None
        Only this many last rows are known.
    progress : bool, default=True
        Whether to show how far it has come, on a terminal, when it takes longer than a second.

    Returns
    -------
    found : Prequential

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from suffice import BernoulliNB, batches, prequential
    >>> X, y = load_digits(return_X_y=True)
    >>> found = prequential(BernoulliNB(binarize=7), batches(X, y, 100))
    >>> round(found.total["accuracy"], 2), found.total["rows"]
    (0.85, 1697)
    """
    if decay is not None and window is not None:
        raise ValueError("decay and window are two ways to forget: choose one")
    if decay is not None:
        check_decay(decay)
    if not hasattr(model, "partial_fit"):
        raise ValueError(f"{type(model).__name__} cannot learn in batches, as a stream brings them")
    if getattr(model, "calibrate", None) is not None and not _is_fitted(model):
        raise ValueError(
            f"calibrate={model.calibrate!r} is learned by fit: fit on some rows first, or set calibrate=None"
        )
    before = dict(model.__dict__)
    sliding = None if window is None else Window(model, window)
    rows, right, losses, arrived, started = [], [], [], 0, perf_counter()
    with Progress("batches", 0, progress) as line:
        for place, batch in enumerate(stream):
            X, y, weights = _parts(batch, place)
            arrived += _num_samples(X)
            if _is_fitted(model):
                found = _said(model, X, y)
                rows.append(len(found.right))
                right.append(found.right.mean())
                losses.append(found.log_loss.mean())
            if sliding is not None:
                sliding.learn(X, y, weights)
            else:
                settings = {} if decay is None else {"decay": decay}
                model.partial_fit(X, y, sample_weight=weights, **settings)
            line.say(place + 1)
    if window is not None and arrived < window:
        model.__dict__ = before
        raise ValueError(f"window={window} is longer than the stream, which had {arrived} rows: nothing ever left it")
    if not rows:
        model.__dict__ = before  # as it was: not fitted
        raise ValueError(f"the stream had {arrived} rows in one batch or none: nothing was left to predict")
    return Prequential(np.array(rows), np.array(right), np.array(losses), perf_counter() - started, model)


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _parts(batch: Any, place: int) -> tuple[Any, Any, Any]:
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        raise ValueError(f"batch {place} of the stream is {type(batch).__name__}, and not (X, y) or (X, y, weights)")
    return (*batch, None) if len(batch) == 2 else (batch[0], batch[1], batch[2])


def _said(model: Any, X: Any, y: Any) -> Assessment:
    """Return how good what a model says of rows is; of a class it has not met it says nothing."""
    labels = as_labels(y, type(model).__name__)
    known = model.classes_
    places = np.minimum(np.searchsorted(known, labels), len(known) - 1)
    codes = np.where(known[places] == labels, places, -1)
    return assess_predictions(model.predict_log_proba(X), codes)
