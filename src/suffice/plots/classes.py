"""What each class looks like: the density of a column, and the mean as an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from suffice.families import FAMILIES
from suffice.plots import Array, axes_for, check_fitted, legend_beside, plain, style
from suffice.plots.evidence import image_shape
from suffice.plots.scales import columns_of, held, quietly, values_of
from suffice.plots.totals import OTHER, Scale

if TYPE_CHECKING:
    from suffice.plots import Axes

BINS = 25
FEW = 6  # more histograms than this hide each other: one of all rows is drawn instead


def densities(model: Any, X: Any = None, y: Any = None, column: Any = 0, *, ax: Axes | None = None) -> Axes:
    """Draw p(value of a column given class) for each class, and behind it the histogram of rows X with labels y.

    ``column`` is a name or a place. Columns with levels get bars, numbers a curve, numbers in bins steps whose
    area is the bin's probability.
    """
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: pass both, for a histogram of each class, or neither")
    title = _title(model, column)
    _refuse_shares(model, title)
    seen = [] if X is None else _all_held(model, X, title)
    labels = [] if y is None else np.asarray(y).tolist()
    if len(seen) != len(labels):
        raise ValueError(f"X has {len(seen)} rows and y has {len(labels)}; pass a label for each row")
    scale = density_of(model, title, seen)
    classes = model.classes_.tolist()
    ax = axes_for(ax, (7.5, 4))
    if scale.kind == "levels":
        _bars(ax, scale, classes, seen, labels)
    else:
        _curves(ax, scale, classes, seen, labels)
    # a long name would run into the power of ten that stands at the right
    ax.set_xlabel(plain(title, 60), loc="left" if len(title) > 40 else "center")
    ax.set_ylim(bottom=0)
    legend_beside(ax, "class")
    return ax


def density_of(model: Any, title: str, seen: list[Any]) -> Scale:
    """Return log p(value given class) at values of one column, all other columns empty."""
    place, number, j = dict(columns_of(model))[title]
    kind, values, edges = values_of(model, (place, number, j), seen)
    if hasattr(model, "variances_"):  # its columns vary together: the marginal of one has its own variance
        spread = np.sqrt(model.variances_[:, j])
        return Scale(title, kind, values, norm(model.means_[:, j], spread).logpdf(np.array(values)[:, None]), edges)
    tabled = model.tally_.schema.features is not None
    rows = np.full((len(values), int(model.n_features_in_)), None, object) if tabled else None
    if rows is None:
        rows = np.zeros((len(values), int(model.n_features_in_)))
    numbers = [value for value in values if not isinstance(value, str)]
    rows[:, place] = [max(numbers) + 1 if value == OTHER and numbers else value for value in values]
    explanation = quietly(model, rows)
    return Scale(title, kind, values, explanation.contributions[:, :, explanation.features.index(title)], edges)


def _refuse_shares(model: Any, title: str) -> None:
    """Raise if a column is counted together with others, and so has no density of its own."""
    block = model.tally_.schema.blocks[dict(columns_of(model))[title][1]]
    family = FAMILIES[block.family]
    if family.cells == "words":
        raise ValueError(
            f"{title} is a text: its words have shares in each class, and it has no density; draw waterfall or "
            "marked_text of one row's explanation, or write a report, which names the words of each class"
        )
    if family.is_compositional:
        raise ValueError(
            f"{title} is one of many counts that share a total: it has a share in each class and no density of its "
            "own; draw means(model)"
        )


def means(model: Any, shape: tuple[int, int] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the mean of each class as an image: p of a 1 (BernoulliNB), means of Gaussians, shares of counts.

    It is the average of all rows of the class, pixel by pixel, as far as the prior lets it.
    """
    images, what = class_means(model)
    height, width = image_shape(images.shape[1], shape)
    if height * width != images.shape[1]:
        raise ValueError(f"shape={shape!r} has {height * width} pixels, and there are {images.shape[1]} columns")
    count = len(images)
    across = min(count, 5 if count <= 10 else int(np.ceil(np.sqrt(count * 1.6))))
    down = -(-count // across)
    gap = max(width // 8, 1)
    above = max(height // 4, 1)
    mosaic = np.full((down * (height + above), across * (width + gap) - gap), np.nan)
    ax = axes_for(ax, (1.3 * across + 0.9, 1.3 * down * (height + above) / (width + gap) + 0.5))
    for k, image in enumerate(images):
        top, left = (k // across) * (height + above) + above, (k % across) * (width + gap)
        mosaic[top : top + height, left : left + width] = image.reshape(height, width)
        label = plain(model.classes_.tolist()[k], 14)
        ax.text(left + width / 2 - 0.5, top - 0.7, label, ha="center", va="bottom", fontsize=9)
    drawn = ax.imshow(mosaic, cmap="viridis")
    ax.axis("off")
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8, label=what)
    return ax


def class_means(model: Any) -> tuple[Array, str]:
    """Return the means [class, column], and what they are."""
    check_fitted(model)
    if hasattr(model, "theta_"):
        return np.asarray(model.theta_), "mean"
    if hasattr(model, "means_"):
        return np.asarray(model.means_), "mean"
    if hasattr(model, "rate_"):
        return np.asarray(model.rate_), "rate"
    found = getattr(model, "feature_log_prob_", None)
    if isinstance(found, np.ndarray) and not hasattr(model, "norm"):
        bits = hasattr(model, "binarize")
        return np.exp(found), "probability of a 1" if bits else "share of all counts"
    raise ValueError(
        f"{type(model).__name__} has no means that make an image; use a fitted BernoulliNB, GaussianNB, PoissonNB, "
        "GaussianDiscriminant or MultinomialNB, or densities(model, column=…) for one column"
    )


def _title(model: Any, column: Any) -> str:
    """Return the title of a column, given by name or by place."""
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


def _all_held(model: Any, X: Any, title: str) -> list[Any]:
    """Return what all rows hold of one column, a few rows at a time: an explanation keeps all that is said."""
    from sklearn.utils import _safe_indexing

    count = X.shape[0] if hasattr(X, "shape") else len(X)
    pieces = [np.arange(start, min(start + 1000, count)) for start in range(0, count, 1000)]
    return [value for rows in pieces for value in held(model, _safe_indexing(X, rows))[title]]


def _curves(ax: Axes, scale: Scale, classes: list[Any], seen: list[Any], labels: list[Any]) -> None:
    """Draw curves, or steps, over histograms whose area is 1."""
    numbers = np.array([np.nan if value is None else value for value in seen], np.float64)
    here = numbers[np.isfinite(numbers)]
    x, density = np.array(scale.values, np.float64), np.exp(scale.evidence)
    if scale.kind == "bins":
        x, density = _steps(scale, here)
    bins = _bins(scale, x, here)
    if len(here) and len(classes) > FEW:
        ax.hist(here, bins, density=True, color="0.85", linewidth=0)
    for k, label in enumerate(classes):
        colour, dashes = style(k)
        mine = numbers[[each == label for each in labels]] if labels else np.zeros(0)
        mine = mine[np.isfinite(mine)]
        if len(mine) and len(classes) <= FEW:
            ax.hist(mine, bins, density=True, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, density[:, k], dashes, color=colour, linewidth=1.8, label=plain(label))
    ax.set_ylabel("density given class" + (" (behind: the rows)" if labels else ""))


def _bins(scale: Scale, x: Array, here: Array) -> list[float]:
    """Return where a histogram is cut: where the model cuts, at whole numbers, or evenly."""
    if scale.kind == "bins" and scale.edges:
        return [float(edge) for edge in np.unique(x)]
    if len(here) and bool((here == np.floor(here)).all()) and here.max() - here.min() <= 60:
        return [float(edge) for edge in np.arange(here.min() - 0.5, here.max() + 1)]
    return [float(edge) for edge in np.histogram_bin_edges(here, BINS)] if len(here) else [0.0, 1.0]


def _steps(scale: Scale, here: Array) -> tuple[Array, Array]:
    """Return steps whose area is the probability of each bin; the outer bins end with the rows, or look as wide."""
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


def _bars(ax: Axes, scale: Scale, classes: list[Any], seen: list[Any], labels: list[Any]) -> None:
    """Draw bars of each level, one for each class, and a mark where the share of the rows is."""
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
    ax.set_ylabel("probability given class" + (" (line: the rows)" if labels else ""))
