"""Plots of the quality of predictions: confusion matrix, reliability, comparison of models, and accuracy over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice.plots.canvas import BLUE, COLOURS, RED, Axes, axes_for, check_fitted, finish, plain, write_beside
from suffice.schema import Array


def confusion(y_true: Any, y_pred: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the confusion matrix: how many rows of each class were predicted to be of each class.

    The colour of a cell shows its share of the rows of the true class.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels.
    y_pred : array-like of shape (n_rows,) or classifier
        Predicted labels, or a fitted classifier that predicts them from ``X``.
    X : array-like of shape (n_rows, n_columns), default=None
        Rows, if ``y_pred`` is a classifier.
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
    if hasattr(y_pred, "predict"):
        if X is None:
            raise ValueError("confusion(y, model) needs the rows that the model predicts: confusion(y, model, X)")
        y_pred = y_pred.predict(X)
    elif X is not None:
        raise ValueError("confusion(y_true, labels) has no use for X: leave it out, or pass a model in place of labels")
    labels, counts = _count_pairs(np.asarray(y_true).tolist(), np.asarray(y_pred).tolist())
    size = len(labels)
    # with one or two classes the title is wider than the matrix
    ax = axes_for(ax, (max(2.2 + 0.42 * size, 4.4), 2.0 + 0.38 * size))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    small = 9 if size <= 12 else 6.5
    for i, j in np.argwhere(counts):
        colour = "w" if shares[i, j] > 0.5 else "k"
        ax.text(j, i, f"{counts[i, j]:g}", ha="center", va="center", fontsize=small, color=colour)
    names = [plain(label, 16) for label in labels]
    ax.set_xticks(range(size), names, rotation=90 if max(map(len, names)) > 3 else 0, fontsize=small)
    ax.set_yticks(range(size), names, fontsize=small)
    correct, whole = float(np.trace(counts)), float(counts.sum())
    return finish(ax, "predicted", "true", f"{correct:g} of {whole:g} correct ({100 * correct / whole:.1f} %)")


def _count_pairs(true: list[Any], predicted: list[Any]) -> tuple[list[Any], Array]:
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


def reliability(curves: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw the reliability diagram: the accuracy of predictions against their predicted probability.

    On the diagonal, a share p of the predictions with probability p are correct.

    Parameters
    ----------
    curves : dict of str to Reliability or classifier
        Reliability curves by name, such as ``model.calibration_.reliability``; or classifiers fitted with
        ``calibrate=…``, whose curve after calibration is drawn.
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
    >>> model = GaussianNB(calibrate="temperature").fit(*load_iris(return_X_y=True))
    >>> len(reliability(model.calibration_.reliability).lines)
    3
    """
    if not isinstance(curves, Mapping):
        raise TypeError(f"reliability takes {{name: curve}}, not {type(curves).__name__}")
    found = {name: _find_curve(name, each) for name, each in curves.items()}
    ax = axes_for(ax, (5, 5))
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--", label="perfectly calibrated")
    colours = [RED, BLUE, *(each for each in COLOURS if each not in (RED, BLUE))]
    for place, (name, its) in enumerate(found.items()):
        used, colour = its.share > 0, colours[place % len(colours)]
        label = f"{plain(name)} (error {its.error:.3f})"
        ax.plot(its.confidence[used], its.accuracy[used], color=colour, linewidth=1, label=label)
        ax.scatter(its.confidence[used], its.accuracy[used], s=8 + 400 * its.share[used], color=colour, alpha=0.6)
    ax.set_aspect("equal")
    return finish(ax, "predicted probability", "accuracy (area of dots: share of predictions)", legend="upper left")


def _find_curve(name: str, given: Any) -> Any:
    """Return a reliability curve, from one or from a fitted model with calibrated probabilities."""
    if all(hasattr(given, field) for field in ("share", "confidence", "accuracy")):
        return given
    if not hasattr(given, "predict_proba"):
        raise TypeError(f"{name!r} is a {type(given).__name__}; pass a reliability curve or a fitted model")
    check_fitted(given)
    if getattr(given, "calibration_", None) is None:
        raise ValueError(
            f"{name!r} is a model without calibration, which has no reliability curve; fit it with calibrate=…, "
            'such as calibrate="temperature", or pass a Reliability of suffice.decision.reliability'
        )
    return given.calibration_.reliability["after"]


def comparison(
    table: Sequence[dict[str, Any]], ax: Axes | None = None, *, metric: str = "log_loss", title: str = "log-loss"
) -> Axes:
    """Draw a metric of each model of a comparison, best at the top, with 95 % intervals.

    Parameters
    ----------
    table : list of dict
        The rows of ``compare(…).table``, with keys "model", "log_loss", "log_loss_half_width" and "log_loss_verdict".
        The accuracy is written on the right, if there is one.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.
    metric : str, default="log_loss"
        The key of the metric.
    title : str, default="log-loss"
        The name of the metric on the axis.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> line = {"model": "GaussianNB", "log_loss": 0.1, "log_loss_half_width": 0.04, "log_loss_verdict": "best"}
    >>> [tick.get_text() for tick in comparison([line]).get_yticklabels()]
    ['GaussianNB']
    """
    ax = axes_for(ax, (8, 1 + 0.32 * len(table)))
    places, has_accuracy = range(len(table))[::-1], metric != "accuracy" and all("accuracy" in line for line in table)
    for place, line in zip(places, table, strict=True):
        colour = RED if line[f"{metric}_verdict"] == "worse" else BLUE
        half = line[f"{metric}_half_width"]
        ax.errorbar(line[metric], place, xerr=half if np.isfinite(half) else None, fmt="o", color=colour, capsize=3)
        if has_accuracy:
            write_beside(ax, place, f"{100 * line['accuracy']:.1f} %")
    ax.set_yticks(places, [plain(line["model"], 60) for line in table])
    ax.margins(y=0.5 / max(len(table), 1))
    label = f"{title} on held-out rows (bars: 95 % intervals{'; right: accuracy' if has_accuracy else ''})"
    return finish(ax, label, title="red: worse than the best; blue: not shown to be worse", grid="x")


def over_time(rows: Any, accuracy: Any, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of each batch of a stream, and the accuracy on all rows so far.

    Parameters
    ----------
    rows : array-like of shape (n_batches,)
        Number of rows of each batch.
    accuracy : array-like of shape (n_batches,)
        Accuracy on each batch, before it was learned.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> over_time([10, 30], [0.5, 0.9]).lines[1].get_ydata().tolist()
    [0.5, 0.8]
    """
    ax = axes_for(ax, (7, 4))
    rows, accuracy = np.asarray(rows, np.float64), np.asarray(accuracy, np.float64)
    seen = np.cumsum(rows)
    ax.plot(seen, accuracy, color=BLUE, linewidth=0.8, alpha=0.6, label="batch")
    ax.plot(seen, np.cumsum(accuracy * rows) / seen, color=RED, label="all rows so far")
    return finish(ax, "rows", "accuracy before learning the batch", grid="both", legend="lower right")
