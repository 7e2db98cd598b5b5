"""The density of a column in each class."""

from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from suffice.families import FAMILIES
from suffice.families.description import Support
from suffice.plots.canvas import Axes, axes_for, check_fitted, legend_beside, plain, style
from suffice.plots.model_columns import (
    Column,
    column_values,
    explain_values,
    find_column,
    find_support,
    outer_bounds,
    separate_columns,
)
from suffice.plots.nomogram_points import Scale, make_scale
from suffice.schema import Array

BINS = 25
SHOWN_SHARE, LONG_TAIL = 0.95, 2.5  # a range of all rows that is so many times wider than that of a share is cut off
FEW = 6  # with more classes, one histogram of all rows is drawn: many would hide each other


def densities(model: Any, X: Any = None, y: Any = None, column: Any = 0, *, ax: Axes | None = None) -> Axes:
    """Draw p(value | class) of one column for each class, and a histogram of rows behind it.

    Columns with levels have bars, numeric columns a curve, and binned columns steps whose area is the probability of
    the bin. If few rows lie far outside, the axis shows 95 % of the rows. Of a pool, the densities are those of
    ``structure="naive"``, which are estimated from the same sums.

    Parameters
    ----------
    model : classifier
        A fitted classifier with independent columns.
    X : array-like of shape (n_rows, n_columns), default=None
        Rows of the histogram.
    y : array-like of shape (n_rows,), default=None
        Labels of these rows.
    column : str or int, default=0
        Name or position of the column.
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
    check_fitted(model)
    if not hasattr(model, "tally_"):
        raise TypeError(f"densities needs a fitted classifier of suffice, not {type(model).__name__}")
    if hasattr(model, "component_shares_"):
        raise ValueError("a mixture has no density of one column in closed form; draw boundary(model, X, y)")
    model = separate_columns(model)
    found = find_column(model, column)
    labels = [] if y is None else np.asarray(y).tolist()
    if X is not None and _num_samples(X) != len(labels):
        raise ValueError(f"X has {_num_samples(X)} rows and y has {len(labels)}; pass a label for each row")
    seen = _all_values(model, X, found.title) if labels else []
    scale, classes = density_of(model, found, seen), model.classes_.tolist()
    ax = axes_for(ax, (7.5, 4))
    draw = _draw_bars if scale.kind == "levels" else _draw_curves
    draw(ax, scale, classes, seen, labels)
    title = plain(found.title, 60)
    if scale.kind != "levels":
        title += _limit_axis(ax, seen)
    # a long name would overlap the power of ten at the right end of the axis
    ax.set_xlabel(title, loc="left" if len(title) > 40 else "center")
    ax.set_ylim(bottom=0)
    legend_beside(ax, "class")
    return ax


def density_of(model: Any, column: Column, seen: list[Any]) -> Scale:
    """Return log p(value | class) at values of one column, all other columns empty."""
    support = find_support(model, column, seen)
    if FAMILIES[model.chosen_tally().schema.blocks[column.block].family].is_compositional:
        raise ValueError(
            f"{column.title} is one of many counts that share a total: it has a share in each class and no density of "
            "its own; draw means(model)"
        )
    if hasattr(model, "variances_"):  # columns are correlated: the marginal of one column is a Gaussian
        marginal = norm(model.means_[:, column.j], np.sqrt(model.variances_[:, column.j]))
        evidence = marginal.logpdf(np.array(support.values)[:, None])
    else:
        is_table = model.chosen_tally().schema.features is not None
        explanation = explain_values(model, {column: [*support.values, *([None] if is_table else [])]})
        evidence = explanation.contributions[:, :, explanation.features.index(column.title)]
        if is_table:
            return _with_missing(column.title, support, evidence[:-1], evidence[-1])
    return Scale(column.title, support.kind, support.values, evidence, support.edges)


def _with_missing(title: str, support: Support, evidence: Array, missing: Array) -> Scale:
    """Return the scale of a column whose missing cells may be a level; numbers are those that are not missing."""
    if support.kind != "levels" and missing.any():
        evidence = evidence - np.log1p(-np.exp(missing))
    return make_scale(title, support, evidence, missing)


def _all_values(model: Any, X: Any, title: str) -> list[Any]:
    """Return the values of a column, for a few rows at a time: explanations of all rows would be large."""
    rows = np.arange(_num_samples(X))
    pieces = (rows[start : start + 1000] for start in range(0, len(rows), 1000))
    return [value for piece in pieces for value in column_values(model, _safe_indexing(X, piece)).get(title, [])]


def _draw_curves(ax: Axes, scale: Scale, classes: list[Any], seen: list[Any], labels: list[Any]) -> None:
    """Draw curves or steps over histograms with area 1."""
    numbers = np.array([np.nan if value is None else value for value in seen], np.float64)
    finite = np.isfinite(numbers)
    here = numbers[finite]
    x, density = np.array(scale.values, np.float64), np.exp(scale.evidence)
    if scale.kind == "bins":
        x, density = density_steps(scale, here)
    bins = _histogram_edges(scale, x, here)
    if len(here) and len(classes) > FEW:
        ax.hist(here, bins, density=True, color="0.85", linewidth=0)
    for k, label in enumerate(classes):
        colour, dashes = style(k)
        mine = numbers[finite & np.array([each == label for each in labels], bool)]
        if len(mine) and len(classes) <= FEW:
            ax.hist(mine, bins, density=True, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, density[:, k], dashes, color=colour, linewidth=1.8, label=plain(label))
    ax.set_ylabel("density given class" + (" (histogram: rows)" if labels else ""))


def _limit_axis(ax: Axes, seen: list[Any]) -> str:
    """Limit the axis of a skewed column to 95 % of its rows, and return a note if that is done."""
    numbers = np.array([np.nan if value is None else value for value in seen], np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return ""
    low, high = np.quantile(numbers, [(1 - SHOWN_SHARE) / 2, (1 + SHOWN_SHARE) / 2])
    if not 0 < high - low < np.ptp(numbers) / LONG_TAIL:
        return ""
    margin = 0.05 * (high - low)
    ax.set_xlim(max(low - margin, numbers.min() - margin), high + margin)
    outside = ((numbers < low - margin) | (numbers > high + margin)).mean()
    return f" ({100 * outside:.1f} % of the rows are outside)"


def _histogram_edges(scale: Scale, x: Array, here: Array) -> Any:
    """Return the edges of a histogram: those of the model, around whole numbers, or evenly spaced."""
    if scale.kind == "bins" and scale.edges:
        return np.unique(x)
    if len(here) and (here == np.floor(here)).all() and np.ptp(here) <= 60:
        return np.arange(here.min() - 0.5, here.max() + 1)
    return np.histogram_bin_edges(here, BINS)


def density_steps(scale: Scale, here: Array) -> tuple[Array, Array]:
    """Return steps whose area is the probability of each bin; the outer bins end at the last row."""
    low, high = outer_bounds(scale.edges)
    if len(here) and (scale.edges or np.ptp(here) > 0):
        low = here.min() if here.min() < min(scale.edges, default=np.inf) else low
        high = here.max() if here.max() > max(scale.edges, default=-np.inf) else high
    ends = np.array([low, *scale.edges, high])
    heights = np.exp(scale.evidence) / np.diff(ends)[:, None]
    return np.repeat(ends, 2)[1:-1], np.repeat(heights, 2, axis=0)


def _draw_bars(ax: Axes, scale: Scale, classes: list[Any], seen: list[Any], labels: list[Any]) -> None:
    """Draw a bar for each level and class, and a mark at the share of the rows."""
    levels, wide = len(scale.values), 0.8 / len(classes)
    placed = [scale.place(value) for value in seen]
    for k, (label, shares) in enumerate(zip(classes, np.exp(scale.evidence).T, strict=True)):
        at = np.arange(levels) - 0.4 + wide * (k + 0.5)
        hatch = ("", "//", "..", "xx")[k // 8 % 4]
        ax.bar(at, shares, wide * 0.95, color=style(k)[0], label=plain(label), hatch=hatch, alpha=0.75)
        mine = [place for place, each in zip(placed, labels, strict=True) if each == label and place is not None]
        if mine:
            rows = np.bincount(mine, minlength=levels) / len(mine)
            ax.plot(at, rows, "_", color="k", markersize=max(3, 90 * wide / levels), markeredgewidth=1.2)
    words = [plain(word, 16) for word in scale.level_names]
    ax.set_xticks(range(levels), words, rotation=90 if sum(map(len, words)) > 70 else 0, fontsize="small")
    ax.set_ylabel("probability given class" + (" (line: rows)" if labels else ""))
