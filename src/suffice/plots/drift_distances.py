"""The plot of drift: the distance of each column between two sets of rows."""

from collections.abc import Sequence
from typing import Any

from suffice.plots.canvas import BLUE, GREY, RED, Axes, axes_for, finish, plain, write_beside

MOST_COLUMNS = 40


def drift(table: Sequence[dict[str, Any]], ax: Axes | None = None, *, threshold: float = 0.1) -> Axes:
    """Draw the Jensen-Shannon distance of each column, with 95 % intervals, the largest at the top.

    Parameters
    ----------
    table : list of dict
        The lines of ``suffice.drift(…).table``; the first 40 are drawn.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.
    threshold : float, default=0.1
        The distance above which a significant difference is drift; drawn as a line.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes with the plot.

    Examples
    --------
    >>> from suffice import BernoulliNB
    >>> from suffice import drift as measure
    >>> model = BernoulliNB().fit([[0, 1], [1, 1]] * 50, ["a", "b"] * 50)
    >>> ax = drift(measure(model, [[0, 1], [0, 0]] * 50).table)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['column 0', 'column 1']
    """
    shown = table[:MOST_COLUMNS]
    ax = axes_for(ax, (8, 1.4 + 0.3 * len(shown)))
    places = range(len(shown))[::-1]
    for place, line in zip(places, shown, strict=True):
        colour = RED if line["is_drift"] else BLUE
        ax.barh(place, line["distance_by_chance"], height=0.6, color=GREY, alpha=0.3, linewidth=0)
        ax.plot([line["distance_low"], line["distance_high"]], [place, place], color=colour, linewidth=2)
        ax.plot(line["distance"], place, "o", color=colour)
        write_beside(ax, place, f"PSI {line['psi']:.3f}")
    ax.axvline(threshold, color=GREY, linestyle="--", linewidth=1)
    ax.set_yticks(places, [plain(line["column"]) for line in shown])
    ax.set_xlim(left=0)
    ax.margins(y=0.5 / max(len(shown), 1))
    more = "" if len(shown) == len(table) else f"; the first {len(shown)} of {len(table)} columns"
    title = f"red: drift; bars: 95 % of samples without drift; dashed: threshold{more}"
    return finish(ax, "Jensen-Shannon distance (lines: 95 % intervals)", title=title, grid="x")
