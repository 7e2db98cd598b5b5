"""Learning curves: the accuracy by the number of training rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, ORANGE, Array, axes_for

if TYPE_CHECKING:
    from suffice.plots import Axes


@dataclass(frozen=True)
class Learning:
    """A learning curve as numbers.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of training rows.
    held_out : ndarray of shape (n_sizes, n_folds)
        Accuracy on the held-out rows.
    learned : ndarray of shape (n_sizes, n_folds)
        Accuracy on the training rows.
    """

    sizes: Array
    held_out: Array
    learned: Array


def learning(model: Any, X: Any, y: Any, cv: int = 5, steps: int = 8) -> Learning:
    """Return the accuracy by the number of training rows, for each fold of a cross-validation.

    Models with ``partial_fit`` learn only the rows that are added at each size. Models whose plan depends on the data,
    and those without ``partial_fit``, are fitted anew at each size.

    Parameters
    ----------
    model, X, y : classifier, array-like of shape (n_rows, n_columns), array-like of shape (n_rows,)
        The classifier, which is cloned, and the rows with their labels.
    cv, steps : int, default=5 and 8
        The number of stratified folds, and the number of sizes of the training set.

    Returns
    -------
    Learning
        ``sizes``, and the accuracies ``held_out`` and ``learned`` of each size and fold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> learning(GaussianNB(), *load_iris(return_X_y=True), steps=3).sizes.tolist()
    [10, 34, 120]
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import _safe_indexing

    labels = np.asarray(y)
    least = int(np.unique(labels, return_counts=True)[1].min())
    if not 2 <= cv <= least:
        raise ValueError(
            f"cv={cv} folds, and the rarest class has {least} rows: set cv from 2 to that, or leave the class out"
        )
    fewest = len(labels) - -(-len(labels) // cv)
    sizes = np.unique(np.geomspace(min(max(10, 2 * len(set(labels.tolist()))), fewest), fewest, steps).astype(int))
    held_out, learned = np.zeros((2, len(sizes), cv))
    folds = StratifiedKFold(cv, shuffle=True, random_state=0)
    for fold, (train, test) in enumerate(folds.split(np.zeros(len(labels)), labels)):
        train = _shuffle(train, labels)
        kept, known = _safe_indexing(X, test), clone(model)
        for step, size in enumerate(sizes.tolist()):
            rows = train[:size]
            if _can_add_rows(model):
                new = train[sizes[step - 1] if step else 0 : size]
                known.partial_fit(_safe_indexing(X, new), labels[new], classes=np.unique(labels))
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # few rows leave columns constant
                    known = clone(model).fit(_safe_indexing(X, rows), labels[rows])
            held_out[step, fold] = known.score(kept, labels[test])
            learned[step, fold] = known.score(_safe_indexing(X, rows), labels[rows])
    return Learning(sizes, held_out, learned)


def learning_curve(model: Any, X: Any, y: Any, cv: int = 5, steps: int = 8, ax: Axes | None = None) -> Axes:
    """Draw the accuracy on held-out rows and on training rows, by the number of training rows.

    Parameters
    ----------
    model : classifier
        A classifier, which is cloned.
    X : array-like of shape (n_rows, n_columns)
        Rows.
    y : array-like of shape (n_rows,)
        Labels.
    cv : int, default=5
        Number of stratified folds.
    steps : int, default=8
        Number of sizes of the training set.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> ax = learning_curve(GaussianNB(), *load_iris(return_X_y=True), steps=3)
    >>> [line.get_label() for line in ax.lines]
    ['training rows', 'held-out rows (5 folds)']
    """
    found = learning(model, X, y, cv, steps)
    ax = axes_for(ax, (6, 4))
    for accuracy, colour, dashes, name in (
        (found.learned, ORANGE, "--", "training rows"),
        (found.held_out, BLUE, "-", f"held-out rows ({cv} folds)"),
    ):
        middle, spread = accuracy.mean(axis=1), accuracy.std(axis=1)
        ax.plot(found.sizes, middle, dashes, marker="o", markersize=4, color=colour, label=name)
        ax.fill_between(
            found.sizes, middle - spread, np.minimum(middle + spread, 1.0), color=colour, alpha=0.15, linewidth=0
        )
    ax.set_xscale("log")
    shown = found.sizes if len(found.sizes) <= 8 else found.sizes[:: len(found.sizes) // 6]
    ax.set_xticks(shown.tolist(), [f"{size:g}" for size in shown.tolist()])
    ax.minorticks_off()
    ax.set_xlabel("training rows")
    ax.set_ylabel("accuracy")
    ax.set_title(f"{type(model).__name__} (bands: ± 1 standard deviation over folds)", fontsize="small", loc="left")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(alpha=0.3)
    return ax


def _can_add_rows(model: Any) -> bool:
    """Return whether ``partial_fit`` on parts equals ``fit`` on the whole."""
    plain = not hasattr(model, "families") and getattr(model, "calibrate", None) is None
    return plain and callable(getattr(type(model), "partial_fit", None))


def _shuffle(rows: Array, labels: Array) -> Array:
    """Return the rows in random order after one row of each class, so that no model has only one class."""
    rows = np.random.default_rng(0).permutation(rows)
    first = np.unique(labels[rows], return_index=True)[1]
    return np.concatenate([rows[first], np.delete(rows, first)])
