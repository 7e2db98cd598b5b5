"""The confusion matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import Array, axes_for, plain

if TYPE_CHECKING:
    from suffice.plots import Axes


def confusion(y_true: Any, said: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the confusion matrix: how many rows of each class were predicted to be of each class.

    The colour is the share of the true class.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels.
    said : array-like of shape (n_rows,) or classifier
        Predicted labels, or a fitted classifier that predicts them from ``X``.
    X : array-like of shape (n_rows, n_columns), default=None
        Rows, if ``said`` is a classifier.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> confusion(["a", "a", "b"], ["a", "b", "b"]).get_title(loc="left")
    '2 of 3 correct (66.7 %)'
    """
    if hasattr(said, "predict"):
        if X is None:
            raise ValueError("confusion(y, model) needs the rows that the model predicts: confusion(y, model, X)")
        said = said.predict(X)
    elif X is not None:
        raise ValueError("confusion(y_true, labels) has no use for X: leave it out, or pass a model in place of labels")
    labels, counts = _count(np.asarray(y_true).tolist(), np.asarray(said).tolist())
    size = len(labels)
    # with one or two classes the title is wider than the matrix
    ax = axes_for(ax, (max(2.2 + 0.42 * size, 4.4), 2.0 + 0.38 * size))
    rows = counts.sum(axis=1, keepdims=True)
    shares = counts / np.where(rows > 0, rows, 1)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    small = 9 if size <= 12 else 6.5
    for (i, j), count in np.ndenumerate(counts):
        if count:
            ax.text(
                j, i, f"{count:g}", ha="center", va="center", fontsize=small, color="w" if shares[i, j] > 0.5 else "k"
            )
    names = [plain(label, 16) for label in labels]
    upright = max(map(len, names)) > 3
    ax.set_xticks(range(size), names, rotation=90 if upright else 0, fontsize=small)
    ax.set_yticks(range(size), names, fontsize=small)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    correct, whole = float(np.trace(counts)), float(counts.sum())
    ax.set_title(f"{correct:g} of {whole:g} correct ({100 * correct / whole:.1f} %)", fontsize="small", loc="left")
    return ax


def _count(true: list[Any], predicted: list[Any]) -> tuple[list[Any], Array]:
    """Return all labels, sorted, and the number of rows of each pair, [true, predicted]."""
    if len(true) != len(predicted):
        raise ValueError(f"there are {len(true)} true and {len(predicted)} predicted labels; pass one of each per row")
    if not true:
        raise ValueError("there are no rows; pass at least one")
    labels = list({*true, *predicted})
    try:
        labels.sort()
    except TypeError:  # labels of different types, such as the None of predict(reject_below=…)
        labels.sort(key=lambda label: (type(label).__name__, str(label)))
    place = {label: k for k, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    np.add.at(counts, ([place[label] for label in true], [place[label] for label in predicted]), 1)
    return labels, counts
