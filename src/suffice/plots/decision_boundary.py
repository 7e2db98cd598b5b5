"""Decision boundaries in the plane of two columns."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from suffice.plots.canvas import COLOURS, Axes, axes_beside, finish, legend_beside, plain
from suffice.schema import Array

STEPS = 240
MARKERS = "os^Dvp*X"
LISTED = 40  # with more classes, their names are drawn among the rows instead of in a legend


def boundary(models: Any, X: Any, y: Any, columns: Sequence[Any] = (0, 1), *, ax: Any = None) -> Any:
    """Draw the most probable class at each point of two columns, and the rows, for one model or several.

    At a boundary, P(class | x) of two classes is equal. The boundaries of GaussianNB are quadratic curves without the
    term x₀·x₁; those of GaussianDiscriminant have this term.

    Parameters
    ----------
    models : classifier, list or dict of str to classifier
        One or several models, fitted on the two columns.
    X : array-like of shape (n_rows, n_columns)
        Rows.
    y : array-like of shape (n_rows,)
        Labels.
    columns : sequence of two, default=(0, 1)
        Names or positions of the columns of ``X``.
    ax : matplotlib.axes.Axes or sequence of these, default=None
        Axes to draw on, one for each model; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes or ndarray of these
        The Axes with the plot; an array if ``models`` is a list or a dictionary.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> boundary(GaussianNB().fit(X[:, 2:], y), X, y, columns=(2, 3)).get_title(loc="left")
    'GaussianNB: accuracy 96.0 %'
    """
    named = _name_models(models)
    points, names = _take_columns(X, columns)
    labels = np.asarray(y)
    if len(labels) != len(points):
        raise ValueError(f"X has {len(points)} rows and y has {len(labels)}; pass a label for each row")
    whole = np.isfinite(points).all(axis=1)
    points, labels = points[whole], labels[whole]
    if not len(points):
        raise ValueError(f"no row has a value in both columns, {names[0]} and {names[1]}")
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.08 * np.where(high > low, high - low, 1.0)
    xs, ys = np.linspace(low - pad, high + pad, STEPS, axis=1)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    axes = axes_beside(ax, len(named), (4.6, 4.2))
    for each, (name, model) in zip(axes, named.items(), strict=True):
        _draw_areas(each, model, xs, ys, grid)
        _draw_rows(each, model.classes_.tolist(), points, labels)
        accuracy = float((_predict(model.predict, points) == labels).mean())
        finish(each, names[0], names[1], f"{plain(name, 32)}: accuracy {100 * accuracy:.1f} %")
    if len(np.unique(labels)) <= LISTED:
        legend_beside(axes[-1], markerscale=1.0 if len(points) < 500 else 2.5)
    else:
        for each in axes:
            _draw_class_names(each, points, labels)
    return np.array(axes, object) if isinstance(models, (Mapping, list, tuple)) else axes[0]


def _name_models(models: Any) -> dict[str, Any]:
    """Return one model, a list or a dictionary of models as a dictionary; raise if one is not fitted on two columns."""
    if not isinstance(models, Mapping):
        every = models if isinstance(models, (list, tuple)) else [models]
        kinds = [type(model).__name__ for model in every]
        titles = [kind if kinds.count(kind) == 1 else f"{place}: {kind}" for place, kind in enumerate(kinds)]
        models = dict(zip(titles, every, strict=True))
    if not models:
        raise ValueError("there is no model; pass one that is fitted on two columns")
    for name, model in models.items():
        width = getattr(model, "n_features_in_", None)
        if width != 2:
            about = "is not fitted" if width is None else f"was fitted on {width} columns"
            raise ValueError(
                f"{name} {about}; a boundary is drawn in two columns: fit it on these, such as "
                "model.fit(X[:, [0, 1]], y)"
            )
    return dict(models)


def _take_columns(X: Any, columns: Sequence[Any]) -> tuple[Array, list[str]]:
    """Return two columns as an array of numbers, and their names."""
    if len(columns) != 2:
        raise ValueError(f"columns={columns!r} must name two columns")
    table = X if hasattr(X, "shape") else np.asarray(X)
    if len(table.shape) != 2:
        raise ValueError(f"X must be a table of rows and columns, not of shape {tuple(table.shape)}")
    try:
        some = _safe_indexing(table, list(columns), axis=1)
        numbers = np.asarray(some, np.float64)
    except (IndexError, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"columns={columns!r} are not two numeric columns of X: {error}") from None
    heads = list(some.columns) if hasattr(some, "columns") else [f"column {name}" for name in columns]
    return numbers, [plain(head, 40) for head in heads]


def _predict(method: Any, points: Array) -> Array:
    """Call a method of a model without the warning about missing column names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(method(points))


def _draw_areas(ax: Axes, model: Any, xs: Array, ys: Array, grid: Array) -> None:
    """Colour the area of each class, darker where it is more probable, and draw the boundaries."""
    log_proba = _predict(model.predict_log_proba, grid)
    count = log_proba.shape[1]
    best, share = log_proba.argmax(axis=1), np.exp(log_proba.max(axis=1))
    colours = np.array([_rgb(COLOURS[k % len(COLOURS)]) for k in range(count)])
    certain = (share - 1 / count) / max(1 - 1 / count, 1e-9)
    deep = (0.08 + 0.27 * np.clip(certain, 0, 1))[:, None]
    image = (1 - deep * (1 - colours[best])).reshape(len(ys), len(xs), 3)
    ax.imshow(image, origin="lower", extent=(xs[0], xs[-1], ys[0], ys[-1]), aspect="auto", interpolation="nearest")
    for k in range(count):
        others = np.max(np.delete(log_proba, k, axis=1), axis=1, initial=-np.inf)
        lead = np.clip(np.nan_to_num(log_proba[:, k] - others, posinf=50, neginf=-50), -50, 50)
        if lead.min() < 0 < lead.max():
            ax.contour(xs, ys, lead.reshape(len(ys), len(xs)), [0], colors="k", linewidths=1)


def _draw_rows(ax: Axes, classes: list[Any], points: Array, labels: Array) -> None:
    """Draw the rows of each class with a colour and a marker."""
    edge: dict[str, Any] = {"s": 18 if len(points) < 500 else 5, "edgecolor": "w", "linewidth": 0.4}
    for k, label in enumerate(classes):
        mine = points[labels == label]
        # the first 64 classes differ in colour or marker
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]
        if len(mine):
            ax.scatter(*mine.T, color=colour, marker=marker, label=plain(label, 20), **edge)


def _draw_class_names(ax: Axes, points: Array, labels: Array) -> None:
    """Draw the names of classes at the median of their rows, largest first, without overlap."""
    whole: Any = ax.figure.figure  # the outer figure, if this is a subfigure
    whole.draw_without_rendering()  # positions are known only after the layout
    taken: list[Any] = []
    names, counts = np.unique(labels, return_counts=True)
    for label in names[np.argsort(-counts, kind="stable")]:
        x, y = np.median(points[labels == label], axis=0)
        text = ax.text(x, y, plain(label, 10), fontsize=6.5, ha="center", va="center", zorder=5)
        text.set_in_layout(False)
        box = text.get_window_extent()
        if any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)


def _rgb(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
