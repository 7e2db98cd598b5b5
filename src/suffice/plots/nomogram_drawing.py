"""The drawing of a nomogram: naive Bayes to be read with a ruler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots import BLUE, RED, Array, axes_for, percent, plain
from suffice.plots.nomogram_points import OTHER, Points, Scale
from suffice.plots.nomogram_scales import column_values, points

if TYPE_CHECKING:
    from suffice.plots import Axes

CURVE = 2.2  # height of a curve, in lines
NAMES = -7.5  # right end of the names of columns
LETTER = 0.85  # width of a letter, in points
SHARES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


def nomogram(
    model: Any,
    X: Any = None,
    label: Any = None,
    against: Any = None,
    *,
    row: int | None = None,
    most: int = 16,
    ax: Axes | None = None,
) -> Axes:
    """Draw naive Bayes as a nomogram: the points of each value, their total, and the probability of that total.

    total = Σⱼ points(xⱼ), where points ∝ log p(xⱼ | label) − log p(xⱼ | against) + constant. With more than
    two classes the probability is that of ``label`` given that it is either ``label`` or ``against``. `points` returns
    the numbers.

    Parameters
    ----------
    model : classifier
        A fitted classifier whose columns are independent given the class, and whose probabilities are not calibrated.
    X : array-like of shape (n_rows, n_columns), default=None
        Rows that give the range of numeric columns; by default mean ± 3 deviations of all classes. If there are at
        most 2,000 rows, the scales contain all their values.
    label : object, default=None
        Class that points count for; by default the second of two classes, else the first.
    against : object, default=None
        Class to compare with; by default another one.
    row : int, default=None
        Row of ``X`` whose values are marked.
    most : int, default=16
        Number of columns with a scale of their own; the others share one.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> X = [[1, 0], [1, 1], [0, 1]]
    >>> model = BernoulliNB().fit(X, ["ham", "ham", "spam"])
    >>> nomogram(model, X, row=2).get_title(loc="left")
    'Points for spam against ham'
    """
    _check_row(X, row)
    its = points(model, X, label, against, row=row)
    values = None if row is None else _row_values(model, X, row, its)
    if most < 1:
        raise ValueError(f"most is the number of columns that are drawn, at least 1, not {most!r}")
    order = np.argsort(-its.widths, kind="stable")
    kept = sorted(order[:most].tolist()) if len(order) > most else list(range(len(order)))
    rest = [j for j in range(len(order)) if j not in kept]
    heights = [_height(its, its.scales[j]) for j in kept]
    whole = 2.0 + sum(heights) + (1.3 if rest else 0) + 4.2
    ax = axes_for(ax, (9.5, 0.8 + 0.3 * whole))
    marks = None if values is None else its.points(values)
    top = 0.0
    tens = np.arange(0, 101, 10)
    _ruler(ax, top, tens, tens, [f"{ten}" for ten in tens], "points", up=True)
    ax.vlines(tens, -whole + 5, 0, color="0.9", linewidth=0.6, zorder=0)
    top -= 1.2
    for j, height in zip(kept, heights, strict=True):
        middle = top - height / 2
        _scale(ax, its, its.scales[j], middle, height)
        if marks is not None and values is not None:
            its_scale = its.scales[j]
            at = middle if its_scale.kind == "levels" else _on_curve(its_scale, values[j], middle, height - 0.5)
            _mark(ax, marks[j], at, middle, height, values[j])
        top -= height
    if rest:
        _rest(ax, its, rest, top - 0.65, marks)
        top -= 1.3
    _total(ax, its, top - 1.4, None if marks is None else sum(marks))
    ax.set_xlim(-30, 105)
    ax.set_ylim(top - 3.8, 1.1)
    ax.axis("off")
    pair = "" if len(its.classes) == 2 else f" (P({plain(its.label, 14)}): if it is one of the two)"
    ax.set_title(f"Points for {plain(its.label)} against {plain(its.against)}{pair}", fontsize="medium", loc="left")
    return ax


def _check_row(X: Any, row: int | None) -> None:
    """Raise if the row to be marked does not exist."""
    if row is None:
        return
    if X is None:
        raise ValueError("row is a row of X, and there is no X; pass nomogram(model, X, row=…)")
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if not 0 <= row < count:
        raise ValueError(f"row={row!r} is not among the {count} rows of X")


def _row_values(model: Any, X: Any, row: int, its: Points) -> list[Any]:
    """Return the values of a row, in the order of the scales."""
    from sklearn.utils import _safe_indexing

    found = column_values(model, _safe_indexing(X, [row]))
    return [found[scale.feature][0] for scale in its.scales]


def _height(its: Points, scale: Scale) -> float:
    """Return the height of a scale, in lines."""
    return CURVE + 0.5 if scale.kind != "levels" else 1.3 + 0.45 * max(max(label_lanes(*_labels(its, scale))) - 1, 0)


def _labels(its: Points, scale: Scale) -> tuple[Array, list[str]]:
    """Return the positions of the levels of a scale, and their labels."""
    if scale.edges:
        words = ["0", "1"] if scale.values[0] == 0 else [f"≤ {scale.values[0]:g}", f"> {scale.values[0]:g}"]
    else:
        words = [value if isinstance(value, str) else _number(value) for value in scale.values]
    return _positions(its, scale), [plain(word, 14) for word in words]


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def _positions(its: Points, scale: Scale) -> Array:
    """Return the points of the values of a scale; infinite ones at its ends."""
    places = (its.nats(scale) - its.least(scale)) * its.unit
    return np.clip(np.nan_to_num(places, nan=0.0, posinf=102.0, neginf=-2.0), -2.0, 102.0)


def label_lanes(places: Array, words: list[str]) -> list[int]:
    """Return the lane of each label, so that no two overlap: even lanes are above the scale, odd ones below.

    >>> label_lanes(np.array([0.0, 1.0, 50.0]), ["small", "large", "huge"])
    [0, 1, 0]
    """
    ends: list[float] = []
    found = [0] * len(words)
    for at in np.argsort(places, kind="stable").tolist():
        half = LETTER * (len(words[at]) + 1) / 2
        lane = next((k for k, end in enumerate(ends) if places[at] - half >= end), len(ends))
        ends[lane : lane + 1] = [places[at] + half]
        found[at] = lane
    return found


def _ruler(ax: Axes, y: float, x: Array, ticks: Array, words: list[str], name: str, *, up: bool) -> None:
    """Draw a line with ticks and labels."""
    ax.plot([np.min(x), np.max(x)], [y, y], color="k", linewidth=1)
    ax.vlines(ticks, y, y + (0.18 if up else -0.18), color="k", linewidth=1)
    for place, word in zip(ticks, words, strict=True):
        ax.text(place, y + (0.25 if up else -0.25), word, ha="center", va="bottom" if up else "top", fontsize=8)
    ax.text(NAMES, y, name, ha="right", va="center", fontsize=9, fontweight="bold")


def _scale(ax: Axes, its: Points, scale: Scale, middle: float, height: float) -> None:
    """Draw the scale of a column."""
    ax.text(NAMES, middle, plain(scale.feature, 22), ha="right", va="center", fontsize=9)
    if scale.kind != "levels":
        _curve(ax, its, scale, middle, height - 0.5)
        return
    places, words = _labels(its, scale)
    ax.plot([places.min(), places.max()], [middle, middle], color=BLUE, linewidth=1.2)
    ax.plot(places, np.full(len(places), middle), "|", color=BLUE, markersize=7)
    for place, word, lane in zip(places, words, label_lanes(places, words), strict=True):
        up = lane % 2 == 0
        y = middle + (0.14 + 0.45 * (lane // 2)) * (1 if up else -1)
        colour = "0.45" if word == OTHER else "k"
        ax.text(place, y, word, ha="center", va="bottom" if up else "top", fontsize=7.5, color=colour)


def _curve(ax: Axes, its: Points, scale: Scale, middle: float, height: float) -> None:
    """Draw points (horizontal) against the values of a numeric column (vertical)."""
    places, (low, high) = _positions(its, scale), _ends(scale)
    if scale.kind == "bins":
        numbers = np.repeat([low, *scale.edges, high], 2)[1:-1]
        places = np.repeat(places, 2)
        named = sorted({*(scale.edges[:1]), *(scale.edges[-1:])})
    else:
        numbers = np.asarray(scale.values, np.float64)
        named = [low, (low + high) / 2, high]
    span = high - low or 1.0
    y = middle + height * ((numbers - low) / span - 0.5)
    ax.plot(places, y, color=BLUE, linewidth=1.4)
    left = places.min() - 0.8
    ax.plot([left, left], [middle - height / 2, middle + height / 2], color="0.6", linewidth=0.8)
    for number in named:
        at = middle + height * ((number - low) / span - 0.5)
        ax.plot([left - 0.5, left], [at, at], color="0.6", linewidth=0.8)
        ax.text(left - 0.8, at, f"{number:.3g}", ha="right", va="center", fontsize=6.5, color="0.35", zorder=3)


def _ends(scale: Scale) -> tuple[float, float]:
    """Return the range of a curve; the outer bins get the mean width of the others."""
    if scale.kind != "bins":
        return float(min(scale.values)), float(max(scale.values))
    if not scale.edges:
        return 0.0, 1.0
    first, last = scale.edges[0], scale.edges[-1]
    wide = (last - first) / (len(scale.edges) - 1) if len(scale.edges) > 1 else abs(first) or 1.0
    return first - wide, last + wide


def _on_curve(scale: Scale, value: Any, middle: float, height: float) -> float:
    """Return the height of a value on its curve; a missing value is in the middle."""
    if value is None or value != value:
        return middle
    low, high = _ends(scale)
    return middle + height * (float(np.clip((value - low) / ((high - low) or 1.0), 0, 1)) - 0.5)


def _mark(ax: Axes, place: float, at: float, middle: float, height: float, value: Any) -> None:
    """Mark the value of a row; a missing value gets a hollow mark."""
    place = float(np.clip(np.nan_to_num(place, posinf=102.0, neginf=-2.0), -2, 102))
    is_missing = value is None or value != value
    ax.vlines(place, middle - height / 2, middle + height / 2, color=RED, linewidth=0.9, linestyle=":", zorder=4)
    ax.plot([place], [at], "o", color=RED, markersize=5, markerfacecolor="w" if is_missing else RED, zorder=5)


def _rest(ax: Axes, its: Points, rest: list[int], y: float, marks: list[float] | None) -> None:
    """Draw the sum of all other columns as one scale with its own points."""
    widest = float(sum(its.widths[j] for j in rest)) * its.unit
    shrunk = max(widest, 1e-12)
    ax.text(NAMES, y, f"{len(rest)} more columns", ha="right", va="center", fontsize=9, color="0.4")
    ax.plot([0, 100], [y, y], color="0.4", linewidth=1)
    for share in (0, 0.25, 0.5, 0.75, 1):
        ax.plot([100 * share] * 2, [y, y - 0.15], color="0.4", linewidth=1)
        ax.text(100 * share, y - 0.2, f"{widest * share:.4g}", ha="center", va="top", fontsize=7, color="0.4")
    if marks is not None:
        _mark(ax, 100 * sum(marks[j] for j in rest) / shrunk, y, y, 0.6, 0)


def _total(ax: Axes, its: Points, y: float, total: float | None) -> None:
    """Draw the scale of total points, and the scale of probabilities below it."""
    most = float(its.widths.sum()) * its.unit or 1.0
    ends = np.array([0.0, most])
    if total is not None and np.isfinite(total):
        ends = np.array([min(0.0, total), max(most, total)])
    # totals with extreme probabilities are cut off, so that there is room for the others
    decisive = its.total(np.array([SHARES[0], SHARES[-1]]))
    low, high = max(ends[0], float(decisive[0]) - 20), min(ends[1], float(decisive[1]) + 20)
    if total is not None and np.isfinite(total):
        low, high = min(low, total), max(high, total)
    if not low < high:
        low, high = float(ends[0]), float(ends[1])

    def at(number: Any) -> Array:
        return np.asarray(100 * (np.asarray(number) - low) / (high - low))

    step = _round_step((high - low) / 8)
    ticks = np.arange(np.ceil(low / step) * step, high + step / 1e6, step)
    _ruler(ax, y, np.array([0, 100]), at(ticks), [f"{tick:g}" for tick in ticks], "total points", up=True)
    shares = np.array(SHARES)
    if ((its.total(shares) >= low) & (its.total(shares) <= high)).sum() < 4:  # all totals have similar probabilities
        shares = np.linspace(float(its.probability(low)), float(its.probability(high)), 9)[1:-1].round(3)
    shares = np.unique(shares[(shares > 0) & (shares < 1)])
    places = at(its.total(shares))
    inside = (places >= -1e-9) & (places <= 100 + 1e-9)
    words = [f"{share:g}" for share in shares]
    shown = [k for k in _select_labels(places, words) if inside[k]]
    name = f"P({plain(its.label, 14)})"
    line = np.array([0.0, 100.0])
    _ruler(ax, y - 0.9, line, places[shown], [words[k] for k in shown], name, up=False)
    if total is None:
        return
    if np.isnan(total):
        ax.text(50, y - 1.55, "both classes exclude this row", ha="center", va="top", fontsize=9, color=RED)
        return
    place = float(np.clip(np.nan_to_num(at(total), posinf=102.0, neginf=-2.0), -2, 102))
    ax.vlines(place, y - 0.9, y, color=RED, linewidth=0.9, linestyle=":")
    ax.plot([place, place], [y, y - 0.9], "o", color=RED, markersize=5, zorder=5)
    odds = float(its.log_odds(total))
    word = percent(-float(np.logaddexp(0.0, -odds)))
    side = "left" if place < 8 else "right" if place > 92 else "center"  # so that the text is not cut off
    ax.text(place, y - 1.55, word, ha=side, va="top", fontsize=9, color=RED, fontweight="bold")


def _select_labels(places: Array, words: list[str]) -> list[int]:
    """Return the labels that do not overlap, chosen from the middle outwards."""
    kept: list[int] = []
    for k in sorted(range(len(words)), key=lambda k: abs(k - len(words) // 2)):
        if all(abs(places[k] - places[i]) > LETTER * (len(words[k]) + len(words[i]) + 2) / 2 for i in kept):
            kept.append(k)
    return sorted(kept)


def _round_step(step: float) -> float:
    """Return the smallest step of 1, 2 or 5 times a power of ten that is not smaller.

    >>> _round_step(13.0), _round_step(0.3)
    (20.0, 0.5)
    """
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(times * power for times in (1, 2, 5, 10) if times * power >= step * (1 - 1e-9)))
