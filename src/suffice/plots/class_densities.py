"""The density of a column in each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from suffice.plots import Array, axes_for, check_fitted, legend_beside, plain, style
from suffice.plots.column_kinds import counts_share_total, is_text
from suffice.plots.nomogram_points import OTHER, Scale
from suffice.plots.nomogram_scales import column_values, columns_of, explain, values_of

if TYPE_CHECKING:
    from suffice.plots import Axes

BINS = 25
FEW = 6  # with more classes, one histogram of all rows is drawn: many would hide each other


def densities(model: Any, X: Any = None, y: Any = None, column: Any = 0, *, ax: Axes | None = None) -> Axes:
    """Draw p(value | class) of one column for each class, and a histogram of rows behind it.

    Columns with levels have bars, numeric columns a curve, and binned columns steps whose area is the probability of
    the bin.

    Parameters
    ----------
    model : classifier
        A fitted classifier with independent columns.
    X : array-like of shape (n_rows, n_columns), default=None
        Rows of the histogram.
    y : array-like of shape (n_rows,), default=None
        Labels of these rows.
    column : str or int, default=0
        Name or place of the column.
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
    >>> X, y = load_iris(return_X_y=True)
    >>> densities(GaussianNB().fit(X, y), X, y, 2).get_xlabel()
    'column 2'
    """
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: pass both, for a histogram of each class, or neither")
    title = _find_title(model, column)
    _check_density(model, title)
    seen = [] if X is None else _all_values(model, X, title)
    labels = [] if y is None else np.asarray(y).tolist()
    if len(seen) != len(labels):
        raise ValueError(f"X has {len(seen)} rows and y has {len(labels)}; pass a label for each row")
    scale = density_of(model, title, seen)
    classes = model.classes_.tolist()
    ax = axes_for(ax, (7.5, 4))
    if scale.kind == "levels":
        _draw_bars(ax, scale, classes, seen, labels)
    else:
        _draw_curves(ax, scale, classes, seen, labels)
    # a long name would overlap the power of ten at the right end of the axis
    ax.set_xlabel(plain(title, 60), loc="left" if len(title) > 40 else "center")
    ax.set_ylim(bottom=0)
    legend_beside(ax, "class")
    return ax


def density_of(model: Any, title: str, seen: list[Any]) -> Scale:
    """Return log p(value | class) at values of one column, all other columns empty."""
    place, number, j = dict(columns_of(model))[title]
    kind, values, edges = values_of(model, (place, number, j), seen)
    if hasattr(model, "variances_"):  # columns are correlated: the marginal of one column is a Gaussian
        spread = np.sqrt(model.variances_[:, j])
        return Scale(title, kind, values, norm(model.means_[:, j], spread).logpdf(np.array(values)[:, None]), edges)
    tabled = model.chosen_tally().schema.features is not None
    rows = np.full((len(values), int(model.n_features_in_)), None, object) if tabled else None
    if rows is None:
        rows = np.zeros((len(values), int(model.n_features_in_)))
    numbers = [value for value in values if not isinstance(value, str)]
    rows[:, place] = [max(numbers) + 1 if value == OTHER and numbers else value for value in values]
    explanation = explain(model, rows)
    return Scale(title, kind, values, explanation.contributions[:, :, explanation.features.index(title)], edges)


def _check_density(model: Any, title: str) -> None:
    """Raise if a column shares a total with others, and so has no density of its own."""
    block = model.chosen_tally().schema.blocks[dict(columns_of(model))[title][1]]
    if is_text(block):
        raise ValueError(
            f"{title} is a text: its words have shares in each class, and it has no density; draw waterfall or "
            "marked_text of one row's explanation, or write a report, which names the words of each class"
        )
    if counts_share_total(block):
        raise ValueError(
            f"{title} is one of many counts that share a total: it has a share in each class and no density of its "
            "own; draw means(model)"
        )


def _find_title(model: Any, column: Any) -> str:
    """Return the title of a column that is given by its name or its place."""
    check_fitted(model)
    if not hasattr(model, "tally_"):
        raise TypeError(f"densities are drawn of a fitted classifier of suffice, not of {type(model).__name__}")
    if hasattr(model, "component_shares_"):
        raise ValueError("a mixture has no density of one column in closed form; draw boundary(model, X, y)")
    places = {at[0]: title for title, at in columns_of(model)}
    titles = list(places.values())
    if isinstance(column, str) and column in titles:
        return column
    if isinstance(column, (int, np.integer)) and int(column) in places:
        return places[int(column)]
    shown = ", ".join(map(repr, titles[:8])) + (", …" if len(titles) > 8 else "")
    raise ValueError(f"column={column!r} was not learned; there are {shown}")


def _all_values(model: Any, X: Any, title: str) -> list[Any]:
    """Return the values of a column, for a few rows at a time: explanations of all rows would be large."""
    from sklearn.utils import _safe_indexing

    count = X.shape[0] if hasattr(X, "shape") else len(X)
    pieces = [np.arange(start, min(start + 1000, count)) for start in range(0, count, 1000)]
    return [value for rows in pieces for value in column_values(model, _safe_indexing(X, rows))[title]]


def _draw_curves(ax: Axes, scale: Scale, classes: list[Any], seen: list[Any], labels: list[Any]) -> None:
    """Draw curves or steps over histograms with area 1."""
    numbers = np.array([np.nan if value is None else value for value in seen], np.float64)
    here = numbers[np.isfinite(numbers)]
    x, density = np.array(scale.values, np.float64), np.exp(scale.evidence)
    if scale.kind == "bins":
        x, density = density_steps(scale, here)
    bins = _histogram_edges(scale, x, here)
    if len(here) and len(classes) > FEW:
        ax.hist(here, bins, density=True, color="0.85", linewidth=0)
    for k, label in enumerate(classes):
        colour, dashes = style(k)
        mine = numbers[[each == label for each in labels]] if labels else np.zeros(0)
        mine = mine[np.isfinite(mine)]
        if len(mine) and len(classes) <= FEW:
            ax.hist(mine, bins, density=True, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, density[:, k], dashes, color=colour, linewidth=1.8, label=plain(label))
    ax.set_ylabel("density given class" + (" (histogram: rows)" if labels else ""))


def _histogram_edges(scale: Scale, x: Array, here: Array) -> list[float]:
    """Return the edges of a histogram: those of the model, around whole numbers, or evenly spaced."""
    if scale.kind == "bins" and scale.edges:
        return [float(edge) for edge in np.unique(x)]
    if len(here) and bool((here == np.floor(here)).all()) and here.max() - here.min() <= 60:
        return [float(edge) for edge in np.arange(here.min() - 0.5, here.max() + 1)]
    return [float(edge) for edge in np.histogram_bin_edges(here, BINS)] if len(here) else [0.0, 1.0]


def density_steps(scale: Scale, here: Array) -> tuple[Array, Array]:
    """Return steps whose area is the probability of each bin; the outer bins end at the last row."""
    edges = np.array(scale.edges)
    if not len(edges):  # one bin, as wide as the rows
        low, high = (float(here.min()), float(here.max())) if len(here) and np.ptp(here) > 0 else (0.0, 1.0)
        return np.array([low, high]), np.exp(scale.evidence[[0, 0]]) / (high - low)
    wide = (edges[-1] - edges[0]) / (len(edges) - 1) if len(edges) > 1 else max(abs(edges[0]), 1.0)
    low = min(here.min(), edges[0]) if len(here) else edges[0] - wide
    high = max(here.max(), edges[-1]) if len(here) else edges[-1] + wide
    low, high = (low if low < edges[0] else edges[0] - wide), (high if high > edges[-1] else edges[-1] + wide)
    ends = np.array([low, *edges, high])
    heights = np.exp(scale.evidence) / np.diff(ends)[:, None]
    return np.repeat(ends, 2)[1:-1], np.repeat(heights, 2, axis=0)


def _draw_bars(ax: Axes, scale: Scale, classes: list[Any], seen: list[Any], labels: list[Any]) -> None:
    """Draw a bar for each level and class, and a mark at the share of the rows."""
    share = np.exp(scale.evidence)
    levels, wide = len(scale.values), 0.8 / len(classes)
    placed = [scale.place(value) for value in seen]
    for k, label in enumerate(classes):
        at = np.arange(levels) - 0.4 + wide * (k + 0.5)
        hatch = ("", "//", "..", "xx")[k // 8 % 4]
        ax.bar(at, share[:, k], wide * 0.95, color=style(k)[0], label=plain(label), hatch=hatch, alpha=0.75)
        mine = [place for place, each in zip(placed, labels, strict=True) if each == label and place is not None]
        if mine:
            rows = np.bincount(mine, minlength=levels) / len(mine)
            ax.plot(at, rows, "_", color="k", markersize=max(3, 90 * wide / levels), markeredgewidth=1.2)
    words = [plain(value if isinstance(value, (str, bool)) else f"{value:g}", 16) for value in scale.values]
    if scale.edges and scale.values[0]:
        words = [f"≤ {scale.values[0]:g}", f"> {scale.values[0]:g}"]
    crowded = sum(map(len, words)) > 70
    ax.set_xticks(range(levels), words, rotation=90 if crowded else 0, fontsize="small")
    ax.set_ylabel("probability given class" + (" (line: rows)" if labels else ""))
