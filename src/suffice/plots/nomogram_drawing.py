"""The drawing of a nomogram: naive Bayes to be read with a ruler."""

from typing import Any

import numpy as np
from scipy.special import log_expit
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from suffice.plots.canvas import BLUE, RED, Axes, axes_for, finish, percent, plain
from suffice.plots.model_columns import MISSING, OTHER, column_values, outer_bounds
from suffice.plots.nomogram_points import Points, Scale, points
from suffice.schema import Array

CURVE = 2.2  # height of a curve, in lines
LEAST_GAP = 0.4  # between two labels of a curve, in lines
NAMES = -9.5  # right end of the names of columns
LETTER = 0.85  # width of a letter, in points
SHARES = np.array([0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999])


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
    the numbers. The column with the widest range of points is at the top.

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
    if row is not None:
        _check_row(X, row)
    if most < 1:
        raise ValueError(f"most is the number of columns that are drawn, at least 1, not {most!r}")
    its = points(model, X, label, against, row=row)
    kept = np.argsort(-its.widths, kind="stable")[:most].tolist()
    rest = np.setdiff1d(np.arange(len(its.scales)), kept)
    heights = [_height(its, its.scales[j]) for j in kept]
    whole = 6.2 + sum(heights) + (1.3 if len(rest) else 0)
    ax = axes_for(ax, (9.5, 0.8 + 0.3 * whole))
    tens = np.arange(0, 101, 10)
    _draw_ruler(ax, 0.0, tens, [f"{ten}" for ten in tens], "points", up=True)
    ax.vlines(tens, -whole + 5, 0, color="0.9", linewidth=0.6, zorder=0)
    values, marks = [], np.zeros(0)
    if row is not None:
        found = column_values(model, _safe_indexing(X, [row]))
        values = [found[scale.feature][0] for scale in its.scales]
        marks = np.array(its.points(values))
    top = -1.2
    for j, height in zip(kept, heights, strict=True):
        middle, scale = top - height / 2, its.scales[j]
        _draw_scale(ax, its, scale, middle, height)
        if row is not None:
            is_missing = values[j] is None or values[j] != values[j]
            is_centred = scale.kind == "levels" or is_missing
            y = middle if is_centred else _height_on_curve(scale, values[j], middle, height - 0.5)
            _draw_mark(ax, marks[j], y, (middle - height / 2, middle + height / 2), is_hollow=is_missing)
        top -= height
    if len(rest):
        # the sum of all other columns has one scale with its own points
        widest, y = float(its.widths[rest].sum()) * its.unit, top - 0.65
        words = [f"{widest * share:.4g}" for share in np.linspace(0, 1, 5)]
        _draw_ruler(ax, y, np.linspace(0, 100, 5), words, f"{len(rest)} more columns", up=False, colour="0.4")
        if row is not None:
            _draw_mark(ax, 100 * marks[rest].sum() / max(widest, 1e-12), y, (y - 0.3, y + 0.3))
        top -= 1.3
    _draw_total(ax, its, top - 1.4, None if row is None else float(marks.sum()))
    ax.set(xlim=(-33, 105), ylim=(top - 3.8, 1.1))
    ax.axis("off")
    pair = "" if len(its.classes) == 2 else f" (P({plain(its.label, 14)}): if it is one of the two)"
    return finish(ax, title=f"Points for {plain(its.label)} against {plain(its.against)}{pair}", size="medium")


def _check_row(X: Any, row: int) -> None:
    """Raise if the row to be marked does not exist."""
    if X is None:
        raise ValueError("row is a row of X, and there is no X; pass nomogram(model, X, row=…)")
    if not 0 <= row < _num_samples(X):
        raise ValueError(f"row={row!r} is not among the {_num_samples(X)} rows of X")


def _height(its: Points, scale: Scale) -> float:
    """Return the height of a scale, in lines."""
    if scale.kind != "levels":
        return CURVE + 0.5
    return 1.3 + 0.45 * max(max(label_lanes(_positions(its, scale), _labels(scale))) - 1, 0)


def _labels(scale: Scale) -> list[str]:
    return [plain(word, 14) for word in scale.level_names]


def _positions(its: Points, scale: Scale) -> Array:
    """Return the points of the values of a scale; infinite ones at its ends."""
    return _clip((its.nats(scale) - its.least(scale)) * its.unit)


def _clip(places: Any) -> Array:
    """Return positions within the drawing; infinite ones are a little outside of the scale from 0 to 100."""
    return np.asarray(np.clip(np.nan_to_num(places, nan=0.0, posinf=102.0, neginf=-2.0), -2.0, 102.0))


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


def _draw_ruler(ax: Axes, y: float, ticks: Array, words: list[str], name: str, *, up: bool, colour: str = "k") -> None:
    """Draw a line from 0 to 100 with ticks and labels."""
    side, weight = (1 if up else -1), ("bold" if colour == "k" else "normal")
    ax.plot([0, 100], [y, y], color=colour, linewidth=1)
    ax.vlines(ticks, y, y + 0.18 * side, color=colour, linewidth=1)
    for tick, word in zip(ticks, words, strict=True):
        ax.text(tick, y + 0.25 * side, word, ha="center", va="bottom" if up else "top", fontsize=8, color=colour)
    ax.text(NAMES, y, name, ha="right", va="center", fontsize=9, fontweight=weight, color=colour)


def _draw_scale(ax: Axes, its: Points, scale: Scale, middle: float, height: float) -> None:
    """Draw the scale of a column."""
    ax.text(NAMES, middle, plain(scale.feature, 22), ha="right", va="center", fontsize=9)
    if scale.kind != "levels":
        _draw_curve(ax, its, scale, middle, height - 0.5)
        return
    places, words = _positions(its, scale), _labels(scale)
    ax.plot([places.min(), places.max()], [middle, middle], color=BLUE, linewidth=1.2)
    ax.plot(places, np.full(len(places), middle), "|", color=BLUE, markersize=7)
    for place, word, lane in zip(places, words, label_lanes(places, words), strict=True):
        side, va = (1, "bottom") if lane % 2 == 0 else (-1, "top")
        y, colour = middle + (0.14 + 0.45 * (lane // 2)) * side, "0.45" if word in (OTHER, MISSING) else "k"
        ax.text(place, y, word, ha="center", va=va, fontsize=7.5, color=colour)


def _draw_curve(ax: Axes, its: Points, scale: Scale, middle: float, height: float) -> None:
    """Draw points (horizontal) against the values of a numeric column (vertical)."""
    places, (low, high) = _positions(its, scale), _bounds(scale)
    numbers, named = np.asarray(scale.values, np.float64), [low, (low + high) / 2, high]
    if scale.kind == "bins":
        numbers, places = np.repeat([low, *scale.edges, high], 2)[1:-1], np.repeat(places, 2)
        named = sorted({*scale.edges[:1], *scale.edges[-1:]})
    ax.plot(places, _height_on_curve(scale, numbers, middle, height), color=BLUE, linewidth=1.4)
    left = places.min() - 0.8
    ax.plot([left, left], [middle - height / 2, middle + height / 2], color="0.6", linewidth=0.8)
    last = -np.inf
    for number in sorted(named):
        y = float(_height_on_curve(scale, number, middle, height))
        if y - last < LEAST_GAP:  # the labels would overlap
            continue
        last = y
        ax.plot([left - 0.5, left], [y, y], color="0.6", linewidth=0.8)
        ax.text(left - 0.8, y, _number(number), ha="right", va="center", fontsize=6.5, color="0.35", zorder=3)


def _number(number: float) -> str:
    """Return a number as text, without an exponent if it is not too long.

    >>> _number(359861.0), _number(0.12345), _number(7.17e12)
    ('359,861', '0.123', '7.17e+12')
    """
    return f"{number:,.0f}" if 1e3 <= abs(number) < 1e7 else f"{number:.3g}"


def _bounds(scale: Scale) -> tuple[float, float]:
    """Return the range of a curve."""
    return outer_bounds(scale.edges) if scale.kind == "bins" else (float(min(scale.values)), float(max(scale.values)))


def _height_on_curve(scale: Scale, numbers: Any, middle: float, height: float) -> Array:
    """Return the vertical positions of numbers on a curve."""
    low, high = _bounds(scale)
    return np.asarray(middle + height * (np.clip((numbers - low) / (high - low or 1.0), 0, 1) - 0.5))


def _draw_mark(ax: Axes, place: float, y: Any, ends: tuple[float, float], *, is_hollow: bool = False) -> None:
    """Mark the value of a row, with a vertical line between two ends; a missing value gets a hollow mark."""
    place = float(_clip(place))
    ax.vlines(place, *ends, color=RED, linewidth=0.9, linestyle=":", zorder=4)
    ax.plot([place], [y], "o", color=RED, markersize=5, markerfacecolor="w" if is_hollow else RED, zorder=5)


def _draw_total(ax: Axes, its: Points, y: float, total: float | None) -> None:
    """Draw the scale of total points, and the scale of probabilities below it."""
    most = float(its.widths.sum()) * its.unit or 1.0
    # totals with extreme probabilities are cut off, so that there is room for the others
    low, high = max(0.0, its.total(SHARES[0]) - 20), min(most, its.total(SHARES[-1]) + 20)
    if total is not None and np.isfinite(total):
        low, high = min(low, total), max(high, total)
    if not low < high:
        low, high = min(0.0, low), max(most, high)

    def place_of(number: Any) -> Array:
        return np.asarray(100 * (np.asarray(number) - low) / (high - low))

    step = _round_step((high - low) / 8)
    ticks = np.arange(np.ceil(low / step) * step, high + step / 1e6, step)
    _draw_ruler(ax, y, place_of(ticks), [f"{tick:g}" for tick in ticks], "total points", up=True)
    shares = SHARES
    if ((its.total(shares) >= low) & (its.total(shares) <= high)).sum() < 4:  # all totals have similar probabilities
        shares = np.linspace(its.probability(low), its.probability(high), 9)[1:-1].round(3)
        shares = np.unique(shares[(shares > 0) & (shares < 1)])
    places, words = place_of(its.total(shares)), [f"{share:g}" for share in shares]
    shown = [k for k in _select_labels(places, words) if -1e-9 <= places[k] <= 100 + 1e-9]
    _draw_ruler(ax, y - 0.9, places[shown], [words[k] for k in shown], f"P({plain(its.label, 14)})", up=False)
    if total is None:
        return
    if np.isnan(total):
        ax.text(50, y - 1.55, "both classes exclude this row", ha="center", va="top", fontsize=9, color=RED)
        return
    place = float(_clip(place_of(total)))
    ax.vlines(place, y - 0.9, y, color=RED, linewidth=0.9, linestyle=":")
    ax.plot([place, place], [y, y - 0.9], "o", color=RED, markersize=5, zorder=5)
    side = "left" if place < 8 else "right" if place > 92 else "center"  # so that the text is not cut off
    word = percent(float(log_expit(its.log_odds(total))))
    ax.text(place, y - 1.55, word, ha=side, va="top", fontsize=9, color=RED, fontweight="bold")


def _select_labels(places: Array, words: list[str]) -> list[int]:
    """Return the labels that do not overlap, chosen from the middle outwards."""
    kept: list[int] = []
    for k in sorted(range(len(words)), key=lambda k: abs(k - len(words) // 2)):
        if all(abs(places[k] - places[i]) > LETTER * (len(words[k]) + len(words[i]) + 3) / 2 for i in kept):
            kept.append(k)
    return sorted(kept)


def _round_step(step: float) -> float:
    """Return the smallest step of 1, 2 or 5 times a power of ten that is not smaller.

    >>> _round_step(13.0), _round_step(0.3)
    (20.0, 0.5)
    """
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(times * power for times in (1, 2, 5, 10) if times * power >= step * (1 - 1e-9)))
