"""How a model learns: its accuracy by the number of training rows, and the steps of Newton's method."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.model_selection import learning_curve as sklearn_learning_curve

from suffice.plots.canvas import BLUE, ORANGE, RED, Axes, axes_for, check_fitted, finish
from suffice.schema import Array


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
    and those without ``partial_fit``, are fitted again at each size.

    Parameters
    ----------
    model : classifier
        The classifier, which is cloned.
    X : array-like of shape (n_rows, n_columns)
        The rows.
    y : array-like of shape (n_rows,)
        The labels.
    cv : int, default=5
        The number of stratified folds.
    steps : int, default=8
        The number of sizes of the training set.

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
    labels = np.asarray(y)
    classes, counts = np.unique(labels, return_counts=True)
    least = counts.min()
    if not 2 <= cv <= least:
        raise ValueError(
            f"cv={cv} folds, and the rarest class has {least} rows: set cv from 2 to that, or leave the class out"
        )
    fewest = len(labels) - -(-len(labels) // cv)
    sizes = np.unique(np.geomspace(min(max(10, 2 * len(classes)), fewest), fewest, steps).astype(int))
    folds = StratifiedKFold(cv, shuffle=True, random_state=0).split(labels, labels)
    shuffled = [(_shuffle(train, labels), test) for train, test in folds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows leave columns constant
        _, learned, held_out = sklearn_learning_curve(
            model, X, labels, train_sizes=sizes, cv=shuffled, exploit_incremental_learning=_can_add_rows(model)
        )
    return Learning(sizes, held_out, learned)


def _can_add_rows(model: Any) -> bool:
    """Return whether ``partial_fit`` on parts equals ``fit`` on the whole."""
    plan_is_fixed = not hasattr(model, "families") and getattr(model, "calibrate", None) is None
    return plan_is_fixed and callable(getattr(type(model), "partial_fit", None))


def _shuffle(rows: Array, labels: Array) -> Array:
    """Return the rows in random order after one row of each class, so that no model has only one class."""
    rows = np.random.default_rng(0).permutation(rows)
    first = np.unique(labels[rows], return_index=True)[1]
    return np.concatenate([rows[first], np.delete(rows, first)])


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
        band = middle - spread, np.minimum(middle + spread, 1.0)
        ax.fill_between(found.sizes, *band, color=colour, alpha=0.15, linewidth=0)
    ax.set_xscale("log")
    shown = found.sizes[:: max(len(found.sizes) // 6, 1) if len(found.sizes) > 8 else 1].tolist()
    ax.set_xticks(shown, [f"{size:g}" for size in shown])
    ax.minorticks_off()
    title = f"{type(model).__name__} (bands: one standard deviation over folds)"
    return finish(ax, "training rows", "accuracy", title, grid="both", legend="lower right")


def newton(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the steps of Newton's method: the loss above its minimum, and the largest entry of the gradient.

    Near the minimum, each step doubles the number of correct digits, so the lines become steeper.

    Parameters
    ----------
    model : LogisticRegression
        A fitted model.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from suffice import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> newton(model).get_xlabel()
    'step'
    """
    check_fitted(model)
    trace = getattr(model, "trace_", None)
    if not isinstance(trace, tuple) or not trace or "objective" not in trace[0]:
        raise TypeError(f"newton needs a fitted LogisticRegression, not {type(model).__name__}")
    objective, gradient, lengths = (
        np.array([line[key] for line in trace]) for key in ("objective", "gradient", "step")
    )
    ax = axes_for(ax, (6, 4))
    steps, above = np.arange(len(trace)), objective - objective.min()
    # below this the difference is rounding
    shown = above > 4 * np.finfo(np.float64).eps * np.abs(objective).max()
    ax.semilogy(steps, gradient, "o-", color=BLUE, label="largest entry of the gradient")
    ax.semilogy(steps[shown], above[shown], "s--", color=RED, label="loss above its minimum")
    short = (lengths > 0) & (lengths < 1)
    if short.any():
        name = "followed by a shortened step"
        ax.semilogy(steps[short], gradient[short], "o", color="w", markeredgecolor=BLUE, label=name)
    ax.set_xticks(steps if len(steps) <= 15 else steps[:: len(steps) // 10])
    title = f"{len(trace) - 1} steps to a loss of {objective[-1]:.6g}"
    return finish(ax, "step", title=title, grid="both", legend="best")
